"""Corpora → Examples: readers, one file a format, and `pull`, which fetches known public corpora."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.options": "ReadOptions",
        "data._checks": "DataKind",
        "data._corpora": "Corpus CorpusFile cache_folder corpora corpus_named pull sample_path",
        "data._read": (
            "Source examples_of find_reader import_corpus import_rows import_versions likely_groups meaning_pairs "
            "open_source read_examples task_and_language"
        ),
        "data._reader": "Reader open_bytes read_lines readers without_break",
        "data._traces": "Traces read_traces",
        "data.jsonl": "Jsonl",
        "data.squad": "Squad answer_at is_squad",
        "data.table": (
            "MeaningPair ScoreTable SegmentScore csv_records read_meaning_pairs read_score_table read_segment_scores"
        ),
    },
)
