"""FRMT's segments and the pairs of Indian and US English, as examples and as the study needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from unswayed.base import DataError, Example, Variant, option_name
from unswayed.data import Reader, ReadOptions, csv_records, read_lines, without_break

BASES = {"pt": "pt-BR", "zh": "zh-CN"}  # the dialect that others are compared with
_NAME = re.compile(r"([a-z]{2})_([a-z]+)_([a-z]+)_en_([a-z]{2}-[A-Z]{2}(?:_\w+)?)\.tsv")


class FrmtSegment(NamedTuple):
    """An English segment and its translations by dialect; `line` is the same in all of their files."""

    id: str
    language: str
    bucket: str
    split: str
    line: int
    source: str
    texts: dict[str, str]


class Frmt(Reader):
    """A folder of FRMT's files in one language, or, with `--format-in frmt`, one of the files.

    An example is the text in Brazilian Portuguese or mainland Mandarin, or in the dialect of the file that is named;
    its variants are the texts in the other dialects. Where a folder has a test split, that is read.
    """

    has_fields = False

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and bool(_files(path))

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        for row, (segment, base) in enumerate(_chosen(path)):
            self.file, self.line, self.language = path, segment.line, base.removesuffix("_Simplified")
            groups = {"bucket": segment.bucket, "split": segment.split}
            yield Example(row, segment.id, {"text": segment.texts[base]}, None, groups)

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        for row, (segment, base) in enumerate(_chosen(path)):
            for tag, text in segment.texts.items():
                if tag != base and text != segment.texts[base]:
                    yield Variant(row, segment.id, 0, f"frmt/{tag}", "dialect", "same", {"text": text}, None, tag)


def read_segments(folder: Path, split: str | None = "test", languages: Sequence[str] = ()) -> Iterator[FrmtSegment]:
    """The segments of a folder in the order of languages, buckets and lines; of all splits where none is named.

    Raises where files that belong together differ in length or in their English.
    """
    sets: dict[tuple[str, str, str], dict[str, Path]] = {}
    for file, (language, bucket, of, tag) in sorted(_files(folder).items(), key=lambda item: item[1]):
        if split in (None, of) and (not languages or language in languages):
            sets.setdefault((language, bucket, of), {})[tag] = file
    for (language, bucket, of), files in sets.items():
        yield from _parallel(language, bucket, of, files)


def _parallel(language: str, bucket: str, split: str, files: dict[str, Path]) -> Iterator[FrmtSegment]:
    rows = {tag: list(_rows(file)) for tag, file in files.items()}
    first = next(iter(rows))
    for tag, found in rows.items():
        if len(found) != len(rows[first]):
            raise DataError(
                f"this file has {len(found)} lines, but {files[first].name} has {len(rows[first])}. They belong "
                f"together line by line; fetch them again.", files[tag], min(len(found), len(rows[first])) + 1,
            )  # fmt: skip
    for number, english in enumerate((english for english, _ in rows[first]), 1):
        for tag, found in rows.items():
            if found[number - 1][0] != english:
                raise DataError(f"the English is not that of {files[first].name}:{number}.", files[tag], number)
        texts = {tag: found[number - 1][1] for tag, found in rows.items()}
        yield FrmtSegment(f"{language}/{bucket}/{split}/{number}", language, bucket, split, number, english, texts)


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(file), 1):
        cells = without_break(line).split("\t")
        if len(cells) != 2 or not all(cell.strip() for cell in cells):
            raise DataError(f"a line must hold the English, a tab and the translation, not {line!r:.60}.", file, number)
        yield cells[0], cells[1]


def _files(folder: Path) -> dict[Path, tuple[str, ...]]:
    """FRMT's files in a folder and in its buckets, with what their names say."""
    places = [*folder.glob("*.tsv"), *folder.glob("*_bucket/*.tsv")]
    return {file: name.groups() for file in places if (name := _NAME.fullmatch(file.name))}


