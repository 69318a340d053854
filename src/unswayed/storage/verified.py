"""What this user's commands verified before, so that not every one of them reads a suite whole.

A fact is noted as its hash with the user's secret, so that nobody else can note one. What can't be noted is verified
again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from unswayed.base.errors import StoredFileError
from unswayed.storage.untrusted_files import own_key, read_bounded, state_folder

_MOST_BYTES = 1 << 18  # of notes, which are some 8,000; then they begin anew


def is_noted(fact: bytes) -> bool:
    """Was this found to be true before, by this user on this machine?"""
    note = _note(fact)
    return note is not None and note in _notes()


def note_down(fact: bytes) -> None:
    """Notes what was found to be true."""
    note = _note(fact)
    if note is None or note in (known := _notes()):
        return
    full = (len(known) + 1) * (len(note) + 1) > _MOST_BYTES
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if full else os.O_APPEND)
    with suppress(OSError, RuntimeError), open(os.open(_file(), flags, 0o600), "ab") as file:
        file.write(note + b"\n")


def _note(fact: bytes) -> bytes | None:
    key = own_key()
    if key is None:
        return None
    return blake2b(fact, digest_size=16, key=key, person=b"verified").hexdigest().encode()


def _notes() -> set[bytes]:
    with suppress(OSError, RuntimeError, StoredFileError):
        return set(read_bounded(_file(), 2 * _MOST_BYTES).split(b"\n"))
    return set()


def _file() -> Path:
    return state_folder() / "verified"
