"""People of a study: invitations, whose tokens are stored hashed, consent, leaving, and the log of what was done."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable
from hashlib import sha256

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.collect.assign import free, reclaim
from unswayed.collect.backends import Transaction
from unswayed.collect.database import LackingFact
from unswayed.collect.study import PeopleStudy, as_json


def hashed(token: str) -> str:
    """A token has 160 random bits, so that a plain hash can't be turned back."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def invite(tx: Transaction, study: PeopleStudy, name: str, stratum: str = "", now: float | None = None) -> str:
    """Adds a person and returns their token, which is stored nowhere."""
    strata = study.assign.strata
    if strata and stratum not in strata and not (study.assign.by and not stratum):  # a question will tell
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


def set_fact(tx: Transaction, name: str, value: str) -> None:
    sql = "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    tx.run(sql, name, value)


def fact(tx: Transaction, name: str) -> str:
    """A fact of the study that was stored when it was made."""
    found = tx.rows("SELECT value FROM facts WHERE name = ?", name)
    if not found:
        raise LackingFact(f"the study's {name} is not in this database. It is empty or damaged: restore a copy of it.")
    return str(found[0][0])


def exclude(tx: Transaction, person: str, reason: str) -> None:
    """The person's answers are kept but no longer count, and their places go to others."""
    if not tx.run("UPDATE people SET excluded = ? WHERE id = ? AND excluded IS NULL", reason, person):
        raise UsageError(f"{person!r} can't be excluded: there is nobody of this name, or they are excluded already.")
    counted = "SELECT item, person FROM work WHERE person = ? AND live = 1 AND state = 'answered'"
    tx.run(f"INSERT INTO set_aside {counted}", person)
    free_all(tx, person)
    note(tx, "owner", "excluded", person)


def include(tx: Transaction, study: PeopleStudy, person: str) -> int:
    """Takes `exclude` back. Answers count again where nobody took their place; returns how many do."""
    if not tx.run("UPDATE people SET excluded = NULL WHERE id = ? AND excluded IS NOT NULL", person):
        raise UsageError(f"Nobody named {person!r} is excluded.")
    items = [item for (item,) in tx.rows("SELECT item FROM set_aside WHERE person = ? ORDER BY item", person)]
    back = sum(reclaim(tx, person, item, study.assign) for item in items)
    tx.run("DELETE FROM set_aside WHERE person = ?", person)
    note(tx, "owner", "included", person)
    return back


def reissue(tx: Transaction, person: str) -> str:
    """A new token for a person, whose old link and sessions end."""
    token = secrets.token_urlsafe(20)
    if not tx.run("UPDATE people SET token = ? WHERE id = ?", hashed(token), person):
        raise UsageError(f"There is nobody named {person!r} in this study.")
    note(tx, "owner", "issued a new link", person)
    return token


def pseudonyms(tx: Transaction) -> Callable[[str], str]:
    """What stands for a person's name outside of the study: the same in every export, and of no use without its
    secret."""
    secret = bytes.fromhex(fact(tx, "secret"))

    def pseudonym(name: str) -> str:
        return "p" + hmac.new(secret, f"person {name}".encode("utf-8", "surrogatepass"), sha256).hexdigest()[:10]

    return pseudonym


def name_in_text(person: str) -> re.Pattern[str]:
    """Finds a name where it stands as a word."""
    return re.compile(rf"(?<!\w){re.escape(person)}(?!\w)")


def free_all(tx: Transaction, person: str) -> None:
    """The person's places are free for others."""
    for (item,) in tx.rows("SELECT item FROM work WHERE person = ? AND live = 1", person):
        free(tx, item, person)
    tx.run("UPDATE work SET state = 'expired' WHERE person = ? AND state = 'leased'", person)
