"""Classifiers, taggers and readers as ONNX graphs from Optimum, which need no torch.

Here is what they share: a model's folder whose model is a graph, the graph, and the tokenizer.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.systems.device import chosen
from unswayed.systems.hf import HfSystem
from unswayed.systems.model_folder import ModelFolder, read_config

_PLACES = ("model.onnx", "onnx/model.onnx")
_READ = ("config.json", "tokenizer.json", "tokenizer_config.json")
_OWN = ("hf/classify", "hf/tag", "hf/read")  # kinds that answer in one pass of the graph


class OnnxFolder(ModelFolder):
    """What the systems of Hugging Face models know of a folder, of one whose model is a graph."""

    def __init__(self, path: str | Path, file: str | None = None) -> None:
        self.path, self.place = Path(path), chosen()
        self.config: dict[str, Any] = read_config(self.path)
        found = next((name for name in _PLACES if (self.path / name).is_file()), None)
        self.file = self.path / (file or found or _PLACES[0])
        if not self.file.is_file():
            there = sorted(f.relative_to(self.path).as_posix() for f in self.path.rglob("*.onnx"))
            hint = f" It has {', '.join(there)}: name one with the option file." if there else ""
            raise UsageError(f"{self.path} has no {self.file.relative_to(self.path)}.{hint}")
        if any(find_spec(module) is None for module in ("onnxruntime", "tokenizers")):
            raise MissingExtra("An ONNX model", "onnx")

    @property
    def kind(self) -> str | None:
        """The system that this model makes; None for those that write, and for kinds that are not known here."""
        kind = super().kind
        return kind.replace("hf/", "onnx/") if kind in _OWN else None

    @property
    def suffix(self) -> str:
        """What of the device is part of a system's identity: nothing on a CPU."""
        kind = self.place.onnx_kind()
        return "" if kind == "cpu" else f" {kind}"

    @cached_property
    def content(self) -> str:
        """A hash of the graph, its weights, and all that is read with them, whatever the folder's name."""
        parts = [f for name in _READ if (f := self.path / name).is_file()]
        weights = sorted(f for end in ("_data*", ".data*") for f in self.file.parent.glob(self.file.name + end))
        return content_id([[f.name, file_hash(f)] for f in (*parts, self.file, *weights)], 16)

    def tokenizer(self) -> Pieces:
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


_KNOWN = ("input_ids", "attention_mask", "token_type_ids")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Graph:
    """Answers by the first of the providers. `config` is the model's, with the number of outputs that it really has."""

    def __init__(self, file: Path, config: Mapping[str, Any], threads: int, providers: list[str]) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(file), options, providers=providers)
        self.inputs = {given.name: _TYPES.get(given.type) for given in self._session.get_inputs()}
        wrong = [name for name, kind in self.inputs.items() if name not in _KNOWN or kind is None]
        if wrong:
            raise UsageError(f"{file} wants the input {wrong[0]!r}; known are whole numbers named {', '.join(_KNOWN)}.")
        self._outputs = [given.name for given in self._session.get_outputs()]
        # Quantised with scales that are taken from the batch? Then what else is in the batch changes answers.
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            self._alone = content.find(b"DynamicQuantizeLinear") >= 0
        first = self(**{name: np.full((1, 2), 1) for name in self.inputs})
        width = getattr(first, "logits", np.zeros((1, 2))).shape[-1]
        self.config = SimpleNamespace(**{**config, "num_labels": width})

    def __call__(self, **arrays: Any) -> SimpleNamespace:
        given = {name: np.asarray(arrays[name], dtype=kind) for name, kind in self.inputs.items()}
        if not self._alone:
            return SimpleNamespace(**self._run(given))
        # Each text by itself and without padding, put side by side again with places for the padding.
        rows, width = given["input_ids"].shape
        lengths = given["attention_mask"].sum(1) if "attention_mask" in given else [width] * rows
        found: dict[str, list[Any]] = {name: [] for name in self._outputs}
        for i, n in enumerate(lengths):
            for name, array in self._run({name: a[i : i + 1, :n] for name, a in given.items()}).items():
                if array.ndim >= 2 and array.shape[1] == n != width:  # it has a place for each piece
                    array = np.pad(array, [(0, 0), (0, width - n), *[(0, 0)] * (array.ndim - 2)])
                found[name].append(array)
        return SimpleNamespace(**{name: np.concatenate(parts) for name, parts in found.items()})

    def _run(self, given: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self._outputs, self._session.run(None, given), strict=True))


