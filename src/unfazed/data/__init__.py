"""Corpora → Examples: readers, one file a format, and `pull`, which fetches known public corpora."""

from unfazed.data._catalogue import Corpus, corpora, corpus_named
from unfazed.data._import import import_corpus
from unfazed.data._memory import examples_of
from unfazed.data._pull import cache_folder, pull
from unfazed.data._read import Kind, read_examples, task_and_language
from unfazed.data._reader import Reader, ReadOptions, readers
from unfazed.data._sample import sample_path

__all__ = [
    "Corpus",
    "Kind",
    "ReadOptions",
    "Reader",
    "cache_folder",
    "corpora",
    "corpus_named",
    "examples_of",
    "import_corpus",
    "pull",
    "read_examples",
    "readers",
    "sample_path",
    "task_and_language",
]
