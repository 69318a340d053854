"""Hugging Face models, opened from a folder and never from a hub; the architecture decides the kind of system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unswayed.systems.folders import ModelFolder

# The task → the kind of system that learns it.
BY_TASK = {
    "classify": "hf/classify", "slu": "hf/tag", "tag": "hf/tag", "qa": "hf/read", "translate": "hf/seq2seq",
    "sql": "hf/seq2seq",
}  # fmt: skip


def load_pretrained(kind: str, folder: str | Path, what: str, learns: bool = False, **options: Any) -> tuple[Any, Any]:
    """The tokenizer in a folder and its model of a kind, such as AutoModel, without network, prompts or code.

    `what` describes the model in error messages. A model that `learns` is in float32.
    """
    found = ModelFolder(folder, what)
    bare = kind == "AutoModel"  # for which the folder need not have all, such as a pooler
    return found.tokenizer(), found.model(kind, fresh_head=bare, learns=learns, **options)