_GENERIC = ("TokenizersBackend", "PreTrainedTokenizerFast")  # which have no types of tokens unless told so


class Encoded(dict[str, Any]):
    """Numbers by name; where there are windows, a list of each."""

    def __init__(self, windows: Sequence[Any], types: bool, many: bool) -> None:
        named = {"input_ids": "ids", "attention_mask": "attention_mask", "offset_mapping": "offsets"}
        named |= {"token_type_ids": "type_ids"} if types else {}
        rows = {name: [getattr(window, part) for window in windows] for name, part in named.items()}
        super().__init__(rows if many else {name: row[0] for name, row in rows.items() if name != "offset_mapping"})
        self._windows = windows

    def word_ids(self) -> list[int | None]:
        return list(self._windows[0].word_ids)

    def sequence_ids(self, number: int) -> list[int | None]:
        return list(self._windows[number].sequence_ids)


class Pieces:
    """One text, two, or a list of words, as pieces."""

    def __init__(self, file: Path, settings: Mapping[str, Any]) -> None:
        from tokenizers import Tokenizer

        self.backend_tokenizer = Tokenizer.from_file(str(file))
        self.backend_tokenizer.no_padding()
        names = settings.get("model_input_names")
        self._types = "token_type_ids" in names if names else settings.get("tokenizer_class") not in _GENERIC

    def __call__(
        self, *texts: Any, truncation: bool | str = False, max_length: int = 0, stride: int = 0,
        is_split_into_words: bool = False, add_special_tokens: bool = True, return_overflowing_tokens: bool = False,
        **_: bool,
    ) -> Encoded:  # fmt: skip
        if truncation:
            strategy = "longest_first" if truncation is True else truncation
            self.backend_tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)
        else:
            self.backend_tokenizer.no_truncation()
        told = {"is_pretokenized": is_split_into_words, "add_special_tokens": add_special_tokens}
        found = self.backend_tokenizer.encode(*texts, **told)
        windows = [found, *found.overflowing] if return_overflowing_tokens else [found]
        return Encoded(windows, self._types, return_overflowing_tokens)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.backend_tokenizer.decode(list(ids), skip_special_tokens=False))


class OnnxSystem(HfSystem):
    """Put before the class of the Hugging Face systems that answers."""

    folder: OnnxFolder

    def __init__(self, path: str | Path, threads: int = 1, file: str | None = None, **options: Any) -> None:
        super().__init__(OnnxFolder(path, file), threads, **options)

    @cached_property
    def model(self) -> Any:
        file = self.folder.file
        try:
            return Graph(file, self.folder.config, self.threads, self.folder.place.providers())
        except UsageError:
            raise
        except Exception as error:  # onnxruntime's errors have no base of their own
            raise StoredFileError(f"{file}: ONNX Runtime can't open this ({str(error)[:300]}).") from error

    @contextmanager
    def inference(self) -> Iterator[None]:
        yield

    def padded(self, rows: Sequence[dict[str, list[int]]], side: str = "right") -> dict[str, Any]:
        width = max(len(row["input_ids"]) for row in rows)
        fills = {"input_ids": self.folder.config.get("pad_token_id") or 0}
        arrays = {}
        for name in self.model.inputs:
            values = [row.get(name, [0] * len(row["input_ids"])) for row in rows]
            arrays[name] = np.array([[*some, *[fills.get(name, 0)] * (width - len(some))] for some in values])
        return arrays
