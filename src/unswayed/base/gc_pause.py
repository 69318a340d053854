"""Python's collector of garbage, put off while many small objects are made that will stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 100_000  # between searches for cycles: commands hold thousands of rows and make few cycles


def collect_seldom() -> None:
    """For a process that is ours: it looks for garbage less often than Python does by itself."""
    gc.set_threshold(_NEW_OBJECTS)


def collect_no_more() -> None:
    """For a process that is ours and ends now: its memory goes back at once, without a last search for cycles."""
    gc.freeze()


@contextmanager
def collecting_later() -> Iterator[None]:
    """Puts the collector off for a moment, for work that makes thousands of lists and dicts and leaves none behind.

    It would start again and again and look at all that is there, which takes longer than the work itself.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
