"""Random homophones: the baseline of READIN's paper, against which real typing is compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log, log1p
from typing import TYPE_CHECKING, NamedTuple

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams
from unswayed.vary.block import BlockOperator, SingleEdits, Texts
from unswayed.vary.chinese import lexicon
from unswayed.vary.operator import Change, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUARTER = 2**16  # of 64 random bits
_new = tuple.__new__  # half the price of calling the class, which is what most of the time goes into
_FIRST, _LAST = 0x4E00, 0x9FFF  # code points of Chinese characters
_COMMON = 3500  # characters: those that the Chinese standard for general use calls common


@lru_cache(1)
def homophones() -> dict[str, str]:
    """The other common simplified characters that sound like each common one, tone aside."""
    frequency = lexicon().frequency
    single = sorted((c for c in frequency if len(c) == 1), key=lambda c: (-frequency[c], c))
    alike: dict[tuple[str, ...] | None, list[str]] = {}
    for c in single[:_COMMON]:
        alike.setdefault(lexicon().reading(c), []).append(c)
    return {c: "".join(o for o in same if o != c) for same in alike.values() for c in same if len(same) > 1}


class _Table(NamedTuple):
    """How many homophones each Chinese character has, where they begin among all, and the code points of all."""

    counts: NDArray[np.uint32]
    firsts: NDArray[np.uint32]
    news: NDArray[np.uint32]


@lru_cache(1)
def _table() -> _Table:
    import numpy as np

    alike = homophones()
    counts, firsts = np.zeros((2, _LAST - _FIRST + 2), np.uint32)
    places = [ord(c) - _FIRST for c in alike]
    counts[places] = sizes = np.array([len(others) for others in alike.values()], np.uint32)
    firsts[places] = np.cumsum(sizes) - sizes
    return _Table(counts, firsts, np.array([ord(c) for others in alike.values() for c in others], np.uint32))


@lru_cache(8)
def _jumps(rate: float) -> list[int]:
    """How many characters are passed over before the next one that is replaced, by a quarter of the bits."""
    gap = 1 / log(1 - rate) if rate < 1 else 0.0
    return [int(log1p(-k / _QUARTER) * gap) for k in range(_QUARTER)]


@lru_cache(8)
def _steps(rate: float) -> NDArray[np.int64]:
    import numpy as np

    return np.array(_jumps(rate), np.int64) + 1


class Homophone(BlockOperator):
    """Replaces single characters by others that sound the same, each with probability `rate`, and at least one.

    People make other mistakes: they get whole words wrong. See `keyboard/pinyin`.
    """

    languages = ("zh",)
    presets = ("typing",)
    example = ("请帮我查一下明天的高铁票", "请帮我查一下铭天的高铁票")

    def __init__(self, rate: float = 0.15) -> None:
        if not 0 < rate <= 1:
            raise ValueError(f"rate must be above 0 and at most 1, not {rate}")
        self.rate = rate
        self._jumps = _jumps(rate)
        self._alike = homophones()

    def change(self, text: Text, rng: Stream) -> Change | None:
        return self._change(text.text, rng)

    def _change(self, chars: str, rng: Stream) -> Change | None:
        alike, jumps, bits = self._alike, self._jumps, rng.bits
        edits = []
        n, at, drawn, used = len(chars), 0, 0, True
        while True:
            # a quarter of the bits says how far the next replaced character is, another one what replaces it
            used = not used
            drawn = drawn >> 32 if used else bits()
            at += jumps[drawn & 0xFFFF]
            if at >= n:
                break
            others = alike.get(chars[at])
            if others:
                edits.append(_new(Edit, (at, at + 1, others[(drawn >> 16 & 0xFFFF) * len(others) >> 16])))
            at += 1
        if not edits:
            places = [i for i in range(n) if chars[i] in alike]
            if not places:
                return None
            at = rng.choice(places)
            edits.append(Edit(at, at + 1, rng.choice(alike[chars[at]])))
        at, _, new = edits[0]
        return _new(Change, (tuple(edits), f"{chars[at]}→{new} at {at}, {len(edits)} in all"))

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        """Without labels in the texts, all edits of a text can be one: from the first to the last new character."""
        if texts.task is not None or texts.letters.codes.itemsize == 1:
            return [self.change(text, rng) for text, rng in zip(texts, streams, strict=True)]
        codes, counts, firsts, lasts = self._replaced(texts, streams)
        new = codes.tobytes().decode("utf-32-le", "surrogatepass")
        starts: list[int] = texts.letters.starts.tolist()
        news = [
            new[start + first : start + end] if count else None
            for start, count, first, end in zip(starts, counts, firsts, lasts, strict=True)
        ]
        none = [i for i, count in enumerate(counts) if not count]
        others = {i: change for i in none if (change := self._change(texts.strings[i], streams[i]))}

        def notes() -> list[str]:
            each = zip(texts.strings, news, counts, firsts, strict=True)
            return [f"{text[at]}→{new[0]} at {at}, {count} in all" if new else "" for text, new, count, at in each]

        return SingleEdits(OneEach(firsts, lasts, news), notes, others)

    def _replaced(self, texts: Texts, streams: Streams) -> tuple[NDArray[np.uint32], list[int], list[int], list[int]]:
        """What `change` draws, in the same order: a row for each text, a column for each character that it comes to.

        The code points afterwards; and of each text, how many are new, the first new one, and the one after the last.
        None are new where more numbers are needed than are at hand.
        """
        import numpy as np

        codes, starts, sizes = texts.letters
        table, drawn = _table(), streams.numbers.view("<u4")  # halves of numbers, the lower one first
        at = np.cumsum(_steps(self.rate)[drawn & 0xFFFF], axis=1) - 1
        there = at < sizes[:, None]
        rows, columns = np.nonzero(there & ~there[:, -1:])
        places = at[rows, columns]
        found = codes[starts[rows] + places] - np.uint32(_FIRST)
        found = np.minimum(found, _LAST - _FIRST + 1)  # other characters, also those before, which wrap around
        sounds = table.counts[found]
        rows, columns, places, found, sounds = (a[sounds > 0] for a in (rows, columns, places, found, sounds))
        chosen = table.firsts[found] + ((drawn[rows, columns] >> 16) * sounds >> 16)
        changed = codes.copy()
        changed[starts[rows] + places] = table.news[chosen]
        counts = np.bincount(rows, minlength=len(texts))
        ends = np.cumsum(counts)
        places = np.append(places, 0)
        firsts, lasts = places[ends - counts], places[ends - 1] + 1
        return changed, counts.tolist(), firsts.tolist(), lasts.tolist()
