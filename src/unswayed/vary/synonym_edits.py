"""A word put in another's place: in its case, and with the article before it made to agree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from unswayed.base.edits import Edit, OneEach
from unswayed.vary.block import SingleEdits
from unswayed.vary.block_tagger import Numbers
from unswayed.vary.english import KIND_OF, Line, kind_of, tagger
from unswayed.vary.fitting import Asked
from unswayed.vary.lines import Lines
from unswayed.vary.operator import Change

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
_ARTICLES = frozenset(("a", "an"))
_VOWELS = frozenset("aeiou")
_Span = tuple[int, int]


class Made(NamedTuple):
    """New words for words of texts: the texts' numbers, the words' places, and what is put there."""

    texts: list[int]
    places: list[int]
    news: list[str]

    def changes(self, lines: Lines) -> SingleEdits:
        """As columns: most replace one word, few an article with it."""
        count, places = len(lines), np.array(self.places, np.intp)
        starts, ends, tags = [0] * count, [0] * count, [0] * count
        news: list[str | None] = [None] * count
        others: dict[int, Change] = {}
        begins, stops, kinds = (column[places].tolist() for column in (lines.begins, lines.ends, lines.tags))
        for n, new, start, end, kind in zip(self.texts, self.news, begins, stops, kinds, strict=True):
            starts[n], ends[n], news[n], tags[n] = start, end, new, kind
        for k in self._unlike(lines, places).tolist():
            n, place = self.texts[k], self.places[k]
            article = None
            if place > lines.first[n] and lines.words[place - 1] in _ARTICLES:
                article = int(lines.begins[place - 1]), int(lines.ends[place - 1])
            change = put(lines.strings[n], (begins[k], stops[k]), self.news[k], _kinds()[kinds[k]], article)
            news[n] = change.edits[0].new if len(change.edits) == 1 else None
            if len(change.edits) > 1:
                others[n] = change
        edits = OneEach(starts, ends, news)
        return SingleEdits(edits, lambda: _notes(lines.strings, edits, tags), others)

    def _unlike(self, lines: Lines, places: Numbers) -> Numbers:
        """Which may need more than the word put in place: an article before it, or other letters than small ones."""
        articles = lines.vocabulary.column(_ARTICLES.__contains__)[lines.numbers[places - 1]] > 0
        return np.flatnonzero(articles | ~lines.plain[self.texts])


def _notes(strings: Sequence[str], edits: OneEach, tags: Sequence[int]) -> list[str]:
    each = zip(strings, edits.starts, edits.ends, edits.news, tags, strict=True)
    return ["" if new is None else _note(text[a:b], new, _kinds()[tag]) for text, a, b, new, tag in each]


@lru_cache(1)
def _kinds() -> list[str]:
    """By the number of a tag."""
    return [KIND_OF.get(tag, "s") for tag in tagger().names]


def replaced(line: Line, i: int, new: str) -> Change:
    """The change that puts a new word in place of a line's word."""
    article = line.span(i - 1) if i and line.lowers[i - 1] in _ARTICLES else None
    return put(line.text, line.span(i), new, KIND_OF.get(line.tags[i], "s"), article)


def replacement(asked: Asked, new: str) -> Change:
    """The same for a word that was asked about."""
    text, words, i = asked[:3]
    word, before = words[i], words[i - 1] if i else None
    article = (before.start, before.end) if before is not None and before.lower in _ARTICLES else None
    return put(text, (word.start, word.end), new, kind_of(word) or KIND_OF.get(word.tag, "s"), article)


def put(text: str, span: _Span, new: str, kind: str, article: _Span | None) -> Change:
    """The change that puts a new word in place, where there may be an article before it."""
    start, end = span
    old = text[start:end]
    if not old.islower():
        new = _cased(new, old)
    edit = Edit(start, end, new)
    note = _note(old, new, kind)
    if article is not None and text[article[1] : start] == " ":
        said = text[slice(*article)]
        before, after = (word[0].lower() in _VOWELS for word in (old, new))
        if before != after and before == (said.lower() == "an"):
            return Change((Edit(*article, _cased("an" if after else "a", said)), edit), note)
    return Change((edit,), note)


def _note(old: str, new: str, kind: str) -> str:
    return f"{old}→{new} ({KINDS[kind]})"


def _cased(new: str, old: str) -> str:
    """The new word in the old one's case."""
    if old.islower() or not old[0].isupper():
        return new
    return new.upper() if len(old) > 1 and old.isupper() else new[0].upper() + new[1:]
