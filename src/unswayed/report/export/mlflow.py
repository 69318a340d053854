"""A run logged to MLflow: what decided it as parameters, its measures with their intervals, and its report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

import msgspec

from unswayed.base.errors import MissingExtra, UnswayedError
from unswayed.base.registry import VERSION
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.report.export import Exporter, safe_names, write_json
from unswayed.report.html import write_report
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
        run = Run(path)
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise MissingExtra("Logging to MLflow", "mlflow") from error
        with _mlflow_errors(f"MLflow can't be reached at {_shown(to or 'its default place')}"):
            client = MlflowClient(tracking_uri=to)
        results = measure_run(run)
        with TemporaryDirectory() as folder:
            write_report(run, results, Path(folder) / "report.html")
            write_json(Path(folder) / "results.json", msgspec.to_builtins(results))
            with _mlflow_errors("MLflow takes no run"):
                known = client.get_experiment_by_name(self._experiment)
                experiment = known.experiment_id if known else client.create_experiment(self._experiment)
                name = f"{run.system} on {(run.suite.path or Path(run.suite.id)).name}"
                made = client.create_run(experiment, run_name=name[:_PARAM])
                logged = str(made.info.run_id)
            _log(client, logged, run, results, folder)
        where = f" at {_shown(to)}" if to else ""
        return f"Logged to MLflow{where}: experiment {self._experiment!r}, run {logged}"


@contextmanager
def _mlflow_errors(what: str) -> Iterator[None]:
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

    now, manifest = int(time() * 1000), run.suite.manifest
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
    texts = {name: str(value) for name, value in facts.items() if value not in (None, "")}
    params = [Param(name, t if len(t) <= _PARAM else t[: _PARAM - 1] + "…") for name, t in texts.items()]
    metrics = [Metric(name, value, now, 0) for name, value in numbers(results)]
    tags = [RunTag(f"unswayed.signature.{measure}", e.signature) for measure, e in results.whole.estimates.items()]
    try:
        client.log_batch(id, params=params, tags=[RunTag("unswayed.version", VERSION), *tags])
        for at in range(0, len(metrics), _A_BATCH):
            client.log_batch(id, metrics=metrics[at : at + _A_BATCH])
        client.log_artifacts(id, folder)
        client.set_terminated(id)
    except BaseException as error:
        marked = "could not be"
        with suppress(Exception):  # what went wrong before is what to tell
            client.set_terminated(id, "FAILED")
            marked = "is"
        if not isinstance(error, Exception):
            raise
        raise UnswayedError(
            f"MLflow did not take all of run {id}, which {marked} marked as failed: {_said(error)}"
        ) from error


def numbers(results: Results) -> Iterator[tuple[str, float]]:
    """Every measure by a name that MLflow takes, with the ends of its interval; what was not measured is not there."""
    sets = [("", results.whole.estimates)]
    kinds = safe_names(results.sets, _UNSAFE)
    for kind, blocks in results.sets.items():
        names = safe_names(blocks, _UNSAFE)
        sets += [(f"{kinds[kind]}/{names[value]}/", block.estimates) for value, block in blocks.items()]
    scores = safe_names(results.scores, _UNSAFE)  # such as entity_f1[person]
    sets += [(f"score/{scores[score]}/", estimates) for score, estimates in results.scores.items()]
    for name, value, low, high in (
        (f"{place}{measure}", e.value, e.low, e.high) for place, found in sets for measure, e in found.items()
    ):
        if value is not None:
            yield name, value
            yield from [(f"{name}.low", low), (f"{name}.high", high)] if low is not None and high is not None else []
    for what in ("examples", "variants", "failed", "not_asked"):
        yield what, float(results.validity[what])
