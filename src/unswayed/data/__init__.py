"""Corpora → Examples: readers, one file a format, and `pull`, which fetches known public corpora."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports
from unswayed.data._corpora import Corpus, CorpusFile, cache_folder, corpora, corpus_named, pull, sample_path
from unswayed.data._guess import DataKind
from unswayed.data._memory import examples_of, likely_groups
from unswayed.data._read import (
    Source,
    find_reader,
    import_corpus,
    import_versions,
    open_source,
    read_examples,
    task_and_language,
)
from unswayed.data._reader import Reader, ReadOptions, open_bytes, read_lines, readers, without_break

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "data._score_tables": "MeaningPair ScoreTable SegmentScore read_meaning_pairs read_score_table "
        "read_segment_scores",
        "data.jsonl": "Jsonl",
        "data.squad": "Squad answer_at is_squad",
        "data.table": "csv_records",
    },
)
__all__ = [
    *_names,
    "Corpus",
    "CorpusFile",
    "DataKind",
    "ReadOptions",
    "Reader",
    "Source",
    "cache_folder",
    "corpora",
    "corpus_named",
    "examples_of",
    "find_reader",
    "import_corpus",
    "import_versions",
    "likely_groups",
    "open_bytes",
    "open_source",
    "pull",
    "read_examples",
    "read_lines",
    "readers",
    "sample_path",
    "task_and_language",
    "without_break",
]
