"""Phrases of a text by kind, and those of other texts that could stand in their place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from unswayed.vary.english import BE, DO, HAVE, Word, tagged
from unswayed.vary.sentence import LONGEST

KINDS = ("name", "number", "noun", "nouns", "adjective", "VB", "VBD", "VBN", "VBG", "VBZ")
NAMING = ("name", "noun", "nouns")
_ADJECTIVES = frozenset(("JJ", "JJR", "JJS"))
_NOUNS = {"NN": "noun", "NNS": "nouns"}
_VERBS = frozenset(("VB", "VBD", "VBN", "VBG", "VBZ"))
_HELPERS = BE | HAVE | DO | frozenset(("let", "please", "like", "ca", "wo", "gon", "wan"))
_LINKS = frozenset(("of", "de", "von", "van", "del", "la"))  # inside names
_LONGEST_NAME = 5
_NEAR = 40  # texts on the same topic that are looked at
_COMMON = 0.1  # a word in more than this share of the texts says nothing about the topic


class Phrase(NamedTuple):
    """Words `first` to before `end` of a text, and the word before them in small letters."""

    kind: str
    first: int
    end: int
    said: str
    before: str


@lru_cache(8192)
def phrases(text: str) -> tuple[Phrase, ...]:
    """The names, numbers, nouns with their adjectives, adjectives and verbs of a text, in order."""
    if len(text) > LONGEST:
        return ()
    words = tagged(text)
    return tuple(_phrases(text, words))


def _phrases(text: str, words: tuple[Word, ...]) -> Iterator[Phrase]:
    i = 0
    while i < len(words):
        tag, end = words[i].tag, i + 1
        if tag == "NNP":
            end = _name(text, words, i)
            yield _phrase(text, words, "name", i, end)
        elif tag == "CD":
            yield _phrase(text, words, "number", i, end)
        elif tag in _ADJECTIVES or tag in _NOUNS:
            end = _noun(text, words, i)
            if end > i + 1 and tag in _ADJECTIVES:
                yield _phrase(text, words, "adjective", i, i + 1)
            if words[end - 1].tag in _NOUNS:
                yield _phrase(text, words, _NOUNS[words[end - 1].tag], i, end)
        elif tag in _VERBS and words[i].lower not in _HELPERS and len(words[i].lower) > 2:
            yield _phrase(text, words, tag, i, end)
        i = end


def _phrase(text: str, words: tuple[Word, ...], kind: str, first: int, end: int) -> Phrase:
    said = text[words[first].start : words[end - 1].end]
    return Phrase(kind, first, end, said, words[first - 1].lower if first else "")


def _joined(text: str, words: tuple[Word, ...], i: int) -> bool:
    return i < len(words) and text[words[i - 1].end : words[i].start] == " "


def _name(text: str, words: tuple[Word, ...], i: int) -> int:
    end = i + 1
    while _joined(text, words, end) and end - i < _LONGEST_NAME:
        linked = words[end].lower in _LINKS and _joined(text, words, end + 1)
        if words[end].tag == "NNP":
            end += 1
        elif linked and words[end + 1].tag == "NNP":
            end += 2
        else:
            break
    return end


def _noun(text: str, words: tuple[Word, ...], i: int) -> int:
    """Where a noun with the adjectives and nouns before it ends; the next word if there is no noun."""
    end = last = i + 1
    while _joined(text, words, end) and words[end].tag in ("NN", "NNS", *_ADJECTIVES):
        end += 1
        last = end if words[end - 1].tag in _NOUNS else last
    return last


class Pool:
    """The phrases of many texts, found by kind, by the word before them, and by what the texts are about."""

    def __init__(self, texts: Iterable[str]) -> None:
        # Sorted, so that the order of the rows decides nothing.
        self.texts = sorted({text.strip() for text in texts if text.strip() and len(text) <= LONGEST})
        self._by_kind: dict[str, list[Phrase]] = defaultdict(list)
        self._after: dict[tuple[str, str], list[Phrase]] = defaultdict(list)
        self._about: dict[str, list[int]] = defaultdict(list)
        for n, text in enumerate(self.texts):
            for word in _topic(text):
                self._about[word].append(n)
            for phrase in phrases(text):
                self._by_kind[phrase.kind].append(phrase)
                self._after[phrase.kind, phrase.before].append(phrase)

    def near(self, text: str) -> list[str]:
        """Texts that share with this one its rarest words; none twice, not itself."""
        most = max(2.0, _COMMON * len(self.texts))
        shared = sorted((len(found), word) for word in _topic(text) if (found := self._about.get(word)))
        seen: dict[int, None] = {}
        for count, word in shared:
            if count <= most and len(seen) < _NEAR:
                seen.update(dict.fromkeys(self._about[word][:_NEAR]))
        return [self.texts[n] for n in seen if self.texts[n] != text.strip()]

    def like(self, phrase: Phrase, near: Sequence[str]) -> list[list[Phrase]]:
        """Phrases that could stand in this one's place, in groups, the most fitting first."""
        close = [p for text in near for p in phrases(text) if p.kind == phrase.kind]
        same = [p for p in close if p.before == phrase.before]
        return [same, close, self._after.get((phrase.kind, phrase.before), []), self._by_kind.get(phrase.kind, [])]


@lru_cache(8192)
def _topic(text: str) -> frozenset[str]:
    return frozenset(w.lower for w in tagged(text) if w.tag in ("NNP", "NN", "NNS", "JJ") and len(w.lower) > 2)
