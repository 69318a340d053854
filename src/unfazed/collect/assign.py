"""Who gets which item, decided inside the writer's transaction, so that it is right however many ask at once.

An item has `free` places. A lease or a counted answer is `live` and takes one; a place whose lease expires, or whose
answer does not count, is free again. `people.reached` is a place in the list before which nobody need look for that
person: whatever frees a place moves everyone's back to it.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from unfazed.collect.database import Transaction
from unfazed.collect.kinds import Delivery, Flag, Kind
from unfazed.collect.study import Assign, as_json
from unfazed.core.errors import UsageError
from unfazed.core.seeds import Seeds
from unfazed.core.values import Json


class Person(NamedTuple):
    id: str
    stratum: str
    consented: bool
    excluded: str | None
    answered: int
    gold_seen: int
    reached: int


class Lease(NamedTuple):
    """An item that a person has now."""

    item: str
    content: Json
    shown: dict[str, Json]


class Receipt(NamedTuple):
    """What became of an answer. `fresh` is false where the same answer had come before."""

    counted: bool
    flags: list[str]
    fresh: bool = True


class NotAllowed(UsageError):
    """The person may not do this; the message is for the person."""


class NotYours(NotAllowed):
    pass


class AlreadyAnswered(NotAllowed):
    pass


def person_of(tx: Transaction, token: str) -> Person | None:
    """The person whose token has this hash."""
    sql = "SELECT id, stratum, consented, excluded, answered, gold_seen, reached FROM people WHERE token = ?"
    for id, stratum, consented, *rest in tx.rows(sql, token):
        return Person(id, stratum, consented is not None, *rest)
    return None


def next_item(tx: Transaction, person: Person, rules: Assign, kind: Kind, now: float) -> Lease | None:
    """The item that the person has, or the next one; None where there is nothing for them now."""
    expire(tx, now)
    held = tx.rows("SELECT item FROM work WHERE person = ? AND state = 'leased'", person.id)
    if held:
        tx.run("UPDATE work SET shows = shows + 1 WHERE item = ? AND person = ?", held[0][0], person.id)
        return _lease(tx, held[0][0], person)
    if person.excluded is not None or _is_full(tx, person, rules):
        return None
    gold = _gold_item(tx, person, rules)
    item = gold or _open_item(tx, person, rules)
    if item is None:
        return None
    _take(tx, item, person, rules, kind, now, live=gold is None)
    return _lease(tx, item, person)


def expire(tx: Transaction, now: float) -> None:
    """Leases that have run out go back."""
    sql = "SELECT item, person FROM work WHERE state = 'leased' AND expires <= ?"
    for item, person in tx.rows(sql, now):
        free(tx, item, person)
        tx.run("UPDATE work SET state = 'expired' WHERE item = ? AND person = ?", item, person)


def free(tx: Transaction, item: str, person: str) -> None:
    """Gives back the place that a person's lease or answer takes, if it takes one."""
    gave = tx.rows(
        "UPDATE work SET live = 0 WHERE item = ? AND person = ? AND live = 1 RETURNING stratum", item, person
    )
    if gave:
        tx.run("UPDATE strata SET live = live - 1 WHERE name = ?", gave[0][0])
        ((place,),) = tx.rows("UPDATE items SET free = free + 1 WHERE id = ? RETURNING place", item)
        tx.run("UPDATE people SET reached = ? WHERE reached > ?", place, place)


def _is_full(tx: Transaction, person: Person, rules: Assign) -> bool:
    if rules.per_person is not None and person.answered >= rules.per_person:
        return True
    most = rules.quota.get(person.stratum)
    if most is None:
        return False
    return any(live >= most for (live,) in tx.rows("SELECT live FROM strata WHERE name = ?", person.stratum))


def _gold_item(tx: Transaction, person: Person, rules: Assign) -> str | None:
    ordinary = person.answered - person.gold_seen
    if not rules.gold_every or person.gold_seen >= ordinary // rules.gold_every:
        return None
    sql = (
        "SELECT id FROM items WHERE gold IS NOT NULL AND (only_for = '' OR only_for = ?) AND NOT EXISTS "
        "(SELECT 1 FROM work WHERE item = items.id AND person = ? AND state = 'answered') ORDER BY place LIMIT 1"
    )
    return next((id for (id,) in tx.rows(sql, person.stratum, person.id)), None)


