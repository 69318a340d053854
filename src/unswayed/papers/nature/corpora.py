"""The data sets of the NATURE study: the reader of NLU-ED, where the parts of each are, and how large."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from unswayed.base import DataError, Example, UsageError, option_name
from unswayed.data import Reader, ReadOptions, csv_records, open_bytes, read_examples

PAPERS = ("atis", "snips", "nlu_ed")
_PARTS = {"train": ("train", "trainset"), "valid": ("valid", "dev", "validation"), "test": ("test", "testset")}


class SluCorpus(NamedTuple):
    """A data set. Without `valid`, training holds a tenth of its examples out."""

    name: str
    train: Path
    valid: Path | None
    test: Path


def find_corpora(data: Path, names: Sequence[str] | None) -> list[SluCorpus]:
    """The named data sets, in `data` or beside it; by default those of the paper that are there."""
    found = [_corpus(data, name) for name in names or PAPERS]
    if names:
        absent = [name for name, corpus in zip(names, found, strict=True) if corpus is None]
        if absent:
            raise UsageError(f"{data} has no folder {absent[0]} with the folders train and test in it.")
    there = [corpus for corpus in found if corpus is not None]
    if not names and not any(corpus.train.is_relative_to(data) for corpus in there):  # what lies beside comes second
        raise UsageError(f"{data} has none of {', '.join(PAPERS)}. Name its data sets with {option_name('datasets')}.")
    return there


def _corpus(data: Path, name: str) -> SluCorpus | None:
    for folder in (data / name, data.parent / name):
        parts = {part: _part(folder, names) for part, names in _PARTS.items()}
        if parts["train"] and parts["test"]:
            return SluCorpus(name, parts["train"], parts["valid"], parts["test"])
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


def sizes(corpus: SluCorpus) -> dict[str, Size]:
    """Table 1 for one data set."""
    parts = {"train": corpus.train, "valid": corpus.valid, "test": corpus.test}
    return {name: _size(part) for name, part in parts.items() if part is not None}


def _size(part: Path) -> Size:
    said = [example.inputs["text"].split(" ") for example in examples_in(part)]
    return Size(len(said), sum(map(len, said)), len({word for words in said for word in words}))


_COLUMNS = ("scenario", "intent", "answer_annotation")
_SLOT = re.compile(r"\[([^\[\]:]*):([^\[\]]*)\]")


class NluEd(Reader):
    """A folder of such tables, one a file, in the order of their names. The intent is `scenario_intent`."""

    has_fields = False
    language = "en"

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and any(_has_header(file) for file in _files(path)[:1])

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        files = _files(path)
        if not files:
            raise DataError("there is no .csv file in this folder, nor in a folder `csv` in it.", path)
        row = 0
        for self.file in files:
            for text, gold in self._rows(self.file):
                yield Example(row, "", {"text": text}, gold)
                row += 1

    def _rows(self, file: Path) -> Iterator[tuple[str, dict[str, object]]]:
        for self.line, cells in csv_records(file, _COLUMNS, ";"):
            scenario, intent, annotated = (cells[name].strip() for name in _COLUMNS)
            if not scenario or not intent:
                raise DataError("there is no scenario or no intent in this row.", file, self.line)
            tokens, tags = self._tagged(annotated)
            yield " ".join(tokens), {"intent": f"{scenario}_{intent}", "slots": tags}

    def _tagged(self, annotated: str) -> tuple[list[str], list[str]]:
        """Tokens and BIO tags. A mark written against a slot, as in `[person : robert],`, stays in its token."""
        text, slots, at = "", [], 0
        for found in _SLOT.finditer(annotated):
            name, value = found[1].strip(), " ".join(found[2].split())
            if not re.fullmatch(r"\S+", name) or not value:
                raise DataError(f"the slot {found[0]} has no name or no value.", self.file, self.line)
            text += annotated[at : found.start()]
            slots.append((len(text), len(text) + len(value), name))
            text += value
            at = found.end()
        text += annotated[at:]
        if "[" in text or "]" in text:
            raise DataError(f"a slot must be [name : value]; this is not: {annotated:.80}", self.file, self.line)
        if not text.strip():
            raise DataError("there is no utterance in this row.", self.file, self.line)
        return self._bio(text, slots)

    def _bio(self, text: str, slots: list[tuple[int, int, str]]) -> tuple[list[str], list[str]]:
        tokens, tags = [], []
        last = -1
        for word in re.finditer(r"\S+", text):
            inside = [i for i, (start, end, _) in enumerate(slots) if start < word.end() and word.start() < end]
            if len(inside) > 1:
                raise DataError(f"two slots share the token {word[0]!r}.", self.file, self.line)
            tokens.append(word[0])
            tags.append(f"{'I' if inside[0] == last else 'B'}-{slots[inside[0]][2]}" if inside else "O")
            last = inside[0] if inside else last
        return tokens, tags


def _files(path: Path) -> list[Path]:
    """The tables of a folder; the test set's are in a folder `csv` of it."""
    if path.is_file():
        return [path]
    return sorted(path.glob("*.csv")) or sorted(path.glob("csv/*.csv"))


def _has_header(file: Path) -> bool:
    with open_bytes(file) as lines:
        first = lines.readline(1000).decode("utf-8", "replace")
    return set(_COLUMNS) <= set(first.lstrip("\ufeff").strip().split(";"))
