"""Revisions of a study: what was applied is kept in its database, and a change that would spoil answers is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.values import Json
from unswayed.collect.applied import applied, facts_of, keep_revision
from unswayed.collect.backends import Transaction, tables_about
from unswayed.collect.items import Entry, entries, entries_from, insert_items
from unswayed.collect.kinds import TaskKind
from unswayed.collect.people import note
from unswayed.collect.study import PeopleStudy, as_json, problems_of_rules

_SPOILS = ("question",)  # options of which an earlier answer says nothing once they changed
ADDED = "added"  # in the origin of an item that the owner added to a study in its console


class StudyChange(NamedTuple):
    """One difference. `refused` says why it can't be made, where it can't."""

    what: str
    before: str
    after: str
    refused: str = ""


def changes(tx: Transaction, study: PeopleStudy, items: Sequence[Entry]) -> list[StudyChange]:
    """What applying a study would change."""
    before = facts_of(applied(tx, study))
    found = [
        StudyChange(name, _short(old), _short(new), _refusal(tx, study, name, old, new))
        for name, old, new in _differences(before, facts_of(study))
    ]
    return [*found, *(change for change, _ in _item_changes(tx, study, items))]


def apply(tx: Transaction, study: PeopleStudy) -> list[StudyChange]:
    """Makes the changes; returns them. Where one is refused, none is made."""
    items = entries(study)
    found = changes(tx, study, items)
    refused = [f"{change.what}: {change.refused}" for change in found if change.refused]
    if refused:
        raise UsageError("The study was not changed. " + " ".join(refused) + " Make a new study for this.")
    if not found:
        return found
    before = applied(tx, study)
    for _, make in _item_changes(tx, study, items):
        make()
    _resize(tx, before.assign.k, study)
    for name in study.assign.strata or ("",):
        tx.run("INSERT INTO strata VALUES (?, 0) ON CONFLICT DO NOTHING", name)
    number = keep_revision(tx, study)
    note(tx, "owner", f"applied revision {number}", "; ".join(change.what for change in found)[:500])
    return found


def set_rules(tx: Transaction, study: PeopleStudy, **given: Any) -> PeopleStudy:
    """A revision with other rules of assignment, such as quotas."""
    now = applied(tx, study)
    changed = msgspec.structs.replace(now, assign=msgspec.structs.replace(now.assign, **given))
    if wrong := [message for message, is_so in problems_of_rules(changed.assign) if is_so]:
        raise UsageError(f"The study was not changed: {wrong[0]}.")
    number = keep_revision(tx, changed)
    note(tx, "owner", f"applied revision {number}", "; ".join(f"assign.{name}" for name in given))
    return changed


def add_lines(tx: Transaction, study: PeopleStudy, lines: str, now: float) -> int:
    """Adds items to a study that is under way, from lines as in `items.path`; returns how many."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "items.jsonl"
        place.write_text(lines.replace("\r\n", "\n"), encoding="utf-8")
        items = entries_from(applied(tx, study), place)
    known = {id for (id,) in tx.rows("SELECT id FROM items")}
    twice = [entry.id for entry in items if entry.id in known]
    if twice:
        raise UsageError(f"There is an item named {twice[0]!r} already.")
    insert_items(tx, study, [entry._replace(origin={**entry.origin, ADDED: now}) for entry in items])
    note(tx, "owner", "added items", str(len(items)))
    return len(items)


def _differences(
    before: Mapping[str, Json], after: Mapping[str, Json], path: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """The leaves in which two nested mappings differ, by their paths. Tables that are filled in freely are one leaf."""
    for name in sorted(before.keys() | after.keys()):
        old, new, place = before.get(name), after.get(name), f"{path}{name}"
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict) and place not in ("assign.quota", "consent"):
            yield from _differences(old, new, f"{place}.")
        else:
            yield place, old, new


def _refusal(tx: Transaction, study: PeopleStudy, name: str, old: Json, new: Json) -> str:
    """Why a change can't be made: what there is of answers rests on the old value."""
    begun = bool(tx.rows("SELECT 1 FROM work LIMIT 1"))
    if name == "assign.k":
        ((most,),) = tx.rows("SELECT coalesce(max(n), 0) FROM (SELECT sum(live) AS n FROM work GROUP BY item) AS taken")
        return f"an item has {most} answers or leases already." if int(most) > new else ""
    if name == "assign.strata":
        gone = set(old or ()) - set(new or ())
        people = [stratum for (stratum,) in tx.rows("SELECT DISTINCT stratum FROM people")]
        used = sorted(gone & set(people)) or (sorted(set(people)) if "" in people and new and not old else [])
        return f"there are people in {', '.join(used) or 'no stratum'}." if used else ""
    if not begun:
        return ""
    if name in ("kind", "assign.distinct"):
        return "people have begun to answer."
    if name.startswith("options."):
        if name.removeprefix("options.") in _SPOILS:
            return "people have answered the question as it was."
        return _still_valid(tx, study.make_kind())
    return ""


