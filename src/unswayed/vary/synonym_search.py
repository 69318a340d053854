"""For many texts at once, which of their words has a candidate that fits: words are asked about in turn, all texts'
together, until there is an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from unswayed.vary.block import Texts
from unswayed.vary.block_tagger import Numbers
from unswayed.vary.lines import Flags, Lines
from unswayed.vary.operator import Text
from unswayed.vary.synonym_spots import Around, Spots
from unswayed.vary.thesaurus import STRICT, SURE, Options, Spot, thesaurus
from unswayed.vary.word_order import Tried


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


# A text's number, the place of a word of it, and what may stand there.
Asked = tuple[int, int, Options]


class Search:
    """The words of texts that are asked about, in the order in which they are tried."""

    def __init__(self, lines: Lines, tried: Tried, labels: Labels, last: int, strict: bool) -> None:
        """`last` is the class of words that is tried where no other word will do."""
        self._lines, self._labels, self._strict = lines, labels, strict
        spots, nothing = Spots(lines, tried.places, tried.texts), len(lines.words)
        free = np.flatnonzero(~spots.barred(strict))
        self._places: list[int] = tried.places[free].tolist()
        self._before: list[int] = np.where(spots.begins, nothing, tried.places - 1)[free].tolist()
        self._after: list[int] = np.where(spots.ends, nothing, tried.places + 1)[free].tolist()
        self._codes: list[int] = (spots.codes()[free] | (STRICT if strict else 0)).tolist()
        self._groups = _groups(tried.texts[free], tried.kinds[free] == last, len(lines))
        self._words, self._options = [*lines.words, ""], thesaurus().options
        self._first, self._stop, self._plain = lines.first.tolist(), lines.stop.tolist(), lines.plain.tolist()
        self._searches: dict[int, Iterator[Asked]] = {}  # of texts for which the first word was not enough

    def answers(self, most: int) -> Iterator[tuple[int, int, list[str]]]:
        """For each text with an answer its number, the place of the word, and its candidates, best first."""
        asked = self._first_asked()
        while asked:
            left = []
            for (n, place, options), order in zip(asked, self._orders(asked), strict=True):
                said = self._words[self._first[n] : self._stop[n]] if self._strict else ()
                if best := options.best(order, most, said):
                    yield n, place, best
                else:
                    left.append(n)
            asked = [found for n in left if (found := self._next_asked(n, 1))]

    def _orders(self, asked: Sequence[Asked]) -> Iterable[list[int] | None]:
        """What `Thesaurus.orders` says of each word for which the line decides."""
        open_ = [one for one in asked if one[2].alone is None]
        if not open_:
            return [None] * len(asked)
        texts, places, options = zip(*open_, strict=True)
        around = self._lines.once(Around).of(list(texts), list(places))
        orders = iter(thesaurus().orders(options, around, [self._strict] * len(open_)))
        return [next(orders) if options.alone is None else None for _, _, options in asked]

    def _first_asked(self) -> list[Asked]:
        """What is asked first in each text: mostly about the first word that is tried."""
        firsts = [(n, (first or last)[0]) for n, (first, last) in enumerate(self._groups) if first or last]
        asked = []
        for n, k in firsts:
            options = self._options(self._spot(k, SURE))
            if options is not None and not self._titled(n, k):
                asked.append((n, self._places[k], options))
            elif found := self._next_asked(n, 0):
                asked.append(found)
        return asked

    def _next_asked(self, n: int, before: int) -> Asked | None:
        """What is asked next in a text, in which so many words were asked about before it is searched."""
        search = self._searches.get(n)
        if search is None:
            search = self._searches[n] = islice(self._asked(n), before, None)
        return next(search, None)

    def _asked(self, n: int) -> Iterator[Asked]:
        """What to ask about the words of a text, one after another until there is an answer.

        Words outside titles come first, with candidates that surely fit.
        """
        for group in self._groups[n]:
            later = []
            for k in group:
                options = self._options(self._spot(k, SURE))
                if options is None:
                    continue
                if self._titled(n, k):
                    later.append(k)
                else:
                    yield n, self._places[k], options
            for k in later if self._strict else group:
                options = self._options(self._spot(k, SURE if self._strict else 0))
                if options is not None:
                    yield n, self._places[k], options

    def _titled(self, n: int, k: int) -> bool:
        if self._labels.none:
            return False
        place = self._places[k]
        return self._labels.titled(n, place - self._first[n], int(self._lines.begins[place]), self._plain[n])

    def _spot(self, k: int, sure: int) -> Spot:
        words = self._words
        return words[self._places[k]], words[self._before[k]], words[self._after[k]], self._codes[k] | sure


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
