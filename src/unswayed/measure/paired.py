"""Statistics of scores in columns, for studies: paired differences, win rates, their power, mixed-effects regression.

The regression has a random intercept for each example and a fixed effect for each condition. With one score for every
example under every condition its REML estimates have a closed form. With holes, or with several scores, the likelihood
is profiled down to one number, the ratio of the two variances, and minimised over that. Conditions may vary unequally:
errors come from examples left out one at a time (complete: the paired t-test).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import lgamma, log, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.stats import (
    Array,
    Estimate,
    Ints,
    Observations,
    Paired,
    Resampling,
    Statistic,
    binomial_tail,
    bootstrap,
    correct,
    count_rows,
    digest,
    interval,
    sample_of,
    share_of,
    sign,
    swap,
    t_p_value,
    t_quantile,
)
from unswayed.stats.two_way import normal_cdf

_SAME = 1e-12


class Pair(NamedTuple):
    """One measure of two systems, over the examples that both have it for: what each example gives to either."""

    a: Array
    b: Array
    statistic: Statistic
    span: tuple[float, float]  # of the difference

    @property
    def values(self) -> tuple[float, float]:
        return sample_of(self.a, self.statistic).value, sample_of(self.b, self.statistic).value

    def p_value(self, settings: Resampling) -> float:
        """How often swapping the systems at random gives as large a difference."""
        both, counts = count_rows(np.hstack([self.a, self.b]))
        a, b = (self.statistic.columns(half) for half in np.hsplit(both, 2))
        drawn = swap(a, b, counts, self.statistic, settings.bootstrap, settings.seed)
        drawn = drawn[~np.isnan(drawn)]
        before, after = self.values
        as_large = int((np.abs(drawn) >= abs(after - before) - _SAME).sum())
        return (1 + as_large) / (1 + len(drawn))


def pair_of(a: Observations, b: Observations) -> Pair:
    """The pair of two whole columns."""
    return Pair(a.values, b.values, a.statistic, (a.span[0] - a.span[1], a.span[1] - a.span[0]))


def intervals_of(pairs: list[Pair], settings: Resampling) -> list[tuple[float | None, float | None]]:
    """The bootstrap interval of each difference, B less A."""
    samples = [sample_of(np.hstack([pair.a, pair.b]), Paired(pair.statistic)) for pair in pairs]
    drawn = bootstrap(samples, settings.bootstrap, settings.seed)
    return [
        interval(sample.value, values, sample.n, pair.span, settings.level)
        for pair, sample, values in zip(pairs, samples, drawn, strict=True)
    ]


Ties = Literal["loss", "half", "drop"]
TIES: tuple[Ties, ...] = ("loss", "half", "drop")
_WINS_VERSION = 1  # of this definition; part of every signature


class Wins(msgspec.Struct, frozen=True):
    """Wins, ties and losses, the share of wins with its interval, and the chance of as many by a coin."""

    share: Estimate
    wins: int
    ties: int
    losses: int
    p: float | None


def win_rate(better: Array, worse: Array, ties: Ties = "loss", level: float = 0.95, **decided: object) -> Wins:
    """How often `better` is above `worse`; where either is not finite, the pair is missing.

    `decided` adds to the signature what made the scores.

    A tie is a loss, as where robustness asks for a strictly higher score; or half a win; or dropped.
    """
    if ties not in TIES:
        raise UsageError(f"Ties are a loss, half or dropped (drop), not {ties!r}.")
    known = np.isfinite(better) & np.isfinite(worse)
    gap = better[known] - worse[known]
    won, tied = int((gap > 0).sum()), int((gap == 0).sum())
    lost = len(gap) - won - tied
    n = len(gap) - tied if ties == "drop" else len(gap)
    counted = won + tied / 2 if ties == "half" else float(won)
    fields = {"measure": f"wins:{_WINS_VERSION}", "ties": ties, "level": level, "scores": digest(better, worse)}
    share = share_of(counted, n, int((~known).sum()), sign({**fields, **decided}), level)
    p = binomial_tail(int(counted), n) if n else None  # half a win is rounded down: the safe side
    return Wins(share, won, tied, lost, p)


def power_of_wins(share: float, n: int, alpha: float = 0.05) -> float:
    """The chance that the exact one-tailed binomial test on n pairs finds a win rate of `share`."""
    wins = range(n // 2, n + 1)  # the fewest wins that are significant lie between
    fewest = n // 2 + bisect_left(wins, True, key=lambda won: binomial_tail(won, n) <= alpha)
    return binomial_tail(fewest, n, share)


def pairs_for_wins(share: float, alpha: float = 0.05, wanted: float = 0.8, most: int = 1_000_000) -> int:
    """The pairs from which on the one-tailed binomial test finds a win rate of `share` with the wanted power."""
    _check(alpha, wanted)
    if not 0.5 < share <= 1:
        raise UsageError(f"The win rate to find must lie above 0.5 and not above 1, not {share}.")
    z = NormalDist().inv_cdf
    guess = ((z(1 - alpha) * 0.5 + z(wanted) * (share * (1 - share)) ** 0.5) / (share - 0.5)) ** 2
    n = max(1, int(guess * 0.9))
    while n <= most:
        # power moves in a saw with n, so what is wanted must hold for the next ones as well
        if all(power_of_wins(share, n + more, alpha) >= wanted for more in range(4)):
            return n
        n += max(1, n // 200)
    raise UsageError(f"More than {most:,} pairs are needed to find a win rate of {share}.")


def power_of_difference(difference: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """The chance that the two-tailed t test on n pairs finds a mean difference; `sd` is that of the differences."""
    freedom, effect = n - 1, abs(difference) / sd * sqrt(n)
    most = t_quantile(1 - alpha / 2, freedom)
    # over the sample's standard deviation, which is that of a chi distribution, in steps around its mean
    s = np.linspace(max(1 - 8 / sqrt(2 * freedom), 1e-9), 1 + 8 / sqrt(2 * freedom), 2001)
    front = log(2) + freedom / 2 * log(freedom / 2) - lgamma(freedom / 2)
    density = np.exp(front + (freedom - 1) * np.log(s) - freedom * s**2 / 2)
    found = normal_cdf(effect - most * s) + normal_cdf(-effect - most * s)
    return float((density * found).sum() / density.sum())


def pairs_for_difference(difference: float, sd: float, alpha: float = 0.05, wanted: float = 0.8) -> int:
    """The pairs that a two-tailed t test of the mean difference needs; `sd` is that of the differences."""
    _check(alpha, wanted)
    if not difference or sd <= 0:
        raise UsageError("The difference must not be 0, and the standard deviation must be above 0.")
    z = NormalDist().inv_cdf
    n = max(2, int(((z(1 - alpha / 2) + z(wanted)) * sd / difference) ** 2))  # the fewest, if sd were known
    while power_of_difference(difference, sd, n, alpha) < wanted:
        n += 1
    return n


def _check(alpha: float, wanted: float) -> None:
    if not 0 < alpha < 1 or not 0 < wanted < 1:
        raise UsageError(f"The level ({alpha}) and the power ({wanted}) must lie between 0 and 1.")


_MIXED_VERSION = 2  # of this definition; part of every signature
_GOLDEN = (sqrt(5) - 1) / 2
_GRID = 200  # ratios of variances of which the best is looked for
_Errors = Callable[[Array], tuple[float, float] | None]  # of a contrast of means: standard error, degrees of freedom


class Coefficient(msgspec.Struct, frozen=True):
    """A difference from the reference condition, with its error, interval and p by t with `df` degrees of freedom.

    They allow each condition its own variance. None: the condition has too few examples. `pooled_se` is lme4's.
    """

    value: float
    se: float | None
    low: float | None
    high: float | None
    p: float | None
    df: float | None
    pooled_se: float
    p_holm: float | None = None


class Mixed(msgspec.Struct, frozen=True):
    """The fitted regression. `incomplete` examples lack a condition; `missing` scores were no finite numbers."""

    reference: str
    intercept: Coefficient
    coefficients: dict[str, Coefficient]
    variance: dict[str, float]
    method: Literal["closed form", "REML"]
    n: int
    examples: int
    incomplete: int
    missing: int
    signature: str


class _Fit(NamedTuple):
    """Means of the conditions, their covariance, and the variances of examples and of the rest."""

    means: Array
    covariance: Array
    between: float
    within: float


def mixed_effects(
    examples: Sequence[str], conditions: Sequence[str], scores: Sequence[float], reference: str | None = None,
    level: float = 0.95,
) -> Mixed:  # fmt: skip
    """The regression of scores on conditions; the reference is the first condition by name unless given."""
    if not 0 < level < 1:
        raise UsageError(f"The level of intervals must lie between 0 and 1, not {level}.")
    values = np.asarray(scores, dtype=np.float64)
    known = np.isfinite(values)
    missing, values = int((~known).sum()), values[known]
    found, condition = np.unique(np.asarray(conditions, dtype=str)[known], return_inverse=True)
    _, example = np.unique(np.asarray(examples, dtype=str)[known], return_inverse=True)
    names = [str(name) for name in found]
    if len(names) < 2:
        raise NothingEvaluated(f"The regression compares conditions, but the scores have only {names}.")
    if reference is not None:
        if reference not in names:
            raise UsageError(f"There is no condition {reference!r}; there are {', '.join(names)}.")
        first = names.index(reference)
        condition = np.where(condition == first, 0, condition + (condition < first))
        names = [reference, *names[:first], *names[first + 1 :]]
    k, n = len(names), int(example.max()) + 1
    if n < 2:
        raise NothingEvaluated("The regression needs scores of at least two examples.")
    counts = np.bincount(example * k + condition, minlength=n * k).reshape(n, k).astype(np.float64)
    sizes = (len(values), n, int((counts == 0).any(axis=1).sum()), missing)
    if (counts == 1).all():
        table = np.empty((n, k))
        table[example, condition] = values
        return _mixed(names, _closed_form(table), _paired(table), "closed form", sizes, level, digest(table))
    if len(values) <= n or len(values) <= k + 1:
        raise NothingEvaluated("Every example has a single score, so examples can't be told from chance.")
    condition, example = condition.astype(np.int64), example.astype(np.int64)
    fit = _reml(counts, condition, example, values)
    errors = _leaving_out(fit, counts, condition, example, values)
    return _mixed(names, fit, errors, "REML", sizes, level, digest(condition, example, values))


def complete_effects(scores: Array, names: Sequence[str], level: float = 0.95) -> Mixed:
    """The same for a table without holes, one row an example; the first column is the reference."""
    n, k = scores.shape
    if n < 2 or k < 2:
        raise NothingEvaluated(f"The regression needs two examples and two conditions, not {n} and {k}.")
    sizes = (scores.size, n, 0, 0)
    return _mixed(list(names), _closed_form(scores), _paired(scores), "closed form", sizes, level, digest(scores))


def _paired(scores: Array) -> _Errors:
    """The errors of a table without holes: those of the examples' own contrasts, the paired t-test."""
    n = len(scores)
    return lambda contrast: (float((scores @ contrast).std(ddof=1)) / sqrt(n), n - 1.0)


