"""Sentences with features of Indian English beside the same in US English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from unfazed.core import DataError, Example, Variant
from unfazed.data import Reader, ReadOptions, csv_rows

FILE = "pairs_derived.tsv"
_COLUMNS = ("feature", "dialect_sentence", "matched_standard_sentence")


class Pair(NamedTuple):
    """A sentence with a feature, the same without, and the line they stand on."""

    line: int
    feature: str
    dialect: str
    standard: str


class IndianEnglish(Reader):
    """A folder with `pairs_derived.tsv`, or, with `--format-in indian_english`, such a file.

    An example is a sentence of US English; its variants are those that have a feature of Indian English, named in
    their notes. A pair whose sentences are the same is no variant.
    """

    has_fields = False

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and (path / FILE).is_file()

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = _file(path)
        for row, (standard, pairs) in enumerate(_by_sentence(path).items()):
            self.line = pairs[0].line
            yield Example(row, str(self.line), {"text": standard})

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        for row, (standard, pairs) in enumerate(_by_sentence(path).items()):
            different = [pair for pair in pairs if pair.dialect != standard]
            for draw, (_, feature, dialect, _) in enumerate(different):
                id, source = str(pairs[0].line), "person/indian_english"
                yield Variant(row, id, draw, source, "dialect", "same", {"text": dialect}, None, feature)


def read_pairs(path: Path) -> Iterator[Pair]:
    """The pairs in their order; raises with the line of the first row that is wrong."""
    file = _file(path)
    rows = csv_rows(file, "\t")
    _, header = next(rows, (0, []))
    absent = [name for name in _COLUMNS if name not in header]
    if absent:
        raise DataError(f"the header has no column {', '.join(absent)}.", file, 1)
    places = [header.index(name) for name in _COLUMNS]
    for line, cells in rows:
        if not cells:
            continue
        if len(cells) != len(header):
            raise DataError(f"this row has {len(cells)} cells, but the header has {len(header)}.", file, line)
        feature, dialect, standard = (cells[place].strip() for place in places)
        if not dialect or not standard:
            raise DataError("a row needs the sentence in both dialects.", file, line)
        yield Pair(line, feature, dialect, standard)


def _by_sentence(path: Path) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in read_pairs(path):
        found.setdefault(pair.standard, []).append(pair)
    return found


def _file(path: Path) -> Path:
    return path / FILE if path.is_dir() else path