def _chosen(path: Path) -> Iterator[tuple[FrmtSegment, str]]:
    """The segments that a path means, each with its base dialect."""
    if path.is_file():
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise DataError("FRMT's files are named as pt_lexical_test_en_pt-BR.tsv; this one is not.", path)
        for segment in read_segments(path.parent, name[3], [name[1]]):
            if segment.bucket == name[2]:
                yield segment, name[4]
        return
    names = _files(path).values()
    languages = sorted({language for language, *_ in names})
    if len(languages) > 1:
        raise DataError(f"this folder holds {' and '.join(languages)}, but a set has one language. Name a file, such "
                        f"as {sorted(_files(path))[0]}, and set {option_name('format-in', 'format')} to frmt.",
                        path)  # fmt: skip
    test = any(split == "test" for _, _, split, _ in names)
    for segment in read_segments(path, "test" if test else None):
        base = BASES.get(segment.language, next(iter(segment.texts)))
        if base not in segment.texts:
            raise DataError(f"there is no {base} for line {segment.line} of {segment.bucket} {segment.split}.", path)
        yield segment, base


FILE, SENTENCES = "pairs_derived.tsv", "indian_english_dialect.csv"
_COLUMNS = ("feature", "dialect_sentence", "matched_standard_sentence")
_STANDARD = "None of the Above"  # the feature of sentences that have none


class DialectPair(NamedTuple):
    """A sentence with a feature, the same without, and the line they stand on."""

    line: int
    feature: str
    dialect: str
    standard: str


class IndianEnglishReader(Reader):
    """A folder with `indian_english_dialect.csv` or `pairs_derived.tsv`, or, with `--format-in indian_english`, a file.

    An example is a sentence of US English; its variants are those that have a feature of Indian English, named in
    their notes. A pair whose sentences are the same is no variant. The first file is the public one, which has lost the
    authors' pairs: each sentence with a feature is paired with the most similar one without.
    """

    has_fields = False
    language = "en"

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and pairs_file(path).is_file()

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = pairs_file(path)
        for row, (standard, pairs) in enumerate(_by_sentence(path).items()):
            self.line = pairs[0].line
            yield Example(row, str(self.line), {"text": standard})

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        for row, (standard, pairs) in enumerate(_by_sentence(path).items()):
            different = [pair for pair in pairs if pair.dialect != standard]
            for draw, (_, feature, dialect, _) in enumerate(different):
                id, source = str(pairs[0].line), "person/indian_english"
                yield Variant(row, id, draw, source, "dialect", "same", {"text": dialect}, None, feature)


def read_pairs(path: Path) -> Iterator[DialectPair]:
    """The pairs in their order; raises with the line of the first row that is wrong."""
    file = pairs_file(path)
    if file.suffix == ".csv":
        yield from _most_similar(file)
        return
    for line, cells in csv_records(file, _COLUMNS, "\t"):
        feature, dialect, standard = (cells[name].strip() for name in _COLUMNS)
        if not dialect or not standard:
            raise DataError("a row needs the sentence in both dialects.", file, line)
        yield DialectPair(line, feature, dialect, standard)


def _most_similar(file: Path) -> Iterator[DialectPair]:
    """Each sentence with a feature and the sentence without that shares most of its words, in their order and as a set.

    Lines are numbered over these pairs, as in a file of them, so that a pair has the same id from either file.
    """
    rows = [(cells["Example"].strip(), cells["Feature"]) for _, cells in csv_records(file, ("Example", "Feature"))]
    standard = [(text, text.lower().split()) for text, feature in rows if feature == _STANDARD]
    if not standard:
        raise DataError(f"no sentence has the feature {_STANDARD!r}, so there is nothing to pair with.", file)
    line = 1
    for text, feature in rows:
        if feature == _STANDARD:
            continue
        line += 1
        words = text.lower().split()
        near = [
            SequenceMatcher(None, words, other).ratio() + len({*words} & {*other}) / max(1, len({*words} | {*other}))
            for _, other in standard
        ]
        yield DialectPair(line, feature, text, standard[near.index(max(near))][0])


def _by_sentence(path: Path) -> dict[str, list[DialectPair]]:
    found: dict[str, list[DialectPair]] = {}
    for pair in read_pairs(path):
        found.setdefault(pair.standard, []).append(pair)
    return found


def pairs_file(path: Path) -> Path:
    """The file of pairs in a folder, or the public one that they are made from; a file stands for itself."""
    if not path.is_dir():
        return path
    return next((file for name in (FILE, SENTENCES) if (file := path / name).is_file()), path / FILE)
