"""Macro-F1 of many classes: every example left out in turn, what is true of small samples, and memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from unswayed.base.task import task_named
from unswayed.measure.comparison.runs import compare
from unswayed.measure.definitions import class_found
from unswayed.measure.measuring import measure_run
from unswayed.measure.set_scores import SetScore
from unswayed.score import scorers
from unswayed.stats import mean_interval


def found(golds: list[str], outputs: list[str], clusters: np.ndarray | None = None):
    scorer = scorers.get("macro_f1")()
    rows = scorer.classes(outputs, golds, task_named("classify"))
    assert rows is not None
    codes = np.arange(len(golds), dtype=float)[:, None]
    unit = np.arange(len(golds)) if clusters is None else clusters
    return class_found(SetScore(scorer, rows, 1), codes, unit, np.ones(int(unit.max()) + 1))


@pytest.mark.parametrize("size", [1, 3])
def test_leaving_out_one_is_scoring_the_others(size: int) -> None:
    rng = np.random.default_rng(3)
    golds, outputs = (rng.choice(list("abcdefg"), 30, p=np.arange(1, 8) / 28).tolist() for _ in range(2))
    clusters = np.arange(30) // size
    whole, n = f1_score(golds, outputs, average="macro"), 30 // size
    by_hand = []
    for cluster in range(n):
        kept = [i for i in range(30) if clusters[i] != cluster]
        rest = f1_score([golds[i] for i in kept], [outputs[i] for i in kept], average="macro")
        by_hand.append(n * whole - (n - 1) * rest)
    made = found(golds, outputs, clusters)
    assert made.value == pytest.approx(whole)
    assert made.numbers.total == pytest.approx(by_hand)


@pytest.mark.parametrize(("classes", "n"), [(5, 100), (150, 100), (150, 300)])
def test_intervals_of_small_samples_cover_what_is_true(classes: int, n: int) -> None:
    """Classes of one size, of which the system knows some better than others."""
    rng = np.random.default_rng(5)
    known, wrong = rng.beta(5, 2, classes), rng.integers(1, classes, classes)
    wrong = (np.arange(classes) + wrong) % classes  # what it says instead
    said = known + np.bincount(wrong, 1 - known, classes)
    true = float((2 * known / (1 + said)).mean())
    inside, times = 0, 120
    for _ in range(times):
        gold = rng.integers(0, classes, n)
        output = np.where(rng.random(n) < known[gold], gold, wrong[gold])
        low, high = found(gold.astype(str).tolist(), output.astype(str).tolist()).interval((0, 1), 0.95, "share")[:2]
        inside += low <= true <= high
    assert inside / times >= 0.93


def test_rare_classes_are_warned_of(fake_run) -> None:
    rows = [(str(i % 7), "1", [("p", 0, "same", "1")]) for i in range(40)]
    warnings = measure_run(fake_run(rows), {"measure": {"scores": ["macro_f1"], "sanity": False}}).validity["warnings"]
    assert any(said.startswith("7 of 7 classes have fewer than ten examples: macro_f1") for said in warnings)
    assert not any(
        "classes" in said
        for said in measure_run(fake_run(rows), {"measure": {"scores": ["accuracy"]}}).validity["warnings"]
    )


def test_comparing_lays_no_class_side_by_side(fake_run, monkeypatch) -> None:
    """Differences of macro-F1 are of what each example, left out in turn, gives; no row is as long as the classes."""
    rng = np.random.default_rng(11)
    golds = rng.choice(list("abcdefg"), 40).tolist()

    def side(seed: int) -> list[list[str]]:
        drawn = np.random.default_rng(seed)
        return [[gold if drawn.random() < 0.7 else "a" for gold in golds] for _ in range(3)]

    sides = [side(1), side(2)]
    runs = [
        fake_run([(g, c, [("p/x", 0, "same", v), ("p/y", 1, "same", w)]) for g, c, v, w in zip(golds, *s, strict=True)])
        for s in sides
    ]
    monkeypatch.setattr(SetScore, "_class_columns", lambda *_: pytest.fail("a column for every class"))
    made = compare(*runs, scores=["macro_f1"], plan={"compare": {"correction": "none"}, "measure": {"sanity": False}})
    drop = next(d for d in made.differences if (d.measure, d.set) == ("drop", "all"))

    def score(outputs: list[list[str]], kept: list[int]) -> float:
        clean, *varied = (f1_score([golds[i] for i in kept], [o[i] for i in kept], average="macro") for o in outputs)
        return clean - float(np.mean(varied))

    every = list(range(40))
    by_hand = [score(s, every) for s in sides]
    given = [
        [40 * whole - 39 * score(s, every[:i] + every[i + 1 :]) for i in every]
        for whole, s in zip(by_hand, sides, strict=True)
    ]
    assert (drop.a, drop.b) == pytest.approx(by_hand)
    low, high = mean_interval(np.subtract(given[1], given[0]), (-2.0, 2.0), 0.95, "contrast")
    assert (drop.low, drop.high) == pytest.approx((min(low, drop.difference), max(high, drop.difference)))
