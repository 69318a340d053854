"""READIN: Chinese test data and what people made of it when they typed or said it again, three times each.

A folder holds `test_clean.json` and the versions, `test_noisy_1.json` or `test_noisy_keyboard_1.json`; these are JSON
lines, SQuAD's form or Spider's. `--format-in readin` also reads one such file, or the raw TSV with all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from unswayed.base import DataError, Example, Inputs, Variant
from unswayed.data import Reader, ReadOptions, read_lines, without_break
from unswayed.papers.readin.forms import Row, rows_of, side
from unswayed.papers.readin.layout import AnnotatorFile, clean_file, family_of, is_corpus, people_in

_CELL = re.compile(r"(clean|noisy(\d+))_(\w+)")


class ReadinReader(Reader):
    """A folder of READIN: a task's clean test set and people's versions of it by keyboard or by voice."""

    has_fields = False
    language = "zh"
    people = "source"

    def accepts(self, path: Path) -> bool:
        return is_corpus(path)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = clean_file(path) if path.is_dir() else path
        for example, line in read_rows(self.file, strip=True):
            self.line = line
            yield example

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        clean = [example for example, _ in read_rows(clean_file(path) if path.is_dir() else path, strip=True)]
        by_person = {p: _joined(p, clean) for p in people_in(path)} if path.is_dir() else _raw_versions(path)
        for e in clean:
            for person, versions in by_person.items():
                if e.row in versions:  # also where the person made no mistake, or averages would be of the slips alone
                    draw = person.number - 1
                    yield Variant(e.row, e.id, draw, person.name, person.family, "same", versions[e.row], e.gold, "")


def read_rows(file: Path, strip: bool) -> Iterator[tuple[Example, int]]:
    """The examples of one file with the lines they stand on; `strip` takes the line breaks off the ends of texts."""
    if file.suffix.lower() == ".tsv":
        rows: Iterator[Row] = ((Example(row, id, texts["clean"], label, side(label)), row + 2)
                for row, (id, label, texts) in enumerate(_raw_rows(file)))  # fmt: skip
    else:
        rows = rows_of(file)
    for example, line in rows:
        inputs = {name: text.rstrip("\r\n") if strip else text for name, text in example.inputs.items()}
        yield msgspec.structs.replace(example, id=example.id or str(example.row), inputs=inputs), line


def _joined(person: AnnotatorFile, clean: list[Example]) -> dict[int, Inputs]:
    """A person's texts by the row of the clean example; rows without ids of their own stand in the clean order."""
    rows = {example.id: example for example in clean}
    found: dict[int, Inputs] = {}
    for version, line in read_rows(person.file, strip=True):
        example = rows.get(version.id)
        if example is None:
            raise DataError(f"row {version.id} is not in the clean test set.", person.file, line)
        if version.gold != example.gold:
            raise DataError(f"gold is not that of row {version.id} in the clean test set.", person.file, line)
        if example.row in found:
            raise DataError(f"row {version.id} comes twice.", person.file, line)
        found[example.row] = version.inputs
    return found


def _raw_rows(file: Path) -> Iterator[tuple[str, str, dict[str, Inputs]]]:
    """The id, label and texts by version of each row of a raw TSV, which has no quoting."""
    lines = read_lines(file)
    header = without_break(next(lines, "")).split("\t")
    places = [(column, _CELL.fullmatch(column)) for column in header]
    if not {"id", "label"} <= set(header) or not any(place and place[1] == "clean" for _, place in places):
        raise DataError("the header must have id, label, clean_… and noisy1_… columns.", file, 1)
    for number, line in enumerate(lines, 2):
        cells = without_break(line).split("\t")
        if len(cells) != len(header):
            raise DataError(f"this row has {len(cells)} cells, but the header has {len(header)}.", file, number)
        texts: dict[str, Inputs] = {}
        for cell, (_, place) in zip_longest(cells, places):
            if place:
                texts.setdefault(place.group(1), {})[place.group(3)] = cell
        record = dict(zip(header, cells, strict=True))
        yield record["id"], record["label"], texts


def _raw_versions(file: Path) -> dict[AnnotatorFile, dict[int, Inputs]]:
    found: dict[AnnotatorFile, dict[int, Inputs]] = {}
    for row, (_, _, texts) in enumerate(_raw_rows(file)):
        for version, inputs in texts.items():
            if version != "clean":
                person = AnnotatorFile(file, family_of(file), int(version.removeprefix("noisy")))
                found.setdefault(person, {})[row] = inputs
    return found