def _open_item(tx: Transaction, person: Person, rules: Assign) -> str | None:
    """The first item with a free place that this person and their stratum have not had."""
    values: list[str | int] = [person.reached, person.stratum, person.id, person.id]
    sql = (
        "SELECT id, place FROM items WHERE gold IS NULL AND free > 0 AND place >= ? "
        "AND (only_for = '' OR only_for = ?) "
        "AND NOT EXISTS (SELECT 1 FROM work WHERE item = items.id AND person = ? AND state = 'answered') "
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


def _take(tx: Transaction, item: str, person: Person, rules: Assign, kind: Kind, now: float, live: bool) -> None:
    ((content,),) = tx.rows("SELECT content FROM items WHERE id = ?", item)
    rng = Seeds(rules.seed, "collect", 1).stream(item, 0, person.id)
    shown = as_json(kind.shown(kind.item(msgspec.json.decode(content)), rng))
    # A lease that this person let expire is taken up again, with the same lot and its time going on.
    tx.run(
        "INSERT INTO work (item, person, stratum, state, live, shown, shows, taken, expires) "
        "VALUES (?, ?, ?, 'leased', ?, ?, 1, ?, ?) ON CONFLICT (item, person) DO UPDATE "
        "SET state = 'leased', live = excluded.live, shows = work.shows + 1, expires = excluded.expires",
        item, person.id, person.stratum, int(live), shown, now, now + rules.lease_minutes * 60,
    )  # fmt: skip
    if live:
        _claim(tx, item, person.stratum)


def _claim(tx: Transaction, item: str, stratum: str) -> None:
    tx.run("UPDATE items SET free = free - 1 WHERE id = ?", item)
    tx.run("UPDATE strata SET live = live + 1 WHERE name = ?", stratum)


def _lease(tx: Transaction, item: str, person: Person) -> Lease:
    sql = "SELECT i.content, w.shown FROM items i JOIN work w ON w.item = i.id WHERE i.id = ? AND w.person = ?"
    ((content, shown),) = tx.rows(sql, item, person.id)
    return Lease(item, msgspec.json.decode(content), msgspec.json.decode(shown))


def take_answer(
    tx: Transaction, person: Person, item: str, facts: Json, log: list[dict[str, Json]], rules: Assign, kind: Kind,
    now: float,
) -> Receipt:  # fmt: skip
    """Keeps an answer. It counts unless a flag says otherwise, or the item went to somebody else meanwhile."""
    sql = (
        "SELECT w.state, w.live, w.shown, w.shows, w.taken, w.content, w.flags, i.content, i.gold "
        "FROM work w JOIN items i ON i.id = w.item WHERE w.item = ? AND w.person = ?"
    )
    rows = tx.rows(sql, item, person.id)
    if not rows:
        raise NotYours("This item was not given to you.")
    state, live, shown, shows, taken, before, flagged, content, gold = rows[0]
    asked = kind.item(msgspec.json.decode(content))
    answer = kind.answer(facts, asked, msgspec.json.decode(shown))
    if kind.uploads and not tx.rows(
        "SELECT 1 FROM audio WHERE name = ? AND item = ? AND person = ?", facts["audio"], item, person.id
    ):
        raise msgspec.ValidationError("there is no such recording of yours")
    sent = as_json(answer)
    if state == "answered":
        if sent != before:
            raise AlreadyAnswered("This item has been answered; an answer can't be changed.")
        return Receipt(bool(live), _names(flagged), fresh=False)
    flags = kind.flags(asked, answer, Delivery(log, now - taken, shows))
    counts = _settle(tx, person, item, bool(live), flags, rules, gold is None)
    correct = None if gold is None else int(kind.right(msgspec.json.decode(gold), msgspec.json.decode(sent)))
    names = [flag.name for flag in flags]
    tx.run(
        "UPDATE work SET state = 'answered', received = ?, content = ?, flags = ?, correct = ? "
        "WHERE item = ? AND person = ?",
        now, sent, "\n".join(names), correct, item, person.id,
    )  # fmt: skip
    if log:
        tx.run("INSERT INTO logs (item, person, events) VALUES (?, ?, ?)", item, person.id, as_json(log))
    seen = int(gold is not None)
    tx.run("UPDATE people SET answered = answered + 1, gold_seen = gold_seen + ? WHERE id = ?", seen, person.id)
    return Receipt(counts, names)


def _settle(
    tx: Transaction, person: Person, item: str, live: bool, flags: list[Flag], rules: Assign, ordinary: bool
) -> bool:
    """Keeps or gives back the item's place, and says whether the answer counts."""
    wanted = ordinary and person.excluded is None and not any(flag.again for flag in flags)
    if wanted and not live:  # the lease had run out: it counts if nobody took the place
        if not _still_free(tx, person.stratum, item, rules):
            flags.append(Flag("late"))
            return False
        _claim(tx, item, person.stratum)
        tx.run("UPDATE work SET live = 1 WHERE item = ? AND person = ?", item, person.id)
    elif live and not wanted:
        free(tx, item, person.id)
    return wanted


def reclaim(tx: Transaction, person: str, item: str, rules: Assign) -> bool:
    """An answer that was set aside counts again, unless its place was taken meanwhile."""
    ((stratum,),) = tx.rows("SELECT stratum FROM work WHERE item = ? AND person = ?", item, person)
    if not _still_free(tx, stratum, item, rules):
        return False
    _claim(tx, item, stratum)
    tx.run("UPDATE work SET live = 1 WHERE item = ? AND person = ?", item, person)
    return True


def _still_free(tx: Transaction, stratum: str, item: str, rules: Assign) -> bool:
    sql = "SELECT 1 FROM items WHERE id = ? AND free > 0"
    values = [item]
    if rules.strata and rules.distinct:
        sql += " AND NOT EXISTS (SELECT 1 FROM work WHERE item = items.id AND stratum = ? AND live = 1)"
        values.append(stratum)
    return bool(tx.rows(sql, *values))


def _names(flagged: str | None) -> list[str]:
    return flagged.split("\n") if flagged else []
