"""From a suite or a file to a study's items, and a new study's database."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.ids import content_id
from unswayed.base.seeds import Seeds
from unswayed.base.values import Json
from unswayed.collect.applied import keep_revision
from unswayed.collect.backends import Transaction
from unswayed.collect.database import Database, open_database
from unswayed.collect.kinds import TaskKind, kinds
from unswayed.collect.owner import new_password, set_password
from unswayed.collect.people import set_fact
from unswayed.collect.study import PeopleStudy, as_json, study_template
from unswayed.collect.words import languages
from unswayed.storage.files import growing, write_atomically, write_json_lines
from unswayed.storage.suite import Suite
from unswayed.storage.untrusted_files import read_json_lines


class Entry(NamedTuple):
    """An item as it is stored. `origin` is where it comes from, which people do not see; a `unit` goes to one person.

    `phase` is `task`, or `training` or `qualification`, which come first; `feedback` is said after training.
    """

    id: str
    content: Json
    origin: dict[str, Json]
    gold: Json = None
    only_for: str = ""
    not_for: tuple[str, ...] = ()
    unit: str = ""
    phase: str = "task"
    feedback: str | dict[str, str] = ""


def entries(study: PeopleStudy) -> list[Entry]:
    """All items, in the order in which they are given out; what comes before the tasks keeps its own order."""
    kind = study.make_kind()
    place = study.folder / (study.items.suite or study.items.path or "")
    if study.items.suite:
        items = list(suite_entries(type(kind), place, study.items.fields, study.file))
    else:
        items = list(_from_lines(study, kind, place))
    if not items:
        raise DataError("there is no item in it", place)
    units = _units(kind, items)
    if study.assign.shuffle:
        stream = Seeds(study.assign.seed, "collect/order", 1).stream("", 0)
        units = stream.sample(units, len(units))
    return [*_before(study, kind, {entry.id for entry in items}), *(entry for unit in units for entry in unit)]


def _units(kind: TaskKind, items: Sequence[Entry]) -> list[list[Entry]]:
    """The items by unit. A unit that is shown on one page has no more items than go on a page."""
    most = kind.on_a_page()
    found: dict[tuple[str, ...], list[Entry]] = {}
    for entry in items:
        key = (kind.unit(entry.id, entry.content, entry.origin), entry.only_for, *sorted(entry.not_for))
        key = (entry.id,) if entry.gold is not None else key
        found.setdefault(key, []).append(entry)
    size = most if most > 1 else len(items)
    chunks = [own[at : at + size] for own in found.values() for at in range(0, len(own), size)]
    return [[entry._replace(unit=own[0].id) for entry in own] for own in chunks]


def _before(study: PeopleStudy, kind: TaskKind, taken: set[str]) -> Iterator[Entry]:
    """The items of training and qualification, each with its right answer."""
    for phase, declared in (("training", study.training), ("qualification", study.qualification)):
        if declared is None:
            continue
        place, found = study.folder / declared.path, 0
        for found, entry in enumerate(_from_lines(study, kind, place), 1):
            if entry.gold is None:
                raise DataError(f"an item of the {phase} needs `gold`, the right answer", place, found)
            if entry.id in taken:
                raise DataError(f"the id {entry.id!r} comes a second time", place, found)
            taken.add(entry.id)
            yield entry._replace(unit=entry.id, phase=phase)
        if not found:
            raise DataError("there is no item in it", place)


def entries_from(study: PeopleStudy, place: Path) -> list[Entry]:
    """The items of another file for this study."""
    kind = study.make_kind()
    items = list(_from_lines(study, kind, place))
    if not items:
        raise DataError("there is no item in it", place)
    return [entry for unit in _units(kind, items) for entry in unit]


def suite_entries(kind: type[TaskKind], place: Path, fields: Sequence[str] = (), study: str = "") -> Iterator[Entry]:
    """The items that a suite gives for this kind of task; each is pinned to the suite by its content id."""
    suite = Suite(place)
    chosen = tuple(fields) or suite.task.varied
    for example, variants in suite.groups():
        missing = [field for field in chosen if field not in example.inputs]
        if missing:
            raise DataError(f"items.fields: example {example.id!r} has no {missing[0]!r}", study or place)
        wanted = [field for field in chosen or suite.task.texts(example.inputs) if example.inputs[field].strip()]
        for item in kind.from_suite(example, variants, wanted):
            kind.item(item.content)
            also = {"suite_id": suite.id} if "suite_id" in item.origin else {}
            yield Entry(item.id, item.content, {**item.origin, "suite": suite.id, **also})


def write_items(
    kind: str, suite: Path, to: Path, fields: Sequence[str] = (), limit: int | None = None, seed: int = 0
) -> int:
    """Writes the items that a suite gives, and beside them a key file that people must not see; returns how many."""
    items = list(suite_entries(kinds.get(kind), suite, fields))
    if not items:
        raise DataError(f"it has no text for a {kind} study", suite)
    return write_entries(some_of(items, limit, seed), to)


def some_of(items: Sequence[Entry], limit: int | None, seed: int) -> Sequence[Entry]:
    """At most `limit` of the items, by lot."""
    if limit is None or limit >= len(items):
        return items
    return Seeds(seed, "collect/some", 1).stream("", 0).sample(list(items), limit)


def write_entries(items: Sequence[Entry], to: Path) -> int:
    """Writes items, and beside them their key file; returns how many."""
    for path, rows in (
        (to, [{"id": entry.id, **entry.content} for entry in items]),
        (key_file(to), [{"id": entry.id, **entry.origin} for entry in items]),
    ):
        write_json_lines(path, rows)
    return len(items)


def key_file(items: Path) -> Path:
    """The file beside a file of items that holds what people must not see of them."""
    return items.with_name(f"{items.stem}.key.jsonl")


def write_template(study: Path, kind: str, items: Path | None = None, suite: Path | None = None) -> None:
    """Writes a study to fill in. The groups that a file of items is for become strata, its controls gold items."""
    if suite is not None:
        place, language = os.path.relpath(suite, study.parent), Suite(suite).manifest.language.partition("-")[0]
        known = language if language in languages() else "en"
        write_atomically(study, study_template(study, kind, suite=place, language=known).encode())
        return
    strata, gold_every = _groups(items) if items else ([], 0)
    beside = os.path.relpath(items, study.parent) if items else "items.jsonl"
    write_atomically(study, study_template(study, kind, beside, strata, gold_every).encode())


def _groups(items: Path) -> tuple[list[str], int]:
    """The groups of people that a file of items is for, and how many items of a group there are to each control."""
    keys = _keys(items)
    ordinary: Counter[str] = Counter()
    controls = set()
    for _, facts in read_json_lines(items, dict[str, Json]):
        if keys.get(str(facts.get("id")), {}).get("control"):
            controls.add(facts["id"])
        else:
            ordinary[str(facts.get("group", ""))] += 1
    every = max(1, min(ordinary.values(), default=0) // len(controls)) if controls else 0
    return sorted(name for name in ordinary if name), every


def _from_lines(study: PeopleStudy, kind: TaskKind, place: Path) -> Iterator[Entry]:
    keys = _keys(place)
    seen: set[str] = set()
    for row, facts in read_json_lines(place, dict[str, Json]):
        try:
            id = facts.pop("id", None) or content_id(facts)
            gold, not_for = facts.pop("gold", None), facts.pop("not_for", [])
            only_for, feedback = str(facts.pop("group", "")), facts.pop("feedback", "")
            if only_for and only_for not in study.assign.strata:
                raise DataError(f"the item is for the group {only_for!r}, which assign.strata does not have")
            if any("\0" in text for text in (str(id), *map(str, not_for))):
                raise DataError("an id or a name can't have the character zero")
            kind.item(facts)
            origin = keys.get(id, {}) if isinstance(id, str) else {}
            control = kind.control_gold if origin.get("control") else None
        except DataError as error:
            raise DataError(str(error), place, row) from error
        if not isinstance(id, str) or id in seen:
            if control is not None and id in seen:  # each group's copy of a control
                continue
            raise DataError(f"the id {id!r} is not a text, or comes a second time", place, row)
        seen.add(id)
        if control is not None:
            gold, only_for = control, ""
        yield Entry(id, facts, origin, gold, only_for, tuple(map(str, not_for)), feedback=feedback)


def _keys(place: Path) -> dict[str, dict[str, Json]]:
    """What the key file says of each item, by its id."""
    key = key_file(place)
    keys: dict[str, dict[str, Json]] = {}
    for row, facts in read_json_lines(key, dict[str, Json]) if key.exists() else ():
        id = facts.pop("id", None)
        if not isinstance(id, str):
            raise DataError("this row has no id", key, row)
        keys[id] = facts
    return keys


def make_study(study: PeopleStudy) -> tuple[Database, str, int]:
    """Makes the database; returns it open, with the owner's password, which is stored only as a hash."""
    items, password = entries(study), new_password()
    fill = partial(_fill, study=study, items=items, password=password)
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
    return database, password, sum(entry.phase == "task" for entry in items)


