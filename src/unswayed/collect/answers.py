"""What becomes of an answer: it counts, or the person is asked again, or the item goes to somebody else."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from unswayed.base.values import Json
from unswayed.collect.assign import AlreadyAnswered, NotYours, Person, charge, claim_again, draft_of, free, remark
from unswayed.collect.backends import Transaction
from unswayed.collect.kinds import Delivery, Flag, TaskKind
from unswayed.collect.study import Assign, as_json

MAX_DRAFT = 50_000  # events of an attempt
MAX_BYTES = 2 << 20  # of a draft, after which no more is kept


class Receipt(NamedTuple):
    """What became of an answer. `fresh` is false where the same had come before; `again`: it is asked once more."""

    counted: bool
    flags: list[str]
    fresh: bool = True
    again: bool = False


def keep_draft(
    tx: Transaction, person: Person, item: str, attempt: int, begins: int, events: list[dict[str, Json]],
    rules: Assign,
) -> int:  # fmt: skip
    """Keeps the log of an attempt under way, from the event number `begins` on; returns how many events are kept.

    What was kept is never taken back: a page that is loaded anew goes on where the last one was.
    """
    if not tx.rows("SELECT 1 FROM work WHERE item = ? AND person = ? AND state = 'leased'", item, person.id):
        raise NotYours("This item was not given to you.")
    if attempt != _attempts(tx, item, person.id) + 1:
        raise AlreadyAnswered("This attempt has ended.")
    known = draft_of(tx, item, person.id, attempt)
    if begins > len(known):
        return len(known)
    added = events[len(known) - begins :]
    if known[begins:][: len(events)] != events[: len(known) - begins] or len(known) + len(added) > MAX_DRAFT:
        raise AlreadyAnswered("This item is being answered in another window.")
    if _draft_size(tx, item, person) > MAX_BYTES:
        return len(known)  # the page sends the rest with the answer
    if added:
        charge(tx, person.id, len(as_json(added)), rules)
        tx.run("INSERT INTO drafts VALUES (?, ?, ?, ?, ?)", item, person.id, attempt, len(known), as_json(added))
    return len(known) + len(added)


def _draft_size(tx: Transaction, item: str, person: Person) -> int:
    sql = "SELECT coalesce(sum(length(events)), 0) FROM drafts WHERE item = ? AND person = ?"
    return int(tx.rows(sql, item, person.id)[0][0])


def _attempts(tx: Transaction, item: str, person: str) -> int:
    return int(tx.rows("SELECT count(*) FROM attempts WHERE item = ? AND person = ?", item, person)[0][0])


def take_answer(
    tx: Transaction, person: Person, item: str, facts: Json, log: list[dict[str, Json]], rules: Assign, kind: TaskKind,
    now: float, comment: str = "", attempt: int | None = None,
) -> Receipt:  # fmt: skip
    """Keeps an answer. It counts unless a flag says otherwise, or the item went to somebody else meanwhile."""
    sql = (
        "SELECT w.state, w.live, w.shown, w.shows, w.taken, w.content, w.flags, i.content, i.gold, p.phase "
        "FROM work w JOIN items i ON i.id = w.item JOIN parts p ON p.item = i.id WHERE w.item = ? AND w.person = ?"
    )
    rows = tx.rows(sql, item, person.id)
    if not rows or rows[0][0] == "skipped":
        raise NotYours("This item was not given to you.")
    state, live, shown, shows, taken, before, flagged, content, gold, phase = rows[0]
    asked = kind.item(msgspec.json.decode(content))
    answer = kind.answer(facts, asked, msgspec.json.decode(shown))
    if kind.uploads and not tx.rows(
        "SELECT 1 FROM audio WHERE name = ? AND item = ? AND person = ?", facts["audio"], item, person.id
    ):
        raise msgspec.ValidationError("you have no recording with this name")
    sent, made = as_json(answer), _attempts(tx, item, person.id)
    if state in ("answered", "failed"):
        if sent != before:
            raise AlreadyAnswered("This item has been answered; an answer can't be changed.")
        return Receipt(bool(live), _names(flagged), fresh=False)
    if attempt is not None and attempt <= made:  # an attempt whose verdict was lost on its way
        ((kept, flagged),) = tx.rows(
            "SELECT content, flags FROM attempts WHERE item = ? AND person = ? AND number = ?", item, person.id, attempt
        )
        if kept != sent:
            raise AlreadyAnswered("This attempt has ended.")
        return Receipt(False, _names(flagged), fresh=False, again=True)
    draft = draft_of(tx, item, person.id, made + 1)
    flags = kind.flags(asked, answer, Delivery(log, now - taken, shows, draft))
    names = [flag.name for flag in flags]
    if any(flag.again for flag in flags) and made + 1 < rules.attempts:
        _ask_again(tx, person, item, (made + 1, now, now - taken, sent, "\n".join(names), as_json(log)), rules)
        return Receipt(False, names, again=True)
    counts = _settle(tx, person, item, bool(live), flags, rules, kind, gold is None, now)
    correct = None if gold is None else int(kind.right(msgspec.json.decode(gold), msgspec.json.decode(sent)))
    failed = any(flag.again for flag in flags)
    tx.run(
        "UPDATE work SET state = ?, received = ?, content = ?, flags = ?, correct = ? WHERE item = ? AND person = ?",
        "failed" if failed else "answered", now, sent, "\n".join(flag.name for flag in flags), correct, item, person.id,
    )  # fmt: skip
    charge(
        tx,
        person.id,
        len(sent) + len(comment) + (len(as_json(log)) if log else 0) - _draft_size(tx, item, person),
        rules,
    )
    if log:
        tx.run("INSERT INTO logs (item, person, events) VALUES (?, ?, ?)", item, person.id, as_json(log))
    tx.run("DELETE FROM drafts WHERE item = ? AND person = ?", item, person.id)
    if comment or phase == "training":
        remark(tx, item, person.id, comment, told=phase != "training")
    if phase == "task":
        seen = int(gold is not None)
        tx.run("UPDATE people SET answered = answered + 1, gold_seen = gold_seen + ? WHERE id = ?", seen, person.id)
    _go_on(tx, person, item, rules, now)
    return Receipt(counts, [flag.name for flag in flags])


def _ask_again(tx: Transaction, person: Person, item: str, attempt: tuple[object, ...], rules: Assign) -> None:
    """Keeps an attempt that does not count; the person has the item as if it had not been shown yet."""
    number, now, seconds, *rest = attempt
    charge(tx, person.id, sum(len(str(text)) for text in rest) - _draft_size(tx, item, person), rules)
    tx.run("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", item, person.id, number, now, seconds, *rest)
    tx.run("DELETE FROM drafts WHERE item = ? AND person = ?", item, person.id)
    tx.run("UPDATE work SET shows = 0 WHERE item = ? AND person = ?", item, person.id)
    _go_on(tx, person, item, rules, float(str(now)))


def _go_on(tx: Transaction, person: Person, item: str, rules: Assign, now: float) -> None:
    """Whoever works on a unit keeps it: the leases of its other items last from now."""
    sql = (
        "UPDATE work SET expires = ? WHERE person = ? AND state = 'leased' AND item IN "
        "(SELECT item FROM parts WHERE unit = (SELECT unit FROM parts WHERE item = ?))"
    )
    tx.run(sql, now + rules.lease_minutes * 60, person.id, item)


def _settle(
    tx: Transaction, person: Person, item: str, live: bool, flags: list[Flag], rules: Assign, kind: TaskKind,
    ordinary: bool, now: float,
) -> bool:  # fmt: skip
    """Keeps or gives back the unit's places, and says whether the answer counts."""
    wanted = ordinary and person.excluded is None and not any(flag.again for flag in flags)
    if wanted and not live:  # the lease had run out: it counts if nobody took the place
        if not claim_again(tx, person, item, rules, kind, now):
            flags.append(Flag("late"))
            return False
    elif live and not wanted:
        free(tx, item, person.id)
        sql = (
            "UPDATE work SET state = 'expired' WHERE person = ? AND state = 'leased' AND item <> ? AND item IN "
            "(SELECT item FROM parts WHERE unit = (SELECT unit FROM parts WHERE item = ?))"
        )
        tx.run(sql, person.id, item, item)
    return wanted


def _names(flagged: str | None) -> list[str]:
    return flagged.split("\n") if flagged else []
