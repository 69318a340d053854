"""Scores of label sets, rankings and numbers against scikit-learn, trec_eval and small cases by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import f1_score, jaccard_score
from sklearn.preprocessing import MultiLabelBinarizer

from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.base.task.multilabel import label_set
from unswayed.base.task.retrieve import ranked_ids
from unswayed.base.values import Json
from unswayed.score import scorer_named
from unswayed.score._equivalent import AnswerPair, equivalent_named

LABELS = st.lists(st.sampled_from("abcd"), max_size=4, unique=True)
TREC = json.loads(Path(__file__).with_name("trec_eval.json").read_text(encoding="utf-8"))


def scores(name: str, outputs: list[Json], golds: list[Json], task: str) -> float:
    scorer = scorer_named(name)
    return float(scorer.aggregate(scorer.stats(outputs, golds, task_named(task)).sum(axis=0)))


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=20))
def test_label_sets_are_scored_as_scikit_learn_does(pairs: list[tuple[list[str], list[str]]]) -> None:
    said, due = (list(column) for column in zip(*pairs, strict=True))
    binary = MultiLabelBinarizer(classes=list("abcd")).fit([])
    x, y = binary.transform(said), binary.transform(due)
    options = {"average": "samples", "zero_division": 1.0}
    assert scores("set_f1", said, due, "multilabel") == pytest.approx(f1_score(y, x, **options))
    assert scores("jaccard", said, due, "multilabel") == pytest.approx(jaccard_score(y, x, **options))
    assert scores("subset_accuracy", said, due, "multilabel") == pytest.approx((x == y).all(axis=1).mean())


@pytest.mark.parametrize("name", ["ndcg@5", "ndcg@10", "ndcg", "recall@5", "recall@10", "mrr"])
def test_rankings_are_scored_as_trec_eval_does(name: str) -> None:
    """`trec_eval.json` has what pytrec-eval-terrier 0.5 gave for random rankings and grades, once."""
    for row in TREC:
        assert scores(name, [row["ranking"]], [row["relevant"]], "retrieve") == pytest.approx(row[name], abs=1e-9)


@pytest.mark.parametrize(
    ("ranking", "gold", "recall", "mrr"),
    [
        (["a", "b", "c"], ["c"], 1.0, 1 / 3),
        (["a", "b", "c", "d"], ["d"], 0.0, 0.0),  # behind the third
        (["a", "a", "a", "b"], ["b"], 1.0, 1 / 2),  # a repeat counts once
        ([7, 3], ["3"], 1.0, 1 / 2),  # ids are compared as texts
        (["a"], ["a", "b"], 0.5, 1.0),  # fewer than three
        ([], ["a"], 0.0, 0.0),
        ([{"id": "a"}, {"id": "b"}], {"b": 2, "a": 0}, 1.0, 1 / 2),
        ({"a": 0.1, "b": 0.9}, ["b"], 1.0, 1.0),  # scores rank
        ('["a", "b"]', ["b"], 1.0, 1 / 2),
    ],
)
def test_rankings_by_hand(ranking: Json, gold: Json, recall: float, mrr: float) -> None:
    assert scores("recall@3", [ranking], [gold], "retrieve") == recall
    assert scores("mrr@3", [ranking], [gold], "retrieve") == pytest.approx(mrr)


def test_a_query_without_relevant_documents_has_no_score() -> None:
    task = task_named("retrieve")
    assert scorer_named("recall@10").gold_key([], task) is None
    assert scorer_named("recall@10").gold_key({"a": 0}, task) is None


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=3, max_size=30))
def test_correlation_is_numpys(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.round(column, 3) for column in zip(*pairs, strict=True))
    if x.std() > 0.01 and y.std() > 0.01:
        expected = np.corrcoef(x, y)[0, 1]
        assert scores("correlation", x.tolist(), y.tolist(), "score") == pytest.approx(expected, abs=1e-6)


def test_the_worst_of_numbers_is_farthest_from_the_line_whatever_the_scale() -> None:
    scorer = scorer_named("correlation")
    rows = scorer.stats([1.0, 2.0, 3.0, 9.0], [10.0, 20.0, 30.0, 40.0], task_named("score"))
    assert scorer.item_scores(rows).argmin() != 1
    assert np.isnan(scorer.aggregate(rows[:1].sum(axis=0)))


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        (["b", "a", "b"], {"a", "b"}),
        ([], set()),
        ({"labels": ["a"]}, {"a"}),
        ('["a", "b"]', {"a", "b"}),
        ([3, 7], {"3", "7"}),
        ([0, 1, 1, 0], None),  # a row of an indicator matrix
        ("a, b", None),
        ([0.2, 0.8], None),
        ([["a"]], None),
    ],
)
def test_what_is_read_as_labels(value: Json, labels: set[str] | None) -> None:
    found = label_set(value)
    assert found is None if labels is None else found == labels


@pytest.mark.parametrize("value", ["d1", 3, None, [1.5], [None], [["a", 0.5]], {"a": "b"}])
def test_what_is_not_read_as_a_ranking(value: Json) -> None:
    assert ranked_ids(value) is None


def same(rule: str, said: Json, before: Json, due: Json = None) -> bool | None:
    return equivalent_named(rule).alike(AnswerPair(said, before, {}, False, due))


def test_a_flip_is_a_relevant_document_that_is_lost() -> None:
    assert same("found@2", ["b", "x"], ["a", "b"], ["b"]), "another order, and a document that is not relevant"
    assert not same("found@2", ["x", "y", "b"], ["a", "b"], ["b"]), "it is behind the second place"
    assert same("found@2", ["a", "b"], ["x", "b"], ["a", "b"]), "a new one is no flip"
    gained = equivalent_named("found@2").value_beside(AnswerPair(["a", "b"], ["x", "b"], {}, False, ["a", "b"]))
    assert gained == 1.0


def test_numbers_are_the_same_within_the_tolerance() -> None:
    assert same("within@0.05", 0.75, 0.7), "the rounding of the difference does not count"
    assert not same("within@0.05", 0.76, 0.7)
    assert equivalent_named("within@1").value_beside(AnswerPair(3, 1.5, {}, False)) == 1.5


def test_calls_and_texts_are_compared_by_row() -> None:
    call = [{"name": "f", "arguments": {}}]
    assert same("calls", "Let me see.", "One moment.", []), "words where no call is due"
    assert not same("calls", "Goodbye.", "Hello!", "Hello"), "words where words are due"
    assert same("calls", "Hello! Nice.", "Hello!", "Hello")
    assert not same("calls", call, "Hello!", "Hello")
    assert scores("tool_calls", ["Hello, you!", call, ""], ["hello", "hello", "hello"], "tools") == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ["accuracy@3", "recall@0", "recall@x", "recall@"])
def test_wrong_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="nothing after its name|must end in a whole number"):
        scorer_named(name)


@pytest.mark.parametrize("rule", ["within", "within@", "within@-1", "found", "found@0", "calls@2"])
def test_wrong_rules_are_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        equivalent_named(rule)
