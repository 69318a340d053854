"""How a study stands: progress, coverage by stratum, throughput, flags, and each person's record."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from unfazed.collect.store import Transaction

HOUR = 3600.0


def progress(tx: Transaction) -> dict[str, Any]:
    """Counts over the whole study."""
    ((items, open_, free),) = tx.rows(
        "SELECT count(*), coalesce(sum(CASE WHEN free > 0 THEN 1 ELSE 0 END), 0), coalesce(sum(free), 0) "
        "FROM items WHERE gold IS NULL"
    )
    counts: dict[str, int] = dict(tx.rows("SELECT state, count(*) FROM work GROUP BY state"))
    ((counted, flagged),) = tx.rows(
        "SELECT coalesce(sum(live), 0), coalesce(sum(CASE WHEN flags <> '' THEN 1 ELSE 0 END), 0) "
        "FROM work WHERE state = 'answered'"
    )
    leased = counts.get("leased", 0)
    return {
        "items": items, "items complete": items - open_, "answers": counts.get("answered", 0), "counted": int(counted),
        "flagged": int(flagged), "out now": leased, "still wanted": int(free) + leased,
    }  # fmt: skip


def coverage(tx: Transaction) -> list[dict[str, Any]]:
    """People and answers by stratum."""
    people: dict[str, int] = dict(tx.rows("SELECT stratum, count(*) FROM people GROUP BY stratum"))
    answers = {
        stratum: (count, int(live))
        for stratum, count, live in tx.rows(
            "SELECT stratum, count(*), sum(live) FROM work WHERE state = 'answered' GROUP BY stratum"
        )
    }
    names = [name for (name,) in tx.rows("SELECT name FROM strata ORDER BY name")]
    return [
        {"stratum": name or "(none)", "people": people.get(name, 0), "answers": all_, "counted": live}
        for name in names
        for all_, live in [answers.get(name, (0, 0))]
    ]


def record(tx: Transaction) -> list[dict[str, Any]]:
    """Each person's answers, flags, and how many gold items they got right."""
    sql = (
        "SELECT p.id, p.stratum, p.consented, p.excluded, count(w.item), coalesce(sum(w.live), 0), "
        "coalesce(sum(CASE WHEN w.flags <> '' THEN 1 ELSE 0 END), 0), count(w.correct), coalesce(sum(w.correct), 0) "
        "FROM people p LEFT JOIN work w ON w.person = p.id AND w.state = 'answered' "
        "GROUP BY p.id, p.stratum, p.consented, p.excluded ORDER BY p.id"
    )
    return [
        {
            "person": id, "stratum": stratum, "consented": consented is not None, "answers": answers,
            "counted": int(live), "flagged": int(flagged), "gold": gold, "gold right": int(right),
            "excluded": excluded or "",
        }
        for id, stratum, consented, excluded, answers, live, flagged, gold, right in tx.rows(sql)
    ]  # fmt: skip


def throughput(tx: Transaction, hours: int = 48, now: float | None = None) -> list[int]:
    """Answers in each of the last hours, the latest last."""
    now = time.time() if now is None else now
    sql = "SELECT received FROM work WHERE state = 'answered' AND received > ?"
    ago = Counter(int((now - received) // HOUR) for (received,) in tx.rows(sql, now - hours * HOUR))
    return [ago[hour] for hour in range(hours - 1, -1, -1)]


def flags(tx: Transaction) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for flagged, count in tx.rows("SELECT flags, count(*) FROM work WHERE flags <> '' GROUP BY flags"):
        for name in flagged.split("\n"):
            counts[name] += count
    return dict(counts.most_common())


def own_progress(tx: Transaction, person: str, per_person: int | None) -> dict[str, Any]:
    """What a person is told of themselves."""
    ((answered,),) = tx.rows("SELECT answered FROM people WHERE id = ?", person)
    return {"answered": answered, "of": per_person}
