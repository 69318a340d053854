"""Which words of a block of texts may be replaced, in which order they are tried, and what stands beside each.

All of it is found with arrays for all texts at once; `Thesaurus.options` then says what may stand in a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from unswayed.base.seeds import Streams, below
from unswayed.vary.english import KIND_OF, START, replaceable_as
from unswayed.vary.fitting import BEFORE_NO_NOUN, BEFORE_NOUNS, NAMING, NOUNS, PARTICLES
from unswayed.vary.thesaurus import coded, thesaurus
from unswayed.vary.word_table import Flags, Numbers, WordTable, array_tagger

_RIGHT, _BETWEEN = frozenset(("right",)), frozenset(("between",))
_PARTED, _REACH = frozenset(("up", "down", "out", "back", "away", "over")), 5  # particles words after their verb
_MIN_GROUPS = 8  # groups that are shuffled together; fewer are quicker one by one


class ContextVectors:
    """The directions in which the words of texts point, for those that look at the whole text."""

    def __init__(self, table: WordTable) -> None:
        self._table = table

    @cached_property
    def _rows(self) -> Numbers:
        """The row of each word's vector; 0 for words without one."""
        table, rows = self._table, np.zeros(len(self._table.words), np.intp)
        for tags, row_of in _rows_by_tags():
            at = np.flatnonzero(tags[table.tags])
            rows[at] = table.vocabulary.column(row_of)[table.numbers[at]]
        return rows

    def around(self, texts: list[int], places: list[int]) -> Any:
        """For the word at each place of a text, the mean direction of the text's other words."""
        asked = np.zeros(len(self._table), bool)
        asked[texts] = True
        at = np.flatnonzero(asked[self._table.texts] & (self._rows > 0))
        counts = np.bincount(self._table.texts[at], minlength=len(asked))
        some = np.flatnonzero(counts)
        sums = np.zeros((len(counts), thesaurus().vectors.shape[1]), np.float32)
        if len(some):
            sums[some] = np.add.reduceat(thesaurus().vectors[self._rows[at]], np.cumsum(counts[some]) - counts[some])
        return thesaurus().directions(sums[texts], counts[texts], self._rows[places])


@lru_cache(1)
def _rows_by_tags() -> list[tuple[Flags, Callable[[str], int]]]:
    """Tags under which a word has the same vector, and what finds its row."""
    alike = ("VB", "NN", "JJ", "RB"), ("VBD", "VBN", "VBG", "VBZ"), ("NNS",), ("JJR", "JJS")
    return [(_among(*tags), partial(thesaurus().row_of, tag=tags[0])) for tags in alike]


@cache
def _among(*tags: str) -> Flags:
    """Is it one of these tags? By a tag's number."""
    return np.isin(array_tagger().names, tags)


@cache
def _of_kind(kind: str) -> Flags:
    return _among(*(tag for tag, its in KIND_OF.items() if its == kind))


@cache
def _before_no_noun() -> Flags:
    return np.array([name[:2] in BEFORE_NO_NOUN for name in array_tagger().names])


def _tag_bits(word: str) -> int:
    """The tags with which a word may be replaced, as bits."""
    return sum(1 << array_tagger().tag[tag] for tag in replaceable_as(word))


class WordClasses:
    """The classes of words that an operator replaces, each by its tags, the one of last resort last."""

    def __init__(self, tags: Iterable[frozenset[str]]) -> None:
        number = array_tagger().tag
        self._bits, self._class = 0, np.zeros(len(number), np.intp)
        for n, its in enumerate(tags):
            for tag in its:
                self._bits |= 1 << number[tag]
                self._class[number[tag]] = n

    def places(self, table: WordTable) -> tuple[Numbers, Numbers]:
        """The places of words that are of one of the classes, and which it is."""
        bits = table.vocabulary.column(_tag_bits)[table.numbers] & self._bits
        places = np.flatnonzero(bits >> table.tags & 1)
        return places, self._class[table.tags[places]]


