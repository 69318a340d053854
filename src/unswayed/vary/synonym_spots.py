"""Which words of many texts may be replaced, and what is known of their places: as `Thesaurus.question` sees a word in
its line, found with arrays for all texts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property, lru_cache, partial
from typing import Any

import numpy as np

from unswayed.vary.block_tagger import Numbers, block_tagger
from unswayed.vary.collocations import BEFORE_NOUNS, NAMING, NOUNS, PARTICLES
from unswayed.vary.english import KIND_OF, START, replaceable_as
from unswayed.vary.lines import Flags, Lines
from unswayed.vary.stopwords import BEFORE_NO_NOUN
from unswayed.vary.thesaurus import APART, REACH, coded, thesaurus

_RIGHT, _BETWEEN = frozenset(("right",)), frozenset(("between",))


class Around:
    """The directions in which the words of texts point, for those that look at the whole text."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    @cached_property
    def _rows(self) -> Numbers:
        """The row of each word's vector; 0 for words without one."""
        lines, rows = self._lines, np.zeros(len(self._lines.words), np.intp)
        for tags, row_of in _rows_by_tags():
            at = np.flatnonzero(tags[lines.tags])
            rows[at] = lines.vocabulary.column(row_of)[lines.numbers[at]]
        return rows

    def of(self, texts: list[int], places: list[int]) -> Any:
        """For the word at each place of a text, the mean direction of the text's other words."""
        asked = np.zeros(len(self._lines), bool)
        asked[texts] = True
        at = np.flatnonzero(asked[self._lines.texts] & (self._rows > 0))
        counts = np.bincount(self._lines.texts[at], minlength=len(asked))
        some = np.flatnonzero(counts)
        sums = np.zeros((len(counts), thesaurus().vectors.shape[1]), np.float32)
        if len(some):
            sums[some] = np.add.reduceat(thesaurus().vectors[self._rows[at]], np.cumsum(counts[some]) - counts[some])
        return thesaurus().directions(sums[texts], counts[texts], self._rows[places])


@lru_cache(1)
def _rows_by_tags() -> list[tuple[Flags, Callable[[str], int]]]:
    """Tags under which a word has the same vector, and what finds its row."""
    alike = ("VB", "NN", "JJ", "RB"), ("VBD", "VBN", "VBG", "VBZ"), ("NNS",), ("JJR", "JJS")
    return [(_among(*tags), partial(thesaurus().new_row, tag=tags[0])) for tags in alike]


@cache
def _among(*tags: str) -> Flags:
    """Is it one of these tags? By a tag's number."""
    return np.isin(block_tagger().names, tags)


@cache
def _of_kind(kind: str) -> Flags:
    return _among(*(tag for tag, its in KIND_OF.items() if its == kind))


@cache
def _before_no_noun() -> Flags:
    return np.array([name[:2] in BEFORE_NO_NOUN for name in block_tagger().names])


def _bits(word: str) -> int:
    """The tags with which a word may be replaced, as bits."""
    return sum(1 << block_tagger().tag[tag] for tag in replaceable_as(word))


class Kinds:
    """The classes of words that an operator replaces, each by its tags, the one of last resort last."""

    def __init__(self, tags: Iterable[frozenset[str]]) -> None:
        number = block_tagger().tag
        self._bits, self._kind = 0, np.zeros(len(number), np.intp)
        for kind, its in enumerate(tags):
            for tag in its:
                self._bits |= 1 << number[tag]
                self._kind[number[tag]] = kind

    def places(self, lines: Lines) -> tuple[Numbers, Numbers]:
        """The places of words that are of one of the classes, and which it is."""
        bits = lines.vocabulary.column(_bits)[lines.numbers] & self._bits
        places = np.flatnonzero(bits >> lines.tags & 1)
        return places, self._kind[lines.tags[places]]


