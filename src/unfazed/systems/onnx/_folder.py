"""The folder of an exported model: the graph, the configuration and the tokenizer, as Optimum writes them."""

from __future__ import annotations

import json
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unfazed.core.errors import MissingExtra, StoredFileError, UsageError
from unfazed.core.ids import content_id, file_hash
from unfazed.systems.hf._folder import KINDS, read_config
from unfazed.systems.onnx._graph import Graph
from unfazed.systems.onnx._pieces import Pieces

_PLACES = ("model.onnx", "onnx/model.onnx")
_READ = ("config.json", "tokenizer.json", "tokenizer_config.json")
_OWN = ("hf/classify", "hf/tag", "hf/read")  # kinds that answer in one pass of the graph


class OnnxFolder:
    """What the systems of Hugging Face models know of a folder, of one whose model is a graph."""

    def __init__(self, path: str | Path, file: str | None = None) -> None:
        self.path = Path(path)
        self.config: dict[str, Any] = read_config(self.path)
        found = next((name for name in _PLACES if (self.path / name).is_file()), None)
        self.file = self.path / (file or found or _PLACES[0])
        if not self.file.is_file():
            there = sorted(f.relative_to(self.path).as_posix() for f in self.path.rglob("*.onnx"))
            hint = f" It has {', '.join(there)}: name one with the option file." if there else ""
            raise UsageError(f"{self.path} has no {self.file.relative_to(self.path)}.{hint}")

    @property
    def architecture(self) -> str:
        return str((self.config.get("architectures") or [self.config.get("model_type", "unknown")])[0])

    @property
    def kind(self) -> str | None:
        """The system that this model makes; None for those that write, and for kinds that are not known here."""
        found = next((kind for end, kind in KINDS.items() if self.architecture.endswith(end)), None)
        return found.replace("hf/", "onnx/") if found in _OWN else None

    @cached_property
    def content(self) -> str:
        """A hash of the graph, its weights, and all that is read with them, whatever the folder's name."""
        parts = [f for name in _READ if (f := self.path / name).is_file()]
        weights = sorted(f for end in ("_data*", ".data*") for f in self.file.parent.glob(self.file.name + end))
        return content_id([[f.name, file_hash(f)] for f in (*parts, self.file, *weights)], 16)

    def tokenizer(self) -> Pieces:
        need()
        file, more = self.path / "tokenizer.json", self.path / "tokenizer_config.json"
        if not file.is_file():
            raise UsageError(
                f"{self.path} has no tokenizer.json. Open its tokenizer with transformers' AutoTokenizer and "
                f"save_pretrained it there."
            )
        try:
            settings = json.loads(more.read_text(encoding="utf-8")) if more.is_file() else {}
            return Pieces(file, settings)
        except Exception as error:  # tokenizers raises nothing narrower
            raise StoredFileError(f"{file}: this can't be read as a tokenizer ({str(error)[:300]}).") from error

    def model(self, threads: int) -> Graph:
        need()
        try:
            return Graph(self.file, self.config, threads)
        except UsageError:
            raise
        except Exception as error:  # onnxruntime's errors have no base of their own
            raise StoredFileError(f"{self.file}: ONNX Runtime can't open this ({str(error)[:300]}).") from error


def need() -> None:
    if any(find_spec(module) is None for module in ("onnxruntime", "tokenizers")):
        raise MissingExtra("An ONNX model", "onnx")
