"""Statistics as functions of sums over examples, and resampling by example: bootstrap samples of a statistic, and its
distribution when two systems are swapped.

If examples take few distinct rows, the rows are counted and their counts drawn, which has the same distribution as
drawing examples and costs next to nothing. Otherwise `draw_counts` draws how often each example is in a sample.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import exp
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MeanKind = Literal[
    "share",  # the mean of numbers that may lie anywhere in their span
    "difference",  # the mean of differences, most of which are zero
    "contrast",  # the same where an unseen number lies halfway to the end of the span, as pseudo-values do
]
Counts = npt.NDArray[np.uint8]
_SOON = 256  # rows in which most columns show all of their values
_CELLS = 1 << 22  # numbers held at once by a worker: bounds the memory, whatever the number of examples
_ONE_THREAD = 1 << 18  # multiplications up to which OpenBLAS uses no threads
_BLOCK = 1 << 16  # examples whose rows are looked at together
_STATES = 1 << 16  # of 16 random bits
_ALWAYS_COUNT = 64  # distinct rows up to which counting is used without weighing costs


def ratio(above: Array, below: Array) -> Array:
    """above / below, and NaN where below is zero."""
    out: Array = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=out, where=below != 0)
    return out


class Statistic:
    """`columns` turns the distinct values of examples into numbers to be summed; a call turns sums into the number."""

    def columns(self, distinct: Array) -> Array:
        return distinct

    def __call__(self, sums: Array, n: int) -> Array:
        """The statistic of each row of sums over n examples; NaN where it is not defined."""
        raise NotImplementedError

    @property
    def id(self) -> str:
        return type(self).__name__


class Mean(Statistic):
    """The mean over examples of one number."""

    def __call__(self, sums: Array, n: int) -> Array:
        return sums[:, 0] / n


class Ratio(Statistic):
    """The sum of one number over that of another, such as flips over variants."""

    def __call__(self, sums: Array, n: int) -> Array:
        return ratio(sums[:, 0], sums[:, 1])


@dataclass(frozen=True)
class Paired(Statistic):
    """A statistic of the right half of the columns less that of the left half."""

    inner: Statistic

    def columns(self, distinct: Array) -> Array:
        left, right = np.hsplit(distinct, 2)
        return np.hstack([self.inner.columns(left), self.inner.columns(right)])

    def __call__(self, sums: Array, n: int) -> Array:
        left, right = np.hsplit(sums, 2)
        return self.inner(right, n) - self.inner(left, n)

    @property
    def id(self) -> str:
        return f"paired {self.inner.id}"


@dataclass(frozen=True)
class Observations:
    """What a measure rests on: a row of `values` for each of `examples`, and the statistic of their sums.

    `missing` counts, for every example, the items without an output that should have counted. `span` is the least and
    the greatest that the measure can be. `unit` is the difference that the one clean answer makes, if it is right or
    wrong and is compared with the mean of several.
    """

    examples: Ints
    values: Array
    statistic: Statistic
    missing: Ints
    span: tuple[float, float] = (0.0, 1.0)
    kind: MeanKind = "share"
    unit: float | None = None


@dataclass(frozen=True)
class Sample:
    """The distinct rows of some examples, how many examples have each, and the statistic of their sums."""

    rows: Array
    counts: Ints
    statistic: Statistic

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def value(self) -> float:
        return float(self.statistic(self.counts[None, :] @ self.rows, self.n)[0])

    @property
    def id(self) -> bytes:
        """The same for samples that give the same numbers, so that none is drawn twice."""
        h = blake2b(repr((self.rows.shape, self.statistic.id)).encode(), digest_size=16)
        h.update(self.rows.tobytes())
        h.update(self.counts.tobytes())
        return h.digest()

    @property
    def few_rows(self) -> bool:
        """Is drawing the counts of distinct rows cheaper than drawing examples? Costs are in nanoseconds."""
        distinct, columns = self.rows.shape
        return distinct <= _ALWAYS_COUNT or bool(distinct * (50 + columns / 10) < self.n * (2 + columns / 20))


def sample_of(values: Array, statistic: Statistic) -> Sample:
    """Groups examples with equal rows. `values` has a row for each example, as the statistic reads it."""
    distinct, counts = count_rows(values)
    return Sample(statistic.columns(distinct), counts, statistic)


def count_rows(values: Array) -> tuple[Array, Ints]:
    """The distinct rows in ascending order and how often each occurs; or the rows as they are, once each."""
    n = len(values)
    code = _numbered(values)
    if code is None:
        rows, counts = np.unique(values, axis=0, return_counts=True)
        return rows, counts.astype(np.int64)
    counts = np.bincount(code)
    if len(counts) > n // 2:
        return values, np.broadcast_to(np.int64(1), (n,))
    return values[_first(code, len(counts))], counts.astype(np.int64)


def merge_rows(rows: Array, counts: Ints) -> tuple[Array, Ints]:
    """The distinct rows in ascending order, and how often they occur where each of `rows` occurs `counts` times."""
    code = _numbered(rows)
    if code is None:
        code = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    total = np.bincount(code, weights=counts)
    return rows[_first(code, len(total))], total.astype(np.int64)


def _numbered(values: Array) -> Ints | None:
    """For each row its number among the distinct ones in ascending order; None if columns have too many values."""
    # A row becomes one number, with a digit for each column in the base of that column's number of values. Sorting
    # numbers is far quicker than sorting rows. Where the numbers would not fit in 62 bits, the caller sorts rows.
    n, width = values.shape
    code, radix = np.zeros(n, dtype=np.int64), 1
    for column in values.T:
        soon = np.unique(column[:_SOON])  # most columns show all of their values soon, which saves a sort of the whole
        place = np.minimum(np.searchsorted(soon, column), len(soon) - 1)
        levels = soon
        if len(column) <= _SOON or not (soon[place] == column).all():
            levels, place = np.unique(column, return_inverse=True)
        radix *= len(levels)
        if radix > 1 << 62:
            return None
        code = code * len(levels) + place
    if width > 1 or len(levels) > n // 2:
        # Where the possible numbers are few, a table of those that occur takes the place of a sort.
        if radix <= 4 * n:
            code = (np.cumsum(np.bincount(code, minlength=radix) > 0) - 1)[code]
        else:
            _, code = np.unique(code, return_inverse=True)
    return code


def _first(code: Ints, distinct: int) -> Ints:
    """Where each number comes first."""
    first = np.empty(distinct, dtype=np.int64)
    # Written from the last to the first, so that of equal numbers the first one stays.
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    return first


def bootstrap(samples: Sequence[Sample], times: int, seed: int) -> list[Array]:
    """For each sample the statistic of `times` resamples of its examples; NaN where it is not defined.

    Each starts from the same seed, so that no result depends on what else is measured.
    """
    results: dict[bytes, Array] = {}
    ids = [sample.id for sample in samples]
    together: dict[int, dict[bytes, Sample]] = {}
    for id, sample in zip(ids, samples, strict=True):
        if id in results:
            continue
        n, few = sample.n, sample.few_rows
        # One value makes every resample the same, and needs no draws.
        if few and len(sample.counts) == 1:
            results[id] = np.full(times, sample.value)
        elif few:
            rng = np.random.Generator(np.random.PCG64(seed))
            # The counts of distinct rows in a resample of examples are multinomial: they are drawn as such, without
            # examples.
            results[id] = np.empty(times)
            for part in _parts(times, len(sample.counts) + sample.rows.shape[1]):
                counts = rng.multinomial(n, sample.counts / n, size=part.stop - part.start)
                results[id][part] = sample.statistic(counts.astype(np.float64) @ sample.rows, n)
        else:  # samples of one size share the costly draws; only each one's own distribution matters
            together.setdefault(n, {})[id] = sample
    for group in together.values():
        drawn = _draw_examples(list(group.values()), times, seed)
        results.update(zip(group, drawn, strict=True))
    return [results[id] for id in ids]


def _draw_examples(samples: list[Sample], times: int, seed: int) -> list[Array]:
    """One pass for several samples of the same number of examples.

    The sums are those of what each example is above the mean: they stay near zero, where single precision is enough.
    These numbers are made in blocks, as a table may be large.
    """
    n = samples[0].n
    ends = np.cumsum([sample.rows.shape[1] for sample in samples])
    blocks = [slice(at, min(at + _BLOCK, n)) for at in range(0, n, _BLOCK)]
    total: Array = np.zeros((1, ends[-1]))
    if total.shape[1] == 1:  # numpy sums a single column pairwise, and several row by row, which blocks don't change
        total = _rows_of(samples, slice(0, n)).sum(axis=0, keepdims=True)
    else:
        for block in blocks:
            total = np.vstack([total, _rows_of(samples, block)]).sum(axis=0, keepdims=True)
    centre: Array = total[0] / n
    single = np.empty((n, len(centre)), dtype=np.float32)
    for block in blocks:
        single[block] = _rows_of(samples, block) - centre

    def draw(part: slice) -> list[Array]:
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, part.start))))
        counts = draw_counts(rng, part.stop - part.start, n)
        # in pieces so small that BLAS stays in this thread; its own threads would fight with ours
        step = _ONE_THREAD // (len(counts) * single.shape[1])
        product: Array = np.zeros((len(counts), single.shape[1]))
        step = step if step >= 64 else n
        for at in range(0, n, step):
            product += counts[:, at : at + step].astype(np.float32) @ single[at : at + step]
        sums = n * centre + product
        pieces = np.split(sums, ends[:-1], axis=1)
        return [sample.statistic(piece, n) for sample, piece in zip(samples, pieces, strict=True)]

    slices = list(_parts(times, n))
    if len(slices) == 1:
        parts = [draw(slices[0])]
    else:  # each part has a stream of its own, so the number of threads changes nothing
        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
            parts = list(pool.map(draw, slices))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _rows_of(samples: list[Sample], block: slice) -> Array:
    """The rows of some examples, one after another, of all samples side by side."""
    parts = []
    for sample in samples:
        place = np.arange(block.start, block.stop)
        if len(sample.rows) < sample.n:
            place = np.searchsorted(np.cumsum(sample.counts), place, side="right")
        parts.append(sample.rows[place])
    return np.hstack(parts)


def swap(a: Array, b: Array, counts: Ints, statistic: Statistic, times: int, seed: int) -> Array:
    """The statistic of B minus that of A after swapping the two for a random half of the examples, `times` times.

    `a` and `b` are the distinct rows that `counts` examples have. With S = A + B and D = A - B, a swap turns A's sum
    (S + D) / 2 into (S - D) / 2: only the signs of D are drawn.
    """
    n = int(counts.sum())
    difference, total = a - b, counts @ (a + b)
    # Rows that equal each other differ in no sum, so a binomial number of them is swapped instead of each by a coin.
    every_one = len(counts) * 8 > n  # then a bit for each example is cheaper than a binomial for each row
    if every_one:
        difference, counts = np.repeat(difference, counts, axis=0), np.ones(n, dtype=np.int64)
    rng = np.random.Generator(np.random.PCG64(seed))
    out = np.empty(times)
    for part in _parts(times, len(counts) + a.shape[1]):
        shape = part.stop - part.start, len(counts)
        if every_one:  # 64 coins a draw
            words = rng.bit_generator.random_raw(-(-shape[0] * shape[1] // 64))
            kept = np.unpackbits(words.view(np.uint8), count=shape[0] * shape[1]).reshape(shape)
        else:
            kept = rng.binomial(counts, 0.5, size=shape)
        signed = 2.0 * (kept.astype(np.float64) @ difference) - counts @ difference
        out[part] = statistic((total - signed) / 2, n) - statistic((total + signed) / 2, n)
    return out


def _parts(times: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // max(width, 1))
    return (slice(at, min(at + step, times)) for at in range(0, times, step))


def draw_counts(rng: np.random.Generator, samples: int, n: int) -> Counts:
    """For each sample, how often each of n examples is drawn when n are drawn with replacement.

    Poisson counts whose total is at most n, topped up to n by uniform draws, are distributed exactly as n uniform
    draws; and Poisson counts come from 16 random bits each by comparisons alone, three times faster than drawing.
    """
    rate = 1 - 3 / n**0.5  # three deviations below n, so that a total above n is rare
    counts = _poisson(rng, rate, samples, n)
    left = n - counts.sum(axis=1, dtype=np.uint32).astype(np.int64)
    while (over := np.flatnonzero(left < 0)).size:
        counts[over] = _poisson(rng, rate, over.size, n)
        left[over] = n - counts[over].sum(axis=1, dtype=np.uint32).astype(np.int64)  # unsigned would wrap
    added = np.repeat(np.arange(samples) * n, left) + rng.integers(0, n, size=int(left.sum()))
    np.add.at(counts.ravel(), added, np.uint8(1))
    return counts


def _poisson(rng: np.random.Generator, rate: float, samples: int, n: int) -> Counts:
    size = samples * n
    bits = rng.bit_generator.random_raw(-(-size // 4)).view(np.uint16)[:size]
    steps, rest = _thresholds(rate)
    counts: Counts = (bits >= steps[0]).view(np.uint8)
    for step in steps[1:]:
        counts += (bits >= step).view(np.uint8)
    # 16 bits give each count its probability rounded down; the few states left over make up the difference
    open_ = np.flatnonzero(bits >= steps[-1])
    counts[open_] = rng.choice(len(rest), size=open_.size, p=rest)
    return counts.reshape(samples, n)


@lru_cache(maxsize=256)
def _thresholds(rate: float) -> tuple[list[np.uint16], npt.NDArray[np.float64]]:
    """Where each count ends among the states of 16 bits, and the probabilities of counts in the states left over."""
    chances = [exp(-rate)]
    while len(chances) < 40:
        chances.append(chances[-1] * rate / len(chances))
    whole = [int(chance * _STATES) for chance in chances]
    used = [count for count in whole if count]
    steps = [np.uint16(end) for end in np.cumsum(used)]
    rest = np.array([chance * _STATES - count for chance, count in zip(chances, whole, strict=True)])
    return steps, rest / rest.sum()