class WordPlaces:
    """Places of words in their texts, with what stands beside them."""

    def __init__(self, table: WordTable, places: Numbers, texts: Numbers) -> None:
        self._table, self._places = table, places
        self._first, self._stop = table.first[texts], table.stop[texts]
        self._begins, self._ends = places == self._first, places + 1 == self._stop
        start = array_tagger().tag[START]
        self._tags = table.tags[places]
        self._before = np.where(self._begins, start, table.tags[places - 1])
        self._after = np.where(self._ends, start, np.append(table.tags, start)[places + 1])

    def columns(self, those: Numbers) -> tuple[list[int], list[int], list[int], list[int]]:
        """Of those among the places: the places, those of the words before and after, and what is `coded` of each, for
        candidates that need not be sure nor strictly fit. A word that is not there is the one behind all words."""
        nothing, places = len(self._table.words), self._places[those]
        before = np.where(self._begins[those], nothing, places - 1)
        after = np.where(self._ends[those], nothing, places + 1)
        return places.tolist(), before.tolist(), after.tolist(), self._codes()[those].tolist()

    def unfit(self, strict: bool) -> Flags:
        """Which words have nothing that may stand for them, whatever the thesaurus says? Those of expressions such as
        *from now* and *right now*, closed-class words at the end, and for strict operators verbs parted from their
        particle."""
        found = self._of("r") & (_among("IN")[self._before] | self._word_beside(_RIGHT, -1))
        found |= self._closed & self._ends
        if strict:
            stop = np.minimum(self._places + 1 + _REACH, self._stop)
            particles = self._between(self._words(_PARTED), self._places + 1, stop)
            particles |= self._between(_among("RP")[self._table.tags], self._places + 2, stop)
            found |= self._of("v") & particles
        return found

    def spared(self, strict: bool) -> Flags:
        """Which words are parts of names and compounds, as `in_name` says; and for strict operators those whose tag may
        be wrong, or which follow a word that says what something is called?"""
        nouns, name = _among(*NOUNS), _among("NNP")
        verbs = (
            _among(*BEFORE_NOUNS)[self._before]
            | (self._ends & nouns[self._before])
            | (self._word_beside(PARTICLES, 1) & ~_among("RP")[self._after])
        )
        found = self._of("n") & (nouns[self._before] | nouns[self._after])
        found |= self._of("a") & (name[self._before] | name[self._after])
        found |= self._of("v") & verbs
        if strict:
            noun, verb = (array_tagger().may_be(self._table.classes[self._places], tag) for tag in ("NN", "VB"))
            found |= _among("JJ")[self._tags] & (noun | verb)
            found |= _among("VB")[self._tags] & self._begins & _among("IN", "TO")[self._after] & noun
            found |= self._between(self._words(NAMING), self._first, self._places)
        return found

    @cached_property
    def _closed(self) -> Flags:
        return ~_among(*KIND_OF)[self._tags]

    def _of(self, kind: str) -> Flags:
        return _of_kind(kind)[self._tags]

    def _words(self, words: frozenset[str]) -> Flags:
        return self._table.vocabulary.column(words.__contains__)[self._table.numbers] > 0

    def _word_beside(self, words: frozenset[str], step: int) -> Flags:
        """Is the word before or after one of these? Not for those at a border."""
        column = self._table.vocabulary.column(words.__contains__)
        numbers = self._table.numbers[np.minimum(self._places + step, len(self._table.numbers) - 1)]
        found: Flags = (column[numbers] > 0) & ~(self._begins if step < 0 else self._ends)
        return found

    def _between(self, found: Flags, start: Numbers, stop: Numbers) -> Flags:
        """Is there something that was found between these places?"""
        places = np.flatnonzero(found)
        return np.searchsorted(places, start) < np.searchsorted(places, np.maximum(start, stop))

    def _codes(self) -> Numbers:
        start, context = array_tagger().tag[START], self._table.context
        last = np.where(self._places - 2 >= self._first, context[np.maximum(self._places - 2, 0)], start)
        earlier = np.where(self._places - 3 >= self._first, context[np.maximum(self._places - 3, 0)], start)
        closed = self._closed
        flag = self._of("v") & _among("RP")[self._after]
        if closed.any():
            last = np.where(closed, self._after, last)
            earlier = np.where(closed, 0, earlier)
            between = self._between(self._words(_BETWEEN), self._first, self._places)
            flag |= closed & np.where(_among("DT")[self._tags], self._plural(), between)
        none = np.zeros(len(self._places), np.intp)
        return coded(self._tags, last, earlier, flag.astype(np.intp), none, none)

    def _plural(self) -> Flags:
        """Is the noun behind a determiner in the plural: *these movie schedules*, but *this flight*?"""
        tags = self._table.tags
        nouns = _among(*NOUNS)[tags]
        ends = np.append(np.flatnonzero(nouns | _before_no_noun()[tags]), len(tags))
        noun = ends[np.searchsorted(ends, self._places + 1)]
        others = np.append(np.flatnonzero(~nouns), len(tags))
        last = np.minimum(others[np.searchsorted(others, noun)], self._stop) - 1
        found: Flags = (last >= noun) & (tags[last] == array_tagger().tag["NNS"])
        return found


