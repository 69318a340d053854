"""Profiles of English listeners: which words a recogniser mishears, what it hears for what, and how it writes.

Numbers only. `calibrate_listener` counts them in real transcripts, `speech/english` simulates with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec

from unswayed.vary.people import read_profiles

DATA = files("unswayed.vary") / "speech" / "data"
SHIPPED = ("noiseqa", "topicalchat_a", "topicalchat_b")
# Words by how common they are, as ranks; each class once for shorter and once for longer words; then numbers.
_BINS = (50, 150, 400, 1000, 3000, 8000, 20_000, 52_000)
_LONG = 8  # letters
UNKNOWN = 2 * len(_BINS)
NUMBER = UNKNOWN + 2
CLASSES = NUMBER + 1
COMMON_RANK = 150  # words up to here are mostly function words
_RAISED = 400  # words up to here get no capital but at the beginning of a sentence


class ListenerProfile(msgspec.Struct, frozen=True, kw_only=True):
    """One recogniser and the people that it listened to. Rates are chances per word by class, or as each says."""

    source: str
    texts: int
    misheard: list[float]  # by class of word
    places: list[float]  # how much likelier the first word of a text is misheard, the last, and others
    lost: list[float]  # of the words that are misheard alone, how many are not written at all; by class
    spread: list[float]  # chance that a mishearing takes in another word, after the first, second and further words
    haste: list[float]  # equally likely values by which texts differ, 1 on average
    levels: list[float]  # the same: how far from what was said the sounds of a mishearing are
    each: float  # what a word costs the recogniser, however common: the more, the fewer and longer words it writes
    heard: dict[str, float]  # `T>D`: chance that a sound is heard as another; `T>` not at all; `>T` from nowhere
    swaps: dict[str, dict[str, float]]  # a common word → common words that are written for it, with their shares
    swapped: float  # of the words in `swaps` that are misheard alone, how many are swapped
    inflected: float  # of the other words that are misheard alone, how many only get another ending
    stray: float  # chance per word of a common one that nobody said
    strays: dict[str, float]
    writes: dict[str, float]  # kind of writing → chance
    marks: dict[str, dict[str, float]]  # mark → chances of what is written for it; empty for a recogniser without marks


@lru_cache(8)
def listener(name: str) -> ListenerProfile:
    """A profile that ships, by name, or the one in a file."""
    return read_profiles(DATA / f"listener_{name}.json" if name in SHIPPED else Path(name), ListenerProfile)


def word_class(word: str, rank: int) -> int:
    """The class of a word in small letters, by its rank; -1 for a word that is not known."""
    if word[0].isdigit():
        return NUMBER
    long = len(word) >= _LONG
    if rank < 0:
        return UNKNOWN + long
    return 2 * next(k for k, bound in enumerate(_BINS) if rank < bound) + long


def raisable(word: str, rank: int) -> bool:
    """May a recogniser write a common word with a capital, as if it were part of a title?"""
    return rank >= _RAISED and not word.endswith(("ed", "ing", "ly"))


# Pairs of sounds that speakers of a group are misheard on, either way round, and how much more often than others.
_Merged = tuple[tuple[str, float], ...]
ACCENTS: Mapping[str, _Merged] = {
    "american": (("T/D", 1.5), ("AA/AO", 1.5)),
    "british": (("R/", 2.5), ("AA/AE", 1.5), ("AO/OW", 2.0), ("T/", 1.3)),
    "indian": (("V/W", 4.0), ("TH/T", 4.0), ("DH/D", 4.0), ("R/D", 2.0), ("Z/JH", 2.0), ("P/B", 1.5), ("T/D", 1.5)),
    "chinese": (("L/R", 4.0), ("N/L", 3.0), ("TH/S", 4.0), ("DH/Z", 3.0), ("V/W", 2.5), ("T/", 2.0), ("D/", 2.0)),
    "spanish": (("B/V", 4.0), ("IH/IY", 3.0), ("Z/S", 3.0), ("SH/CH", 3.0), ("JH/Y", 3.0), ("/EH", 1.5)),
}


def accented(heard: Mapping[str, float], accent: str) -> dict[str, float]:
    """Chances of mishearing sounds, as they are for a speaker of this group."""
    made = dict(heard)
    for pair, strength in ACCENTS[accent]:
        one, two = pair.split("/")
        for change in (f"{one}>{two}", f"{two}>{one}"):
            if change in made:
                made[change] *= strength
    return made
