"""Corpora → Examples: readers, one file a format, and `pull`, which fetches known public corpora."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports
from unswayed.data._corpora import Corpus, CorpusFile, cache_folder, corpora, corpus_named, pull, sample_path
from unswayed.data._memory import examples_of, likely_groups
from unswayed.data._read import Kind, Source, find_reader, import_corpus, open_source, read_examples, task_and_language
from unswayed.data._reader import Reader, ReadOptions, open_bytes, read_lines, readers, without_break

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "data._meanings": "MeaningPair read_meaning_pairs",
        "data._scores": "ScoreTable SegmentScore read_score_table read_segment_scores",
        "data._versions": "import_versions",
        "data.jsonl": "Jsonl",
        "data.squad": "Squad answer_at is_squad",
        "data.table": "csv_records",
    },
)
__all__ = [
    *_names,
    "Corpus",
    "CorpusFile",
    "Kind",
    "ReadOptions",
    "Reader",
    "Source",
    "cache_folder",
    "corpora",
    "corpus_named",
    "examples_of",
    "find_reader",
    "import_corpus",
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
