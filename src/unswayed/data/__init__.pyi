from unswayed.base.options import ReadOptions
from unswayed.data._checks import DataKind
from unswayed.data._corpora import Corpus, CorpusFile, cache_folder, corpora, corpus_named, pull, sample_path
from unswayed.data._read import (
    Source,
    examples_of,
    find_reader,
    import_corpus,
    import_rows,
    import_versions,
    likely_groups,
    meaning_pairs,
    open_source,
    read_examples,
    task_and_language,
)
from unswayed.data._reader import Reader, open_bytes, read_lines, readers, without_break
from unswayed.data._traces import Traces, read_traces
from unswayed.data.jsonl import Jsonl
from unswayed.data.squad import Squad, answer_at, is_squad
from unswayed.data.table import (
    MeaningPair,
    ScoreTable,
    SegmentScore,
    csv_records,
    read_meaning_pairs,
    read_score_table,
    read_segment_scores,
)

__all__ = [
    "Corpus",
    "CorpusFile",
    "DataKind",
    "Jsonl",
    "MeaningPair",
    "ReadOptions",
    "Reader",
    "ScoreTable",
    "SegmentScore",
    "Source",
    "Squad",
    "Traces",
    "answer_at",
    "cache_folder",
    "corpora",
    "corpus_named",
    "csv_records",
    "examples_of",
    "find_reader",
    "import_corpus",
    "import_rows",
    "import_versions",
    "is_squad",
    "likely_groups",
    "meaning_pairs",
    "open_bytes",
    "open_source",
    "pull",
    "read_examples",
    "read_lines",
    "read_meaning_pairs",
    "read_score_table",
    "read_segment_scores",
    "read_traces",
    "readers",
    "sample_path",
    "task_and_language",
    "without_break",
]
