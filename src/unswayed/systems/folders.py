"""Folders of Hugging Face models: the one way to open them, from disk alone, which never runs code from the folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.storage.untrusted_files import open_regular, read_bounded
from unswayed.systems.device import chosen, placed
from unswayed.systems.trusted_weights import require_trust

_PINNED = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
_OWN = {"system.json", "training.safetensors"}  # what training leaves beside the model
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_MOST = 512 << 20  # bytes of a file that is not weights; the largest vocabularies have a tenth of it
_MOST_SETTINGS = 64 << 20
_CODE = ("auto_map", "custom_pipelines", "custom_generate")  # keys that name Python code in the folder or on a hub
_KERNELS = ("attn_implementation", "experts_implementation")  # whose value may name compiled code on a hub
_KNOWN_KERNELS = (None, "eager", "sdpa")
_SETTINGS = (
    "config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json",
    "preprocessor_config.json", "special_tokens_map.json",
)  # fmt: skip


class ModelFolder:
    """Nothing heavy is read before it is needed; nothing that could run code is read at all.

    Links are followed, since a hub's cache consists of links, but must lead to regular files. `what` describes the
    model in messages. Pickled weights are refused unless their SHA-256 is trusted.
    """

    def __init__(self, path: str | Path, what: str = "Hugging Face model") -> None:
        self.path, self.what, self.place = Path(path), what, chosen()
        self.config: dict[str, Any] = read_config(self.path, what)
        _refuse_code(self.path)
        self.pickled = False
        if not list(self.path.glob("model*.safetensors")):
            self._trust_pickled()

    def _trust_pickled(self) -> None:
        pickled = sorted(file for pattern in _PICKLED for file in self.path.glob(pattern))
        if not pickled:
            raise UsageError(f"{self.path} has no model.safetensors.")
        require_trust(pickled, "To need no trust, load the model once elsewhere and save it with save_pretrained. ")
        self.pickled = True

    @property
    def architecture(self) -> str:
        return str((self.config.get("architectures") or [self.config.get("model_type", "unknown")])[0])

    @property
    def suffix(self) -> str:
        """What of the device and the number format is part of a system's identity."""
        return self.place.suffix

    @cached_property
    def content(self) -> str:
        """A hash of the weights and of all that is read with them, whatever the folder's name."""
        patterns = (*_PINNED, *_PICKLED) if self.pickled else _PINNED
        files = sorted({f for pattern in patterns for f in self.path.glob(pattern) if f.name not in _OWN})
        return content_id([[f.name, file_hash(f)] for f in files], 16)

    def tokenizer(self) -> Any:
        return self._opened("tokenizer", _transformers(self.what).AutoTokenizer)

    def model(self, auto: str, fresh_head: bool = False, learns: bool = False, **options: Any) -> Any:
        """The model of this class of transformers', on the device that was chosen when the folder was named.

        A new head is made only where one is to be trained. A model that `learns` is in float32.
        """
        transformers = _transformers(self.what)
        place = self.place._replace(dtype="float32") if learns else self.place
        model, loading = self._opened(
            "model",
            getattr(transformers, auto),
            use_safetensors=not self.pickled,  # where not, transformers has torch unpickle weights and nothing else
            dtype=place.torch_dtype(),
            output_loading_info=True,
            **options,
        )
        missing = sorted(loading["missing_keys"])
        if missing and not fresh_head:
            raise UsageError(
                f"{self.path} holds a {self.architecture}, without weights for {', '.join(missing[:3])}. "
                f"Train it first: unswayed train hf."
            )
        return placed(model.eval(), place)

    def _opened(self, part: str, cls: Any, **options: Any) -> Any:
        try:
            with _quiet():
                return cls.from_pretrained(str(self.path), local_files_only=True, trust_remote_code=False, **options)
        except Exception as error:  # whatever a damaged or hostile file makes the libraries raise
            raise UsageError(
                f"{self.path}: the {part} of the {self.what} can't be opened ({str(error)[:300]})."
            ) from error


def read_config(folder: Path, what: str = "Hugging Face model") -> dict[str, Any]:
    """What `config.json` says."""
    if not folder.is_dir():
        raise UsageError(f"There is no {what} in {folder}: there is no such folder. Models are not opened from a hub.")
    file = folder / "config.json"
    try:
        return _settings(file)
    except FileNotFoundError as error:
        raise UsageError(f"{folder} holds no {what}: it has no config.json.") from error
    except OSError as error:
        raise StoredFileError(f"{file}: this can't be read ({error.strerror}).") from error


def _settings(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bounded(file, _MOST_SETTINGS))  # knows numbers that other readers do not
    except (ValueError, RecursionError) as error:
        raise StoredFileError(f"{file}: this can't be read ({error}).") from error
    if not isinstance(found, dict):
        raise StoredFileError(f"{file}: this is not a model's configuration.")
    return found


def _refuse_code(folder: Path) -> None:
    """Raises where a folder's settings name code, or where a file in it is no file or of a size that none has."""
    if (folder / "adapter_config.json").exists():
        raise UsageError(
            f"{folder} holds an adapter, which names another model to be opened. Merge it into the model first, as "
            f"peft's merge_and_unload does, and save the result."
        )
    for name in _SETTINGS:
        if (folder / name).exists():
            _refuse_settings(folder / name, _settings(folder / name))
    for file in sorted(folder.iterdir()):
        if file.is_dir():
            continue
        with open_regular(file) as opened:
            weights = any(file.match(pattern) for pattern in (*_PICKLED, "*.safetensors", "*.onnx*", "*.h5"))
            if not weights and opened.seek(0, 2) > _MOST:
                raise StoredFileError(f"{file}: the file is larger than {_MOST >> 20} MB, which no sound one is.")


def _refuse_settings(file: Path, value: Any) -> None:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list):
            waiting.extend(found)
        elif isinstance(found, dict):
            waiting.extend(found.values())
            for key, said in found.items():
                if key in _CODE and said:
                    raise UsageError(
                        f"{file} names Python code of its own ({key}), and unswayed never runs code from a model's "
                        f"folder. If transformers knows this kind of model by itself, delete {key!r} from the file."
                    )
                if key.lstrip("_").removesuffix("_internal") in _KERNELS and said not in _KNOWN_KERNELS:
                    raise UsageError(f"{file} names compiled code to be fetched ({key}: {said!r:.80}). Delete {key!r}.")


def _transformers(what: str) -> Any:
    try:
        import torch  # noqa: F401  transformers imports without it
        import transformers
    except ImportError as error:
        raise MissingExtra(f"A {what}", "hf") from error
    return transformers


# The first reports weights that are missing, which are looked at here; the second is set off by the first being quiet.
_LOGGERS = ("transformers.modeling_utils", "transformers.distributed.tensor_parallel")


@contextmanager
def _quiet() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with no_bars():
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def no_bars() -> Iterator[None]:
    """Loading goes too fast to be watched."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
