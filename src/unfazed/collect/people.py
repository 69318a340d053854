"""People of a study: invitations, whose tokens are stored hashed, consent, and the log of what was done by whom."""

from __future__ import annotations

import secrets
import time
from hashlib import scrypt, sha256
from hmac import compare_digest
from typing import NamedTuple

from unfazed.collect.assign import free
from unfazed.collect.database import Transaction
from unfazed.collect.study import PeopleStudy, as_json
from unfazed.core.errors import UnknownName, UsageError, option


def hashed(token: str) -> str:
    """A token has 160 random bits, so that a plain hash can't be turned back."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def invite(tx: Transaction, study: PeopleStudy, name: str, stratum: str = "", now: float | None = None) -> str:
    """Adds a person and returns their token, which is stored nowhere."""
    strata = study.assign.strata
    if strata and stratum not in strata:
        raise UnknownName("stratum", stratum, strata)
    if not strata and stratum:
        raise UsageError(f"The study has no strata, so {stratum!r} can't be a person's stratum.")
    if not name or len(name) > 100 or any(ord(c) < 32 for c in name):
        raise UsageError(f"{name!r} can't be a name: it takes 1 to 100 characters.")
    if tx.rows("SELECT 1 FROM people WHERE id = ?", name):
        raise UsageError(f"There is somebody named {name!r} already. Choose another {option('name')}.")
    token = secrets.token_urlsafe(20)
    now = time.time() if now is None else now
    tx.run(
        "INSERT INTO people (id, token, stratum, invited, facts, answered, gold_seen, reached) "
        "VALUES (?, ?, ?, ?, '{}', 0, 0, 0)",
        name, hashed(token), stratum, now,
    )  # fmt: skip
    note(tx, "owner", "invited", name, now)
    return token


def consent(tx: Transaction, person: str, facts: dict[str, str], now: float) -> None:
    tx.run("UPDATE people SET consented = ?, facts = ? WHERE id = ?", now, as_json(facts), person)
    note(tx, person, "consented", "", now)


def note(tx: Transaction, who: str, what: str, more: str = "", now: float | None = None) -> None:
    """Writes a line of the audit log."""
    tx.run("INSERT INTO audit VALUES (?, ?, ?, ?)", time.time() if now is None else now, who, what, more)


def new_password() -> str:
    return secrets.token_urlsafe(12)


def set_password(tx: Transaction, password: str) -> None:
    salt = secrets.token_hex(16)
    set_fact(tx, "admin", f"{salt}:{_slow_hash(password, salt)}")


def is_password(stored: str, password: str) -> bool:
    salt, _, known = stored.partition(":")
    return compare_digest(_slow_hash(password, salt), known)


def _slow_hash(password: str, salt: str) -> str:
    given = password.encode("utf-8", "surrogatepass")
    return scrypt(given, salt=salt.encode(), n=2**14, r=8, p=1).hex()


def set_fact(tx: Transaction, name: str, value: str) -> None:
    sql = "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    tx.run(sql, name, value)


def fact(tx: Transaction, name: str) -> str:
    """A fact of the study that was stored when it was made."""
    return str(tx.rows("SELECT value FROM facts WHERE name = ?", name)[0][0])


def exclude(tx: Transaction, person: str, reason: str) -> None:
    """The person's answers are kept but no longer count, and their places go to others."""
    if not tx.run("UPDATE people SET excluded = ? WHERE id = ? AND excluded IS NULL", reason, person):
        raise UsageError(f"There is nobody named {person!r} who is not excluded already.")
    _free_all(tx, person)


class Forgotten(NamedTuple):
    answers: int
    recordings: list[str]  # names of files that are still to be deleted


def forget(tx: Transaction, person: str) -> Forgotten:
    """Deletes everything about a person; returns what there was."""
    _free_all(tx, person)
    recordings = [name for (name,) in tx.rows("SELECT name FROM audio WHERE person = ?", person)]
    tx.run("DELETE FROM heard WHERE name IN (SELECT name FROM audio WHERE person = ?)", person)
    ((count,),) = tx.rows("SELECT count(*) FROM work WHERE person = ? AND state = 'answered'", person)
    tx.run("DELETE FROM audit WHERE who = ? OR more = ?", person, person)
    for table in ("logs", "work", "audio", "barred"):
        tx.run(f"DELETE FROM {table} WHERE person = ?", person)  # noqa: S608 - one of our names
    if not tx.run("DELETE FROM people WHERE id = ?", person):
        raise UsageError(f"There is nobody named {person!r} in this study.")
    return Forgotten(int(count), recordings)


def _free_all(tx: Transaction, person: str) -> None:
    for (item,) in tx.rows("SELECT item FROM work WHERE person = ? AND live = 1", person):
        free(tx, item, person)
    tx.run("UPDATE work SET state = 'expired' WHERE person = ? AND state = 'leased'", person)