def _leaving_out(fit: _Fit, counts: Array, condition: Ints, example: Ints, values: Array) -> _Errors:
    """The errors by leaving out one example at a time (the jackknife), each condition with its own variance."""
    n, k = counts.shape
    ratio, rest = fit.between / fit.within, values - fit.means[condition]
    sums = np.bincount(example * k + condition, rest, n * k).astype(np.float64).reshape(n, k)
    shrink = ratio / (1 + counts.sum(axis=1) * ratio)  # how far an example's own mean is shrunk
    spread = np.bincount(condition, rest**2, k) / counts.sum(axis=0)
    within = np.maximum(spread - fit.between, 1e-9 * fit.within)
    crossed = counts[:, :, None] * counts[:, None, :]
    weight = counts[:, :, None] * np.eye(k) - shrink[:, None, None] * crossed
    without = weight.sum(axis=0) - weight

    def error(contrast: Array) -> tuple[float, float] | None:
        """With Satterthwaite's degrees of freedom; None if it can't be estimated without one of the examples."""
        lever = np.linalg.pinv(without, rcond=1e-9, hermitian=True) @ contrast
        if (np.abs(np.einsum("ijk,ik->ij", without, lever) - contrast) > 1e-6).any():
            return None
        lever = lever - (shrink * (counts * lever).sum(axis=1))[:, None]
        moved = (lever * sums).sum(axis=1)
        expected = (counts * lever**2) @ within + fit.between * (counts * lever).sum(axis=1) ** 2
        df = float(expected.sum() ** 2 / max((expected**2).sum(), 1e-300)) - 1
        return sqrt((n - 1) / n * float(moved @ moved)), max(df, 1.0)

    return error


