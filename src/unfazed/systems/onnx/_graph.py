"""A graph in ONNX Runtime, called as a model of transformers' is: arrays by name in, arrays by name out."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from unfazed.core.errors import UsageError

_KNOWN = ("input_ids", "attention_mask", "token_type_ids")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Graph:
    """Answers on the CPU. `config` is the model's, with the number of outputs that the graph really has."""

    def __init__(self, file: Path, config: Mapping[str, Any], threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.inputs = {given.name: _TYPES.get(given.type) for given in self._session.get_inputs()}
        wrong = [name for name, kind in self.inputs.items() if name not in _KNOWN or kind is None]
        if wrong:
            raise UsageError(f"{file} wants the input {wrong[0]!r}; known are whole numbers named {', '.join(_KNOWN)}.")
        self._outputs = [given.name for given in self._session.get_outputs()]
        self._alone = _scales_by_batch(file)
        first = self(**{name: np.full((1, 2), 1) for name in self.inputs})
        width = getattr(first, "logits", np.zeros((1, 2))).shape[-1]
        self.config = SimpleNamespace(**{**config, "num_labels": width})

    def __call__(self, **arrays: Any) -> SimpleNamespace:
        given = {name: np.asarray(arrays[name], dtype=kind) for name, kind in self.inputs.items()}
        return SimpleNamespace(**(self._one_by_one(given) if self._alone else self._run(given)))

    def _run(self, given: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self._outputs, self._session.run(None, given), strict=True))

    def _one_by_one(self, given: dict[str, Any]) -> dict[str, Any]:
        """Each text by itself and without padding, put side by side again."""
        rows, width = given["input_ids"].shape
        lengths = given["attention_mask"].sum(1) if "attention_mask" in given else [width] * rows
        found = [self._run({name: a[i : i + 1, :n] for name, a in given.items()}) for i, n in enumerate(lengths)]
        return {name: np.concatenate([_widened(row[name], n, width) for row, n in zip(found, lengths, strict=True)])
                for name in self._outputs}  # fmt: skip


def _widened(array: Any, length: int, width: int) -> Any:
    """An array that has a place for each piece, with places for the padding."""
    if array.ndim < 2 or array.shape[1] != length or length == width:
        return array
    return np.pad(array, [(0, 0), (0, width - length), *[(0, 0)] * (array.ndim - 2)])


def _scales_by_batch(file: Path) -> bool:
    """Is it quantised with scales that are taken from the batch? Then what else is in the batch changes answers."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"DynamicQuantizeLinear") >= 0
