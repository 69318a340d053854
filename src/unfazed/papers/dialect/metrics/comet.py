"""COMET, with a reference or without, in an environment of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unfazed.core import file_hash
from unfazed.papers.dialect.metrics.environment import Worker
from unfazed.score.metrics import Item, Metric


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
