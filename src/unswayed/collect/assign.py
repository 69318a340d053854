"""Who gets which item, decided inside the writer's transaction, so that it is right however many ask at once.

Items of one unit, such as the texts of an example, go to the same people. An item has `free` places. A lease or a
counted answer is `live` and takes one; the places of a unit's items are taken and given back together. A place whose
lease expires, or whose answer does not count, is free again. `people.reached` is a place in the list before which
nobody need look for that person: whatever frees a place moves everyone's back to it.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.seeds import Seeds
from unswayed.base.values import Json
from unswayed.collect.backends import Transaction
from unswayed.collect.kinds import TaskKind
from unswayed.collect.study import Assign, as_json

BEFORE = ("training", "qualification")  # phases whose items come before the tasks, in this order


class Person(NamedTuple):
    """`consent` is the version of the text agreed to; `ended` says how their part ended, if it has."""

    id: str
    stratum: str
    consented: bool
    excluded: str | None
    answered: int
    gold_seen: int
    reached: int
    consent: str = ""
    told: bool = False
    instructed: bool = False
    ended: str = ""
    arrived: str = "{}"


class Lease(NamedTuple):
    """An item that a person has now, with the phase it belongs to and the attempts that they made at it."""

    item: str
    content: Json
    shown: dict[str, Json]
    phase: str = "task"
    attempts: int = 0
    verdict: tuple[str, ...] = ()  # the flags of the last attempt
    draft: tuple[dict[str, Json], ...] = ()


class NotAllowed(UsageError):
    """The person may not do this; the message is for the person."""


class NotYours(NotAllowed):
    pass


class AlreadyAnswered(NotAllowed):
    pass


class TooMuch(NotAllowed):
    pass


def charge(tx: Transaction, person: str, size: int, rules: Assign) -> None:
    """Counts the bytes that are kept of a person, or no longer kept where `size` is below 0; raises TooMuch."""
    most = int(rules.megabytes_per_person * 1_000_000)
    fits = "UPDATE people SET bytes = bytes + ? WHERE id = ? AND (bytes + ? <= ? OR ? < 0)"
    if size and not tx.run(fits, size, person, size, most, size):
        raise TooMuch("You have sent as much as this study takes from one person.")


def person_of(tx: Transaction, token: str) -> Person | None:
    """The person whose token has this hash."""
    sql = (
        "SELECT p.id, p.stratum, p.consented, p.excluded, p.answered, p.gold_seen, p.reached, coalesce(j.consent, ''), "
        "j.told, j.instructed, coalesce(j.ended, ''), coalesce(j.arrived, '{}') "
        "FROM people p LEFT JOIN journeys j ON j.person = p.id WHERE p.token = ?"
    )
    for id, stratum, consented, excluded, answered, gold, reached, consent, told, instructed, *rest in tx.rows(
        sql, token
    ):
        return Person(
            id, stratum, consented is not None, excluded, answered, gold, reached, consent, told is not None,
            instructed is not None, *rest
        )  # fmt: skip
    return None


def next_items(tx: Transaction, person: Person, rules: Assign, kind: TaskKind, now: float) -> list[Lease]:
    """The items of the page that the person has, or of their next one; none where there is nothing for them now."""
    expire(tx, now)
    held = _held(tx, person)
    if not held:
        if person.excluded is not None:
            return []
        item = _item_before(tx, person)
        live = item is None
        if item is None:
            if _is_full(tx, person, rules):
                return []
            gold = _gold_item(tx, person, rules)
            item, live = gold or _open_item(tx, person, rules), gold is None
        if item is None:
            return []
        _take(tx, item, person, rules, kind, now, live)
        held = _held(tx, person)
    page = held[: kind.on_a_page()]
    for item in page:
        # The clock of an attempt begins when it is first shown.
        tx.run(
            "UPDATE work SET shows = shows + 1, taken = CASE WHEN shows = 0 THEN ? ELSE taken END "
            "WHERE item = ? AND person = ?",
            now, item, person.id,
        )  # fmt: skip
    return [_lease(tx, item, person) for item in page]


def next_item(tx: Transaction, person: Person, rules: Assign, kind: TaskKind, now: float) -> Lease | None:
    """The first item of the person's page."""
    return next(iter(next_items(tx, person, rules, kind, now)), None)


def _held(tx: Transaction, person: Person) -> list[str]:
    sql = (
        "SELECT w.item FROM work w JOIN items i ON i.id = w.item WHERE w.person = ? AND w.state = 'leased' "
        "ORDER BY i.place"
    )
    return [item for (item,) in tx.rows(sql, person.id)]


def expire(tx: Transaction, now: float) -> None:
    """Leases that have run out go back."""
    sql = "SELECT item, person FROM work WHERE state = 'leased' AND expires <= ?"
    for item, person in tx.rows(sql, now):
        free(tx, item, person)
        tx.run("UPDATE work SET state = 'expired' WHERE item = ? AND person = ?", item, person)


