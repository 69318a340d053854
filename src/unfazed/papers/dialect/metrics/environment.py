"""Metrics that need an environment of their own, since their packages don't agree with ours: COMET and BLEURT."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from unfazed.core import SystemBroken, UnknownName, UsageError, file_hash
from unfazed.score.metrics import Item, Metric

# Pins that were tried together; the metrics' own ranges let in versions with which they fail.
PACKAGES = {
    "comet": ("unbabel-comet==2.2.7", "torch==2.13.0", "transformers==4.57.6", "numpy<2", "setuptools<81"),
    "bleurt": ("bleurt-pytorch==0.0.1", "torch==2.13.0", "transformers==4.57.6", "sentencepiece", "setuptools<81"),
}


def folder() -> Path:
    """Where environments are kept: under `UNFAZED_CACHE`, or in the user's cache folder."""
    cache = os.environ.get("UNFAZED_CACHE") or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "unfazed")
    return Path(cache) / "metrics"


def python(name: str) -> Path:
    """The Python of a metric's environment; raises with the line that makes it where it is not there."""
    found = folder() / name / "bin" / "python"
    if not (folder() / name / "ready").exists():
        raise UsageError(
            f"The metric {name} needs an environment of its own. Make it with: unfazed metrics install {name}"
        )
    return found


def install(name: str, say: Callable[[str], None] = lambda line: None) -> Path:
    """Makes a metric's environment, unless it is there; one that was left half made is made anew."""
    if name not in PACKAGES:
        raise UnknownName("metric with an environment", name, PACKAGES)
    place = folder() / name
    if (place / "ready").exists():
        return place
    say(f"Making {place}")
    venv.create(place, with_pip=True, clear=True)
    say(f"Installing {', '.join(PACKAGES[name])}")
    done = subprocess.run(  # noqa: S603 - our own pins
        [place / "bin" / "python", "-m", "pip", "install", "--quiet", *PACKAGES[name]], capture_output=True, text=True
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise UsageError(f"pip could not install {name}: {' '.join(lines[-2:]) or done.stderr[-300:]}")
    (place / "ready").write_text("\n".join(PACKAGES[name]) + "\n")
    return place


class Worker:
    """A script that runs under another Python, takes a batch as a line of JSON and gives back a line of scores."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.name = name
        own = python(name)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the worker
        script = Path(__file__).with_name(f"_{name}_worker.py")
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [own, "-P", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"},
        )

    def scores(self, items: Sequence[dict[str, Any]]) -> list[float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(msgspec.json.encode(list(items)) + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = b""
        if not answer:
            said = self._last_words()
            self.close()
            raise SystemBroken(f"The metric {self.name} ended: {said}")
        found = msgspec.json.decode(answer)
        if isinstance(found, dict):
            raise SystemBroken(f"The metric {self.name} failed: {found.get('error')}")
        return [float(score) for score in found]

    def _last_words(self) -> str:
        self._process.wait(timeout=30)
        self._errors.seek(0)
        lines = self._errors.read().decode(sys.getdefaultencoding(), "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.returncode}"

    def close(self) -> None:
        if self._process.stdin:
            with suppress(OSError):  # it may have ended with a line still on its way
                self._process.stdin.close()
        self._process.wait(timeout=30)
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()


class Comet(Metric):
    """The package `unbabel-comet` on a checkpoint. Make its environment with `unfazed metrics install comet`.

    `model` is the `.ckpt` file of a downloaded checkpoint, with `hparams.yaml` in the folder above, as the hub has it.
    With `reference=no` it is a reference-free one. A checkpoint is run by torch: take only one that you trust.
    """

    def __init__(self, model: str = "", reference: str = "yes") -> None:
        if reference not in ("yes", "no"):
            raise ValueError(f"reference must be yes or no, not {reference}")
        if not Path(model).is_file():
            raise ValueError("model must name a checkpoint's .ckpt file")
        self.uses = ("reference", "source") if reference == "yes" else ("source",)
        self._model = model
        self._worker: Worker | None = None

    def identity(self) -> object:
        return ["comet", self.version, self.uses, file_hash(Path(self._model))]

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        if self._worker is None:
            self._worker = Worker("comet", self._model)
        asked = [{"src": item.source, "mt": item.candidate, "ref": item.reference or ""} for item in items]
        return self._worker.scores(asked)


class Bleurt(Metric):
    """The package `bleurt-pytorch` on a model in a folder; `unfazed metrics install bleurt` makes its environment."""

    def __init__(self, model: str = "") -> None:
        if not Path(model, "config.json").exists():
            raise ValueError("model must name the folder of a BLEURT model")
        self._model = Path(model)
        self._worker: Worker | None = None

    def identity(self) -> object:
        weights = sorted([*self._model.glob("*.safetensors"), *self._model.glob("*.bin")])
        return ["bleurt", self.version, [file_hash(file) for file in weights]]

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        if self._worker is None:
            self._worker = Worker("bleurt", str(self._model))
        return self._worker.scores([{"mt": item.candidate, "ref": item.reference} for item in items])
