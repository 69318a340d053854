from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from samples import pair
from sklearn.linear_model import LogisticRegression

from unswayed.base.errors import UsageError
from unswayed.base.values import Example
from unswayed.data import read_examples
from unswayed.papers.readin.pair import PairClassifier, pair_features, train_logistic
from unswayed.systems.system import Failed

AFQMC = Path(__file__).parents[3].parent / "shared/data/readin/afqmc_keyboard"
WORDS = ["花呗", "借呗", "还款", "怎么", "为什么", "额度", "开通", "不能", "支付", "提前"]


def examples(count: int = 60) -> list[Example]:
    """Pairs of words; the same words in another order mean the same."""
    made = []
    for i in range(count):
        words = [WORDS[i % 10], WORDS[(i * 3 + 1) % 10], WORDS[(i * 7 + 2) % 10]]
        other = words[::-1] if i % 2 else [WORDS[(i + 5) % 10], words[1], WORDS[(i + 3) % 10]]
        made.append(Example(i, str(i), {"a": "".join(words), "b": "".join(other)}, str(i % 2)))
    return made


def test_learns_what_it_is_shown_and_is_the_same_again() -> None:
    model = PairClassifier.train(examples())
    outputs = model.predict([e.inputs for e in examples()])
    assert sum(o == e.gold for o, e in zip(outputs, examples(), strict=True)) >= 57
    assert PairClassifier.train(examples()).identity == model.identity != PairClassifier.train(examples(58)).identity


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_texts_may_change_places(a: str, b: str) -> None:
    assert sorted(pair_features(a, b)) == sorted(pair_features(b, a))


def test_saved_and_loaded_is_the_same(tmp_path: Path) -> None:
    model = PairClassifier.train(examples())
    loaded = PairClassifier.load(model.save(tmp_path / "model"))
    assert (loaded.identity, loaded.card.fields) == (model.identity, ("a", "b"))
    batch = [e.inputs for e in examples()]
    assert list(loaded.predict(batch)) == list(model.predict(batch))


def test_needs_two_texts() -> None:
    with pytest.raises(UsageError, match="needs two texts"):
        PairClassifier.train([Example(0, "0", {"text": "a"}, "1")])
    with pytest.raises(UsageError, match=r"'x' \(row 1\)"):
        PairClassifier.train([Example(0, "0", {"a": "a", "b": "b"}, "1"), Example(1, "x", {"a": "a", "c": "b"}, "0")])
    failed, fine = pair().predict([{"text": "play"}, {"text": "play", "other": "play"}])
    assert isinstance(failed, Failed)
    assert fine == "same"


def test_weights_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    features = [np.unique(rng.integers(1, 30, size=6)).astype(np.int32) for _ in range(200)]
    labels = np.array([int(rows[0] > 5) + int(rows[-1] > 27) for rows in features])
    dense = np.zeros((200, 30))
    for i, rows in enumerate(features):
        dense[i, rows] = 1 / np.sqrt(len(rows))
    ours = train_logistic(features, labels, (30, 3), 2.0, 500, lambda: None)
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-8, max_iter=5000).fit(dense, labels).coef_.T
    assert np.abs(ours - theirs).max() < 0.02


@pytest.mark.slow
def test_reaches_what_it_reached_before_on_a_quarter_of_afqmc() -> None:
    if not AFQMC.exists():
        pytest.skip(f"needs READIN's AFQMC files in {AFQMC}")
    model = PairClassifier.train(list(read_examples(AFQMC / "train.json"))[:4500])
    dev = list(read_examples(AFQMC / "dev.json"))
    outputs = model.predict([e.inputs for e in dev])
    assert sum(o == e.gold for o, e in zip(outputs, dev, strict=True)) / len(dev) >= 0.60
