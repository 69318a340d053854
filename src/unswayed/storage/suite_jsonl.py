"""Suites as JSON lines: for people to read, for other tools, and for variants that people made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from unswayed.base.errors import DataError, StoredFileError, UnknownName
from unswayed.base.ids import decode
from unswayed.base.language import identify, language_tag
from unswayed.base.task import guess_task, task_named, tasks
from unswayed.base.values import Example, Json, Variant
from unswayed.storage.files import replacing_or_printing
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.storage.untrusted_files import bounded_lines, open_regular

_MAKES_UP = {"examples", "variants", "content", "hashes"}  # facts of a manifest that writing finds anew
_EXAMPLE = frozenset(Example.__struct_fields__)
_PERSON, _ROLE = "person", "role"  # fields of a row: who made its text, and what such people are called
Guess = Callable[[Sequence[Example], str | None, str | None], tuple[str, dict[str, str]]]


class _Rows(NamedTuple):
    """What a file holds. `roles` and `reference` are as in a `Manifest`."""

    manifest: Manifest | None
    examples: list[Example]
    variants: list[Variant]
    roles: dict[str, str]
    reference: str


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
    file: str | Path, to: str | Path, task: str | None = None, language: str | None = None, overwrite: bool = False,
    guess: Guess | None = None,
) -> Suite:  # fmt: skip
    """Makes a suite of a JSON-lines file. Variants may come in any order; they are put behind their examples.

    `guess` finds the task, and what is compared, from the examples, the name of their gold and the task that was named.
    """
    file = Path(file)
    manifest, examples, variants, roles, reference = _read(file)
    if manifest is None:
        name, compared = (task or guess_task(examples[0]).name, {}) if guess is None else guess(examples, "gold", task)
        varied = task_named(name)
        texts = (e.inputs[name] for e in examples for name in varied.texts(e.inputs) if name in e.inputs)
        people = dict.fromkeys(roles, "source")
        manifest = Manifest(
            task=name, language=language_tag(language) if language else identify(texts, rows=False).language,
            compared=compared, people=people, roles=roles or msgspec.UNSET, reference=reference or msgspec.UNSET,
        )  # fmt: skip
        examples = [replace(example, gold=varied.own_gold(example.gold)) for example in examples]
        variants = [replace(variant, gold=varied.own_gold(variant.gold)) for variant in variants]
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


def _read(file: Path) -> _Rows:
    manifest: Manifest | None = None
    examples: list[Example] = []
    varied: list[tuple[int, dict[str, Json]]] = []
    references: set[str] = set()
    unknown: dict[str, None] = {}  # fields of examples that are not read
    roles: dict[str, str] = {}
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
                references.add(_text(head.pop(_PERSON, ""), _PERSON, file, row))
                head.pop(_ROLE, None)
                unknown |= dict.fromkeys(head.keys() - _EXAMPLE)
                if "inputs" not in head:
                    if head.keys() - _EXAMPLE:
                        others = ", ".join(map(repr, sorted(head.keys() - _EXAMPLE)))
                        what = f"there are no inputs, but {others}: put texts in inputs, gold in gold"
                        raise DataError(what, file, row)
                    head["inputs"] = {"text": f"(not published: {head.get('id')})"}
                examples.append(msgspec.convert({"row": len(examples), **head}, Example))
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not an example, a variant or a manifest: {error}", file, row) from error
    if not examples:
        raise DataError("there are no examples in it", file)
    if unknown and manifest is None:
        print(f"unswayed: {file}: not read: {', '.join(sorted(unknown))}.", file=sys.stderr)
    by_id = {example.id: example for example in examples}
    variants: list[Variant] = []
    for row, fields in varied:  # a line may leave out what its example or the way of most variants tells
        owner = by_id.get(fields["example_id"]) if isinstance(fields["example_id"], str) else None
        if owner is None:
            raise DataError(f"this is a variant of {fields['example_id']!r}, which is not an example here", file, row)
        usual: dict[str, Json] = {
            "row": owner.row,
            "draw": 0,
            "source": "people",
            "family": "people",
            "meaning": "same",
            "note": "",
        }
        if person := _text(fields.pop(_PERSON, ""), _PERSON, file, row):
            usual["source"] = person
            role = _text(fields.pop(_ROLE, ""), _ROLE, file, row) or "person"
            if (known := roles.setdefault(person, role)) != role:
                raise DataError(f"{person!r} is a {role} here, and a {known} in a row before", file, row)
            if fields.get("source", person) != person:
                raise DataError(
                    f"the source {fields['source']!r} is not the person {person!r}: leave it out", file, row
                )
        if "inputs" not in fields:  # each is its own input, so that a log can have an answer to each
            whose = f"{fields.get('source', usual['source'])}, {fields.get('draw', 0)}"
            usual["inputs"] = {"text": f"(not published: {owner.id}, {whose})"}
        try:
            variants.append(msgspec.convert({**usual, "gold": owner.gold, **fields}, Variant))
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not an example, a variant or a manifest: {error}", file, row) from error
    one = next(iter(references)) if len(references) == 1 else ""
    return _Rows(manifest, sorted(examples, key=lambda e: e.row), variants, roles, one)


def _text(value: Json, name: str, file: Path, row: int) -> str:
    if not isinstance(value, str):
        raise DataError(f"{name} must be a text, not {value!r:.60}", file, row)
    return value


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with open_regular(file) as lines:
            yield from ((row, line) for row, line in enumerate(bounded_lines(lines, file), 1) if line.strip())
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror})", file) from error
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{file}: "), file) from error
