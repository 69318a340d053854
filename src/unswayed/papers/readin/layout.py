"""Where the files of a READIN corpus are: its clean test set, its training data, and people's versions of the test set.

A corpus is a folder that holds all of them, or a folder in `clean`, beside which `keyboard` and `speech` have folders
of the same name, as in the authors' release. Names say how a text was entered; nothing above the corpus is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from unswayed.base import DataError

_FAMILIES = {"keyboard": "keyboard", "speech": "speech", "asr": "speech"}
_CLEAN, _VERSIONS = "clean", ("noisy", *_FAMILIES)
_SUFFIXES = (".json", ".jsonl")
_NUMBER = re.compile(r"(\d+)$")


class AnnotatorFile(NamedTuple):
    """One annotator's version of a test set: the file, the way of entering it, and the annotator's number from 1."""

    file: Path
    family: str
    number: int

    @property
    def name(self) -> str:
        return f"person/{self.family}-{self.number}"


def is_corpus(folder: Path) -> bool:
    return folder.is_dir() and len(_clean_files(folder)) == 1 and any(True for _ in _versions(folder))


def corpus_folders(data: Path) -> list[Path]:
    """The folders of corpora in a folder, or the folder itself."""
    released = [folder for folder in sorted(data.glob(f"{_CLEAN}/*")) if is_corpus(folder)]
    if released or is_corpus(data):
        return released or [data]
    return [folder for folder in sorted(data.glob("*")) if is_corpus(folder)]


def clean_file(folder: Path) -> Path:
    """The one clean test set of a corpus."""
    found = _clean_files(folder)
    if len(found) != 1:
        raise DataError(f"a corpus of READIN has one test_clean.json; this has {len(found)}.", folder)
    return found[0]


def people_in(folder: Path) -> list[AnnotatorFile]:
    """The versions of a corpus, keyboard before speech, in the order of the annotators."""
    found = [AnnotatorFile(file, _family(file, names), number) for file, names, number in _versions(folder)]
    return sorted(found, key=lambda person: (person.family, person.number))


def part_file(folder: Path, part: str) -> Path | None:
    """The file `train` or `dev` of a corpus."""
    places = (folder, folder / _CLEAN)
    return next((f for p in places for s in _SUFFIXES if (f := p / f"{part}{s}").is_file()), None)


def family_of(file: Path) -> str:
    """How the texts of a single file were entered, by its name or that of its folder."""
    return _family(file, [file.parent.name])


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", re.sub(r"(\d+)", r"_\1", name.lower()))


def _family(file: Path, folders: list[str]) -> str:
    """The file's name says it, or else the nearest of these folders."""
    for name in (file.stem, *folders):
        said = {_FAMILIES[word] for word in _words(name) if word in _FAMILIES}
        if len(said) == 1:
            return said.pop()
    raise DataError(
        "neither the file's name nor its folder's says how the texts were entered. Name it after keyboard or speech, "
        "such as test_noisy_keyboard_1.json.", file
    )  # fmt: skip


def _bases(folder: Path) -> Iterator[Path]:
    """The folders in which versions may be: of the authors' release, those of the same name beside `clean`."""
    yield folder
    if folder.parent.name == _CLEAN:
        yield from (place for name in _FAMILIES if (place := folder.parent.parent / name / folder.name).is_dir())


def _versions(folder: Path) -> Iterator[tuple[Path, list[str], int]]:
    """Each version's file, the names of the folders that it is in, the nearest first, and the annotator's number."""
    for base in _bases(folder):
        above = [base.name] if base == folder else [base.name, base.parent.name]
        for file in sorted(base.rglob("*")):
            names = [*reversed(file.relative_to(base).parts[:-1]), *above]
            number = _NUMBER.search(file.stem)
            inner = set(names) - ({folder.name} if base == folder else set())
            told = inner & set(_FAMILIES) or set(_words(file.stem)) & set(_VERSIONS)
            if number and told and file.suffix.lower() in _SUFFIXES and _CLEAN not in _words(file.stem):
                yield file, names, int(number.group(1))


def _clean_files(folder: Path) -> list[Path]:
    """Files that say that they are clean, or the test set of a folder `clean`."""
    files = [file for suffix in _SUFFIXES for file in sorted(folder.rglob(f"*{suffix}"))]
    named = [file for file in files if _CLEAN in _words(file.stem)]
    plain = [f for f in files if "test" in _words(f.stem) and _CLEAN in (f.parent.name, folder.parent.name)]
    versions = {file for file, _, _ in _versions(folder)}
    return named or [file for file in plain if file not in versions]
