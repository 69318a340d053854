"""Scorers against outside oracles, and what must hold of every one that is registered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from sklearn.metrics import f1_score

from unswayed.base.task import task_named
from unswayed.score import scorers

LABELS = st.sampled_from(["a", "b", "c", "é", "10"])
TAGS = st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), min_size=1, max_size=8)


def score(name, outputs, golds, task="classify"):
    scorer = scorers.get(name)()
    return float(scorer.aggregate(scorer.stats(outputs, golds, task_named(task)).sum(axis=0)))


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=60))
def test_macro_f1_is_scikit_learns(pairs):
    outputs, golds = zip(*pairs, strict=True)
    assert score("macro_f1", outputs, golds) == pytest.approx(f1_score(golds, outputs, average="macro"), abs=1e-12)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=60))
def test_accuracy_is_the_share_that_is_right(pairs):
    outputs, golds = zip(*pairs, strict=True)
    assert score("accuracy", outputs, golds) == pytest.approx(sum(o == g for o, g in pairs) / len(pairs), abs=1e-15)


def test_labels_compare_through_the_task():
    assert score("accuracy", [1, {"label": "x"}, True], ["1", "x", "true"]) == 1.0


@settings(max_examples=200)
@given(st.lists(st.tuples(TAGS, st.randoms(use_true_random=False)), min_size=1, max_size=12))
def test_slot_f1_is_seqevals(drawn):
    seqeval = pytest.importorskip("seqeval.metrics")
    golds = [tags for tags, _ in drawn]
    outputs = [[r.choice([t, t, "O", "B-x", "I-y"]) for t in tags] for tags, r in drawn]
    ours = score("slot_f1", [slu("i", t) for t in outputs], [slu("i", t) for t in golds], "slu")
    if any(tag != "O" for tags in golds for tag in tags):
        assert ours == pytest.approx(seqeval.f1_score(golds, outputs, zero_division=0), abs=1e-9)


ANY_TAG = st.sampled_from(["O", "O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in "xy")])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(ANY_TAG, ANY_TAG, st.booleans()), min_size=1, max_size=10), min_size=1, max_size=8))
def test_entity_f1_is_seqevals_also_by_type_and_scheme(drawn):
    seqeval = pytest.importorskip("seqeval.metrics")
    golds = [[gold for gold, _, _ in row] for row in drawn]
    outputs = [[gold if same else said for gold, said, same in row] for row in drawn]
    assume(any(tag != "O" for tags in golds for tag in tags))
    report = seqeval.classification_report(golds, outputs, output_dict=True, zero_division=0)
    task = task_named("tag")
    texts = [{"text": " ".join("w" for _ in row)} for row in drawn]
    read = [task.read(tags, text) for tags, text in zip(outputs, texts, strict=True)]
    by_token = [{"tags": task.read(tags, text)["tags"]} for tags, text in zip(golds, texts, strict=True)]
    by_letter = [{"entities": task.read(tags, text)["entities"]} for tags, text in zip(golds, texts, strict=True)]
    for due in (by_token, by_letter):
        scorer = scorers.get("entity_f1")()
        for one in [scorer, *scorer.parts(due, task)]:
            name = one.name.removeprefix("entity_f1(").removesuffix(")") if "(" in one.name else "micro avg"
            ours = one.aggregate(one.stats(read, due, task).sum(0))
            assert np.nan_to_num(ours) == pytest.approx(report[name]["f1-score"], abs=1e-9)


def test_slot_f1_counts_whole_chunks():
    gold = slu("i", ["B-x", "I-x", "O", "B-y"])
    rows = scorers.get("slot_f1")().stats([slu("i", ["B-x", "O", "O", "B-y"])], [gold], task_named("slu"))
    assert rows.tolist() == [[1, 2, 2]]
    assert score("slot_f1", [slu("i", ["B-x", "O", "O", "B-y"])], [gold], "slu") == 0.5


def test_slots_are_not_defined_without_any():
    assert np.isnan(score("slot_f1", [slu("i", ["O"])], [slu("i", ["O"])], "slu"))


def slu(intent, tags):
    return {"intent": intent, "slots": list(tags)}


def test_end_to_end_needs_intent_and_every_tag():
    gold = [slu("play", ["O", "B-x"])] * 3
    outputs = [slu("play", ["O", "B-x"]), slu("stop", ["O", "B-x"]), slu("play", ["O", "O"])]
    assert score("end_to_end", outputs, gold, "slu") == pytest.approx(1 / 3)
    assert score("intent_accuracy", outputs, gold, "slu") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("output", "gold", "right"),
    [
        (" Der  Fluss ", {"answers": [{"text": "See", "start": 0}, {"text": "der fluss", "start": 9}]}, 1),
        ("der Flus", {"answers": [{"text": "der fluss", "start": 9}]}, 0),
        ("花呗", "花呗", 1),
        (3, "3", 1),
        ("b", ["a", "b"], 1),
        (["a", "b"], ["a"], 0),  # guessing twice is not an answer
        ("The  river, Rhine!", {"answers": [{"text": "river rhine"}]}, 1),
        ("", {"answers": []}, 1),
        ("the", {"answers": []}, 1),
        ("river", {"answers": []}, 0),
        ("", {"answers": [{"text": "river"}]}, 0),
    ],
)
def test_exact_match(output, gold, right):
    assert score("exact_match", [output], [gold], "qa") == right


GOOD = {
    "classify": ("a", "b"),
    "qa": ("an answer", {"answers": [{"text": "an answer", "start": 0}, {"text": "b", "start": 1}]}),
    "slu": (slu("i", ["O", "B-x"]), slu("j", ["B-x", "I-x"])),
    "sql": tuple(
        {"sql": f"select {column} from t", "db_id": "d", "schema": {"tables": {"t": ["a", "b"]}, "keys": {}}}
        for column in "ab"
    ),
    "translate": ("the cat sat on the mat", "the dog sat on the mat"),
    "generate": ("It is 7.", "I don't know."),
    "multilabel": (["a", "b"], ["b", "c"]),
    "score": (0.5, 0.75),
    "retrieve": (["a", "b"], ["b", "c"]),
    "tools": ([{"f": {"x": [1]}}], [{"g": {"x": [2], "y": ["a", ""]}}]),
}
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["label", "intent", "slots", "answers", "text", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def task_of(name):
    for task in ("classify", "slu", "qa", "sql", "translate", "generate", "tools", "multilabel", "score", "retrieve"):
        if name in {known.partition("@")[0] for known in task_named(task).scores}:
            return task_named(task)
    return task_named("text")


def values_for(task):
    return GOOD.get(task.name, ("a text", "another"))


@pytest.mark.parametrize("name", scorers.names())
class TestContract:
    """Every registered scorer; a new one is tested the day it is added."""

    def test_name_and_version(self, name):
        scorer = scorers.get(name)
        assert scorer.name == name
        assert scorer.version >= 1
        assert scorer.bounds[0] < scorer.bounds[1]

    def test_sums_decide_the_score(self, name):
        task, scorer = task_of(name), scorers.get(name)()
        a, b = values_for(task)
        rows = scorer.stats([a, b, a], [a, a, b], task)
        assert rows.ndim == 2
        assert len(rows) == 3
        sums = np.stack([rows.sum(axis=0), rows[:2].sum(axis=0)])
        together = scorer.aggregate(sums)
        assert together.shape == (2,)
        assert together[0] == pytest.approx(float(scorer.aggregate(sums[0])), nan_ok=True)
        low, high = scorer.bounds
        assert np.all(np.isnan(together) | ((low <= together) & (together <= high)))

    def test_linear_is_the_mean_of_items(self, name):
        task, scorer = task_of(name), scorers.get(name)()
        a, b = values_for(task)
        rows = scorer.stats([a, b, a, b], [a, a, b, b], task)
        if scorer.linear:
            assert float(scorer.aggregate(rows.sum(axis=0))) == pytest.approx(float(scorer.aggregate(rows).mean()))

    def test_nothing_has_no_score(self, name):
        task, scorer = task_of(name), scorers.get(name)()
        a, _ = values_for(task)
        rows = scorer.stats([a], [a], task)
        assert np.isnan(scorer.aggregate(np.zeros_like(rows[0])))
        assert scorer.key(None, task) is None

    @given(outputs=st.lists(ODD, min_size=1, max_size=5))
    def test_odd_outputs_never_crash(self, name, outputs):
        task, scorer = task_of(name), scorers.get(name)()
        gold, _ = values_for(task)
        readable = [output for output in outputs if scorer.key(output, task) is not None]
        {scorer.key(output, task) for output in readable}  # hashable
        rows = scorer.stats(readable, [gold] * len(readable), task)
        assert rows.shape[0] == len(readable)
        assert np.isfinite(rows).all()

    def test_values_of_one_key_score_alike(self, name):
        task, scorer = task_of(name), scorers.get(name)()
        a, b = values_for(task)
        same = {**a, "extra": 1} if isinstance(a, dict) else {"label": a} if task.name == "classify" else a
        if scorer.key(a, task) == scorer.key(same, task):
            assert np.array_equal(scorer.stats([a, b], [a, a], task), scorer.stats([same, b], [same, a], task))
