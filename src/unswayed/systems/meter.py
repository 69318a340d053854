"""What the requests behind one call of a system took: seconds of the last of them, and the tokens of all.

Whoever sends requests notes it here, and whoever called the system in the same thread reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class Spent:
    """`seconds` is None where no request was answered, tokens are where the server counts none."""

    __slots__ = ("seconds", "tokens_in", "tokens_out")

    def __init__(self) -> None:
        self.seconds: float | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None


class _Here(local):
    spent: Spent | None = None


_here = _Here()


@contextmanager
def metered() -> Iterator[Spent]:
    """Notes what is spent in this thread until the end of the block."""
    before, _here.spent = _here.spent, Spent()
    try:
        yield _here.spent
    finally:
        _here.spent = before


def spend(seconds: float | None = None, tokens_in: float | None = None, tokens_out: float | None = None) -> None:
    """Adds to what is noted in this thread, if anything is."""
    spent = _here.spent
    if spent is None:
        return
    if seconds is not None:
        spent.seconds = seconds
    if tokens_in is not None:
        spent.tokens_in = (spent.tokens_in or 0) + int(tokens_in)
    if tokens_out is not None:
        spent.tokens_out = (spent.tokens_out or 0) + int(tokens_out)
