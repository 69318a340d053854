"""The owner of a study: the password, stored with scrypt, sessions, which end with the log-out, and the pause."""

from __future__ import annotations

import secrets
import time
from hashlib import scrypt
from hmac import compare_digest

from unswayed.collect.backends import Transaction
from unswayed.collect.people import fact, hashed, note, set_fact

HOURS = 12  # of a session


def new_password() -> str:
    return secrets.token_urlsafe(12)


def set_password(tx: Transaction, password: str) -> None:
    """Sets the password and ends all sessions."""
    salt = secrets.token_hex(16)
    set_fact(tx, "admin", f"{salt}:{_slow_hash(password, salt)}")
    tx.run("DELETE FROM sessions")


def reset_password(tx: Transaction) -> str:
    """A new password for an owner who lost the old one."""
    password = new_password()
    set_password(tx, password)
    note(tx, "owner", "reset the password")
    return password


def stored_password(tx: Transaction) -> str:
    return fact(tx, "admin")


def is_password(stored: str, password: str) -> bool:
    salt, _, known = stored.partition(":")
    return compare_digest(_slow_hash(password, salt), known)


def _slow_hash(password: str, salt: str) -> str:
    given = password.encode("utf-8", "surrogatepass")
    return scrypt(given, salt=salt.encode(), n=2**14, r=8, p=1).hex()


def open_session(tx: Transaction, now: float | None = None) -> str:
    """A new session's token, which is stored only as a hash."""
    now = time.time() if now is None else now
    token = secrets.token_urlsafe(20)
    tx.run("DELETE FROM sessions WHERE until <= ?", now)
    tx.run("INSERT INTO sessions VALUES (?, ?)", hashed(token), now + HOURS * 3600)
    return token


def is_open(tx: Transaction, token: str, now: float | None = None) -> bool:
    now = time.time() if now is None else now
    return bool(tx.rows("SELECT 1 FROM sessions WHERE id = ? AND until > ?", hashed(token), now))


def close_session(tx: Transaction, token: str) -> None:
    tx.run("DELETE FROM sessions WHERE id = ?", hashed(token))


def is_paused(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM facts WHERE name = 'paused'"))


def pause(tx: Transaction, paused: bool) -> None:
    """While a study is paused, nobody gets a new item. Answers to items that are out are still taken."""
    if paused:
        set_fact(tx, "paused", "yes")
    else:
        tx.run("DELETE FROM facts WHERE name = 'paused'")
    note(tx, "owner", "paused" if paused else "resumed")
