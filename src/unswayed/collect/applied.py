"""The study as it was last applied, which its database keeps: the file beside it may be ahead."""

from __future__ import annotations

import time

import msgspec

from unswayed.base.errors import StoredFileError
from unswayed.base.values import Json
from unswayed.collect.backends import Transaction
from unswayed.collect.study import PeopleStudy, as_json

_NOT_KEPT = ("file", "database")  # where a study lies is not what it is


def facts_of(study: PeopleStudy) -> dict[str, Json]:
    """What a revision keeps of a study."""
    facts: dict[str, Json] = msgspec.to_builtins(study)
    return {name: value for name, value in facts.items() if name not in _NOT_KEPT}


def keep_revision(tx: Transaction, study: PeopleStudy, now: float | None = None) -> int:
    number = revision_number(tx) + 1
    at = time.time() if now is None else now
    tx.run("INSERT INTO revisions VALUES (?, ?, ?)", number, at, as_json(facts_of(study)))
    return number


def revision_number(tx: Transaction) -> int:
    return int(tx.rows("SELECT coalesce(max(number), 0) FROM revisions")[0][0])


def applied(tx: Transaction, study: PeopleStudy) -> PeopleStudy:
    """The study as it was last applied; a database that has no revision yet goes by its file."""
    rows = tx.rows("SELECT number, content FROM revisions ORDER BY number DESC LIMIT 1")
    if not rows:
        return study
    number, content = rows[0]
    kept = {name: getattr(study, name) for name in _NOT_KEPT}
    try:
        return msgspec.convert({**msgspec.json.decode(content), **kept}, PeopleStudy)
    except msgspec.MsgspecError as error:
        raise StoredFileError(
            f"{study.file}: revision {number} of the study, in its database, was written by another edition of "
            f"unswayed, and this one can't read it ({error}). Use the edition that wrote it."
        ) from error
