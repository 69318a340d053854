"""From a suite or a file to a study's items, and a new study's database."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from unfazed.collect.database import Database, Transaction, open_database
from unfazed.collect.kinds import Kind
from unfazed.collect.people import new_password, set_fact, set_password
from unfazed.collect.study import Study, as_json
from unfazed.core.errors import DataError, UsageError
from unfazed.core.files import partial_of, unwritable
from unfazed.core.ids import content_id
from unfazed.core.json import decode
from unfazed.core.seeds import Seeds
from unfazed.core.suite import Suite
from unfazed.core.values import Json


class Entry(NamedTuple):
    """An item as it is stored. `origin` says which text of which example it is."""

    id: str
    content: Json
    origin: dict[str, str]
    gold: Json = None
    only_for: str = ""
    not_for: tuple[str, ...] = ()


def entries(study: Study) -> list[Entry]:
    """All items, in the order in which they are given out."""
    kind = study.make_kind()
    place = study.folder / (study.items.suite or study.items.path or "")
    found = list(_from_suite(study, kind, place) if study.items.suite else _from_lines(study, kind, place))
    if not found:
        raise DataError("there is no item in it", place)
    if study.assign.shuffle:
        stream = Seeds(study.assign.seed, "collect/order", 1).stream("", 0)
        found = stream.sample(found, len(found))
    return found


def _from_suite(study: Study, kind: Kind, place: Path) -> Iterator[Entry]:
    if not kind.makes_text:
        raise DataError(f"items.suite is for people who make texts; a {kind.name} study takes items.path", study.file)
    suite = Suite(place)
    fields = study.items.fields or suite.task.varied
    for example in suite.examples():
        for field in fields or example.inputs:
            if field not in example.inputs:
                raise DataError(f"items.fields: example {example.id!r} has no {field!r}", study.file)
            if example.inputs[field].strip():
                content = {"text": example.inputs[field]}
                kind.item(content)
                yield Entry(f"{example.id}/{field}", content, {"example": example.id, "field": field})


def _from_lines(study: Study, kind: Kind, place: Path) -> Iterator[Entry]:
    controls = _controls(place)
    seen: set[str] = set()
    for row, facts in _objects(place):
        try:
            id = facts.pop("id", None) or content_id(facts)
            gold, not_for = facts.pop("gold", None), facts.pop("not_for", [])
            only_for = str(facts.pop("group", ""))
            if only_for and only_for not in study.assign.strata:
                raise DataError(f"the item is for the group {only_for!r}, which assign.strata has not")
            kind.item(facts)
        except DataError as error:
            raise DataError(str(error), place, row) from error
        if not isinstance(id, str) or id in seen:
            if isinstance(id, str) and id in controls:  # each group's copy of a control
                continue
            raise DataError(f"the id {id!r} is not a text, or comes a second time", place, row)
        seen.add(id)
        if id in controls:
            gold, only_for = {"slots": True, "intent": True}, ""
        yield Entry(id, facts, {}, gold, only_for, tuple(map(str, not_for)))


def _objects(place: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    try:
        lines = place.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror})", place) from error
    for row, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield row, decode(line, dict)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise DataError(f"this is no JSON object: {error}", place, row) from error


def _controls(place: Path) -> set[str]:
    """The controls of a survey, which its key file names."""
    key = place.with_name(f"{place.stem}.key.jsonl")
    return {str(facts["id"]) for _, facts in _objects(key) if facts.get("control")} if key.exists() else set()


def make_study(study: Study) -> tuple[Database, str, int]:
    """Makes the database; returns it open, with the owner's password, which is stored only as a hash."""
    found, password = entries(study), new_password()

    def fill(tx: Transaction) -> None:
        _fill(tx, study, found, password)

    if "://" in study.place:
        database = open_database(study.place, new=True)
        try:
            database.write(fill)
        except BaseException:
            database.close()
            raise
    else:
        _make_file(Path(study.place), fill)
        database = open_database(study.place)
    return database, password, len(found)


def _make_file(place: Path, fill: Callable[[Transaction], None]) -> None:
    """A database that is there when it is whole; one that is there already is never touched."""
    made = UsageError(f"{place} exists: this study was made already. Serve it, or name another database.")
    if place.exists():
        raise made
    with unwritable(place, "the study"):
        partial = partial_of(place)
        try:
            with open_database(str(partial), new=True) as database:
                database.write(fill)
            os.link(partial, place)
        except FileExistsError:  # somebody made it meanwhile
            raise made from None
        finally:
            partial.unlink(missing_ok=True)


def _fill(tx: Transaction, study: Study, found: list[Entry], password: str) -> None:
    if tx.rows("SELECT 1 FROM facts WHERE name = 'study'"):
        raise UsageError("This database holds a study already. Name another one.")
    for place, entry in enumerate(found):
        gold = None if entry.gold is None else as_json(entry.gold)
        free = 0 if gold is not None else study.assign.k
        tx.run(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)",
            entry.id, place, as_json(entry.content), as_json(entry.origin), gold, entry.only_for, free,
        )  # fmt: skip
        for person in entry.not_for:
            tx.run("INSERT INTO barred VALUES (?, ?) ON CONFLICT DO NOTHING", entry.id, person)
    for name in study.assign.strata or ("",):
        tx.run("INSERT INTO strata VALUES (?, 0)", name)
    set_fact(tx, "study", as_json({"title": study.title, "kind": study.kind}))
    set_fact(tx, "secret", secrets.token_hex(32))
    set_password(tx, password)