def free(tx: Transaction, item: str, person: str) -> None:
    """Gives back the places that a person takes in the item's unit: a unit counts as a whole or not at all."""
    sql = (
        "UPDATE work SET live = 0 WHERE person = ? AND live = 1 AND item IN "
        "(SELECT item FROM parts WHERE unit = (SELECT unit FROM parts WHERE item = ?)) RETURNING item, stratum"
    )
    for part, stratum in tx.rows(sql, person, item):
        tx.run("UPDATE strata SET live = live - 1 WHERE name = ?", stratum)
        ((place,),) = tx.rows("UPDATE items SET free = free + 1 WHERE id = ? RETURNING place", part)
        tx.run("UPDATE people SET reached = ? WHERE reached > ?", place, place)


def _is_full(tx: Transaction, person: Person, rules: Assign) -> bool:
    if rules.per_person is not None and person.answered >= rules.per_person:
        return True
    most = rules.quota.get(person.stratum)
    if most is None:
        return False
    return any(live >= most for (live,) in tx.rows("SELECT live FROM strata WHERE name = ?", person.stratum))


def _item_before(tx: Transaction, person: Person) -> str | None:
    """The next item of training, then of qualification."""
    sql = (
        "SELECT i.id FROM parts p JOIN items i ON i.id = p.item WHERE p.phase <> 'task' AND p.phase = ? "
        "AND (i.only_for = '' OR i.only_for = ?) AND NOT EXISTS "
        "(SELECT 1 FROM work WHERE item = i.id AND person = ? AND state IN ('answered', 'failed', 'skipped')) "
        "ORDER BY i.place LIMIT 1"
    )
    for phase in BEFORE:
        for (id,) in tx.rows(sql, phase, person.stratum, person.id):
            return str(id)
    return None


def _gold_item(tx: Transaction, person: Person, rules: Assign) -> str | None:
    ordinary = person.answered - person.gold_seen
    if not rules.gold_every or person.gold_seen >= ordinary // rules.gold_every:
        return None
    sql = (
        "SELECT id FROM items JOIN parts ON parts.item = items.id WHERE gold IS NOT NULL AND phase = 'task' "
        "AND (only_for = '' OR only_for = ?) AND NOT EXISTS "
        "(SELECT 1 FROM work WHERE item = items.id AND person = ? AND state IN ('answered', 'failed', 'skipped')) "
        "ORDER BY place LIMIT 1"
    )
    return next((id for (id,) in tx.rows(sql, person.stratum, person.id)), None)


def _open_item(tx: Transaction, person: Person, rules: Assign) -> str | None:
    """The first item with a free place in whose unit this person has given nothing up, and their stratum has nobody."""
    values: list[str | int] = [person.reached, person.stratum, person.id, person.id, person.id]
    sql = (
        "SELECT id, place FROM items WHERE gold IS NULL AND free > 0 AND place >= ? "
        "AND (only_for = '' OR only_for = ?) "
        "AND NOT EXISTS (SELECT 1 FROM work WHERE item = items.id AND person = ? "
        "AND state IN ('answered', 'failed', 'skipped')) "
        "AND NOT EXISTS (SELECT 1 FROM parts one JOIN parts other ON other.unit = one.unit JOIN work w "
        "ON w.item = other.item WHERE one.item = items.id AND w.person = ? AND w.state IN ('failed', 'skipped')) "
        "AND NOT EXISTS (SELECT 1 FROM barred WHERE item = items.id AND person = ?) "
    )
    if rules.strata and rules.distinct:
        sql += "AND NOT EXISTS (SELECT 1 FROM work WHERE item = items.id AND stratum = ? AND live = 1) "
        values.append(person.stratum)
    first = tx.rows(sql + "ORDER BY place LIMIT 1", *values)
    if not first:
        tx.run("UPDATE people SET reached = (SELECT coalesce(max(place), 0) + 1 FROM items) WHERE id = ?", person.id)
        return None
    tx.run("UPDATE people SET reached = ? WHERE id = ?", first[0][1], person.id)
    return str(first[0][0])


def _take(tx: Transaction, item: str, person: Person, rules: Assign, kind: TaskKind, now: float, live: bool) -> None:
    """Leases every item of the unit that the person has not answered; their answers to the others count again."""
    sql = (
        "SELECT i.id, i.content FROM items i JOIN parts p ON p.item = i.id "
        "WHERE p.unit = (SELECT unit FROM parts WHERE item = ?) ORDER BY i.place"
    )
    for part, content in tx.rows(sql, item) if live else [(item, _content(tx, item))]:
        rng = Seeds(rules.seed, "collect", 1).stream(part, 0, person.id)
        shown = as_json(kind.shown(kind.item(msgspec.json.decode(content)), rng))
        # A lease that this person let expire is taken up again, with the same lot and its time going on.
        tx.run(
            "INSERT INTO work (item, person, stratum, state, live, shown, shows, taken, expires) "
            "VALUES (?, ?, ?, 'leased', ?, ?, 0, ?, ?) ON CONFLICT (item, person) DO UPDATE "
            "SET state = CASE WHEN work.state = 'answered' THEN work.state ELSE 'leased' END, "
            "live = excluded.live, expires = excluded.expires",
            part, person.id, person.stratum, int(live), shown, now, now + rules.lease_minutes * 60,
        )  # fmt: skip
        if live:
            _claim(tx, part, person.stratum)


