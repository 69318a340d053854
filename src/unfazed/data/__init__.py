"""Corpora → Examples: readers, one file a format, and `pull`, which fetches known public corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.data._catalogue import Corpus, corpora, corpus_named
from unfazed.data._import import import_corpus
from unfazed.data._memory import examples_of
from unfazed.data._pull import cache_folder, pull
from unfazed.data._read import Kind, read_examples, task_and_language
from unfazed.data._reader import Reader, ReadOptions, readers
from unfazed.data._sample import sample_path

if TYPE_CHECKING:
    from unfazed.data._lines import open_bytes, read_lines, without_break
    from unfazed.data.jsonl import Jsonl
    from unfazed.data.squad import Squad, is_squad
    from unfazed.data.table import csv_rows

__all__ = ["Corpus", "Jsonl", "Kind", "ReadOptions", "Reader", "Squad", "cache_folder", "corpora", "corpus_named",
    "csv_rows", "examples_of", "import_corpus", "is_squad", "open_bytes", "pull", "read_examples", "read_lines",
    "readers", "sample_path", "task_and_language", "without_break"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.data._lines": "open_bytes read_lines without_break",
            "unfazed.data.jsonl": "Jsonl",
            "unfazed.data.squad": "Squad is_squad",
            "unfazed.data.table": "csv_rows",
        },
    )
