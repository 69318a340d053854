"""The tagger for the words of many texts at once: the same tables as `Tagger` has, as arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unswayed.vary.english import START, Tagger, tagger, tags_of

Numbers = NDArray[np.intp]
_FAR = 2  # words before a word that may decide about it
_FEW = 12  # words in a round, up to which one by one is quicker
_MOST_WORDS = 100_000  # that are remembered


class BlockTagger:
    """Decides about words by the numbers of their classes.

    A tag's number is also that of the class of words that have no other tag, so that what is no tag is undecided. A
    word that has decisions of its own is a class by itself.
    """

    def __init__(self, known: Tagger) -> None:
        kinds = [kind for kind in known.views if "|" in kind]
        own = list(known.own)
        self.names, self.tag = known.names, known.number
        views = {view: n for n, view in enumerate(sorted(set(known.views.values())))}
        classes = [*self.names, *kinds, *map(known.class_of, own)]
        self._tagger = known
        self._numbers = {kind: n for n, kind in enumerate([*self.names, *kinds])}
        self._of_own = {word: n for n, word in enumerate(own, len(self._numbers))}
        self._views: Numbers = np.array([views[known.views.get(kind, START)] for kind in classes])
        self._classes = classes
        self._may_be: dict[str, NDArray[np.bool_]] = {}
        self._rows: list[list[int]] = []
        said = self._said(kinds, views)
        said = np.concatenate((said, said[[self._numbers[known.class_of(word)] - len(self.names) for word in own]]))
        for n, word in enumerate(own, len(kinds)):
            for (last, view), tag in known.own[word].items():
                said[n, self.tag[last], views[view]] = self.tag[tag]
        self._table, self._width = said.ravel(), len(views)
        self._by_before: Numbers = np.array(self._rows)

    def _said(self, kinds: Sequence[str], views: dict[str, int]) -> Any:
        """What classes' decisions say, by last tag and view of the next word. A number that is no tag is that of a row,
        where the tag before the last decides."""
        said = np.zeros((len(kinds), len(self.names), len(views)), np.int16)
        for n, kind in enumerate(kinds):
            for last, by_view in sorted(self._tagger.decisions[kind].items()):  # what is said of the rest comes first
                rows = said[n, self.tag[last]] if last else said[n]
                for view, tag in sorted(by_view.items()):
                    rows[..., views[view] if view else slice(None)] = self._decided(tag)
        return said

    def _decided(self, tag: str | dict[str, str]) -> int:
        if isinstance(tag, str):
            return self.tag[tag]
        self._rows.append([self.tag[tag.get(before) or tag[""]] for before in self.names])
        return len(self.names) + len(self._rows) - 1

    def class_of(self, word: str) -> int:
        """The number of a lower-case word's class."""
        found = self._of_own.get(word)
        return self._numbers[self._tagger.class_of(word)] if found is None else found

    def may_be(self, classes: Numbers, tag: str) -> NDArray[np.bool_]:
        """May words of these classes have the tag?"""
        if tag not in self._may_be:
            self._may_be[tag] = np.array([tag in tags_of(kind) for kind in self._classes])
        return self._may_be[tag][classes]

    def tags(self, classes: Numbers, sentences: Numbers) -> Numbers:
        """The tags of words, by their classes and the numbers of their sentences, which ascend."""
        places = np.arange(_FAR, len(classes) + _FAR) + _FAR * sentences
        found = np.full(int(places[-1]) + _FAR if len(places) else _FAR, self.tag[START])
        found[places] = classes
        self._decide(found)
        tags: Numbers = found[places]
        return tags

    def _decide(self, found: Numbers) -> None:
        """Puts tags in place of classes, where sentences have others' beginnings and ends far enough away.

        A word can be decided about when those before it are. So the first undecided words of all chains are first, then
        the second ones, and so on.
        """
        open_ = np.flatnonzero(found >= len(self.names))
        if not len(open_):
            return
        numbers = np.arange(len(open_))
        begins = np.diff(open_, prepend=-_FAR - 1) > _FAR
        nth = numbers - np.maximum.accumulate(np.where(begins, numbers, 0))
        in_turn = np.argsort(nth, kind="stable")
        places = open_[in_turn]
        cells = (found[places] - len(self.names)) * (len(self.names) * self._width) + self._views[found[places + 1]]
        start = 0
        for size in np.bincount(nth).tolist():
            if size < _FEW:
                break
            its = slice(start, start + size)
            found[places[its]] = self._tags_at(found, places[its], cells[its])
            start += size
        self._one_by_one(found, places[start:].tolist(), cells[start:].tolist())

    def _tags_at(self, found: Numbers, places: Numbers, cells: Numbers) -> Any:
        said = self._table[cells + found[places - 1] * self._width]
        by_before = np.flatnonzero(said >= len(self.names))
        if len(by_before):
            said[by_before] = self._by_before[said[by_before] - len(self.names), found[places[by_before] - 2]]
        return said

    def _one_by_one(self, found: Numbers, places: list[int], cells: list[int]) -> None:
        """The same for words of which none, or few, can be decided about together."""
        count, table, width = len(self.names), self._table, self._width
        for place, cell in zip(places, cells, strict=True):
            tag = table[cell + found[place - 1] * width]
            found[place] = tag if tag < count else self._by_before[tag - count, found[place - 2]]


@lru_cache(1)
def block_tagger() -> BlockTagger:
    return BlockTagger(tagger())


class Vocabulary(dict[str, int]):
    """Numbers of words, and what follows from a word alone as columns. A word gets its number when it is looked up."""

    def __init__(self) -> None:
        self._columns: dict[Callable[[str], int], Numbers] = {}
        self._filled: dict[Callable[[str], int], int] = {}

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number

    def column(self, of: Callable[[str], int]) -> Numbers:
        """What the function says of each word, by the word's number. It is asked once about each."""
        column, filled = self._columns.get(of), self._filled.get(of, 0)
        if column is None or len(column) < len(self):
            larger = np.zeros(2 * len(self), np.intp)  # with room for words to come, so that few are copied often
            if column is not None:
                larger[:filled] = column[:filled]
            column = self._columns[of] = larger
        if filled < len(self):
            new = list(islice(reversed(self), len(self) - filled))
            column[filled : len(self)] = list(map(of, reversed(new)))
            self._filled[of] = len(self)
        return column


class _Thread(threading.local):
    """What a thread has of its own, since two may not number words at once."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()


_thread = _Thread()


def vocabulary() -> Vocabulary:
    """That of texts that are read now. A full one is given up, but not what was read with it."""
    if len(_thread.vocabulary) > _MOST_WORDS:
        _thread.vocabulary = Vocabulary()
    return _thread.vocabulary
