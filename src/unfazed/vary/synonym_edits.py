"""A word put in another's place: in its case, and with the article before it made to agree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from unfazed.core.edits import Edit, OneEach
from unfazed.vary.block import SingleEdits
from unfazed.vary.english import KIND_OF, Line, kind_of, tagger
from unfazed.vary.fitting import Asked
from unfazed.vary.lines import Lines
from unfazed.vary.operator import Change

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
ARTICLES = frozenset(("a", "an"))
_VOWELS = frozenset("aeiou")
_Span = tuple[int, int]


class Made:
    """The changes that were made in texts, as columns: most replace one word, few an article with it."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings, count = strings, len(strings)
        self._starts, self._ends, self._kinds = [0] * count, [0] * count, [""] * count
        self._news: list[str | None] = [None] * count
        self._others: dict[int, Change] = {}

    def put(self, n: int, start: int, end: int, new: str, kind: str) -> None:
        """Puts a new word, which is in small letters as the old one is, in place of a text's word."""
        self._starts[n], self._ends[n], self._news[n], self._kinds[n] = start, end, new, kind

    def put_any(self, n: int, span: _Span, new: str, kind: str, article: _Span | None) -> None:
        """The same for a word in any letters, which may have an article before it."""
        change = put(self._strings[n], span, new, kind, article)
        if len(change.edits) > 1:
            self._others[n] = change
        else:
            self.put(n, *change.edits[0], kind)

    def changes(self) -> SingleEdits:
        return SingleEdits(OneEach(self._starts, self._ends, self._news), self._notes, self._others)

    def _notes(self) -> list[str]:
        each = zip(self._strings, self._starts, self._ends, self._news, self._kinds, strict=True)
        return ["" if new is None else _note(text[start:end], new, kind) for text, start, end, new, kind in each]


def put_in(made: Made, lines: Lines, n: int, place: int, new: str) -> None:
    """Puts a new word in place of a text's word."""
    kind = _kinds()[lines.tags[place]]
    span = int(lines.begins[place]), int(lines.ends[place])
    before = place - 1 if place > lines.first[n] and lines.words[place - 1] in ARTICLES else None
    if before is None and lines.plain[n]:
        made.put(n, *span, new, kind)
    else:
        article = None if before is None else (int(lines.begins[before]), int(lines.ends[before]))
        made.put_any(n, span, new, kind, article)


@lru_cache(1)
def _kinds() -> list[str]:
    """By the number of a tag."""
    return [KIND_OF.get(tag, "s") for tag in tagger().names]


def replaced(line: Line, i: int, new: str) -> Change:
    """The change that puts a new word in place of a line's word."""
    article = line.span(i - 1) if i and line.lowers[i - 1] in ARTICLES else None
    return put(line.text, line.span(i), new, KIND_OF.get(line.tags[i], "s"), article)


def replacement(asked: Asked, new: str) -> Change:
    """The same for a word that was asked about."""
    text, words, i = asked[:3]
    word, before = words[i], words[i - 1] if i else None
    article = (before.start, before.end) if before is not None and before.lower in ARTICLES else None
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
