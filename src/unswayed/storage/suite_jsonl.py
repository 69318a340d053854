"""Suites as JSON lines: for people to read, for other tools, and for variants that people made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError, StoredFileError, UnknownName
from unswayed.base.ids import decode
from unswayed.base.language import identify, language_tag
from unswayed.base.task import guess_task, task_named, tasks
from unswayed.base.values import Example, Json, Variant
from unswayed.storage.files import replacing_or_printing
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.storage.untrusted_files import bounded_lines, open_regular

_MAKES_UP = {"examples", "variants", "content", "hashes"}  # facts of a manifest that writing finds anew


def export_suite(suite: Suite, to: str | Path) -> int:
    """Writes the manifest, then each example followed by its variants; returns the number of lines."""
    encode, count = msgspec.json.Encoder().encode, 1
    with replacing_or_printing(to) as write:
        write(encode({"suite": suite.manifest}) + b"\n")
        for example, variants in suite.groups():
            for value in (example, *variants):
                write(encode(value) + b"\n")
            count += 1 + len(variants)
    return count


def import_suite(
    file: str | Path, to: str | Path, task: str | None = None, language: str | None = None, overwrite: bool = False
) -> Suite:
    """Makes a suite of a JSON-lines file. Variants may come in any order; they are put behind their examples."""
    file = Path(file)
    manifest, examples, variants = _read(file)
    if manifest is None:
        varied = task_named(task) if task else guess_task(examples[0])
        texts = (e.inputs[name] for e in examples for name in varied.texts(e.inputs) if name in e.inputs)
        manifest = Manifest(
            task=task or varied.name,
            language=language_tag(language) if language else identify(texts, rows=False).language,
        )
    if manifest.task not in tasks:  # also module:Class: opening a file must not run somebody's code
        raise DataError(str(UnknownName("task", manifest.task, tasks.names(), "unswayed list tasks")), file)
    own_task = task_named(manifest.task)
    by_id = {example.id: example for example in examples}
    if len(by_id) < len(examples) or len({e.row for e in examples}) < len(examples):
        raise DataError("two examples have the same id or row", file)
    for example in examples:
        problem = own_task.gold_problem(example) if example.gold is not None else None
        if problem:
            raise DataError(f"example {example.id!r}: {problem}", file)
    odd = next((n for n in (*(e.row for e in examples), *(v.draw for v in variants)) if not 0 <= n < 1 << 63), None)
    if odd is not None:
        raise DataError(f"a row or draw is {odd}; they must be whole numbers from 0 on, below 2^63", file)
    for variant in variants:
        owner = by_id[variant.example_id]
        if owner.row != variant.row:
            raise DataError(
                f"a variant is of {variant.example_id!r}, row {variant.row}, but that example has row {owner.row}", file
            )
        moved = Example(owner.row, owner.id, variant.inputs, variant.gold)
        problem = own_task.gold_problem(moved) if variant.gold is not None else None
        if problem:
            raise DataError(f"the variant {variant.draw} of {owner.id!r} by {variant.source!r}: {problem}", file)
    variants.sort(key=lambda v: v.row)
    return write_suite(to, manifest, lambda: examples, lambda: variants, overwrite, manifest.unchanged)


def _read(file: Path) -> tuple[Manifest | None, list[Example], list[Variant]]:
    manifest: Manifest | None = None
    examples: list[Example] = []
    varied: list[tuple[int, dict[str, Json]]] = []
    for row, line in _lines(file):
        try:
            head = decode(line)
            if not isinstance(head, dict):
                raise DataError("a line must be an object", file, row)
            if "suite" in head:
                facts = msgspec.convert(head["suite"], dict[str, Json])
                manifest = msgspec.convert({k: v for k, v in facts.items() if k not in _MAKES_UP}, Manifest)
            elif "example_id" in head:
                varied.append((row, head))
            else:
                examples.append(msgspec.convert({"row": len(examples), **head}, Example))
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not an example, a variant or a manifest: {error}", file, row) from error
    if not examples:
        raise DataError("there are no examples in it", file)
    by_id = {example.id: example for example in examples}
    variants: list[Variant] = []
    for row, fields in varied:  # a line may leave out what its example or the way of most variants tells
        owner = by_id.get(fields["example_id"]) if isinstance(fields["example_id"], str) else None
        if owner is None:
            raise DataError(f"this is a variant of {fields['example_id']!r}, which is not an example here", file, row)
        usual = {"row": owner.row, "draw": 0, "source": "people", "family": "people", "meaning": "same", "note": ""}
        try:
            variants.append(msgspec.convert({**usual, "gold": owner.gold, **fields}, Variant))
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not an example, a variant or a manifest: {error}", file, row) from error
    return manifest, sorted(examples, key=lambda e: e.row), variants


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with open_regular(file) as lines:
            yield from ((row, line) for row, line in enumerate(bounded_lines(lines, file), 1) if line.strip())
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror})", file) from error
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{file}: "), file) from error
