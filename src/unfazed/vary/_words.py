"""What operators share that replace single words: which words to take, and in which letters to write the new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from unfazed.core.seeds import Stream

T = TypeVar("T")


def checked_rate(rate: float) -> float:
    """A rate as it was given; raises where it is none."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be from 0 to 1, not {rate}")
    return rate


def some(places: Sequence[T], rate: float, rng: Stream) -> list[T]:
    """One of the places with rate 0; otherwise each with that probability, one at least. None if there are none."""
    if not places:
        return []
    chosen = [place for place in places if rng.random() < rate] if rate else []
    return chosen or [rng.choice(places)]


def cased(new: str, old: str) -> str:
    """The new word with capitals where the old one has them: at its beginning, or throughout."""
    if old.islower():
        return new
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
