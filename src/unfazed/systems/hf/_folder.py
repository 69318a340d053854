"""The folder of a Hugging Face model: what kind it is, what pins it down, and its parts, opened safely."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from unfazed.core.errors import StoredFileError, UsageError
from unfazed.core.ids import content_id, file_hash
from unfazed.systems._torch import need

# The end of an architecture's name → the kind of system that it makes.
KINDS = {
    "ForSequenceClassification": "hf/classify",
    "ForTokenClassification": "hf/tag",
    "ForQuestionAnswering": "hf/read",
    "ForConditionalGeneration": "hf/seq2seq",
    "MTModel": "hf/seq2seq",
    "ForCausalLM": "hf/causal",
    "LMHeadModel": "hf/causal",
}
# The task → the kind of system that learns it.
BY_TASK = {
    "classify": "hf/classify",
    "slu": "hf/tag",
    "qa": "hf/read",
    "translate": "hf/seq2seq",
    "sql": "hf/seq2seq",
}
_PINNED = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
_OWN = {"system.json", "training.safetensors"}  # what training leaves beside the model


class Folder:
    """Nothing heavy is read before it is needed; nothing that could run code is read at all."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config: dict[str, Any] = read_config(self.path)
        if not list(self.path.glob("model*.safetensors")):
            raise UsageError(
                f"{self.path} has no model.safetensors. Weights in pickle files (.bin, .pt) are not opened, as they "
                f"may run code; load and save them once with safe_serialization=True."
            )

    @property
    def architecture(self) -> str:
        return str((self.config.get("architectures") or [self.config.get("model_type", "unknown")])[0])

    @property
    def kind(self) -> str | None:
        """The system that this model makes; None for a bare encoder and for kinds that are not known here."""
        return next((kind for end, kind in KINDS.items() if self.architecture.endswith(end)), None)

    @cached_property
    def content(self) -> str:
        """A hash of the weights and of all that is read with them, whatever the folder's name."""
        files = sorted({f for pattern in _PINNED for f in self.path.glob(pattern) if f.name not in _OWN})
        return content_id([[f.name, file_hash(f)] for f in files], 16)

    def tokenizer(self) -> Any:
        need("a Hugging Face model", "transformers", "tokenizers")
        from transformers import AutoTokenizer

        return self._opened("tokenizer", AutoTokenizer.from_pretrained)

    def model(self, auto: str, fresh_head: bool = False, **options: Any) -> Any:
        """The model of this class of transformers'. A new head is made only where one is to be trained."""
        need("a Hugging Face model", "transformers")
        import torch
        import transformers

        model, loading = self._opened(
            "model",
            getattr(transformers, auto).from_pretrained,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
            **options,
        )
        missing = sorted(loading["missing_keys"])
        if missing and not fresh_head:
            raise UsageError(
                f"{self.path} holds a {self.architecture}, without weights for {', '.join(missing[:3])}. "
                f"Train it first: unfazed train hf."
            )
        return model.eval()

    def _opened(self, what: str, opening: Any, **options: Any) -> Any:
        from unfazed.systems.encoder import no_bars

        try:
            with no_bars(), _no_report():
                return opening(self.path, local_files_only=True, trust_remote_code=False, **options)
        except (OSError, ValueError, ImportError, KeyError, RuntimeError) as error:
            raise UsageError(f"{self.path}: the {what} can't be opened ({str(error)[:300]}).") from error


def read_config(folder: Path) -> dict[str, Any]:
    """What `config.json` says."""
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}. Models are opened from a folder, not from a hub.")
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{folder} holds no Hugging Face model: it has no config.json.") from error
    except (OSError, ValueError) as error:
        raise StoredFileError(f"{folder / 'config.json'}: this can't be read ({error}).") from error
    if not isinstance(config, dict):
        raise StoredFileError(f"{folder / 'config.json'}: this is not a model's configuration.")
    return config


# The first reports weights that are missing, which are looked at here; the second is set off by the first being quiet.
_QUIET = ("transformers.modeling_utils", "transformers.distributed.tensor_parallel")


@contextmanager
def _no_report() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in _QUIET]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
