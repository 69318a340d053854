"""What the owner sees of people and items: pace, time, agreement, gold, flags, what to pay; and lists of answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean, median, pstdev
from typing import Any, NamedTuple

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.values import Json
from unswayed.collect.backends import Transaction
from unswayed.collect.study import PeopleStudy

LEAST = 3  # shared items that a correlation needs


class Given(NamedTuple):
    """An answer, as these lists need it."""

    item: str
    person: str
    seconds: float
    said: Json
    flags: str
    live: bool
    correct: int | None


def _given(tx: Transaction) -> Iterator[Given]:
    sql = (
        "SELECT item, person, received - taken, content, coalesce(flags, ''), live, correct FROM work "
        "WHERE content IS NOT NULL"
    )
    for item, person, seconds, said, flags, live, correct in tx.rows(sql):
        yield Given(item, person, max(0.0, seconds), msgspec.json.decode(said), flags, bool(live), correct)


def people_records(tx: Transaction, study: PeopleStudy) -> list[dict[str, Any]]:
    """A row for each person."""
    own: dict[str, list[Given]] = defaultdict(list)
    for one in _given(tx):
        own[one.person].append(one)
    agrees = _agreement_of_people(study, [one for given in own.values() for one in given if one.live])
    longest = study.assign.lease_minutes * 60  # who goes for lunch with an item open is not at work
    rows = []
    sql = "SELECT id, stratum, consented, excluded FROM people ORDER BY id"
    for id, stratum, consented, excluded in tx.rows(sql):
        given = own.get(id, [])
        seconds = [min(one.seconds, longest) for one in given]
        gold = [one.correct for one in given if one.correct is not None]
        hours = sum(seconds) / 3600
        rows.append({
            "person": id, "stratum": stratum, "consented": consented is not None, "answers": len(given),
            "counted": sum(one.live for one in given), "flagged": sum(bool(one.flags) for one in given),
            "gold": f"{sum(gold)}/{len(gold)}" if gold else "", "agreement": agrees.get(id),
            "seconds each": round(median(seconds), 1) if seconds else None, "minutes": round(hours * 60, 1),
            "pay": round(study.pay.per_answer * len(given) + study.pay.per_hour * hours, 2),
            "excluded": excluded or "",
        })  # fmt: skip
    return rows


def _ratings(study: PeopleStudy, given: Sequence[Given]) -> dict[tuple[str, str], dict[str, Any]]:
    """What people said, by item and question."""
    kind = study.make_kind()
    ratings: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for one in given:
        for question, value in kind.judgements(one.said).items():
            if value is not None:
                ratings[one.item, question][one.person] = value
    return ratings


def _agreement_of_people(study: PeopleStudy, given: Sequence[Given]) -> dict[str, float | None]:
    """For choices, the share of others who said the same of an item; for numbers, the correlation with their mean."""
    same: dict[str, list[float]] = defaultdict(list)
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    interval = study.make_kind().level == "interval"
    for said in _ratings(study, given).values():
        if len(said) < 2:
            continue
        for person, value in said.items():
            others = [other for who, other in said.items() if who != person]
            if interval and _are_numbers(said):
                pairs[person].append((value, fmean(others)))
            else:
                same[person].append(fmean(other == value for other in others))
    found: dict[str, float | None] = {person: round(fmean(shares), 3) for person, shares in same.items()}
    return found | {person: _correlation(both) for person, both in pairs.items()}


def _are_numbers(said: dict[str, Any]) -> bool:
    return all(type(value) is int for value in said.values())


def _correlation(both: Sequence[tuple[float, float]]) -> float | None:
    own, others = ([pair[n] for pair in both] for n in (0, 1))
    spread = pstdev(own) * pstdev(others)
    if len(both) < LEAST or not spread:
        return None
    middle = fmean(own), fmean(others)
    return round(fmean((a - middle[0]) * (b - middle[1]) for a, b in both) / spread, 3)


def item_records(tx: Transaction, study: PeopleStudy) -> list[dict[str, Any]]:
    """A row for each item with answers that count, those on which people agree least first."""
    answers: dict[str, int] = defaultdict(int)
    given = [one for one in _given(tx) if one.live]
    for one in given:
        answers[one.item] += 1
    worst: dict[str, float] = {}
    interval = study.make_kind().level == "interval"
    for (item, _), said in _ratings(study, given).items():
        if len(said) > 1:
            worst[item] = min(worst.get(item, 1.0), _item_agreement(said, interval and _are_numbers(said)))
    decided = {item for (item,) in tx.rows("SELECT item FROM decisions")}
    rows: list[dict[str, Any]] = [
        {"item": item, "answers": count, "agreement": worst.get(item), "decided": item in decided}
        for item, count in answers.items()
    ]
    return sorted(rows, key=lambda row: (row["agreement"] is None, row["agreement"] or 0, row["item"]))


def _item_agreement(said: dict[str, Any], numbers: bool) -> float:
    """The share of pairs who said the same; for numbers from 0 to 100, how near they are on average."""
    pairs = list(combinations(said.values(), 2))
    if numbers:
        return round(1 - fmean(abs(a - b) for a, b in pairs) / 100, 3)
    return round(fmean(a == b for a, b in pairs), 3)


def decide(tx: Transaction, item: str, person: str, reason: str, now: float) -> None:
    """The owner takes one person's answer for the item's."""
    rows = tx.rows("SELECT content FROM work WHERE item = ? AND person = ? AND content IS NOT NULL", item, person)
    if not rows:
        raise UsageError(f"{person!r} did not answer {item!r}.")
    sql = (
        "INSERT INTO decisions (item, content, reason, at, person) VALUES (?, ?, ?, ?, ?) ON CONFLICT (item) DO UPDATE "
        "SET content = excluded.content, reason = excluded.reason, at = excluded.at, person = excluded.person"
    )
    tx.run(sql, item, rows[0][0], reason, now, person)


def decisions(tx: Transaction) -> dict[str, Json]:
    """What the owner decided, by item."""
    return {
        item: {"answer": msgspec.json.decode(content), "reason": reason}
        for item, content, reason in tx.rows("SELECT item, content, reason FROM decisions ORDER BY item")
    }


class Filter(msgspec.Struct, frozen=True):
    """Which answers a list shows; an empty field takes all."""

    person: str = ""
    item: str = ""
    flag: str = ""
    counts: str = ""  # yes, no

    def where(self) -> tuple[str, list[Any]]:
        sql = "w.content IS NOT NULL"
        values: list[Any] = []
        for column, value in (("w.person", self.person), ("w.item", self.item)):
            if value:
                sql, values = f"{sql} AND {column} = ?", [*values, value]
        if self.flag:  # flags are lines
            sql += " AND (w.flags = ? OR w.flags LIKE ? OR w.flags LIKE ? OR w.flags LIKE ?)"
            values += [self.flag, f"{self.flag}\n%", f"%\n{self.flag}", f"%\n{self.flag}\n%"]
        if self.counts in ("yes", "no"):
            sql, values = f"{sql} AND w.live = ?", [*values, int(self.counts == "yes")]
        return sql, values


def answers_listed(tx: Transaction, wanted: Filter, first: int, count: int) -> tuple[int, list[tuple[Any, ...]]]:
    """How many answers there are of this kind, and a page of them, the latest first."""
    where, values = wanted.where()
    ((total,),) = tx.rows(f"SELECT count(*) FROM work w WHERE {where}", *values)  # noqa: S608 - values are parameters
    rows = tx.rows(
        f"SELECT w.person, w.item, w.received, coalesce(w.flags, ''), w.live, w.content FROM work w WHERE {where} "  # noqa: S608
        "ORDER BY w.received DESC LIMIT ? OFFSET ?",
        *values, count, first,
    )  # fmt: skip
    return int(total), rows