def _content(tx: Transaction, item: str) -> str:
    return str(tx.rows("SELECT content FROM items WHERE id = ?", item)[0][0])


def reclaim(tx: Transaction, person: str, item: str, rules: Assign) -> bool:
    """Answers to a whole unit that were set aside count again, unless their places were taken meanwhile."""
    unit = "(SELECT item FROM parts WHERE unit = (SELECT unit FROM parts WHERE item = ?))"
    ((size,),) = tx.rows("SELECT count(*) FROM parts WHERE unit = (SELECT unit FROM parts WHERE item = ?)", item)
    own = tx.rows(
        f"SELECT item, stratum, live FROM work WHERE person = ? AND state = 'answered' AND item IN {unit}",  # noqa: S608
        person, item,
    )  # fmt: skip
    if len(own) == size and all(live for _, _, live in own):
        return True
    if len(own) < size or not _still_free(tx, own[0][1], item, rules):
        return False
    for part, stratum, _ in own:
        _claim(tx, part, stratum)
        tx.run("UPDATE work SET live = 1 WHERE item = ? AND person = ?", part, person)
    return True


def _claim(tx: Transaction, item: str, stratum: str) -> None:
    tx.run("UPDATE items SET free = free - 1 WHERE id = ?", item)
    tx.run("UPDATE strata SET live = live + 1 WHERE name = ?", stratum)


def claim_again(tx: Transaction, person: Person, item: str, rules: Assign, kind: TaskKind, now: float) -> bool:
    """Takes back the places of a unit whose lease had run out, if nobody took them."""
    if not _still_free(tx, person.stratum, item, rules):
        return False
    _take(tx, item, person, rules, kind, now, live=True)
    return True


def _still_free(tx: Transaction, stratum: str, item: str, rules: Assign) -> bool:
    sql = "SELECT 1 FROM items WHERE id = ? AND free > 0"
    values = [item]
    if rules.strata and rules.distinct:
        sql += " AND NOT EXISTS (SELECT 1 FROM work WHERE item = items.id AND stratum = ? AND live = 1)"
        values.append(stratum)
    return bool(tx.rows(sql, *values))


def _lease(tx: Transaction, item: str, person: Person) -> Lease:
    sql = (
        "SELECT i.content, w.shown, p.phase FROM items i JOIN work w ON w.item = i.id JOIN parts p ON p.item = i.id "
        "WHERE i.id = ? AND w.person = ?"
    )
    ((content, shown, phase),) = tx.rows(sql, item, person.id)
    sql = "SELECT flags FROM attempts WHERE item = ? AND person = ? ORDER BY number"
    flags = [one for (one,) in tx.rows(sql, item, person.id)]
    last = tuple(flags[-1].split("\n")) if flags else ()
    draft = draft_of(tx, item, person.id, len(flags) + 1)
    return Lease(item, msgspec.json.decode(content), msgspec.json.decode(shown), phase, len(flags), last, tuple(draft))


def draft_of(tx: Transaction, item: str, person: str, attempt: int) -> list[dict[str, Json]]:
    """The log of an attempt as far as it was sent."""
    sql = "SELECT events FROM drafts WHERE item = ? AND person = ? AND attempt = ? ORDER BY begins"
    return [event for (events,) in tx.rows(sql, item, person, attempt) for event in msgspec.json.decode(events)]


def skip(tx: Transaction, person: Person, item: str, reason: str, comment: str, now: float) -> None:
    """The person passes over an item, and over the others of its unit, which go to somebody else."""
    if item not in _held(tx, person):
        raise NotYours("This item was not given to you.")
    free(tx, item, person.id)
    sql = "SELECT item FROM parts WHERE unit = (SELECT unit FROM parts WHERE item = ?)"
    for (part,) in tx.rows(sql, item):
        changed = "UPDATE work SET state = 'skipped', received = ? WHERE item = ? AND person = ? AND state = 'leased'"
        if tx.run(changed, now, part, person.id):
            remark(tx, part, person.id, comment, reason)


def remark(tx: Transaction, item: str, person: str, comment: str, skipped: str = "", told: bool = True) -> None:
    """Keeps what a person says of an item beside their answer. `told`: they need not be shown feedback."""
    sql = (
        "INSERT INTO remarks VALUES (?, ?, ?, ?, ?) ON CONFLICT (item, person) DO UPDATE "
        "SET comment = excluded.comment, skipped = excluded.skipped, told = excluded.told"
    )
    tx.run(sql, item, person, comment.replace("\0", ""), skipped, int(told))
