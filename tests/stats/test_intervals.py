"""Intervals: the same as scipy's where scipy has them, as wide as they should be, and never falsely certain."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from unswayed.base.errors import UsageError
from unswayed.stats import (
    Estimate,
    Mean,
    MeanKind,
    Observations,
    Question,
    Ratio,
    Resampling,
    bootstrap,
    certain_interval,
    digest,
    estimates,
    interval,
    mean_interval,
    mean_of,
    over_trainings,
    sample_of,
    sign,
)
from unswayed.stats.intervals import anytime_deviate, anytime_level

RNG = np.random.default_rng(3)
BINARY = (RNG.random(300) < 0.8).astype(float)
CONTINUOUS = RNG.gamma(2.0, size=300)


@pytest.mark.parametrize("values", [BINARY, CONTINUOUS], ids=["binary", "continuous"])
def test_agrees_with_scipy(values):
    sample = sample_of(values[:, None], Mean())
    assert sample.few_rows == (values is BINARY)
    low, high = interval(sample.value, bootstrap([sample], 10_000, 0)[0], sample.n, (0, 9), 0.95)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert low == pytest.approx(theirs.low, abs=0.05 * width)
    assert high == pytest.approx(theirs.high, abs=0.05 * width)


def test_ratio_agrees_with_scipy():
    above, below = RNG.integers(0, 3, 200), RNG.integers(2, 5, 200)
    sample = sample_of(np.column_stack([above, below]).astype(float), Ratio())
    low, high = interval(sample.value, bootstrap([sample], 10_000, 0)[0], sample.n, (0, 1), 0.95)
    theirs = stats.bootstrap(
        (above, below),
        lambda a, b, axis=-1: a.sum(axis) / b.sum(axis),
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * (theirs.high - theirs.low))


def test_covers_the_truth_about_as_often_as_it_says():
    inside = 0
    for trial in range(400):
        values = (np.random.default_rng(trial).random(200) < 0.7).astype(float)
        sample = sample_of(values[:, None], Mean())
        low, high = interval(sample.value, bootstrap([sample], 1000, 0)[0], 200, (0, 1), 0.9)
        inside += low <= 0.7 <= high
    assert 0.85 <= inside / 400 <= 0.95


@pytest.mark.parametrize("n", [1, 5, 20, 1000])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_no_width_gives_clopper_pearson(n, level):
    for k, value in ((0, 0.0), (n, 1.0)):
        exact = stats.binomtest(k, n).proportion_ci(level, method="exact")
        assert certain_interval(value, n, (0, 1), level) == pytest.approx((exact.low, exact.high))


def test_where_no_resample_is_defined_there_is_no_interval():
    assert interval(0.5, np.full(10, np.nan), 3, (0, 1), 0.95) == (None, None)


Z = 1.959963984540054


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(1e-3, 0.2)), min_size=1, max_size=5))
def test_for_symmetric_intervals_it_is_the_normal_interval(found: list[tuple[float, float]]) -> None:
    given = [Estimate(v, v - Z * se, v + Z * se, 10, 1, str(i)) for i, (v, se) in enumerate(found)]
    mean = mean_of(given)
    se = sqrt(sum(s * s for _, s in found)) / len(found)
    middle = sum(v for v, _ in found) / len(found)
    assert mean.value == pytest.approx(middle)
    assert (mean.low, mean.high) == (pytest.approx(middle - Z * se), pytest.approx(middle + Z * se))
    assert (mean.n, mean.missing) == (10 * len(found), len(found))


def test_what_is_not_known_stays_unknown() -> None:
    known = Estimate(0.5, 0.4, 0.6, 9, 0, "a")
    assert mean_of([known, Estimate(None, None, None, 0, 3, "b")]).value is None
    half = mean_of([known, Estimate(0.7, None, None, 1, 0, "b")])
    assert (half.value, half.low, half.high) == (pytest.approx(0.6), None, None)
    assert mean_of([known, known]).signature != mean_of([known]).signature


TRUTH = float(np.clip(0.8 + np.random.default_rng(1).normal(0, 0.2, 200_000), 0, 1).mean())


def shares(rng: np.random.Generator, spread: float, examples: int, trainings: int) -> tuple[list[Estimate], float]:
    """Accuracies of trainings that differ by `spread`, on the same examples, some harder than others; and the truth."""
    easy = rng.normal(0, 0.2, examples)
    found = []
    for n in range(trainings):
        chance = np.clip(0.8 + easy + rng.normal(0, spread), 0, 1)
        right = rng.random(examples) < chance
        value, half = float(right.mean()), 1.96 * float(right.std(ddof=1)) / examples**0.5
        found.append(Estimate(value, value - half, value + half, examples, 0, f"t{n}"))
    return found, TRUTH


@pytest.mark.parametrize("spread", [0.0, 0.01, 0.04])
@pytest.mark.parametrize("trainings", [2, 3, 5])
def test_coverage(spread: float, trainings: int) -> None:
    """At least nominal, whether trainings hardly differ or differ more than samples of examples do."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        found, truth = shares(rng, spread, 300, trainings)
        whole = over_trainings(found)
        assert whole.low is not None
        assert whole.high is not None
        covered += whole.low <= truth <= whole.high
    assert covered / 400 >= 0.93  # 0.95 less two standard errors


