"""Corpora → Examples: readers, one file a format, and `pull`, which fetches known public corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door
from unswayed.data._corpora import Corpus, CorpusFile, cache_folder, corpora, corpus_named, pull, sample_path
from unswayed.data._memory import examples_of, likely_groups
from unswayed.data._read import Kind, Source, find_reader, import_corpus, open_source, read_examples, task_and_language
from unswayed.data._reader import Reader, ReadOptions, open_bytes, read_lines, readers, without_break

if TYPE_CHECKING:
    from unswayed.data._meanings import MeaningPair, read_meaning_pairs
    from unswayed.data._scores import ScoreTable, SegmentScore, read_score_table, read_segment_scores
    from unswayed.data._versions import import_versions
    from unswayed.data.jsonl import Jsonl
    from unswayed.data.squad import Squad, answer_at, is_squad
    from unswayed.data.table import csv_records

__all__ = ["Corpus", "CorpusFile", "Jsonl", "Kind", "MeaningPair", "ReadOptions", "Reader", "ScoreTable",
    "SegmentScore", "Source", "Squad", "answer_at", "cache_folder", "corpora", "corpus_named", "csv_records",
    "examples_of", "find_reader", "import_corpus", "import_versions", "is_squad", "likely_groups", "open_bytes",
    "open_source", "pull", "read_examples", "read_lines", "read_meaning_pairs", "read_score_table",
    "read_segment_scores", "readers", "sample_path", "task_and_language", "without_break"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