def _closed_form(scores: Array) -> _Fit:
    """Two-way analysis of variance. Where examples vary less than chance would have them, their variance is zero."""
    n, k = scores.shape
    means = scores.mean(axis=0)
    middle = scores.mean(axis=1)
    between = k * float(((middle - means.mean()) ** 2).sum())
    within = float(((scores - middle[:, None] - (means - means.mean())) ** 2).sum())
    error, spread = within / ((n - 1) * (k - 1)), between / (n - 1)
    variance = (spread - error) / k
    if variance < 0:
        variance, error = 0.0, (between + within) / (n * k - k)
    return _Fit(means, (np.eye(k) * error + variance) / n, variance, error)


def _reml(counts: Array, condition: Ints, example: Ints, values: Array) -> _Fit:
    """Profile REML over the ratio of variances; examples with the same number of scores are summed beforehand."""
    n, k = counts.shape
    total = np.bincount(example, values, n)
    sizes, group = np.unique(counts.sum(axis=1), return_inverse=True)
    parts = [group == i for i in range(len(sizes))]
    many = np.array([part.sum() for part in parts])
    crossed = np.stack([counts[part].T @ counts[part] for part in parts])
    weighted = np.stack([total[part] @ counts[part] for part in parts])
    squared = np.array([total[part] @ total[part] for part in parts])
    sums, seen, square = np.bincount(condition, values, k), np.diag(counts.sum(axis=0)), float(values @ values)
    freedom = len(values) - k

    def solve(ratio: float) -> tuple[float, Array, Array, float]:
        shrink = ratio / (1 + sizes * ratio)
        matrix = seen - np.tensordot(shrink, crossed, 1)
        vector = sums - shrink @ weighted
        means = np.linalg.solve(matrix, vector)
        rest = float(square - shrink @ squared - means @ vector)
        within = max(rest, 1e-300) / freedom
        deviance = freedom * log(within) + float(many @ np.log1p(sizes * ratio))
        return deviance + float(np.linalg.slogdet(matrix)[1]), means, matrix, within

    def deviance(share: float) -> float:
        return solve(share / (1 - share))[0]

    # the share of 0 up to 1 where it is smallest: the best point of a grid, then golden sections around it
    shares = np.linspace(0, 1, _GRID, endpoint=False)
    best = int(np.argmin([deviance(float(share)) for share in shares]))
    low, high = float(shares[max(best - 1, 0)]), float(shares[best + 1]) if best + 1 < _GRID else 1 - 1e-9
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = deviance(left), deviance(right)
    for _ in range(60):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = deviance(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = deviance(right)
    middle = (low + high) / 2
    share = 0.0 if deviance(0.0) <= deviance(middle) else middle
    ratio = share / (1 - share)
    _, means, matrix, within = solve(ratio)
    covariance = np.asarray(np.linalg.inv(matrix) * within, dtype=np.float64)
    return _Fit(means, covariance, within * ratio, within)


def _mixed(
    names: list[str], fit: _Fit, errors: _Errors, method: Literal["closed form", "REML"],
    sizes: tuple[int, int, int, int], level: float, scores: str,
) -> Mixed:  # fmt: skip
    def coefficient(contrast: Array) -> Coefficient:
        value = float(contrast @ fit.means)
        pooled = sqrt(max(float(contrast @ fit.covariance @ contrast), 0.0))
        found = errors(contrast)
        if found is None:
            return Coefficient(value, None, None, None, None, None, pooled)
        se, df = found
        wide = se * t_quantile((1 + level) / 2, df)
        p = t_p_value(value / se, df) if se else float(value == 0)
        return Coefficient(value, se, value - wide, value + wide, p, df, pooled)

    one = np.eye(len(names))
    found = [coefficient(one[j] - one[0]) for j in range(1, len(names))]
    others = {
        name: msgspec.structs.replace(each, p_holm=p)
        for name, each, p in zip(names[1:], found, correct([each.p for each in found]), strict=True)
    }
    variance = {"example": fit.between, "residual": fit.within}
    decided = {"measure": f"mixed:{_MIXED_VERSION}", "conditions": ",".join(names), "method": method, "scores": scores}
    return Mixed(
        names[0], coefficient(one[0]), others, variance, method, *sizes,
        sign({**decided, "missing": sizes[3], "level": level}),
    )  # fmt: skip
