"""The data sheet of a study, written with every export: what was asked, of whom, under which terms, and how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unswayed.base.registry import VERSION
from unswayed.collect.backends import Transaction
from unswayed.collect.database import Database
from unswayed.collect.export import agreed, answers_of
from unswayed.collect.status import coverage, flags, progress
from unswayed.collect.study import PeopleStudy, said
from unswayed.storage.files import write_atomically

OWN = 0o600


def sheet_file(exported: Path) -> Path:
    """`answers.sheet.md` beside `answers.jsonl`, `people.sheet.md` beside the suite `people/`."""
    return exported.with_name(f"{exported.stem}.sheet.md")


def write_sheet(study: PeopleStudy, database: Database, exported: Path, names: bool = False) -> Path:
    to = sheet_file(exported)
    write_atomically(to, sheet(study, database, exported, names).encode())
    to.chmod(OWN)
    return to


def sheet(study: PeopleStudy, database: Database, exported: Path, names: bool = False) -> str:
    """The sheet as Markdown."""
    about = database.read(_about)
    agreement = agreed(study, answers_of(study, database))
    rules = study.assign
    people = "the people's names" if names else "pseudonyms; only the study's database links them to people"
    parts = [
        f"# Data sheet: {_line(study.title)}",
        f"Written {_day(datetime.now(UTC).timestamp())} by unswayed {VERSION} with `{exported.name}`.",
        "## Task",
        _list({
            "kind": study.kind, "language of the pages": study.language, "items": about["items"],
            "people for each item": rules.k, "strata": ", ".join(rules.strata) or "none",
            "a gold item after": f"{rules.gold_every} others" if rules.gold_every else "no gold items",
            "items of": study.items.suite or study.items.path or "",
        }),
        "## People",
        _list({
            "invited": about["invited"], "agreed": about["consented"], "gave answers": about["active"],
            "excluded": about["excluded"], "named by": people,
        }),
        _table(about["strata"]),
        "## Answers",
        _list({
            "answers": about["answers"], "counted": about["counted"], "first": _day(about["first"]),
            "last": _day(about["last"]), "gold items right": about["gold"],
        }),
        _table([{"flag": name, "answers": count} for name, count in about["flags"].items()]),
        "## Agreement" if agreement else "",
        _table(agreement),
        "## Consent text",
        "\n".join(f"> {line}" for line in said(study.consent, study.language).strip().splitlines()),
        f"Contact for deletion: {_line(study.contact)}. When you delete somebody's answers, delete this export too.",
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _about(tx: Transaction) -> dict[str, Any]:
    ((invited, consented, active, excluded),) = tx.rows(
        "SELECT count(*), count(consented), coalesce(sum(CASE WHEN answered > 0 THEN 1 ELSE 0 END), 0), "
        "count(excluded) FROM people"
    )
    ((first, last, gold, right),) = tx.rows(
        "SELECT min(received), max(received), count(correct), coalesce(sum(correct), 0) FROM work "
        "WHERE state = 'answered'"
    )
    counts = progress(tx)
    return {
        "invited": invited, "consented": consented, "active": active, "excluded": excluded, "first": first,
        "last": last, "gold": f"{right} of {gold}", "items": counts["items"], "answers": counts["answers"],
        "counted": counts["counted"], "strata": coverage(tx), "flags": flags(tx),
    }  # fmt: skip


def _day(at: object) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") if isinstance(at, int | float) else "never"


def _line(text: str) -> str:
    return " ".join(text.split())


def _list(facts: dict[str, object]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    if not rows:
        return ""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    return (
        f"{value:.3f}" if isinstance(value, float) else _line(str("" if value is None else value)).replace("|", "\\|")
    )
