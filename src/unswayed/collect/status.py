"""How a study stands: progress, coverage by stratum, throughput, flags, and each person's record."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from typing import Any

from unswayed.collect.backends import Transaction
from unswayed.collect.journey import completion_code
from unswayed.collect.people import fact
from unswayed.collect.study import PeopleStudy

HOUR = 3600.0
LOW_DISK = 1 << 30  # bytes left, below which the owner is told
FULL_DISK = 100 << 20  # bytes left, below which no recording is taken: answers still need room


def free_bytes(study: PeopleStudy) -> int:
    """The room on the disk of the study's folder: of its recordings, and of its database if that is SQLite."""
    return shutil.disk_usage(study.folder).free


def disk_warning(study: PeopleStudy) -> str:
    """What to tell the owner before the disk is full; nothing while there is room."""
    left = free_bytes(study)
    if left >= LOW_DISK:
        return ""
    return (
        f"{study.folder.absolute()}: {left / 1e6:,.0f} MB are left on this disk. Make room: below "
        f"{FULL_DISK / 1e6:.0f} MB, the server takes no recordings."
    )


def progress(tx: Transaction) -> dict[str, Any]:
    """Counts over the whole study. A version is what one person made of a unit, such as all texts of an example."""
    ((items, free),) = tx.rows("SELECT count(*), coalesce(sum(free), 0) FROM items WHERE gold IS NULL")
    ((full,),) = tx.rows("SELECT count(*) FROM items WHERE gold IS NULL AND free = 0")
    ((at_work,),) = tx.rows(
        "SELECT count(*) FROM items i JOIN parts p ON p.item = i.id WHERE i.free = 0 AND i.gold IS NULL AND p.unit IN "
        "(SELECT o.unit FROM work w JOIN parts o ON o.item = w.item WHERE w.state = 'leased' AND w.live = 1)"
    )
    ((live,),) = tx.rows("SELECT coalesce(sum(live), 0) FROM strata")
    ((leased,),) = tx.rows("SELECT count(*) FROM work WHERE state = 'leased' AND shows > 0")
    ((answers,),) = tx.rows("SELECT count(*) FROM work WHERE state IN ('answered', 'failed')")
    ((again,),) = tx.rows("SELECT count(*) FROM attempts")
    ((skipped,),) = tx.rows("SELECT count(*) FROM work WHERE state = 'skipped'")
    ((flagged,),) = tx.rows("SELECT count(*) FROM work WHERE flags <> ''")
    ((held,),) = tx.rows("SELECT coalesce(sum(live), 0) FROM work WHERE state = 'leased'")
    return {
        "items": items, "items complete": full - at_work, "versions": _versions(tx, int(live) - int(held)),
        "answers": answers,
        "counted": int(live) - int(held), "asked again": again, "skipped": skipped, "flagged": flagged,
        "out now": leased, "still wanted": int(free) + int(held),
    }  # fmt: skip


def _versions(tx: Transaction, counted: int) -> int:
    """How many units people have finished, by person; without units of several items, as many as counted answers."""
    if not tx.rows("SELECT 1 FROM parts WHERE unit <> item LIMIT 1"):
        return counted
    sql = (
        "SELECT count(*) FROM (SELECT 1 AS one FROM work w JOIN parts p ON p.item = w.item WHERE w.live = 1 "
        "GROUP BY p.unit, w.person HAVING sum(CASE WHEN w.state = 'answered' THEN 0 ELSE 1 END) = 0) AS whole"
    )
    return int(tx.rows(sql)[0][0])


def coverage(tx: Transaction) -> list[dict[str, Any]]:
    """People and answers by stratum."""
    found = {
        stratum: {"people": people, "answers": int(answers)}
        for stratum, people, answers in tx.rows("SELECT stratum, count(*), sum(answered) FROM people GROUP BY stratum")
    }
    none = {"people": 0, "answers": 0}
    return [
        {"stratum": name or "(none)", **found.get(name, none), "counted or out": live}
        for name, live in tx.rows("SELECT name, live FROM strata ORDER BY name")
    ]


def record(tx: Transaction, study: PeopleStudy | None = None) -> list[dict[str, Any]]:
    """Each person's answers, flags, how many gold items they got right, and how their part ended.

    In a study that gives each person a code of their own, whoever is done has theirs.
    """
    own = study is not None and study.completion is not None and not study.completion.code
    secret = fact(tx, "secret") if own else ""
    sql = (
        "SELECT p.id, p.stratum, p.consented, p.excluded, coalesce(j.ended, ''), count(w.item), "
        "coalesce(sum(w.live), 0), "
        "coalesce(sum(CASE WHEN w.flags <> '' THEN 1 ELSE 0 END), 0), count(w.correct), coalesce(sum(w.correct), 0) "
        "FROM people p LEFT JOIN work w ON w.person = p.id AND w.state IN ('answered', 'failed') "
        "LEFT JOIN journeys j ON j.person = p.id "
        "GROUP BY p.id, p.stratum, p.consented, p.excluded, j.ended ORDER BY p.id"
    )
    return [
        {
            "person": id, "stratum": stratum, "consented": consented is not None, "answers": answers,
            "counted": int(live), "flagged": int(flagged), "gold": gold, "gold right": int(right),
            "excluded": excluded or "", "ended": ended,
            **({"code": completion_code(secret, id) if ended == "done" else ""} if own else {}),
        }
        for id, stratum, consented, excluded, ended, answers, live, flagged, gold, right in tx.rows(sql)
    ]  # fmt: skip


def throughput(tx: Transaction, hours: int = 48, now: float | None = None) -> list[int]:
    """Answers in each of the last hours, the latest last. The index counts them without reading any."""
    now = time.time() if now is None else now
    sql = "SELECT count(*) FROM work WHERE state = 'answered' AND received > ? AND received <= ?"
    ends = [now - hour * HOUR for hour in range(hours - 1, -1, -1)]
    return [int(tx.rows(sql, end - HOUR, end)[0][0]) for end in ends]


def flags(tx: Transaction) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for flagged, count in tx.rows("SELECT flags, count(*) FROM work WHERE flags <> '' GROUP BY flags"):
        for name in flagged.split("\n"):
            counts[name] += count
    return dict(counts.most_common())


def own_progress(tx: Transaction, person: str, per_person: int | None) -> dict[str, Any]:
    """What a person is told of themselves: `of` how many, or else how many there still are (`left`)."""
    ((answered,),) = tx.rows("SELECT answered FROM people WHERE id = ?", person)
    if per_person is not None:
        return {"answered": answered, "of": per_person, "left": None}
    ((open_,),) = tx.rows("SELECT count(*) FROM items WHERE gold IS NULL AND free > 0")
    ((done,),) = tx.rows(
        "SELECT count(*) FROM work w JOIN items i ON i.id = w.item WHERE w.person = ? AND i.gold IS NULL "
        "AND i.free > 0 AND w.state <> 'leased'",
        person,
    )
    ((held,),) = tx.rows("SELECT count(*) FROM work WHERE person = ? AND state = 'leased'", person)
    return {"answered": answered, "of": None, "left": max(0, open_ - done) + held}