class TrialOrder(NamedTuple):
    """Places in the order in which they are tried, and their texts and classes; and a number of each text's stream that
    decided nothing yet."""

    places: Numbers
    texts: Numbers
    classes: Numbers
    numbers: list[int]


def order_at_random(places: Numbers, texts: Numbers, classes: Numbers, mixed: int, streams: Streams) -> TrialOrder:
    """Orders the places of each text, where texts ascend: one of the first `mixed` classes at random, then the others
    of these, each shuffled as `Stream.sample` does; the class behind these comes last."""
    count = mixed + 1
    sizes = np.bincount(texts * count + classes, minlength=len(streams) * count).reshape(-1, count)
    last = sizes.sum(1) + count
    numbers, starts = streams.first((last + 1).tolist())
    drawn, rows = np.tile(np.arange(count), (len(starts), 1)), np.arange(len(starts))  # classes as they are tried
    for n in range(mixed - 1):
        other = n + below(numbers[starts + n], np.full(len(starts), mixed - n, np.uint64)).astype(np.intp)
        drawn[rows, other], drawn[:, n] = drawn[:, n], drawn[rows, other]
    turns = np.argsort(drawn, 1)
    sizes = np.take_along_axis(sizes, drawn, 1)
    used = mixed + np.cumsum(sizes, 1) - sizes  # numbers, before it is a class's turn
    used[:, mixed] += 1
    order = np.argsort(texts * count + turns[texts, classes], kind="stable")
    _shuffle_groups(order, sizes.ravel(), (starts[:, None] + used).ravel(), numbers)
    return TrialOrder(places[order], texts[order], classes[order], numbers[starts + last].tolist())


def _shuffle_groups(items: Numbers, sizes: Numbers, used: Numbers, numbers: Any) -> None:
    """Shuffles groups of items, of these sizes and one after the other, each with the numbers from this place on."""
    starts = np.cumsum(sizes) - sizes
    groups, n = np.flatnonzero(sizes > 1), 0
    while len(groups) > _MIN_GROUPS:
        one = starts[groups] + n
        other = one + below(numbers[used[groups] + n], (sizes[groups] - n).astype(np.uint64)).astype(np.intp)
        items[one], items[other] = items[other], items[one]
        n += 1
        groups = groups[sizes[groups] > n + 1]
    for group in groups.tolist():
        start, end = int(starts[group]), int(starts[group] + sizes[group])
        its = items[start:end].tolist()
        for i, number in enumerate(numbers[used[group] + n : used[group] + len(its) - 1].tolist(), n):
            j = i + (number * (len(its) - i) >> 64)
            its[i], its[j] = its[j], its[i]
        items[start:end] = its
