"""The data sets of the NATURE study: where their parts are, and how large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from unfazed.core import Example, UsageError
from unfazed.data import ReadOptions, read_examples

PAPERS = ("atis", "snips", "nlu_ed")
_PARTS = {"train": ("train", "trainset"), "valid": ("valid", "dev", "validation"), "test": ("test", "testset")}


class Corpus(NamedTuple):
    """A data set. Without `valid`, training holds a tenth of its examples out."""

    name: str
    train: Path
    valid: Path | None
    test: Path


def find_corpora(data: Path, names: Sequence[str] | None) -> list[Corpus]:
    """The named data sets, in `data` or beside it; by default those of the paper that are there."""
    found = [_corpus(data, name) for name in names or PAPERS]
    if names:
        absent = [name for name, corpus in zip(names, found, strict=True) if corpus is None]
        if absent:
            raise UsageError(f"{data} has no folder {absent[0]} with the folders train and test in it.")
    there = [corpus for corpus in found if corpus is not None]
    if not there:
        raise UsageError(f"{data} has none of {', '.join(PAPERS)}. Name its data sets with --datasets.")
    return there


def _corpus(data: Path, name: str) -> Corpus | None:
    for folder in (data / name, data.parent / name):
        parts = {part: _part(folder, names) for part, names in _PARTS.items()}
        if parts["train"] and parts["test"]:
            return Corpus(name, parts["train"], parts["valid"], parts["test"])
    return None


def _part(folder: Path, names: Sequence[str]) -> Path | None:
    """A part in the folder itself, or in the first fold of a cross-validation."""
    folds = sorted(folder.glob("KFold_*")) if folder.is_dir() else []
    return next((base / name for base in (folder, *folds) for name in names if (base / name).is_dir()), None)


def examples_in(part: Path) -> Iterator[Example]:
    return read_examples(part, ReadOptions(task="slu"))


class Size(NamedTuple):
    sentences: int
    words: int
    vocabulary: int


def sizes(corpus: Corpus) -> dict[str, Size]:
    """Table 1 for one data set."""
    parts = {"train": corpus.train, "valid": corpus.valid, "test": corpus.test}
    return {name: _size(part) for name, part in parts.items() if part is not None}


def _size(part: Path) -> Size:
    said = [example.inputs["text"].split(" ") for example in examples_in(part)]
    return Size(len(said), sum(map(len, said)), len({word for words in said for word in words}))
