"""Hugging Face models, opened from a folder and never from a hub; the architecture decides the kind of system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unfazed.core.errors import MissingExtra, UsageError

# The task → the kind of system that learns it.
BY_TASK = {"classify": "hf/classify", "slu": "hf/tag", "qa": "hf/read", "translate": "hf/seq2seq", "sql": "hf/seq2seq"}


def load_pretrained(kind: str, folder: str | Path, what: str) -> tuple[Any, Any]:
    """The tokenizer in a folder and its model of a kind, such as AutoModel, without network or progress bars.

    `what` describes the model in error messages.
    """
    if not Path(folder).is_dir():
        raise UsageError(
            f"There is no {what} in {str(folder)!r}, as there is no such folder. Models are not opened from a hub."
        )
    try:
        import torch  # noqa: F401  transformers imports without it
        import transformers
    except ImportError as error:
        raise MissingExtra(f"A {what}", "hf") from error
    log = transformers.utils.logging
    shown = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = getattr(transformers, kind).from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"There is no {what} in {str(folder)!r}: {error}") from error
    finally:
        if shown:
            log.enable_progress_bar()
    return tokenizer, model.eval()
