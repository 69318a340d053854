"""What operators share that replace single words: which words to take, and in which letters to write the new one."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p
from typing import TypeVar

from unfazed.core.seeds import Stream

T = TypeVar("T")
_NEVER = 1e-12  # rates below are none


def checked_rate(rate: float) -> float:
    """A rate as it was given; raises where it is none."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be from 0 to 1, not {rate}")
    return rate


def picked(count: int, rate: float, rng: Stream) -> list[int]:
    """Which of `count` things, each with probability `rate`; draws one number for each that is picked, not for all."""
    if rate >= 1:
        return list(range(count))
    found: list[int] = []
    if rate < _NEVER:
        return found
    scale, at = 1 / log1p(-rate), -1
    while (gap := log1p(-rng.random()) * scale) < count:  # as many as coins in a row would pass over
        at += 1 + int(gap)
        if at >= count:
            break
        found.append(at)
    return found


def some(places: Sequence[T], rate: float, rng: Stream) -> list[T]:
    """One of the places with rate 0; otherwise each with that probability, one at least. None if there are none."""
    if not places:
        return []
    return [places[i] for i in picked(len(places), rate, rng)] or [rng.choice(places)]


def cased(new: str, old: str) -> str:
    """The new word with capitals where the old one has them: at its beginning, or throughout."""
    if old.islower():
        return new
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
