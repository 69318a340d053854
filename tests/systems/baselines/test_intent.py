from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from samples import intent

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.systems.baselines.intent import Intent
from unswayed.systems.system import Failed

SLU = Path(__file__).parents[3].parent / "shared/data/slu"
TEXTS = {"good": ["lovely film", "a great story", "great acting"], "bad": ["a dull film", "awful story", "dull"]}


def examples(labels: dict[str, object] | None = None) -> list[Example]:
    pairs = [(text, (labels or {}).get(label, label)) for label, texts in TEXTS.items() for text in texts]
    return [Example(i, str(i), {"text": text}, label) for i, (text, label) in enumerate(pairs)]


def slu(folder: Path, most: int | None = None) -> list[Example]:
    columns = ((folder / name).read_text(encoding="utf-8").splitlines() for name in ("seq.in", "seq.out", "label"))
    rows = list(zip(*columns, strict=True))[:most]
    return [
        Example(i, str(i), {"text": " ".join(t.split())}, {"intent": label.strip(), "slots": tags.split()})
        for i, (t, tags, label) in enumerate(rows)
    ]


def test_learns_what_it_is_shown() -> None:
    model = Intent.train(examples(), "classify")
    assert list(model.predict([e.inputs for e in examples()])) == [e.gold for e in examples()]


@pytest.mark.parametrize("labels", [{"good": 1, "bad": 0}, {"good": True, "bad": False}, {"good": 1, "bad": True}])
def test_labels_keep_their_type(labels: dict[str, object], tmp_path: Path) -> None:
    shown = examples(labels)
    model = Intent.load(Intent.train(shown, "classify").save(tmp_path / "model"))
    found = model.predict([e.inputs for e in shown])
    assert [(type(a), a) for a in found] == [(type(e.gold), e.gold) for e in shown]


def test_several_fields_are_told_apart() -> None:
    rows = [({"a": "yes", "b": "no"}, "first"), ({"a": "no", "b": "yes"}, "second")]
    shown = [Example(i, str(i), inputs, gold) for i, (inputs, gold) in enumerate(rows)]
    assert list(Intent.train(shown, "classify").predict([e.inputs for e in shown])) == ["first", "second"]


def test_same_data_and_seed_same_model() -> None:
    shown = [Example(i, str(i), {"text": f"{'ab'[i % 2]} {i} {i // 7}"}, i % 3) for i in range(200)]
    made = [Intent.train(shown, "classify", seed=s).identity for s in (3, 3, 4)]
    assert made[0] == made[1] != made[2]
    assert Intent.train(shown[1:], "classify", seed=3).identity != made[0]


def test_training_leaves_the_global_generator_alone() -> None:
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    intent()
    assert np.random.random() == expected


@pytest.mark.parametrize("text", ["", " ", "play", " play some  jazz ", "ΑΣ ß", "a\tb\nc", "x " * 3000])
def test_slots_fit_the_tokens_whatever_the_text(text: str) -> None:
    [output] = intent().predict([{"text": text}])
    assert task_named("slu").output_problem(output, {"text": text}) is None


def test_an_input_without_text_fails() -> None:
    failed, fine = intent().predict([{"other": "x"}, {"text": "play"}])
    assert isinstance(failed, Failed)
    assert fine["intent"] == "play"


def test_saved_and_loaded_is_the_same(tmp_path: Path) -> None:
    model = intent()
    loaded = Intent.load(model.save(tmp_path / "a/model"))
    assert loaded.identity == model.identity
    assert loaded.card.data == model.card.data
    batch = [{"text": t} for t in ("play some jazz", "rain today", "", "zzz")]
    assert list(loaded.predict(batch)) == list(model.predict(batch))
    assert sorted(f.name for f in (tmp_path / "a").iterdir()) == ["model"]


def test_saving_never_overwrites_unasked(tmp_path: Path) -> None:
    model = intent()
    model.save(tmp_path / "model")
    model.save(tmp_path / "model")  # the same again is no loss
    other = Intent.train(examples(), "classify")
    with pytest.raises(UsageError, match="holds another system"):
        other.save(tmp_path / "model")
    other.save(tmp_path / "model", overwrite=True)
    assert Intent.load(tmp_path / "model").identity == other.identity
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="is not a saved system"):
        model.save(tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine/letter.txt").exists()


def test_damaged_files_are_named(tmp_path: Path) -> None:
    folder = intent().save(tmp_path / "model")
    card, weights = (folder / "system.json"), (folder / "weights.npz")
    whole, text = weights.read_bytes(), card.read_text()
    pickled = io.BytesIO()
    np.savez(pickled, features=np.array([object()], dtype=object))
    for content in (whole[:-20], b"", pickled.getvalue()):
        weights.write_bytes(content)
        with pytest.raises(StoredFileError, match=r"weights\.npz"):
            Intent.load(folder)
    weights.write_bytes(whole)
    for content in ("{", text.replace('"version": 1', '"version": 99'), text.replace('"labels"', '"lables"')):
        card.write_text(content)
        with pytest.raises(StoredFileError, match=r"system\.json"):
            Intent.load(folder)
    with pytest.raises(StoredFileError):
        Intent.load(tmp_path / "nowhere")


def test_what_can_not_be_learnt_from_is_named() -> None:
    with pytest.raises(UsageError, match="no examples"):
        Intent.train([], "classify")
    with pytest.raises(UsageError, match="'qa'"):
        Intent.train(examples(), "qa")
    with pytest.raises(DataError, match=r"'x9' \(row 9\)"):
        Intent.train([*examples(), Example(9, "x9", {"text": "t"}, None)], "classify")


def test_one_label_is_always_it() -> None:
    assert list(Intent.train(examples()[:1], "classify").predict([{"text": "anything"}])) == ["good"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "intent", "whole"), [("atis", 0.92, 0.75), ("snips", 0.96, 0.62)])
def test_reaches_what_it_reached_before(name: str, intent: float, whole: float) -> None:
    if not SLU.exists():
        pytest.skip(f"needs the SLU files in {SLU}")
    model = Intent.train(slu(SLU / name / "train", 4478), "slu")
    test = slu(SLU / name / "test")
    outputs = model.predict([e.inputs for e in test])
    right = [o["intent"] == e.gold["intent"] for o, e in zip(outputs, test, strict=True)]
    both = [o == e.gold for o, e in zip(outputs, test, strict=True)]
    assert sum(right) / len(test) >= intent
    assert sum(both) / len(test) >= whole
