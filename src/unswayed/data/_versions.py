"""Parallel data, such as NoiseQA's: the clean texts, and people's versions of them in other columns or files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError, UsageError, option
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example, Inputs, Variant
from unswayed.data._read import content_of, open_source, read_examples
from unswayed.data._reader import ReadOptions
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite

_OWN_LABELS = ("tag", "slu")  # tasks whose labels are of words, so that a version has its own


def import_versions(
    path: str | Path, versions: Sequence[str], to: str | Path, options: ReadOptions | None = None,
    language: str | None = None, overwrite: bool = False,
) -> Suite:  # fmt: skip
    """Makes a suite of clean data and other versions of it, which people made.

    A version is `NAME=FILE`, a file in the same form as the clean one and with its ids, or else as many rows in the
    same order; or `NAME`, a column of the clean file that holds the text. Versions that equal the clean text stay.
    """
    path, options = Path(path), options or ReadOptions()
    kind, source, examples = open_source(path, options, language)
    clean, task = list(examples), task_named(kind.task)
    named = [_named(version) for version in versions]
    found = {
        name: _from_column(path, name, clean, task, options) if file is None else _from_file(file, clean, task, options)
        for name, file in named
    }
    if len(found) < len(named):
        raise UsageError(f"Two of {option('variant', 'versions')} have the same name. Rename one.")

    def variants() -> Iterator[Variant]:
        for example in clean:
            for name, rows in found.items():
                if example.row in rows:
                    inputs, gold = rows[example.row].inputs, rows[example.row].gold
                    yield Variant(example.row, example.id, 0, f"people/{name}", "people", "same", inputs, gold, "")

    files = [content_of(file) for _, file in named if file is not None]
    plan = plan_id("versions", source, options, list(versions), files)
    manifest = Manifest(task=kind.task, language=kind.language, plan=plan)
    return write_suite(to, manifest, lambda: clean, variants, overwrite)


def _named(version: str) -> tuple[str, Path | None]:
    name, given, file = version.partition("=")
    if not name or (given and not file):
        raise UsageError(f"{option('variant', 'versions')} must be NAME or NAME=FILE, not {version!r}.")
    return name, Path(file) if given else None


def _from_column(
    path: Path, column: str, clean: Sequence[Example], task: Task, options: ReadOptions
) -> dict[int, Example]:
    """The clean examples with the text that is varied taken from another column."""
    if task.name in _OWN_LABELS:
        raise UsageError(f"A column can't hold the tags of another version. Use {option('variant')} {column}=FILE.")
    fields = task.texts(clean[0].inputs)
    if len(fields) != 1:
        raise UsageError(f"The examples have the texts {', '.join(fields)}, and a column holds one. Use files.")
    reading = msgspec.structs.replace(options, inputs=(column,), task="text")
    rows = read_examples(path, reading)
    return {
        old.row: msgspec.structs.replace(old, inputs={**old.inputs, fields[0]: new.inputs[column]})
        for old, new in zip(clean, rows, strict=True)
    }


def _from_file(file: Path, clean: Sequence[Example], task: Task, options: ReadOptions) -> dict[int, Example]:
    """The examples of a file by the row of the clean one, found by id, or else in the same order."""
    versions = list(read_examples(file, msgspec.structs.replace(options, task=task.name)))
    by_id = {example.id: example for example in clean}
    known = sum(version.id in by_id for version in versions)
    if 2 * known <= len(versions) and len(versions) != len(clean):
        raise DataError(
            f"there are {len(versions):,} rows, but {len(clean):,} clean ones, and their ids differ. Give the rows of "
            f"both files the same ids.",
            file,
        )
    owners = clean if 2 * known <= len(versions) else [by_id.get(version.id) for version in versions]
    found: dict[int, Example] = {}
    for n, (owner, version) in enumerate(zip(owners, versions, strict=True), 1):
        if owner is None:
            raise DataError(f"the id {version.id!r} is not in the clean data.", file, n)
        if version.gold != owner.gold and task.name not in _OWN_LABELS:
            raise DataError(f"the gold of {version.id!r} is not that of the clean row.", file, n)
        found[owner.row] = msgspec.structs.replace(owner, inputs=_same_fields(owner, version), gold=version.gold)
    return found


def _same_fields(owner: Example, version: Example) -> Inputs:
    return {name: version.inputs.get(name, text) for name, text in owner.inputs.items()}
