"""READIN: Chinese test data and what people made of it when they typed or said it again, three times each.

A folder holds `test_clean.json` and the versions, `test_noisy_1.json` or `test_noisy_keyboard_1.json`; these are JSON
lines, SQuAD's form or Spider's. `--format-in readin` also reads one such file, or the raw TSV with all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec

from unfazed.core import DataError, Example, Inputs, Variant
from unfazed.data import Jsonl, Reader, ReadOptions, Squad, is_squad, read_lines, without_break
from unfazed.papers.readin.spider import Spider

_VERSION = re.compile(r"(?:noisy|keyboard|asr|speech).*?(\d+)\.json$")
_CELL = re.compile(r"(clean|noisy(\d+))_(\w+)")
_SIDES = {"1": "positive", "0": "negative"}


class Person(NamedTuple):
    """One annotator's version of a test set: the file, the way of entering it, and the annotator's number from 1."""

    file: Path
    family: str
    number: int

    @property
    def name(self) -> str:
        return f"person/{self.family}-{self.number}"


class Readin(Reader):
    """A folder of READIN: a task's clean test set and people's versions of it by keyboard or by voice."""

    has_fields = False
    language = "zh"
    people = "source"

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and len(_clean_files(path)) == 1 and bool(people_in(path))

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


def people_in(folder: Path) -> list[Person]:
    """The versions in a folder, keyboard before speech, in the order of the annotators."""
    found = []
    for file in folder.rglob("*.json"):
        number = _VERSION.search(file.relative_to(folder).as_posix())
        if number:
            found.append(Person(file, _family(file), int(number.group(1))))
    return sorted(found, key=lambda person: (person.family, person.number))


def read_rows(file: Path, strip: bool) -> Iterator[tuple[Example, int]]:
    """The examples of one file with the lines they stand on; `strip` takes the line breaks off the ends of texts."""
    if file.suffix.lower() == ".tsv":
        rows = ((Example(row, id, texts["clean"], label, _groups(label)), row + 2)
                for row, (id, label, texts) in enumerate(_raw_rows(file)))  # fmt: skip
    else:
        reader: Reader = Squad() if is_squad(file) else Spider() if Spider().accepts(file) else _Lines()
        rows = ((example, reader.line) for example in reader.read(file, ReadOptions()))
    for example, line in rows:
        inputs = {name: text.rstrip("\r\n") if strip else text for name, text in example.inputs.items()}
        yield msgspec.structs.replace(example, id=example.id or str(example.row), inputs=inputs), line


class _Lines(Jsonl):
    """AFQMC's pairs and WMT2021's segments. Translations are named as the task `translate` has them."""

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        for example in super().read(path, _fields(path)):
            if "zh" in example.inputs:
                gold = example.gold.rstrip("\r\n") if isinstance(example.gold, str) else example.gold
                yield msgspec.structs.replace(example, inputs={"source": example.inputs["zh"]}, gold=gold)
            else:
                yield msgspec.structs.replace(example, groups=_groups(example.gold))


def _fields(path: Path) -> ReadOptions:
    if '"zh"' in next(read_lines(path), ""):
        return ReadOptions(inputs=("zh",), gold="en", id="id")
    return ReadOptions(inputs=("sentence1", "sentence2"), gold="label")


def _groups(label: object) -> dict[str, str]:
    return {"pair": _SIDES[label]} if isinstance(label, str) and label in _SIDES else {}


def _joined(person: Person, clean: list[Example]) -> dict[int, Inputs]:
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


def _raw_versions(file: Path) -> dict[Person, dict[int, Inputs]]:
    found: dict[Person, dict[int, Inputs]] = {}
    for row, (_, _, texts) in enumerate(_raw_rows(file)):
        for version, inputs in texts.items():
            if version != "clean":
                person = Person(file, _family(file), int(version.removeprefix("noisy")))
                found.setdefault(person, {})[row] = inputs
    return found


def _family(file: Path) -> str:
    """`keyboard` or `speech`, from the file's name or else from the nearest folder that says it."""
    for part in reversed(file.parts):
        if "keyboard" in part:
            return "keyboard"
        if "asr" in part or "speech" in part:
            return "speech"
    return "person"


def _clean_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*clean*.json")) if not _VERSION.search(file.name)]


def clean_file(folder: Path) -> Path:
    """The one clean test set of a folder."""
    found = _clean_files(folder)
    if len(found) != 1:
        raise DataError(f"a folder of READIN has one test_clean.json; this has {len(found)}.", folder)
    return found[0]