def _make_file(place: Path, fill: Callable[[Transaction], None]) -> None:
    """A database that is there when it is whole; one that is there already is never touched."""
    exists = UsageError(f"{place} already exists. Serve this study, or choose another database.")
    if place.exists():
        raise exists
    try:
        with growing(place, "the study", new=True) as unfinished, open_database(str(unfinished), new=True) as database:
            database.write(fill)
    except StoredFileError as error:
        if isinstance(error.__cause__, FileExistsError):  # somebody made it meanwhile
            raise exists from None
        raise


def _fill(tx: Transaction, study: PeopleStudy, items: list[Entry], password: str) -> None:
    if tx.rows("SELECT 1 FROM facts WHERE name = 'study'"):
        raise UsageError("This database already holds a study. Choose another database.")
    insert_items(tx, study, items)
    for name in study.assign.strata or ("",):
        tx.run("INSERT INTO strata VALUES (?, 0)", name)
    set_fact(tx, "study", as_json({"title": study.title, "kind": study.kind}))
    set_fact(tx, "secret", secrets.token_hex(32))
    set_password(tx, password)
    keep_revision(tx, study)


def insert_items(tx: Transaction, study: PeopleStudy, items: Sequence[Entry]) -> None:
    """Adds items after those that are there."""
    ((first,),) = tx.rows("SELECT coalesce(max(place) + 1, 0) FROM items")
    for place, entry in enumerate(items, int(first)):
        gold = None if entry.gold is None else as_json(entry.gold)
        free = 0 if gold is not None else study.assign.k
        tx.run(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)",
            entry.id, place, as_json(entry.content), as_json(entry.origin), gold, entry.only_for, free,
        )  # fmt: skip
        tx.run("INSERT INTO parts VALUES (?, ?, ?, ?)", entry.id, entry.unit, entry.phase, as_json(entry.feedback))
        for person in entry.not_for:
            tx.run("INSERT INTO barred VALUES (?, ?) ON CONFLICT DO NOTHING", entry.id, person)
