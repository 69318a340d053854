"""Variation that comes from speaking to a recogniser; what its simulated speakers share in all languages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Seeds, Stream
from unswayed.vary.operator import Change

_UNKNOWN_SHARE = 0.6  # share of hard words that are so because the recogniser does not know them, whoever speaks


class HardWords(NamedTuple):
    """Words that a speaker is always misheard on: `share` of the mishearings that they are to blame for, and `chance`
    that one of them is misheard."""

    share: float
    chance: float


def word_hardness(word: str, rng: Stream) -> float:
    """A number from 0 to 1 for a word and a speaker, low for words on which this speaker is always misheard."""
    habit = rng.habit(f"hard\0{word}")
    own = habit.random()
    return _unknown_hardness(word) if habit.random() < _UNKNOWN_SHARE else own


@lru_cache(100_000)
def _unknown_hardness(word: str) -> float:
    """A number from 0 to 1 for every word, low for those that the recogniser knows least."""
    return Seeds(0, "speech/recogniser", 1).stream(word, 0).random()


def mishearing_chance(hardness: float, rate: float, haste: float, hard: HardWords) -> float:
    """The chance of mishearing a word that is misheard at this rate; part of it falls to words that are hard."""
    limit = min(0.9, rate * hard.share / hard.chance)
    return hard.chance if hardness < limit else min(0.95, haste * rate * (1 - hard.share) / (1 - limit))


def other_digit(number: str, at: int, rng: Stream) -> str:
    """The number with another digit at this place."""
    return number[:at] + str((int(number[at]) + 1 + rng.below(9)) % 10) + number[at + 1 :]


def noted_change(text: str, edits: Sequence[Edit]) -> Change:
    """The change of these edits, whose note shows the first."""
    start, end, new = edits[0]
    more = f", {len(edits)} changes in all" if len(edits) > 1 else ""
    return Change(tuple(edits), f"{text[start:end]}→{new} at {start}{more}")
