"""The measures' definitions: which variants and examples each rests on, and the numbers it takes from them."""

from __future__ import annotations

from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.measure.definitions import (
    Way,
    altered_column,
    answer_columns,
    distinct,
    estimate_of,
    scope_of,
    score_columns,
    tries_of,
    way_of,
)
from unswayed.measure.run_table import PairCodes
from unswayed.measure.set_scores import Layout
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import read_table
from unswayed.run.block import in_blocks
from unswayed.score import scorers
from unswayed.stats import Mean, Observations, mean_interval, numbers_of


def table_of(run):
    scorer, task = scorers.get("accuracy")(), task_named("classify")
    return read_table(in_blocks(run.items()), task, PairCodes([scorer], task), Spill()), scorer


ROWS = [  # gold, the clean answer, and (operator, draw, meaning, answer)
    ("x", "x", [("p", 0, "same", "x"), ("p", 1, "same", "y"), ("q", 0, "same", "y"), ("m", 0, "changed", "x")]),
    ("x", "y", [("p", 0, "same", "x")]),
    ("x", "x", [("q", 0, "same", "x"), ("m", 0, "changed", "y")]),
    ("y", "y", []),
]


@pytest.fixture(scope="module")
def part(fake_run):
    table, scorer = table_of(fake_run(ROWS))
    (found,) = table.parts()
    return found, found.scored[scorer.name]


def test_the_worst_is_of_three_or_of_as_many_as_there_are() -> None:
    assert [way_of(most).worst_of for most in (0, 1, 2, 3, 9)] == [1, 1, 2, 3, 3]
    assert way_of(9, "variants", 5) == Way("variants", 5)
    with pytest.raises(UsageError, match="must be a whole number of 1 or more, not 0"):
        way_of(3, worst_of=0)
    with pytest.raises(UsageError, match="no example has more than 3 distinct variants"):
        way_of(3, worst_of=4)


def test_a_scope_has_the_chosen_variants_and_the_examples_that_they_vary(part) -> None:
    table, _ = part
    whole = scope_of(table)
    assert (len(whole.same), len(whole.changed), whole.clean.all()) == (5, 2, True)
    only = scope_of(table, table.operator == table.operators.index("q"))
    assert table.example[only.same].tolist() == [0, 2]
    assert only.clean.tolist() == [True, False, True, False]


def test_answers_are_compared_with_the_clean_answer_and_controls_stand_apart(part) -> None:
    table, _ = part
    found = answer_columns(table, scope_of(table), Way())
    assert found["flips"].examples.tolist() == [0, 1, 2]
    assert found["flips"].values[:, 0] == pytest.approx([2 / 3, 1, 0])
    assert found["consistency"].values[:, 0].tolist() == [0, 0, 1]
    assert found["noticed"].examples.tolist() == [0, 2]
    assert found["noticed"].values[:, 0].tolist() == [0, 1]
    assert altered_column(table, scope_of(table), Way()).values[:, 0].tolist() == [1, 1, 1]


def test_scores_rest_on_the_examples_that_have_what_they_need(part) -> None:
    table, scored = part
    found = score_columns(table, scored, scope_of(table), Layout(), Way(worst_of=2))
    assert found["clean"].examples.tolist() == [0, 1, 2, 3]
    assert found["average"].examples.tolist() == [0, 1, 2]
    assert found["average"].values[:, 0] == pytest.approx([1 / 3, 1, 1])
    assert found["worst"].values[:, 0] == pytest.approx([0, 1, 1])
    assert found["drop"].values[:, 0] == pytest.approx([2 / 3, -1, 0])
    assert found["drop"].span == (-1.0, 1.0)
    weighed = score_columns(table, scored, scope_of(table), Layout(), Way("variants", 2))["average"]
    assert weighed.values.tolist() == pytest.approx(np.array([[1, 3], [1, 1], [1, 1]]))


@given(st.lists(st.sampled_from("xy"), min_size=1, max_size=6), st.integers(1, 6))
def test_worst_is_the_mean_over_all_choices_of_that_many_variants(fake_run, answers, k) -> None:
    k = min(k, len(answers))
    run = fake_run([("x", "x", [("p", draw, "same", answer) for draw, answer in enumerate(answers)])])
    table, scorer = table_of(run)
    (found,) = table.parts()
    worst = score_columns(found, found.scored[scorer.name], scope_of(found), Layout(), Way(worst_of=k))["worst"]
    scores = [float(answer == "x") for answer in answers]
    assert worst.values[0, 0] == pytest.approx(mean(min(chosen) for chosen in combinations(scores, k)))


def test_equal_variants_of_an_example_are_one_try(fake_run) -> None:
    run = fake_run([("x", "x", [("p", draw, "same", "x") for draw in range(4)])] * 2)
    for _, _, varied in run.items():
        for variant, _ in varied[:3]:
            variant.inputs["text"] = "the same"
    table, _ = table_of(run)
    (found,) = table.parts()
    assert found.draw[distinct(found, np.arange(len(found.draw)))].tolist() == [0, 3, 0, 3]
    assert tries_of(table) == {"p": 2.0}


def test_an_estimate_is_the_mean_with_the_interval_of_its_numbers() -> None:
    values = np.array([0.0, 1.0, 1.0, 0.5, 0.25, 1.0])
    column = Observations(np.arange(6), values[:, None], Mean(), np.array([0, 0, 2, 0, 0, 0]))
    found = estimate_of(column, "signed", 0.9)
    assert (found.value, found.n, found.missing, found.signature) == (pytest.approx(0.625), 6, 2, "signed")
    assert (found.low, found.high) == mean_interval(numbers_of(values), (0.0, 1.0), 0.9)
    assert found.low < 0.625 < found.high
