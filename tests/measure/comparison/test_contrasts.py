"""Contrasts of two runs: the difference, its interval and p-value, on the same examples and in any parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.task import task_named
from unswayed.measure.comparison.contrasts import (
    AnswerCounts,
    Contrast,
    GatheredContrasts,
    Shared,
    ends_of,
)
from unswayed.measure.definitions import Way
from unswayed.measure.gates import ALL
from unswayed.measure.questions import clusters_of, slices_of
from unswayed.measure.run_table import PairCodes
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import read_table
from unswayed.run.block import in_blocks
from unswayed.score import scorers
from unswayed.stats import Mean, Observations, Ratio, mean_interval, numbers_of, sign_flip_interval

SCORES = st.sampled_from([0.0, 1 / 3, 0.5, 1.0])


def column(values, statistic=None) -> Observations:
    values = np.array(values, float)
    rows = values[:, None] if values.ndim == 1 else values
    return Observations(np.arange(len(rows)), rows, statistic or Mean(), np.zeros(len(rows), dtype=np.int64))


def contrast_of(a, b, statistic=None, clusters=None) -> Contrast:
    one, other = column(a, statistic), column(b, statistic)
    found = Contrast("average", ALL, one, Spill(), clustered=clusters is not None)
    found.add(one, other, clusters)
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES), min_size=3, max_size=40))
def test_the_interval_is_that_of_the_paired_differences_and_the_p_value_its_level(pairs) -> None:
    a, b = map(np.array, zip(*pairs, strict=True))
    found = contrast_of(a, b)
    assert found.difference == pytest.approx(b.mean() - a.mean(), abs=1e-12)
    low, high, p = sign_flip_interval(
        numbers_of(b - a), mean_interval(numbers_of(b - a), (-1.0, 1.0), 0.9, "difference"), 0.9
    )
    assert found.p == pytest.approx(p)
    assert found.interval(0.9) == pytest.approx((max(low, -a.mean()), min(high, 1 - a.mean())), abs=1e-9)
    swapped = contrast_of(b, a)
    assert swapped.p == pytest.approx(found.p, abs=1e-6)
    for level in (0.8, 0.95):
        low, high = found.interval(level)
        if abs(found.p - (1 - level)) > 1e-4:
            assert (found.p < 1 - level) == (low > 0 or high < 0)


def test_examples_with_the_same_difference_leave_no_doubt_and_none_is_no_difference() -> None:
    assert contrast_of([0.5] * 9, [0.5] * 9).p == 1.0
    empty = contrast_of([], [])
    assert (empty.values, empty.difference, empty.p, empty.interval(0.95)) == ((None, None), None, None, (None, None))


def test_no_end_is_further_off_than_the_measure_can_be() -> None:
    found = contrast_of([0.9] * 8 + [1.0] * 2, [0.8] * 8 + [1.0] * 2)
    low, high = found.interval(0.9999)
    assert low >= -0.92 - 1e-9
    assert high <= 0.08 + 1e-9


def test_clusters_are_the_units() -> None:
    """Ten examples that stand or fall together say no more than one."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 40).astype(float), rng.integers(0, 2, 40).astype(float)
    one = contrast_of(a, b).interval(0.95)
    ten = contrast_of(np.repeat(a, 10), np.repeat(b, 10), clusters=np.repeat(np.arange(40), 10)).interval(0.95)
    assert ten == pytest.approx(one, abs=1e-9)
    alone = contrast_of(np.repeat(a, 10), np.repeat(b, 10)).interval(0.95)
    assert alone[1] - alone[0] < (ten[1] - ten[0]) / 2


def test_weighed_examples_count_with_their_variants() -> None:
    found = contrast_of([[1, 1], [0, 3]], [[0, 1], [3, 3]], Ratio())
    assert found.values == pytest.approx((1 / 4, 3 / 4))


def shared(one, other):
    task, scorer = task_named("classify"), scorers.get("accuracy")()
    pairs = PairCodes([scorer], task)
    tables = [read_table(in_blocks(run.items()), task, pairs, Spill()) for run in (one, other)]
    ends = ends_of(tables)
    return tables, (Shared(*tables, ends), Shared(*reversed(tables), ends)), scorer


def test_what_one_run_lacks_is_missing_in_both(fake_run) -> None:
    failed = fake_run.FAILED
    a = fake_run([("x", "x", [("p", 0, "same", "x")]), ("x", "x", [("p", 0, "same", failed)]), ("x", failed, [])])
    b = fake_run([("x", failed, [("p", 0, "same", "y")]), ("x", "x", [("p", 0, "same", "x")]), ("x", "x", [])])
    _, sides, _ = shared(a, b)
    for side in sides:
        (part,) = side.parts()
        assert np.isnan(part.scored["accuracy"].clean).tolist() == [True, False, True]
        assert np.isnan(part.scored["accuracy"].varied).tolist() == [False, True]
        assert part.flip.tolist() == [-1, -1]


def test_all_contrasts_of_two_runs_and_their_lost_and_gained_answers(fake_run) -> None:
    a = fake_run([("x", "x", [("p", 0, "same", "x"), ("q", 0, "same", "y")]), ("x", "y", [("p", 0, "same", "x")])] * 5)
    b = fake_run([("x", "x", [("p", 0, "same", "z"), ("q", 0, "same", "x")]), ("x", "x", [("p", 0, "same", "x")])] * 5)
    (table, _), sides, scorer = shared(a, b)
    found = GatheredContrasts([sides], scorer, slices_of(table, None)[0], Way(), None)
    (contrasts,) = found.contrasts
    assert contrasts["clean", ALL].values == (0.5, 1.0)
    assert contrasts["average", ALL].values == (0.75, 0.75)
    assert contrasts["average", ("operator", "q")].values == (0.0, 1.0)
    assert contrasts["flips", ("operator", "p")].values == (0.5, 0.5)
    assert found.answers[0].answers() == {
        "clean": AnswerCounts(lost=0, gained=5, right=5, wrong=0),
        "variants": AnswerCounts(lost=5, gained=5, right=5, wrong=0),
        "operator=p": AnswerCounts(lost=5, gained=0, right=5, wrong=0),
        "operator=q": AnswerCounts(lost=0, gained=5, right=0, wrong=0),
    }
    together = found.correlation([contrasts["clean", ALL], contrasts["clean", ALL]])
    assert together == pytest.approx(np.ones((2, 2)))


def test_an_example_of_no_cluster_stands_for_itself(fake_run) -> None:
    rows = [("x", "x", [("p", 0, "same", "x")], groups) for groups in ({"k": "1"}, {}, {"k": "1"}, {})]
    tables, _, _ = shared(fake_run(rows), fake_run(rows))
    codes = clusters_of(tables[0], "k").tolist()
    assert codes[0] == codes[2]
    assert len(set(codes)) == 3
