"""The embedded judge of entailment: it learns, is the same each time, and what is saved is what answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from samples import nli

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.values import Example
from unswayed.data import read_examples
from unswayed.papers.parte.nli import FEATURES, Nli, pair_numbers
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed

RTE = Path(__file__).parents[3] / "../shared/data/rte"


@pytest.mark.skipif(not RTE.is_dir(), reason="../shared/data is not here")
def test_rte_dev_to_test() -> None:
    """Sixty per cent, where guessing has fifty, and an embedding's cosine with overlap sixty."""
    dev = [e for n in (1, 2, 3) for e in read_examples(RTE / f"rte{n}_dev.xml")]
    test = [e for n in (1, 2, 3) for e in read_examples(RTE / f"rte{n}_test.xml")]
    system = Nli.train(dev)
    answers = system.predict([e.inputs for e in test])
    assert sum(a == e.gold for a, e in zip(answers, test, strict=True)) / len(test) > 0.6
    assert Nli.train(dev[::-1]).predict([e.inputs for e in test[:200]]) == answers[:200]


def test_saved_and_opened(tmp_path: Path) -> None:
    system = nli()
    system.save(tmp_path / "model")
    opened = open_system(str(tmp_path / "model"))
    asked = [{"text": "play it", "other": "do not play it"}, {"text": "", "other": ""}]
    assert opened.identity == system.identity
    assert list(opened.predict(asked)) == list(system.predict(asked))
    assert isinstance(opened.predict([{"text": "alone"}])[0], Failed)
    (tmp_path / "model/weights.npz").write_bytes(b"x")
    with pytest.raises(StoredFileError, match="train and save it again"):
        open_system(str(tmp_path / "model"))


def test_order_of_the_texts_counts() -> None:
    wide, narrow = "a man and a woman sing and dance in the street", "a man sings"
    pairs = [(wide, narrow, "yes"), (narrow, wide, "no")] * 4
    examples = [Example(i, str(i), {"premise": p, "hypothesis": h}, gold) for i, (p, h, gold) in enumerate(pairs)]
    system = Nli.train(examples)
    assert system.predict([e.inputs for e in examples[:2]]) == ["yes", "no"]
    swapped = {"hypothesis": narrow, "premise": wide}  # as a suite stores them
    assert system.predict([swapped]) == ["yes"]


def test_names_of_the_texts_may_differ_from_those_that_were_learnt(tmp_path: Path) -> None:
    """RTE's development pairs have sentence1 and sentence2; the pairs of the study are premises and hypotheses."""
    rows = [("a man and a woman sing", "a man sings", "true"), ("a man sings", "a man and a woman sing", "false")] * 4
    examples = [Example(i, str(i), {"sentence1": p, "sentence2": h}, gold) for i, (p, h, gold) in enumerate(rows)]
    system = Nli.train(examples)
    asked = {"premise": rows[0][0], "hypothesis": rows[0][1]}
    assert system.predict([asked, {"text1": rows[1][0], "text2": rows[1][1]}]) == ["true", "false"]
    failed = system.predict([{"text": "alone"}])[0]
    assert isinstance(failed, Failed)
    assert "'sentence1' and 'sentence2'" in failed.error


def test_three_labels_and_other_languages() -> None:
    pairs = [("今天下雨", "下雨了", 0), ("今天下雨", "今天没下雨", 1), ("今天下雨", "猫在睡觉", 2)] * 3
    examples = [Example(i, str(i), {"a": p, "b": h}, gold) for i, (p, h, gold) in enumerate(pairs)]
    assert Nli.train(examples).predict([e.inputs for e in examples[:3]]) == [0, 1, 2]


def test_what_can_not_be_learnt_from() -> None:
    with pytest.raises(UsageError, match="needs two texts"):
        Nli.train([Example(0, "0", {"text": "x"}, "yes")])
    with pytest.raises(UsageError, match="has other inputs than the first: a, c"):
        Nli.train([Example(0, "0", {"a": "x", "b": "y"}, 1), Example(1, "1", {"a": "x", "c": "y"}, 1)])


@given(st.text(max_size=60), st.text(max_size=60))
@settings(deadline=None)
def test_any_pair_has_finite_numbers(premise: str, hypothesis: str) -> None:
    found = pair_numbers(premise, hypothesis, {"the": 0.1}, 3.0)
    assert len(found) == FEATURES
    assert all(abs(number) < 10 for number in found)
