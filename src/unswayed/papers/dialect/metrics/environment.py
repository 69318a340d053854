"""Metrics that need an environment of their own, since their packages don't agree with ours: COMET and BLEURT."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

from unswayed.base import Inputs, Json, SystemBroken, UnknownName, UsageError, file_hash
from unswayed.storage import Lock
from unswayed.systems import Failed, Metric, ModelFolder, ProcessSystem, Segment, require_trust
from unswayed.systems.device import chosen

# What each metric is made of, tried together: the metrics' own ranges let in versions with which they fail. What these
# need in turn is pinned, with hashes, in `locks/`; `tools/lock_metrics.py` makes those lists.
PACKAGES = {
    "comet": ("unbabel-comet==2.2.7", "torch==2.13.0", "transformers==4.57.6", "numpy<2", "setuptools<81"),
    "bleurt": ("bleurt-pytorch==0.0.1", "torch==2.13.0", "transformers==4.57.6", "sentencepiece", "setuptools<81"),
}
LOCKS = Path(__file__).with_name("locks")


def folder() -> Path:
    """Where environments are kept: under `UNSWAYED_CACHE`, or in the user's cache folder."""
    cache = os.environ.get("UNSWAYED_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "unswayed"
    )
    return Path(cache) / "metrics"


def python(name: str) -> Path:
    """The Python of a metric's environment; raises with the line that makes it where it is not there."""
    if not is_ready(name):
        raise UsageError(
            f"The metric {name} needs its own virtual environment. Make it with: unswayed metrics install {name}"
        )
    return folder() / name / "bin" / "python"


def is_ready(name: str) -> bool:
    """Is its environment there, made from the pins of today?"""
    try:
        return (folder() / name / "ready").read_text().strip() == file_hash(LOCKS / f"{name}.txt")
    except OSError:
        return False


def install(name: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """Makes a metric's environment, unless it is there; one that was left half made is made anew.

    pip installs nothing whose hash is not in the list.
    """
    if name not in PACKAGES:
        raise UnknownName("metric with an environment", name, PACKAGES)
    place = folder() / name
    if is_ready(name):
        return place
    folder().mkdir(parents=True, exist_ok=True)
    with Lock(folder() / f"{name}.lock", place):
        say(f"Making {place}")
        venv.create(place, with_pip=True, clear=True)
        say(f"Installing {', '.join(PACKAGES[name])}, and what they need")
        problem = _pip(place, LOCKS / "torch_cpu.txt")  # the small build, where pip knows a place that has it
        lists = [f"{name}.txt", *(["cuda.txt"] if problem and sys.platform == "linux" else [])]
        for pins in lists:
            if problem := _pip(place, LOCKS / pins):
                raise UsageError(f"pip could not install {name}: {problem}")
        (place / "ready").write_text(file_hash(LOCKS / f"{name}.txt") + "\n")
    return place


def _pip(place: Path, pins: Path) -> str:
    """Installs what is in a list; what went wrong, if anything."""
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    done = subprocess.run([*pip, "-r", str(pins)], capture_output=True, text=True)  # noqa: S603 - our own pins
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return (" ".join(lines[-2:]) or done.stderr[-300:] or "it failed") if done.returncode else ""


class WorkerMetric(Metric):
    """A metric that a script of its own scores, under the Python of its environment. Extend with `asked`.

    `timeout` is how many seconds the next score may take; a worker that starts has as long again for its model.
    """

    deterministic = True

    def __init__(self, environment: str, *arguments: str, timeout: float = 600.0) -> None:
        self.name = self._environment = environment
        self._arguments, self._timeout = arguments, timeout
        self._process: ProcessSystem | None = None
        device = chosen().device
        self._device = "cpu" if device == "auto" else device  # the environment has a build of torch for CPUs

    def asked(self, segment: Segment) -> Inputs:
        """A segment as the script takes it."""
        raise NotImplementedError

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        if self._process is None:
            self._process = self._started()
        answers = self._process.predict([self.asked(segment) for segment in segments])
        return [self._score(answer) for answer in answers]

    def _score(self, answer: Json | Failed) -> float:
        if isinstance(answer, Failed):
            raise SystemBroken(f"The metric {self.name} failed: {answer.error}")
        return float(answer)

    def _started(self) -> ProcessSystem:
        script = Path(__file__).with_name("_worker.py")
        return ProcessSystem(
            [str(python(self._environment)), "-P", str(script), self._environment, *self._arguments],
            name=self.name,
            identity=self.name,
            timeout=self._timeout,
            start_timeout=self._timeout,
            environment={
                "HF_HUB_OFFLINE": "1",
                "TOKENIZERS_PARALLELISM": "false",
                "OMP_NUM_THREADS": "1",
                "UNSWAYED_DEVICE": self._device,
            },
        )

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


class Comet(WorkerMetric):
    """The package `unbabel-comet` on a checkpoint. Make its environment with `unswayed metrics install comet`.

    `model` is the `.ckpt` file of a downloaded checkpoint, with `hparams.yaml` in the folder above, as the hub has it.
    With `reference=no` it is a reference-free one. A checkpoint is a pickle, so its SHA-256 must be trusted.
    """

    def __init__(self, model: str = "", reference: str = "yes", timeout: float = 600.0) -> None:
        if reference not in ("yes", "no"):
            raise ValueError(f"reference must be yes or no, not {reference}")
        if not Path(model).is_file():
            raise ValueError("model must name a checkpoint's .ckpt file")
        require_trust([Path(model)])
        self._hash = file_hash(Path(model))
        super().__init__("comet", model, self._hash, timeout=timeout)
        self.uses = ("reference", "source") if reference == "yes" else ("source",)

    def decides(self) -> Json:
        return self._hash if self._device == "cpu" else [self._hash, self._device]

    def asked(self, segment: Segment) -> Inputs:
        return {"src": segment.source or "", "mt": segment.candidate, "ref": segment.reference or ""}


class Bleurt(WorkerMetric):
    """The package `bleurt-pytorch` on a model in a folder; `unswayed metrics install bleurt` makes its environment."""

    def __init__(self, model: str = "", timeout: float = 600.0) -> None:
        if not Path(model, "config.json").exists():
            raise ValueError("model must name the folder of a BLEURT model")
        self._folder = ModelFolder(model, "BLEURT model")
        super().__init__("bleurt", model, "pickled" if self._folder.pickled else "safetensors", timeout=timeout)

    def decides(self) -> Json:
        return self._folder.content if self._device == "cpu" else [self._folder.content, self._device]

    def asked(self, segment: Segment) -> Inputs:
        return {"mt": segment.candidate, "ref": segment.reference or ""}
