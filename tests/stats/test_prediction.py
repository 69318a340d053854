"""Prediction-powered means: equal to ppi-python's, right where the truth is known, and honest about a useless judge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from unswayed.base.errors import UsageError
from unswayed.stats import labels_worth_asking, prediction_powered


class Case(NamedTuple):
    """Verdicts on other items, verdicts on labelled items, labels; what ppi-python 0.2.3 makes of them."""

    verdicts: str
    of_labelled: str
    labels: str
    alpha: float
    value: float
    low: float
    high: float


# ppi_mean_pointestimate and ppi_mean_ci of the PyPI package ppi-python 0.2.3, on random answers.
GOLD = [
    Case(
        "1111011111101001110111111111111111110111000101110111111111011110110111111011110111110110110101011001011101011111111101111000110101011111011111110111111011110001",
        "1101111011111011110101111111110111100011",
        "1101111011111011111101111111111111100011",
        0.05,
        0.8139023951480262,
        0.7373261937689699,
        0.8904785965270825,
    ),
    Case(
        "1001110011000100000111000011101011001000100100001010101010010110100101111111100010010100110011011101",
        "0101011100001100001101110",
        "1110000100100100110000011",
        0.1,
        0.4,
        0.23883791649610644,
        0.5611620835038936,
    ),
    Case(
        "101111011010111111011111111011111111111111111111110111011110",
        "111111110111111111100111111111110110101111110101111101011111",
        "111111111111111111100111111111110111101111111101111101111111",
        0.05,
        0.9051676220253605,
        0.8411888713336676,
        0.9691463727170534,
    ),
    Case(
        "100100101111000011000101110000011000100001111100111110000110011011001111010010110011000100000111010000111011000010001110",
        "011001011100011001110110011000",
        "110111111011110001100001001111",
        0.05,
        0.6333333333333333,
        0.46089280214294037,
        0.8057738645237262,
    ),
]


@pytest.mark.parametrize("case", GOLD)
def test_equal_to_ppi_python(case: Case) -> None:
    verdicts, known, labels = ([float(c) for c in text] for text in case[:3])
    found = prediction_powered(verdicts, known, labels, level=1 - case.alpha, interval="normal").corrected
    assert (found.value, found.low, found.high) == pytest.approx((case.value, case.low, case.high), abs=1e-6)
    # the interval that holds for few labels is around the same number
    assert prediction_powered(verdicts, known, labels).corrected.value == pytest.approx(case.value, abs=1e-6)


def test_differences_of_two_runs_equal_ppi_python() -> None:
    n, rest = 30, 90
    labels = np.array([((i * 7) % 13 - 6) / 8 for i in range(n)])
    known = np.array([((i * 7) % 13 - 6) / 10 + ((i * 5) % 7 - 3) / 20 for i in range(n)])
    other = np.array([((i * 11) % 17 - 8) / 10 for i in range(rest)])
    found = prediction_powered(other, known, labels, span=(-1, 1), interval="normal").corrected
    assert (found.low, found.high) == pytest.approx((-0.12057444892010917, 0.0915228902375373), abs=1e-6)


def judged(rng: np.random.Generator, n: int, rate: float, right: float) -> tuple[np.ndarray, np.ndarray]:
    """What people say, and what a judge says that is right this often."""
    people = rng.random(n) < rate
    return people.astype(float), np.where(rng.random(n) < right, people, ~people).astype(float)


def test_coverage_and_width() -> None:
    """1,000 verdicts, 100 labels: a judge that errs on a tenth misses the truth, and helps nevertheless."""
    rng, inside, judge, narrower = np.random.default_rng(1), 0, 0, 0.0
    for _ in range(200):
        people, verdicts = judged(rng, 1000, 0.7, 0.9)
        found = prediction_powered(verdicts[100:], verdicts[:100], people[:100])
        inside += found.corrected.low <= 0.7 <= found.corrected.high  # type: ignore[operator]
        judge += found.judge.low <= 0.7 <= found.judge.high  # type: ignore[operator]
        width, alone = (e.high - e.low for e in (found.corrected, found.people))  # type: ignore[operator]
        narrower += width / alone / 200
        assert found.judge_helps
    assert inside / 200 >= 0.9  # 0.93 less four standard errors would be 0.86
    assert judge / 200 < 0.5
    assert narrower < 0.75


def test_a_judge_that_guesses_saves_nothing() -> None:
    rng, helped = np.random.default_rng(2), 0
    for _ in range(100):
        people, verdicts = judged(rng, 1000, 0.7, 0.5)
        found = prediction_powered(verdicts[100:], verdicts[:100], people[:100])
        helped += found.judge_helps
        assert found.tuning < 0.4
    assert helped <= 10
    opposite = prediction_powered(1 - people[100:], 1 - people[:100], people[:100])
    assert (opposite.tuning, opposite.judge_helps) == (0.0, False)
    assert opposite.corrected.value == pytest.approx(people[:100].mean())


def test_few_labels_without_an_error_are_not_certain() -> None:
    found = prediction_powered([1.0] * 90 + [0.0] * 10, [1.0] * 18 + [0.0] * 2, [1.0] * 18 + [0.0] * 2)
    assert found.corrected.high - found.corrected.low > 0.1  # type: ignore[operator]
    assert found.worth <= 120


def test_clusters_count_as_one_and_may_have_both_kinds() -> None:
    rng = np.random.default_rng(3)
    inside, alone = 0, 0
    for _ in range(200):
        common = rng.beta(1.4, 0.6, 60)  # examples of ten answers, with a mean of 0.7
        of = np.repeat(np.arange(60), 10)
        people = (rng.random(600) < common[of]).astype(float)
        verdicts = np.where(rng.random(600) < 0.85, people, 1 - people)
        chosen = rng.permutation(600)
        some, rest = chosen[:120], chosen[120:]
        names = [f"e{i}" for i in of]
        found = prediction_powered(
            verdicts[rest], verdicts[some], people[some],
            clusters=[names[i] for i in rest], clusters_of_labelled=[names[i] for i in some],
        ).corrected  # fmt: skip
        inside += found.low <= 0.7 <= found.high  # type: ignore[operator]
        plain = prediction_powered(verdicts[rest], verdicts[some], people[some]).corrected
        alone += plain.low <= 0.7 <= plain.high  # type: ignore[operator]
    assert inside / 200 >= 0.9
    assert alone < inside


def test_the_difference_of_two_runs_of_the_same_examples() -> None:
    """Examples are hard for both runs, so the difference is narrower than two means apart."""
    rng = np.random.default_rng(4)
    inside, width, apart = 0, 0.0, 0.0
    names = [f"e{i}" for i in range(500)]
    for _ in range(100):
        hard = rng.beta(0.7, 0.3, 500)
        runs = []
        for loss in (0.0, 0.2):
            people = (rng.random(500) < hard * (1 - loss)).astype(float)
            verdicts = np.where(rng.random(500) < 0.9, people, 1 - people)
            found = prediction_powered(verdicts[150:], verdicts[:150], people[:150], clusters=names[150:],
                                       clusters_of_labelled=names[:150])  # fmt: skip
            runs.append(found)
        difference = runs[1].difference(runs[0])
        inside += difference.low <= -0.14 <= difference.high  # type: ignore[operator]
        width += difference.high - difference.low  # type: ignore[operator]
        apart += float(np.hypot(*(one.corrected.high - one.corrected.low for one in runs)))  # type: ignore[operator]
    assert inside >= 88
    assert width < 0.95 * apart


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1], [1], [1]), "at least 2 are needed"),
        (([1], [1, 0, 1], [1, 0]), "one for each"),
        (([1, 2], [1, 0], [1, 0]), "numbers from 0 to 1"),
        (([1, np.nan], [1, 0], [1, 0]), "numbers from 0 to 1"),
    ],
)
def test_bad_numbers(given: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        prediction_powered(*given)


def test_everything_has_a_label() -> None:
    found = prediction_powered([], [1, 0, 1, 1], [1, 0, 0, 1])
    assert (found.corrected.value, found.tuning, found.verdicts) == (0.5, 0.0, 0)


def test_the_plan_foretells_the_width() -> None:
    """What is said before anybody is asked is about what comes out."""
    rng = np.random.default_rng(5)
    people, verdicts = judged(rng, 1000, 0.6, 0.9)  # kappa 0.79
    rows, worth = labels_worth_asking(verdicts, [0.79, 0.3])
    assert [row.labels for row in rows] == [25, 50, 100, 200, 400, 800]
    assert worth[0] < worth[1]
    found = prediction_powered(verdicts[200:], verdicts[:200], people[:200])
    half = (found.corrected.high - found.corrected.low) / 2  # type: ignore[operator]
    alone = (found.people.high - found.people.low) / 2  # type: ignore[operator]
    (row,) = [row for row in rows if row.labels == 200]
    assert half == pytest.approx(row.half_widths["0.79"], rel=0.15)
    assert alone == pytest.approx(row.alone, rel=0.15)
    # from the labels worth asking on, twice as many narrow it by a fifth at most
    (one,), _ = labels_worth_asking(verdicts, [0.79], labels=[worth[0]])
    (two,), _ = labels_worth_asking(verdicts, [0.79], labels=[2 * worth[0]])
    assert two.half_widths["0.79"] / one.half_widths["0.79"] == pytest.approx(0.8, abs=0.01)