def test_one_training_alone_misses_the_truth_too_often() -> None:
    """What the interval of a single training is: too narrow where trainings differ."""
    rng = np.random.default_rng(7)
    alone = 0
    for _ in range(400):
        (found,), truth = shares(rng, 0.04, 300, 1)
        assert found.low is not None
        assert found.high is not None
        alone += found.low <= truth <= found.high
    assert alone / 400 < 0.8


def test_one_stays_as_it_is_and_holes_are_told() -> None:
    one = Estimate(0.5, 0.4, 0.6, 10, 0, "s")
    assert over_trainings([one]) is one
    assert over_trainings([one, Estimate(None, None, None, 0, 10, "t")]).value is None
    both = over_trainings([one, Estimate(0.7, 0.6, 0.8, 10, 1, "t")])
    assert both.value == pytest.approx(0.6)
    assert (both.n, both.missing, both.over) == (10, 1, "examples and trainings like these")
    wide = [Estimate(value, value - 0.02, value + 0.02, 10, 0, "s") for value in (0.9, 0.99, 0.6)]
    assert over_trainings(wide, within=(0, 1)).high == 1
    assert (over_trainings(wide).high or 0) > 1
    assert both.signature != over_trainings([one, one]).signature


def test_the_width_is_that_of_a_normal_mixture() -> None:
    """Against its definition: the mixture of likelihood ratios at the boundary is one over the error rate."""
    for n in (10, 400, 5000):
        tau = 8 / 1000  # the mixture's variance over that of one example
        z = anytime_deviate(n)
        ratio = np.exp(z**2 / 2 * n * tau / (1 + n * tau)) / np.sqrt(1 + n * tau)
        assert ratio == pytest.approx(20, rel=1e-4)
        assert NormalDist().inv_cdf((1 + anytime_level(n)) / 2) == pytest.approx(min(z, 8.0), rel=1e-2)


def test_few_examples_show_nothing() -> None:
    assert mean_interval(np.array([1.0, 0.0]), level=anytime_level(2)) == (0.0, 1.0)


@pytest.mark.parametrize(("rate", "kind"), [(0.3, "share"), (0.01, "difference")])
def test_whenever_one_looks_the_truth_is_missed_seldom(rate: float, kind: MeanKind) -> None:
    """Runs that are looked at again and again; fixed intervals miss at some look more often than one in twenty."""
    rng = np.random.default_rng(4)
    looks = [int(32 * 1.25**k) for k in range(17)]
    span = (-1.0, 1.0) if kind == "difference" else (0.0, 1.0)
    missed = fixed = 0
    for _ in range(120):
        values = (rng.random(looks[-1]) < rate).astype(float)

        def misses(n: int, level: float, values: np.ndarray = values) -> bool:
            low, high = mean_interval(values[:n], span, level, kind)
            return low is None or high is None or not low <= rate <= high

        missed += any(misses(n, anytime_level(n)) for n in looks)
        fixed += any(misses(n, 0.95) for n in looks)
    assert missed <= 0.05 * 120
    assert fixed > 0.05 * 120


