"""Averages and worst cases as READIN reports them."""

from __future__ import annotations

import logging
import random

import numpy as np
import pytest
import sacrebleu

from unswayed.measure.measuring import measure_run
from unswayed.papers.readin.tables import _cells, versions_of


def sentence_bleu(output, reference):
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    return sacrebleu.sentence_bleu(output, [reference], use_effective_order=False).score


def test_readins_average_and_worst(fake_run):
    """Average: the mean of the annotators' corpus BLEUs. Worst: the mean of each segment's lowest sentence BLEU."""
    rng = random.Random(2)
    golds = [" ".join(rng.choices(["a", "b", "c", "d", "e", "f", "g", "h"], k=rng.randint(3, 12))) for _ in range(30)]

    def worse(text):
        return " ".join(word for word in text.split() if rng.random() < 0.9)

    said = [[worse(gold) for gold in golds] for _ in range(3)]
    rows = [
        (gold, gold, [(f"person/keyboard-{k + 1}", k, "same", said[k][i]) for k in range(3)])
        for i, gold in enumerate(golds)
    ]
    results = measure_run(fake_run(rows, task="translate"), {"measure": {"bootstrap": 50}})
    corpus = [sacrebleu.corpus_bleu(texts, [golds]).score for texts in said]
    assert results.average.value == pytest.approx(np.mean(corpus), abs=1e-9)
    lowest = [min(sentence_bleu(texts[i], gold) for texts in said) for i, gold in enumerate(golds)]
    assert results.scores["sentence_bleu"]["worst"].value == pytest.approx(np.mean(lowest), abs=1e-9)
    assert results.worst.value <= results.average.value


def test_accuracy_on_each_side(fake_run):
    """As READIN reports AFQMC: items of the other side have no score and are not missing."""
    rows = [
        ("1", "1", [("p/1", 0, "same", "1"), ("p/2", 1, "same", "0")]),
        ("1", "0", [("p/1", 0, "same", "1"), ("p/2", 1, "same", "1")]),
        ("0", "0", [("p/1", 0, "same", "0"), ("p/2", 1, "same", fake_run.FAILED)]),
    ]
    results = measure_run(
        fake_run(rows),
        {"measure": {"scores": ["accuracy", "positive_accuracy", "negative_accuracy", "macro_f1"], "bootstrap": 20}},
    )
    positive, negative = results.scores["positive_accuracy"], results.scores["negative_accuracy"]
    assert (positive["clean"].value, positive["clean"].n, positive["clean"].missing) == (0.5, 2, 0)
    assert (positive["average"].value, positive["worst"].value, positive["average"].missing) == (0.75, 0.5, 0)
    assert (negative["clean"].value, negative["average"].value, negative["average"].missing) == (1.0, 1.0, 1)
    assert results.clean.value == pytest.approx(2 / 3)


@pytest.mark.parametrize("people", [2, 3, 4, 6])
def test_the_worst_average_is_the_lowest_of_all_people(fake_run, people):
    rng = np.random.default_rng(people)
    right = rng.random((40, people)) < 0.7
    rows = [
        ("1", "1", [(f"person/keyboard-{k + 1}", k, "same", "1" if right[i, k] else "0") for k in range(people)])
        for i in range(40)
    ]
    run = fake_run(rows)
    run.suite.groups = lambda: [(example, [variant for variant, _ in varied]) for example, _, varied in run.items()]
    assert versions_of(run.suite) == people
    cells = _cells(run, dict.fromkeys(("clean", "average", "worst"), "accuracy"))["person"]
    assert cells["worst"].value == pytest.approx(right.all(axis=1).mean())
    three = measure_run(run, {"measure": {"scores": ["accuracy"]}}).by("family")["person"].worst.value
    assert (three == pytest.approx(cells["worst"].value)) == (people <= 3)
