"""Runs are logged to real MLflow stores, and what is logged is what was measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import MissingExtra, UnswayedError
from unswayed.base.values import Estimate
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Block, Results
from unswayed.report.export import export
from unswayed.report.export.mlflow import numbers
from unswayed.run.engine import run_system
from unswayed.run.record import Run
from unswayed.storage.suite import Suite

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def run(classify: Suite, tmp_path: Path) -> Run:
    def predict(batch: list[dict[str, str]]) -> list[str]:
        return ["lights" if "i" in inputs["text"] else "music" for inputs in batch]

    return run_system(classify, predict, tmp_path / "run")


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # artifacts of a local store go below the current folder
        yield f"sqlite:///{folder / 'mlflow.db'}"


def client(uri: str) -> Any:
    tracking = pytest.importorskip("mlflow.tracking")
    return tracking.MlflowClient(tracking_uri=uri)


def logged(uri: str, experiment: str) -> list[Any]:
    found = client(uri).get_experiment_by_name(experiment)
    return list(client(uri).search_runs([found.experiment_id]))


def test_what_is_logged_is_what_was_measured(run: Run, uri: str, tmp_path: Path) -> None:
    assert "experiment 'homes'" in export(run.path, "mlflow", uri, experiment="homes")
    results = measure_run(run)
    [there] = logged(uri, "homes")
    assert there.info.status == "FINISHED"
    metrics = there.data.metrics
    for measure in ("clean", "average", "worst", "drop", "flips", "consistency", "noticed"):
        estimate = getattr(results.whole, measure)
        assert (metrics[measure], metrics[f"{measure}.low"], metrics[f"{measure}.high"]) == (
            estimate.value, estimate.low, estimate.high,
        )  # fmt: skip
    drop = results.sets["operator"]["keyboard/adjacent"].drop
    assert metrics["operator/keyboard/adjacent/drop"] == drop.value
    assert metrics["operator/keyboard/adjacent/drop.high"] == drop.high
    assert metrics["place/home/average"] == results.sets["place"]["home"].average.value
    assert "operator/meaning/replace/average" not in metrics  # nothing was measured, which is not zero
    assert metrics["variants"] == results.validity["variants"]
    assert there.data.params["suite"] == run.suite.id
    assert there.data.params["identity"] == run.identity
    assert there.data.params["seed"] == "3"
    assert there.data.tags["unswayed.signature.drop"] == results.drop.signature
    place = Path(client(uri).download_artifacts(there.info.run_id, "", str(tmp_path)))
    assert msgspec.json.decode((place / "results.json").read_bytes(), type=Results) == results
    assert "<html" in (place / "report.html").read_text(encoding="utf-8")
    assert (place / "report.flips.jsonl").is_file()


def test_a_run_that_was_not_logged_whole_is_marked(run: Run, uri: str) -> None:
    store = client(uri)
    store.create_experiment("blocked", artifact_location="file:///proc/no/such/place")
    with pytest.raises(UnswayedError, match="did not take all of run .* is marked as failed"):
        export(run.path, "mlflow", uri, experiment="blocked")
    [there] = logged(uri, "blocked")
    assert there.info.status == "FAILED"


def test_a_store_that_is_not_there_is_told(run: Run) -> None:
    client("sqlite://")
    with pytest.raises(UnswayedError, match="MLflow"):
        export(run.path, "mlflow", "http://127.0.0.1:9")
    with pytest.raises(UnswayedError, match="MLflow can't be reached at nonsense://x") as told:
        export(run.path, "mlflow", "nonsense://anna:secret@x")
    assert "secret" not in str(told.value)


def test_what_was_measured_is_not_measured_again(run: Run, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from unswayed.score.accuracy import Accuracy

    measure_run(run)
    monkeypatch.setattr(Accuracy, "stats", lambda *given: pytest.fail("scored again"))
    export(run.path, "mlflow", uri, experiment="again")


def test_without_mlflow_the_line_that_installs_it_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mlflow-skinny"):
        export(run.path, "mlflow", "sqlite://")


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), st.just(0), max_size=3), max_size=3))
def test_any_name_becomes_one_that_mlflow_takes(by: dict[str, dict[str, int]]) -> None:
    validation = pytest.importorskip("mlflow.utils.validation")
    one = Estimate(0.5, 0.4, 0.6, 10, 0, "s")
    block = Block(clean=one, average=one, worst=one, drop=one, flips=one, consistency=one)
    results = Results(
        score="accuracy", task="classify", suite="s", system="m", clean=one, average=one, worst=one, drop=one,
        flip_rate=one, consistency=one, noticed=None, grid={}, scores={},
        sets={kind: dict.fromkeys(names, block) for kind, names in by.items()},
        validity=dict.fromkeys(("examples", "variants", "failed", "not_asked"), 1),
    )  # fmt: skip
    names = [name for name, _ in numbers(results)]
    assert len(set(names)) == len(names)
    for name in names:
        validation._validate_metric_name(name)
        assert len(name) <= 250
        assert re.search(r"\s(?<! )", name) is None
