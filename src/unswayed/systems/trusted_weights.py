"""Weights that can only be unpickled, which may run code: opened only where the user names their SHA-256."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unswayed.base.errors import UsageError, option
from unswayed.base.ids import file_hash

_TRUSTED = "UNSWAYED_TRUST_WEIGHTS"  # in the environment, so that the worker processes of a command know as well


@contextmanager
def trusting(hashes: str | Iterable[str] | None) -> Iterator[None]:
    """While this is open, files with these SHA-256 hashes may be unpickled."""
    named = [hashes] if isinstance(hashes, str) else list(hashes or ())
    wrong = next((name for name in named if not re.fullmatch("[0-9a-fA-F]{64}", str(name))), None)
    if wrong is not None:
        raise UsageError(
            f"{option('trust-weights')} takes the SHA-256 of a file, 64 hexadecimal digits, not {wrong!r:.80}."
        )
    before = os.environ.get(_TRUSTED)
    if named:
        os.environ[_TRUSTED] = ",".join([*filter(None, [before]), *(name.lower() for name in named)])
    try:
        yield
    finally:
        if named and before is None:
            os.environ.pop(_TRUSTED, None)
        elif named and before is not None:
            os.environ[_TRUSTED] = before


def trusted() -> list[str]:
    """The hashes of pickled files that may be opened."""
    return [name for name in os.environ.get(_TRUSTED, "").split(",") if name]


def require_trust(files: Iterable[Path], instead: str = "") -> None:
    """Raises unless the hash of each of these pickled files is trusted; the message has the hashes."""
    known = trusted()
    unknown = {file: found for file in files if (found := file_hash(file)) not in known}
    if unknown:
        told = "; ".join(f"{file} has the SHA-256 {found}" for file, found in unknown.items())
        way = option("trust-weights")
        use = " ".join(f"{way}{' ' if way.startswith('-') else ''}{found}" for found in unknown.values())
        raise UsageError(
            f"The weights are pickled, and to open a pickle can run code that its maker put there: {told}. {instead}"
            f"If you know who made the file and trust them as you would trust a program of theirs, use {use}"
        )