class Spots:
    """Places of words in their texts, with what stands beside them."""

    def __init__(self, lines: Lines, places: Numbers, texts: Numbers) -> None:
        self._lines, self._places = lines, places
        self._first, self._stop = lines.first[texts], lines.stop[texts]
        self.begins, self.ends = places == self._first, places + 1 == self._stop
        start = block_tagger().tag[START]
        self._tags = lines.tags[places]
        self._before = np.where(self.begins, start, lines.tags[places - 1])
        self._after = np.where(self.ends, start, np.append(lines.tags, start)[places + 1])

    @cached_property
    def _closed(self) -> Flags:
        return ~_among(*KIND_OF)[self._tags]

    def _tag(self, *tags: str) -> Flags:
        return _among(*tags)[self._tags]

    def _word_beside(self, words: frozenset[str], step: int) -> Flags:
        """Is the word before or after one of these? Not for those at a border."""
        column = self._lines.vocabulary.column(words.__contains__)
        numbers = self._lines.numbers[np.minimum(self._places + step, len(self._lines.numbers) - 1)]
        found: Flags = (column[numbers] > 0) & ~(self.begins if step < 0 else self.ends)
        return found

    def _between(self, found: Flags, start: Numbers, stop: Numbers) -> Flags:
        """Is there something that was found between these places?"""
        places = np.flatnonzero(found)
        return np.searchsorted(places, start) < np.searchsorted(places, np.maximum(start, stop))

    def _words(self, words: frozenset[str]) -> Flags:
        return self._lines.vocabulary.column(words.__contains__)[self._lines.numbers] > 0

    def barred(self, strict: bool) -> Flags:
        """Which words are not replaced, whatever the thesaurus says? Parts of names, and of expressions."""
        nouns, name = _among(*NOUNS), _among("NNP")
        verbs = (
            _among(*BEFORE_NOUNS)[self._before]
            | (self.ends & nouns[self._before])
            | (self._word_beside(PARTICLES, 1) & ~_among("RP")[self._after])
        )
        adverbs = _among("IN")[self._before] | self._word_beside(_RIGHT, -1)
        if strict:
            verbs |= self._apart() | self._maybe_noun()
        found = self._of("n") & (nouns[self._before] | nouns[self._after])
        found |= self._of("a") & (name[self._before] | name[self._after])
        found |= self._of("v") & verbs
        found |= self._of("r") & adverbs
        found |= self._closed & self.ends
        if strict:
            found |= self._tag("JJ") & (self._may_be("NN") | self._may_be("VB"))
            found |= self._between(self._words(NAMING), self._first, self._places)
        return found

    def _of(self, kind: str) -> Flags:
        return _of_kind(kind)[self._tags]

    def _may_be(self, tag: str) -> Flags:
        return block_tagger().may_be(self._lines.classes[self._places], tag)

    def _maybe_noun(self) -> Flags:
        found: Flags = self._tag("VB") & self.begins & _among("IN", "TO")[self._after] & self._may_be("NN")
        return found

    def _apart(self) -> Flags:
        """Has the verb a particle farther away?"""
        stop = np.minimum(self._places + 1 + REACH, self._stop)
        particles = self._between(self._words(APART), self._places + 1, stop)
        return particles | self._between(_among("RP")[self._lines.tags], self._places + 2, stop)

    def codes(self) -> Numbers:
        """What `coded` makes of each place, for candidates that need not be sure nor strictly fit."""
        start, context = block_tagger().tag[START], self._lines.context
        last = np.where(self._places - 2 >= self._first, context[self._places - 2], start)
        earlier = np.where(self._places - 3 >= self._first, context[self._places - 3], start)
        closed = self._closed
        flag = self._of("v") & _among("RP")[self._after]
        if closed.any():
            last = np.where(closed, self._after, last)
            earlier = np.where(closed, 0, earlier)
            flag |= closed & self._farther()
        none = np.zeros(len(self._places), np.intp)
        return coded(self._tags, last, earlier, flag.astype(np.intp), none, none)

    def _farther(self) -> Flags:
        """What `farther` says of closed-class words."""
        between = self._between(self._words(_BETWEEN), self._first, self._places)
        return np.where(self._tag("DT"), self._plural(), between)

    def _plural(self) -> Flags:
        """Is the noun behind a determiner in the plural?"""
        tags = self._lines.tags
        nouns = _among(*NOUNS)[tags]
        ends = np.append(np.flatnonzero(nouns | _before_no_noun()[tags]), len(tags))
        noun = ends[np.searchsorted(ends, self._places + 1)]
        others = np.append(np.flatnonzero(~nouns), len(tags))
        last = np.minimum(others[np.searchsorted(others, noun)], self._stop) - 1
        found: Flags = (last >= noun) & (tags[last] == block_tagger().tag["NNS"])
        return found