def _still_valid(tx: Transaction, kind: TaskKind) -> str:
    """Every answer that there is must be possible under the new options."""
    sql = (
        "SELECT w.content, i.content, w.shown FROM work w JOIN items i ON i.id = w.item "
        "WHERE w.content IS NOT NULL AND w.state = 'answered'"
    )
    wrong = 0
    for said, asked, shown in tx.rows(sql):
        decode = msgspec.json.decode
        try:
            kind.answer(decode(said), kind.item(decode(asked)), decode(shown))
        except msgspec.ValidationError:
            wrong += 1
    return f"{wrong:,} answers would no longer be possible." if wrong else ""


def _item_changes(tx: Transaction, study: PeopleStudy, items: Sequence[Entry]) -> Iterator[tuple[StudyChange, Any]]:
    """Items that are new, gone or changed, each with the function that makes the change."""
    stored = {
        id: (content, gold, only_for, origin)
        for id, content, gold, only_for, origin in tx.rows("SELECT id, content, gold, only_for, origin FROM items")
    }
    touched = {item for (item,) in tx.rows("SELECT DISTINCT item FROM work")}
    new = _units_of_their_own([entry for entry in items if entry.id not in stored])
    if new:
        change = StudyChange("items", f"{len(stored):,}", f"{len(new):,} new: {_some([entry.id for entry in new])}")
        yield change, lambda: insert_items(tx, study, new)
    given = {entry.id: entry for entry in items}
    gone = [id for id, (*_, origin) in stored.items() if id not in given and ADDED not in msgspec.json.decode(origin)]
    if gone:
        answered = [id for id in gone if id in touched]
        why = f"people have answered {_some(answered)}." if answered else ""
        yield StudyChange("items", f"without: {_some(gone)}", "", why), lambda: _remove(tx, gone)
    for id, (content, gold, only_for, _) in stored.items():
        if id not in given:
            continue
        entry = given[id]
        wanted = None if entry.gold is None else as_json(entry.gold)
        if (as_json(entry.content), entry.only_for) != (content, only_for) or (wanted is None) != (gold is None):
            why = "people have answered it." if id in touched else ""
            before = content if as_json(entry.content) != content else f"gold {gold}, for {only_for or 'all'}"
            after = (
                as_json(entry.content) if as_json(entry.content) != content else f"gold {wanted}, for {entry.only_for}"
            )
            yield StudyChange(f"item {id}", _short(before), _short(after), why), lambda e=entry: _rewrite(tx, study, e)
        elif wanted != gold:
            yield StudyChange(f"gold of {id}", _short(gold), _short(wanted)), lambda e=entry: _regold(tx, study, e)


def _units_of_their_own(new: Sequence[Entry]) -> list[Entry]:
    """New items join no unit that people may have done already."""
    first: dict[str, str] = {}
    return [entry._replace(unit=first.setdefault(entry.unit, entry.id)) for entry in new]


def _remove(tx: Transaction, ids: Sequence[str]) -> None:
    for id in ids:
        for table, column in (*((name, "item") for name in tables_about("item")), ("items", "id")):
            tx.run(f"DELETE FROM {table} WHERE {column} = ?", id)  # noqa: S608 - our names


def _rewrite(tx: Transaction, study: PeopleStudy, entry: Entry) -> None:
    gold = None if entry.gold is None else as_json(entry.gold)
    free = 0 if gold is not None else study.assign.k
    sql = "UPDATE items SET content = ?, origin = ?, gold = ?, only_for = ?, free = ? WHERE id = ?"
    tx.run(sql, as_json(entry.content), as_json(entry.origin), gold, entry.only_for, free, entry.id)


def _regold(tx: Transaction, study: PeopleStudy, entry: Entry) -> None:
    """Another right answer: those who gave it were right all along."""
    tx.run("UPDATE items SET gold = ? WHERE id = ?", as_json(entry.gold), entry.id)
    kind = study.make_kind()
    for person, said in tx.rows("SELECT person, content FROM work WHERE item = ? AND correct IS NOT NULL", entry.id):
        right = int(kind.right(entry.gold, msgspec.json.decode(said)))
        tx.run("UPDATE work SET correct = ? WHERE item = ? AND person = ?", right, entry.id, person)


def _resize(tx: Transaction, before: int, study: PeopleStudy) -> None:
    """Each item has as many places as `k` says."""
    more = study.assign.k - before
    if more:
        ids = [id for (id,) in tx.rows("SELECT id FROM items WHERE gold IS NULL")]
        live: dict[str, int] = dict(tx.rows("SELECT item, sum(live) FROM work GROUP BY item"))
        for id in ids:
            tx.run("UPDATE items SET free = ? WHERE id = ?", study.assign.k - int(live.get(id) or 0), id)
        tx.run("UPDATE people SET reached = 0")


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else "" if value is None else as_json(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
