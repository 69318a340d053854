"""BLEURT, in an environment of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unfazed.core import file_hash
from unfazed.papers.dialect.metrics.environment import Worker
from unfazed.score.metrics import Item, Metric


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