def test_an_interval_lies_between_the_quantiles_of_what_was_drawn() -> None:
    drawn = np.append(np.arange(101.0), np.nan)
    assert interval(50.0, drawn, 9, (0, 100), 0.9) == pytest.approx((5, 95))
    assert interval(0.5, np.full(9, 0.5), 4, (0, 1), 0.95) == certain_interval(0.5, 4, (0, 1), 0.95)


def test_what_can_be_without_bound_has_no_end() -> None:
    assert certain_interval(1.0, 4, (0, float("inf")), 0.95) == (pytest.approx((0.025) ** 0.25), None)
    assert certain_interval(1.0, 4, (float("-inf"), 2), 0.95)[0] is None


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"level": 0.0}, {"level": 1.0}, {"bootstrap": 0}, {"seed": -1}):
        with pytest.raises(UsageError):
            Resampling(**wrong)
    assert Resampling(0.5, 1, 0) == Resampling(level=0.5, bootstrap=1, seed=0)


def test_estimates_have_their_value_interval_and_what_is_missing() -> None:
    values = np.array([[1.0, 2.0], [0.0, 2.0], [2.0, 2.0]])
    known = Observations(np.arange(3), values, Ratio(), np.array([0, 1, 2]))
    nothing = Observations(np.arange(0), np.zeros((0, 2)), Ratio(), np.array([4]))
    undefined = Observations(np.arange(2), np.zeros((2, 2)), Ratio(), np.array([1]))
    questions = [Question(column, name) for name, column in zip("knu", (known, nothing, undefined), strict=True)]
    one, none, nan = estimates(questions, Resampling(0.8, 500, 3))
    assert (one.value, one.n, one.missing, one.signature) == (0.5, 3, 3, "k")
    drawn = bootstrap([sample_of(values, Ratio())], 500, 3)[0]
    assert (one.low, one.high) == pytest.approx(tuple(np.quantile(drawn, [0.1, 0.9])))
    assert none == Estimate(None, None, None, 0, 4, "n")
    assert nan == Estimate(None, None, None, 0, 1, "u")


def test_the_interval_over_two_trainings_by_hand() -> None:
    found = [Estimate(0.5, 0.4, 0.7, 10, 0, "s"), Estimate(0.7, 0.6, 0.8, 10, 1, "t")]
    spread = stats.t.ppf(0.95, 1) * np.std([0.5, 0.7], ddof=1) / np.sqrt(2)
    both = over_trainings(found, level=0.9)
    assert both.low == pytest.approx(0.6 - np.sqrt(0.1**2 + spread**2))
    assert both.high == pytest.approx(0.6 + np.sqrt(0.15**2 + spread**2))
    assert over_trainings(found, within=(0.3, 1)).low == 0.3
    assert over_trainings([]).value is None
    half = over_trainings([found[0], Estimate(0.7, None, 0.8, 10, 1, "t")])
    assert half.low is None
    assert half.high is not None


def test_a_signature_is_one_line_in_which_fields_can_be_told_apart() -> None:
    made = sign({"set": "a|b=1", "n": "50%"}, Resampling(0.9, 7, 2), more="x\ny")
    names = [field.partition("=")[0] for field in made.split("|")]
    assert names == ["set", "n", "level", "bootstrap", "seed", "more", "unswayed"]
    assert made.startswith("set=a%7Cb=1|n=50%25|level=0.9|bootstrap=7|seed=2|more=x%0Ay|unswayed=")


def test_a_digest_tells_numbers_types_and_shapes_apart() -> None:
    x = np.arange(6.0)
    made = [digest(x), digest(x + 1), digest(x.astype(np.float32)), digest(x.reshape(2, 3)), digest(x, x)]
    assert len(set(made)) == 5
    assert digest(x.reshape(2, 3).T) == digest(np.ascontiguousarray(x.reshape(2, 3).T))


def test_the_level_that_holds_whenever_one_stops_follows_the_level_and_stays_below_one() -> None:
    assert anytime_deviate(100, 0.5) < anytime_deviate(100, 0.95) < anytime_deviate(100, 0.99)
    assert anytime_level(1) < 1
    z = np.sqrt(2 * (1 + 1 / 8) * np.log(3 / 0.05))  # a thousand examples are eight times the mixture's scale
    assert anytime_level(1000) == pytest.approx(2 * stats.norm.cdf(z) - 1, abs=1e-9)
