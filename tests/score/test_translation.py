"""BLEU and chrF are sacreBLEU's, from counts that were taken once."""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st

from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.score import scorers

NMT = Path(__file__).parents[2] / "../shared/data/readin/nmt"
TASK = task_named("translate")
TEXTS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", "it's", "3,000"]), max_size=8).map(
    " ".join
)


def rows_of(name, outputs, golds):
    return scorers.get(name)().stats(outputs, golds, TASK)


def score(name, outputs, golds):
    return float(scorers.get(name)().aggregate(rows_of(name, outputs, golds).sum(axis=0)))


def sentence_bleu(output, reference, tokenize="13a"):
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    return sacrebleu.sentence_bleu(output, [reference], tokenize=tokenize, use_effective_order=False).score


@pytest.fixture(scope="module")
def segments():
    if not NMT.is_dir():
        pytest.skip("../shared/data is not here")
    records = [json.loads(line) for line in (NMT / "test_clean.json").read_text(encoding="utf-8").splitlines()[:400]]
    noisy = (NMT / "test_noisy_keyboard_1.json").read_text(encoding="utf-8").splitlines()[:400]
    rng = random.Random(1)
    english = [record["en"].strip() for record in records]
    worse = [" ".join(word for word in text.split() if rng.random() < 0.8) for text in english]
    return {
        "en": (worse, english, "13a"),
        "zh": ([json.loads(line)["zh"].strip() for line in noisy], [r["zh"].strip() for r in records], "zh"),
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_equal_to_sacrebleu_on_real_text(segments, language):
    outputs, golds, tokenize = segments[language]
    bleu, chrf = sacrebleu.corpus_bleu(outputs, [golds], tokenize=tokenize), sacrebleu.corpus_chrf(outputs, [golds])
    assert score("bleu", outputs, golds) == pytest.approx(bleu.score, rel=1e-12)
    assert score("chrf", outputs, golds) == pytest.approx(chrf.score, rel=1e-12)
    some = slice(0, 100)
    singles = [sentence_bleu(o, g, tokenize) for o, g in zip(outputs[some], golds[some], strict=True)]
    assert rows_of("sentence_bleu", outputs[some], golds[some])[:, 0].tolist() == pytest.approx(
        singles, rel=1e-12, abs=1e-12
    )


@settings(max_examples=150)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
def test_equal_to_sacrebleu_on_short_texts(pairs):
    outputs, golds = map(list, zip(*pairs, strict=True))
    if any(outputs) or any(golds):
        assert score("bleu", outputs, golds) == pytest.approx(sacrebleu.corpus_bleu(outputs, [golds]).score, abs=1e-9)
    if any(golds):  # without a reference there is no chrF; sacreBLEU says 0
        assert score("chrf", outputs, golds) == pytest.approx(sacrebleu.corpus_chrf(outputs, [golds]).score, abs=1e-9)
    for i, (output, gold) in enumerate(pairs):
        if output or gold:
            ours = rows_of("sentence_bleu", outputs, golds)[i, 0]
            assert ours == pytest.approx(sentence_bleu(output, gold), abs=1e-9)


def test_several_references():
    outputs = ["the cat sat on the mat", "a dog"]
    golds = [["a cat sat on a mat", "the cat is on the mat"], "a dog barks"]
    streams = [["a cat sat on a mat", "a dog barks"], ["the cat is on the mat", None]]
    assert score("bleu", outputs, golds) == pytest.approx(sacrebleu.corpus_bleu(outputs, streams).score, abs=1e-12)
    assert score("chrf", outputs, golds) == pytest.approx(sacrebleu.corpus_chrf(outputs, streams).score, abs=1e-12)


def test_the_task():
    assert TASK.fits(Example(0, "0", {"source": "你好，世界"}, "Hello, world"))
    assert not TASK.fits(Example(0, "0", {"source": "play jazz"}, "music"))
    assert TASK.gold_problem(Example(0, "0", {"source": "x"}, 3))
    assert TASK.answer("a  b\n") == TASK.answer("a b")
    assert TASK.output_problem(["a"], {}) is not None


def test_without_sacrebleu_the_line_that_installs_it(monkeypatch):
    import sys

    from unswayed.base.errors import MissingExtra

    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sacrebleu"):
        rows_of("bleu", ["a"], ["a"])
