"""A run logged to MLflow: what decided it as parameters, its measures with their intervals, and its report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

import msgspec

from unswayed.base.errors import MissingExtra, UnswayedError
from unswayed.base.registry import VERSION
from unswayed.base.values import Estimate
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import MEASURES, Results
from unswayed.report.export._exporter import Exporter, safe_names, write_json
from unswayed.report.html import signatures, write_report
from unswayed.run.record import Run

_UNSAFE = r"[^\w\- /]|^[ /]+|[ /]+$|/(?=/)"  # what MLflow takes for no name, and dots, which end ours
_CREDENTIALS = re.compile(r"//[^/@\s]+@")  # in a URI; not to be shown
_A_BATCH = 500  # metrics, of the 1,000 that a server takes at once
_PARAM = 500  # characters that every server takes


class Mlflow(Exporter):
    """A run of an MLflow experiment, at a tracking server or in a local store."""

    def __init__(self, experiment: str = "unswayed") -> None:
        self._experiment = experiment

    def export(self, path: str, to: str | None, overwrite: bool) -> str:
        run, client = Run(path), _client(to)
        results = measure_run(run)
        with TemporaryDirectory() as folder:
            write_report(run, results, Path(folder) / "report.html")
            write_json(Path(folder) / "results.json", msgspec.to_builtins(results))
            with _told("MLflow takes no run"):
                logged = self._start(client, run)
            _log(client, logged, run, results, folder)
        where = f" at {_shown(to)}" if to else ""
        return f"Logged to MLflow{where}: experiment {self._experiment!r}, run {logged}"

    def _start(self, client: Any, run: Run) -> str:
        """A new run there; its id."""
        known = client.get_experiment_by_name(self._experiment)
        experiment = known.experiment_id if known else client.create_experiment(self._experiment)
        made = client.create_run(experiment, run_name=f"{run.system} on {run.suite.path.name}"[:_PARAM])
        return str(made.info.run_id)


def _client(uri: str | None) -> Any:
    try:
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise MissingExtra("Logging to MLflow", "mlflow") from error
    with _told(f"MLflow can't be reached at {_shown(uri or 'its default place')}"):
        return MlflowClient(tracking_uri=uri)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Whatever MLflow raises, as one line of ours."""
    try:
        yield
    except Exception as error:
        raise UnswayedError(f"{what}: {_said(error)}") from error


def _said(error: Exception) -> str:
    return _shown(str(error).strip().split("\n", 1)[0][:500]) or type(error).__name__


def _shown(uri: str) -> str:
    return _CREDENTIALS.sub("//", uri)


def _log(client: Any, id: str, run: Run, results: Results, folder: str) -> None:
    """Logs all of it and ends the run; one that was not logged whole is marked as failed."""
    from mlflow.entities import Metric, Param, RunTag

    now = int(time() * 1000)
    metrics = [Metric(name, value, now, 0) for name, value in numbers(results)]
    params = [Param(name, value) for name, value in _facts(run, results).items()]
    tags = [RunTag(f"unswayed.signature.{measure}", signature) for measure, signature in signatures(results)]
    try:
        client.log_batch(id, params=params, tags=[RunTag("unswayed.version", VERSION), *tags])
        for at in range(0, len(metrics), _A_BATCH):
            client.log_batch(id, metrics=metrics[at : at + _A_BATCH])
        client.log_artifacts(id, folder)
        client.set_terminated(id)
    except BaseException as error:
        marked = "is" if _marked_as_failed(client, id) else "could not be"
        if not isinstance(error, Exception):
            raise
        raise UnswayedError(
            f"MLflow did not take all of run {id}, which {marked} marked as failed: {_said(error)}"
        ) from error


def _marked_as_failed(client: Any, id: str) -> bool:
    try:
        client.set_terminated(id, "FAILED")
    except Exception:
        return False  # what went wrong before is what to tell
    return True


def _facts(run: Run, results: Results) -> dict[str, str]:
    manifest = run.suite.manifest
    operators = ", ".join(f"{op.get('name')} v{op.get('version')}" for op in manifest.operators)
    facts = {
        "suite": run.suite.id,
        "system": run.system,
        "identity": run.identity,
        "task": results.task,
        "language": manifest.language,
        "score": results.score,
        "seed": manifest.seed,
        "draws": manifest.draws,
        "operators": operators or ", ".join(sorted(run.suite.sources())),
    }
    return {name: _cut(str(value)) for name, value in facts.items() if value not in (None, "")}


def _cut(text: str) -> str:
    return text if len(text) <= _PARAM else text[: _PARAM - 1] + "…"


def numbers(results: Results) -> Iterator[tuple[str, float]]:
    """Every measure by a name that MLflow takes, with the ends of its interval; what was not measured is not there."""
    for measure in MEASURES:
        yield from _estimate(measure, getattr(results.whole, measure))
    kinds = safe_names(results.sets, _UNSAFE)
    for kind, blocks in results.sets.items():
        names = safe_names(blocks, _UNSAFE)
        for value, block in blocks.items():
            for measure in MEASURES:
                yield from _estimate(f"{kinds[kind]}/{names[value]}/{measure}", getattr(block, measure))
    for score, estimates in results.scores.items():
        for measure, estimate in estimates.items():
            yield from _estimate(f"score/{score}/{measure}", estimate)
    for what in ("examples", "variants", "failed", "not_asked"):
        yield what, float(results.validity[what])


def _estimate(name: str, estimate: Estimate | None) -> Iterator[tuple[str, float]]:
    if estimate is None or estimate.value is None:
        return
    yield name, estimate.value
    if estimate.low is not None and estimate.high is not None:
        yield f"{name}.low", estimate.low
        yield f"{name}.high", estimate.high
