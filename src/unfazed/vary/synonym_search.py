"""For many texts at once, which of their words has a candidate that fits: words are asked about in turn, all texts'
together, until there is an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unfazed.vary.block import Texts
from unfazed.vary.block_tagger import Numbers
from unfazed.vary.lines import Flags, Lines
from unfazed.vary.operator import Text
from unfazed.vary.synonym_spots import Around, Spots
from unfazed.vary.thesaurus import STRICT, SURE, Options, thesaurus
from unfazed.vary.word_order import Tried


class Labels:
    """What the labels of texts say of their words."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts
        block = texts if isinstance(texts, Texts) else None  # which has no Text yet, and most need none
        self._tags = block.tags if block else [None] * len(texts)
        self.none = block is not None and block.task is None

    def free(self, texts: Numbers, begins: Numbers) -> Flags:
        """Which words, that begin there in these texts, are in no labelled value?"""
        if self.none:
            return np.ones(len(texts), bool)
        each = zip(texts.tolist(), begins.tolist(), strict=True)
        return np.array([not self._texts[n].labelled(at) for n, at in each], bool)

    def titled(self, n: int, i: int, at: int, plain: bool) -> bool:
        """Does a word, which begins here, stand in a labelled value of several words, which may be a name or a title?

        `plain` says whether the text's tokens are its words.
        """
        if self.none:
            return False
        tags = self._tags[n]
        if tags is not None and plain:
            return tags[i] != "O" and _of_several(tags, i)
        text = self._texts[n]
        return text.labelled(at) and any(
            start <= at < end and " " in text.text[start:end] for start, end in text.marked
        )


class Search:
    """The words of texts that are asked about, in the order in which they are tried."""

    def __init__(self, lines: Lines, tried: Tried, labels: Labels, last: int, strict: bool) -> None:
        """`last` is the class of words that is tried where no other word will do."""
        self._around = lines.once(Around)
        spots = Spots(lines, tried.places, tried.texts)
        free = ~spots.barred(strict)
        self._texts, self._labels, self._strict = tried.texts[free], labels, strict
        self._words, self._table = lines.words, thesaurus()
        self._places: list[int] = tried.places[free].tolist()
        self._begins: list[bool] = spots.begins[free].tolist()
        self._ends: list[bool] = spots.ends[free].tolist()
        self._codes: list[int] = (spots.codes()[free] | (STRICT if strict else 0)).tolist()
        self._first, self._stop = lines.first.tolist(), lines.stop.tolist()
        self._plain, self._at = lines.plain.tolist(), lines.begins
        self._groups = _groups(self._texts, tried.kinds[free] == last, len(lines))

    def answers(self, most: int) -> Iterator[tuple[int, int, list[str]]]:
        """For each text with an answer its number, the place of the word, and its candidates, best first."""
        texts = sorted(set(self._texts.tolist()))
        searches = [(n, self._asked(n)) for n in texts]
        while searches:
            asked = [(n, search, found) for n, search in searches if (found := next(search, None))]
            open_ = [(n, place, options) for n, _, (place, options) in asked if options.alone is None]
            orders = iter(self._orders(open_))
            searches = []
            for n, search, (place, options) in asked:
                order = next(orders) if options.alone is None else None
                said = self._words[self._first[n] : self._stop[n]] if self._strict else ()
                if found := options.best(order, most, said):
                    yield n, place, found
                else:
                    searches.append((n, search))

    def _orders(self, asked: Sequence[tuple[int, int, Options]]) -> list[list[int]]:
        if not asked:
            return []
        texts, places, options = zip(*asked, strict=True)
        around = self._around.of(list(texts), list(places))
        return self._table.orders(options, around, [self._strict] * len(asked))

    def _asked(self, n: int) -> Iterator[tuple[int, Options]]:
        """What to ask about the words of a text, one after another until there is an answer, as `_questions` does."""
        for group in self._groups[n]:
            later = []
            for k in group:
                options = self._options(k, SURE)
                if options is None:
                    continue
                if self._titled(n, k):
                    later.append(k)
                else:
                    yield self._places[k], options
            for k in later if self._strict else group:
                options = self._options(k, SURE if self._strict else 0)
                if options is not None:
                    yield self._places[k], options

    def _titled(self, n: int, k: int) -> bool:
        if self._labels.none:
            return False
        place = self._places[k]
        return self._labels.titled(n, place - self._first[n], int(self._at[place]), self._plain[n])

    def _options(self, k: int, sure: int) -> Options | None:
        words, place = self._words, self._places[k]
        before = "" if self._begins[k] else words[place - 1]
        after = "" if self._ends[k] else words[place + 1]
        return self._table.options((words[place], before, after, self._codes[k] | sure))


def _groups(texts: Numbers, last: Flags, count: int) -> list[tuple[range, range]]:
    """For each text, where its words stand that are tried first, and those that are tried last."""
    every = np.arange(count)
    starts, ends = np.searchsorted(texts, every), np.searchsorted(texts, every, "right")
    middles = ends - np.bincount(texts[last], minlength=count)
    each = zip(starts.tolist(), middles.tolist(), ends.tolist(), strict=True)
    return [(range(start, middle), range(middle, end)) for start, middle, end in each]


def _of_several(tags: Sequence[str], i: int) -> bool:
    """Does the slot of a token that has a tag have more tokens?"""
    name = tags[i][2:]
    goes_on = i > 0 and tags[i][0] in "IE" and tags[i - 1][2:] == name
    return bool(name) and (goes_on or (i + 1 < len(tags) and tags[i + 1][0] in "IE" and tags[i + 1][2:] == name))
