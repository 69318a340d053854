"""The paired sign-flip test of a mean of differences, and an interval that excludes zero exactly where it rejects.

If two conditions may be exchanged, an example's difference is as likely to have the other sign. The test counts how
often random signs give a mean as far from zero. A clean answer and the mean of its variants can't quite be exchanged:
`unseen_failures_p` allows for that. Nothing is drawn: the distribution of the sum is found exactly for few
differences, and by its saddlepoint (Robinson, 1982) for many.
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt
from statistics import NormalDist

import numpy as np

from unswayed.stats.means import Ends, Numbers
from unswayed.stats.resample import Array
from unswayed.stats.significance import mcnemar

_MAX_EXACT = 256  # differences other than zero up to which the distribution is found exactly
_MAX_UNIT = 2048  # the finest grid that is looked for: the largest difference is at most this many units
_MAX_SUM = 1 << 15  # units of the grid that all differences together have if they are on none
_NEAR = 1e-9
_SURE = 50.0  # whole differences expected from which on the sign-flip test alone decides
_ONE_MORE = 0.82  # found by simulation (benchmarks/coverage), so that the size is about 6%
_NORMAL = NormalDist()


def sign_flip_p(totals: Array, counts: Array | None = None) -> float:
    """The two-sided p-value that the sum of these totals, each with a random sign, is as far from zero.

    `counts` is how many there are of each total.
    """
    counts = np.ones(len(totals)) if counts is None else np.asarray(counts, dtype=np.float64)
    size, total = np.abs(totals), float(counts @ totals)
    largest = float(size.max(initial=0.0))
    kept = (size > _NEAR * largest) & (counts > 0)
    if not kept.any() or abs(total) <= _NEAR * largest:
        return 1.0
    signs, size, counts = np.sign(totals[kept]), size[kept] / largest, counts[kept]
    n, whole = float(counts.sum()), bool((counts == np.rint(counts)).all())
    if whole and np.ptp(size) <= _NEAR:  # a sign test: the sum is binomial
        return mcnemar(int(counts[signs > 0].sum()), int(counts[signs < 0].sum()))
    if not whole or n > _MAX_EXACT:
        return _saddlepoint_p(abs(total) / largest, size, counts)
    # Shares of a few variants lie on a grid, such as thirds: the coarsest one that holds them all
    steps = np.arange(1, _MAX_UNIT + 1)
    fits = np.flatnonzero((np.abs(steps[:, None] * size - np.rint(steps[:, None] * size)) < 1e-6).all(axis=1))
    units = float(steps[fits[0]]) if len(fits) else _MAX_SUM / float(counts @ size)
    if units * float(counts @ size) > _MAX_SUM:
        units = _MAX_SUM / float(counts @ size)
    steps = np.rint(units * size).astype(np.int64)
    every, seen = int(steps @ counts), abs(round(float((steps * signs) @ counts)))
    # The sum is every step minus twice the flipped ones: how likely are so few of them?
    chance = np.zeros((every - seen) // 2 + 1)
    chance[0] = 1.0
    for step in np.repeat(steps, counts.astype(np.int64)).tolist():
        moved = chance[: max(0, len(chance) - step)] / 2
        chance = chance / 2
        chance[step:] += moved
    return min(1.0, 2 * float(chance.sum()))


def _saddlepoint_p(total: float, size: Array, counts: Array) -> float:
    """The same by Lugannani and Rice, for totals up to 1."""
    if total >= (1 - _NEAR) * float(counts @ size):
        return min(1.0, 2 * exp(-log(2) * float(counts.sum())))
    tilt = total / float(counts @ size**2)
    for _ in range(100):  # Newton on the derivative of the cumulant generating function, sum log cosh
        grown = np.tanh(tilt * size)
        step = (total - float(counts @ (size * grown))) / float(counts @ (size**2 * (1 - grown**2)))
        tilt += min(max(step, -tilt / 2), 1 + tilt)
        if abs(step) < 1e-10 * tilt:
            break
    x = tilt * size
    cumulant = float(counts @ (np.logaddexp(x, -x) - log(2)))
    deviate = sqrt(max(2 * (tilt * total - cumulant), 0.0))
    spread = tilt * sqrt(float(counts @ (size**2 * (1 - np.tanh(x) ** 2))))
    tail = erfc(deviate / sqrt(2)) / 2
    if deviate > 1e-3:  # nearer to zero the two terms cancel
        tail += exp(-(deviate**2) / 2) / sqrt(2 * pi) * (1 / spread - 1 / deviate)
    return min(1.0, max(0.0, 2 * tail))


def agreeing(ends: Ends, value: float, p: float, level: float) -> Ends:
    """The interval with its end nearer to zero moved, if need be, so that it excludes zero exactly if p < 1 - level.

    Such an end is that of the test-based interval (Miettinen, 1976): as many standard errors from the value as p says.
    """
    low, high = ends
    if low is None or high is None:
        return ends
    near = 0.0
    if p < 1 - level:
        furthest = _NORMAL.inv_cdf(1 - max(p, 1e-300) / 2) if p > 1e-15 else 8.0
        near = value * max(_NEAR, 1 - _NORMAL.inv_cdf((1 + level) / 2) / furthest)
        return (near if value > 0 >= low else low), (near if value < 0 <= high else high)
    return min(low, near), max(high, near)


def unseen_failures_p(numbers: Numbers, unit: float) -> float:
    """The p-value that differences to the rarer side are as few by chance, if each of them is one `unit`.

    The mean of many variants loses a little in many examples; the one clean answer loses all or nothing. Where both
    are right equally often, the differences are not symmetric: many small ones to one side, and few whole ones to the
    other, of which a small sample may have none. So their number is taken as binomial (mid-p), of which as many are
    expected as the other side has, and most of one more of its differences.
    """
    totals, counts = numbers.total, numbers.counts
    sides = [float(counts @ np.maximum(sign * totals, 0.0)) for sign in (1, -1)]
    many, few = max(sides), min(sides)
    if not many:
        return 1.0
    least = float(numbers.weight.min())
    n, unit = float(counts @ numbers.weight) / least, unit * least
    differ = float(counts @ ((totals if sides[0] >= sides[1] else -totals) > 0))
    expected, seen = (many + _ONE_MORE * many / differ) / unit, few / unit
    if expected > min(_SURE, n / 2):
        return 0.0
    k = np.arange(int(seen) + 2)
    chances = np.cumprod(np.append((1 - expected / n) ** n, (n - k[:-1]) / k[1:] * expected / (n - expected)))
    below = np.append(0.0, np.cumsum(chances))[:-1] + chances / 2
    return float(np.interp(seen, k, below))


def sign_flip_interval(
    numbers: Numbers, ends: Ends, level: float, unit: float | None = None
) -> tuple[float | None, float | None, float]:
    """The interval `ends` of a mean of differences made to agree with the sign-flip test, and the p-value of that.

    `unit` is the difference that a single answer makes, where one side of the differences has one and the other is a
    mean: then also `unseen_failures_p` must be small.
    """
    p = sign_flip_p(numbers.total, numbers.counts)
    if unit is not None:
        p = max(p, unseen_failures_p(numbers, unit))
    return *agreeing(ends, numbers.value, p, level), p
