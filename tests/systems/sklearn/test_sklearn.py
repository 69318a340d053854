"""Fitted estimators from a module of one's own and from skops files."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("skops", reason="needs the extra sklearn")

import pandas
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.systems.callable import state_id
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed

SAID = ["turn on the lights", "dim the lamp", "play some jazz", "put on a song"]
LABELS = ["lights", "lights", "music", "music"]
MODULE = f"""
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), RandomForestClassifier(5, random_state=0))
pipeline.fit({SAID!r}, {LABELS!r})
"""


def fitted(c: float = 1.0) -> Pipeline:
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=c)).fit(SAID, LABELS)


def loud(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "fitted_here", raising=False)
    Path("fitted_here.py").write_text(MODULE)
    return tmp_path


def test_an_object_of_a_module_answers_as_it_does_itself(here: Path) -> None:
    system = open_system("fitted_here:pipeline")
    texts = [*SAID, "", "🙂", "jazz " * 10_000]
    expected = sys.modules["fitted_here"].pipeline.predict(texts).tolist()
    assert list(system.predict([{"text": text} for text in texts])) == expected
    assert list(system.predict([])) == []
    Path("data.jsonl").write_text('{"text": "play some jazz", "label": "music"}\n')
    suite = make_suite("data.jsonl", ["keyboard/adjacent"], to="suite")
    run_system(suite, system, to="run")


def test_the_identity_is_the_same_in_every_process(here: Path) -> None:
    script = "from unswayed.systems.opening import open_system; print(open_system('fitted_here:pipeline').identity)"
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in "12"
    }
    assert len(seen) == 1


def test_the_identity_changes_with_parameters_and_with_what_was_learnt() -> None:
    one, same, other = open_system(fitted()), open_system(fitted()), open_system(fitted(2.0))
    assert one.identity == same.identity != other.identity
    moved = fitted()
    moved[-1].coef_[0, 0] = np.nextafter(moved[-1].coef_[0, 0], 9)
    assert open_system(moved).identity != one.identity
    assert open_system(fitted(), fields="text").identity != one.identity
    assert open_system(fitted(), identity="mine").identity == "mine"


def test_states_differ_exactly_when_values_do() -> None:
    nodes = np.zeros(
        2, dtype=np.dtype({"names": ["a", "b"], "formats": ["i1", "i8"], "offsets": [0, 8], "itemsize": 16})
    )
    gaps = np.frombuffer(bytearray(b"\0" + b"\xff" * 7 + b"\0" * 9 + b"\xff" * 7 + b"\0" * 8), dtype=nodes.dtype)
    assert state_id(nodes) == state_id(gaps)
    assert state_id({"a": 1, "b": {1, 2}}) == state_id({"b": {2, 1}, "a": 1})
    knot: list[Any] = []
    knot.append(knot)
    values = [
        1,
        1.0,
        True,
        "1",
        b"1",
        None,
        [1],
        (1,),
        {1},
        np.int64(1),
        np.array([1]),
        np.array([1.0]),
        np.array([[1]]),
    ]
    values += [
        nodes[:1],
        np.array(["1"], dtype=object),
        loud,
        lambda x: x,
        lambda x: x + 1,
        LogisticRegression,
        knot,
        threading.Lock(),
    ]
    assert len({state_id(value) for value in values}) == len(values)


def test_several_texts_need_to_be_named() -> None:
    pairs = np.array([["a b", "a"], ["a", "c"], ["b", "b a"], ["c", "a"]], dtype=object)
    columns = ColumnTransformer(
        [("first", CountVectorizer(token_pattern="."), 0), ("second", CountVectorizer(token_pattern="."), 1)]
    )
    model = make_pipeline(columns, RandomForestClassifier(5, random_state=0)).fit(pairs, [1, 0, 1, 0])
    asked = [{"premise": a, "hypothesis": b} for a, b in pairs]
    assert list(open_system(model, fields="premise,hypothesis").predict(asked)) == model.predict(pairs).tolist()
    assert all(isinstance(o, Failed) and "premise; choose with" in o.error for o in open_system(model).predict(asked))
    [failed, answer] = open_system(fitted(), fields="text").predict([{"said": "jazz"}, {"text": "jazz", "more": ""}])
    assert isinstance(failed, Failed)
    assert answer == "music"


def test_a_model_of_a_data_frame_gets_one() -> None:
    frame = pandas.DataFrame({"subject": ["hi", "win now"], "body": ["see you", "money money"]})
    columns = ColumnTransformer([(name, CountVectorizer(), name) for name in frame])
    model = make_pipeline(columns, LogisticRegression()).fit(frame, [0, 1])
    asked = [{"body": "money", "subject": "win", "other": "x"}]
    assert list(open_system(model).predict(asked)) == [1]
    assert list(open_system(model, fields="s,b").predict([{"s": "win", "b": "money"}])) == [1]
    with pytest.raises(UsageError, match="1 fields for the 2 columns"):
        open_system(model, fields="s")


def test_a_skops_file(tmp_path: Path) -> None:
    file = tmp_path / "model.skops"
    skops.io.dump(fitted(), file)
    system = open_system(f"sklearn:{file}")
    assert list(system.predict([{"text": text} for text in SAID])) == LABELS
    skops.io.dump(fitted(9.0), file)
    assert open_system(f"sklearn:{file}").identity != system.identity
    assert open_system(f"sklearn:{file}", fields="a").identity != open_system(f"sklearn:{file}").identity


def test_types_of_a_skops_file_must_be_trusted_by_name(tmp_path: Path) -> None:
    file = tmp_path / "model.skops"
    skops.io.dump(make_pipeline(FunctionTransformer(loud), fitted()), file)
    name = f"{loud.__module__}.loud"
    with pytest.raises(UsageError, match=rf"not trusted: {name}\. .* trusted={name}"):
        open_system(f"sklearn:{file}")
    assert list(open_system(f"sklearn:{file}", trusted=name).predict([{"text": "PLAY jazz"}])) == ["music"]


def test_what_can_not_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.skops"
    with pytest.raises(UsageError, match="There is no file"):
        open_system(f"sklearn:{file}")
    file.write_bytes(b"PK no zip")
    with pytest.raises(StoredFileError, match=r"model\.skops: this can't be read as a skops file"):
        open_system(f"sklearn:{file}")
    skops.io.dump(TfidfVectorizer().fit(SAID), file)
    with pytest.raises(UsageError, match="TfidfVectorizer, which has no predict"):
        open_system(f"sklearn:{file}")
    with pytest.raises(UsageError, match="no option 'feilds'. Did you mean 'fields'"):
        open_system(fitted(), feilds="a")
    monkeypatch.setattr("unswayed.systems.sklearn.skops.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'scikit-learn"):
        open_system(f"sklearn:{file}")


def test_own_estimators_are_deterministic_and_guesses_are_not_known_to_be(tmp_path: Path) -> None:
    ours = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(SAID, LABELS)
    assert open_system(ours).deterministic is True
    guess = make_pipeline(TfidfVectorizer(), DummyClassifier(strategy="uniform")).fit(SAID, LABELS)
    assert open_system(guess).deterministic is None
    tokens = make_pipeline(TfidfVectorizer(tokenizer=str.split, token_pattern=None), LogisticRegression())
    assert open_system(tokens.fit(SAID, LABELS)).deterministic is None
    tokens.unswayed_deterministic = True
    system = open_system(tokens)
    assert system.deterministic is True
    data = [{"text": text, "label": label} for text, label in zip(SAID, LABELS, strict=True)]
    suite = make_suite(data, ["spoken/filler_end"])
    with pytest.raises(UsageError, match=r"is declared deterministic.*Leave out plan="):
        run_system(suite, system, tmp_path / "run", plan={"run": {"repeats": 2}})
