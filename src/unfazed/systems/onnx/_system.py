"""What systems of ONNX models share: the graph instead of the model, arrays of numpy instead of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from unfazed.core.errors import UsageError
from unfazed.systems.hf._system import HfSystem, options_of
from unfazed.systems.onnx._folder import OnnxFolder


class OnnxSystem(HfSystem):
    """Put before the class of the Hugging Face systems that answers."""

    folder: OnnxFolder  # type: ignore[assignment]

    def __init__(self, path: str | Path, threads: int = 1, file: str | None = None, **options: Any) -> None:
        self.folder = OnnxFolder(path, file)
        if self.folder.kind != self.name:
            raise UsageError(f"{path} holds a {self.folder.architecture}, which can't be opened as {self.name}.")
        self.options = options_of(options)
        self.threads = int(threads)

    @cached_property
    def model(self) -> Any:
        return self.folder.model(self.threads)

    @contextmanager
    def asking(self) -> Iterator[None]:
        yield

    def padded(self, rows: Sequence[dict[str, list[int]]], side: str = "right") -> dict[str, Any]:
        width = max(len(row["input_ids"]) for row in rows)
        fills = {"input_ids": self.folder.config.get("pad_token_id") or 0}
        return {
            name: np.array([_filled(row, name, width, fills.get(name, 0)) for row in rows])
            for name in self.model.inputs
        }

    @classmethod
    def sample(cls) -> Self:
        from unfazed.systems.onnx._sample import sample_folder

        return cls(sample_folder(cls.name))


def _filled(row: dict[str, list[int]], name: str, width: int, fill: int) -> list[int]:
    values = row.get(name, [0] * len(row["input_ids"]))
    return [*values, *[fill] * (width - len(values))]
