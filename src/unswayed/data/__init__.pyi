from unswayed.data._corpora import (
    Corpus as Corpus,
    CorpusFile as CorpusFile,
    cache_folder as cache_folder,
    corpora as corpora,
    corpus_named as corpus_named,
    pull as pull,
    sample_path as sample_path,
)
from unswayed.data._guess import DataKind as DataKind
from unswayed.data._memory import examples_of as examples_of, likely_groups as likely_groups
from unswayed.data._read import (
    Source as Source,
    find_reader as find_reader,
    import_corpus as import_corpus,
    import_versions as import_versions,
    open_source as open_source,
    read_examples as read_examples,
    task_and_language as task_and_language,
)
from unswayed.data._reader import (
    Reader as Reader,
    ReadOptions as ReadOptions,
    open_bytes as open_bytes,
    read_lines as read_lines,
    readers as readers,
    without_break as without_break,
)
from unswayed.data._score_tables import (
    MeaningPair,
    ScoreTable,
    SegmentScore,
    read_meaning_pairs,
    read_score_table,
    read_segment_scores,
)
from unswayed.data.jsonl import Jsonl
from unswayed.data.squad import Squad, answer_at, is_squad
from unswayed.data.table import csv_records

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
    "answer_at",
    "cache_folder",
    "corpora",
    "corpus_named",
    "csv_records",
    "examples_of",
    "find_reader",
    "import_corpus",
    "import_versions",
    "is_squad",
    "likely_groups",
    "open_bytes",
    "open_source",
    "pull",
    "read_examples",
    "read_lines",
    "read_meaning_pairs",
    "read_score_table",
    "read_segment_scores",
    "readers",
    "sample_path",
    "task_and_language",
    "without_break",
]
