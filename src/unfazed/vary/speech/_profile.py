"""How people are heard, as numbers: one profile for each speaker that was fitted, and new speakers drawn from them."""

from __future__ import annotations

from functools import lru_cache
from math import exp
from pathlib import Path

import msgspec

from unfazed.core.seeds import Stream
from unfazed.vary._people import read_people
from unfazed.vary.keyboard._lexicon import lexicon
from unfazed.vary.speech._accents import accented

CLASSES = 12  # what `word_class` tells apart
_COMMON_CHARACTER = 11.0  # log frequency from which a word of one character counts as common
_COMMON_WORD = (9.5, 7.5, 5.5)  # those that part longer words
_COMMON = 0.15  # how much of a new speaker's rates is everybody's, at least
_FEW = 150  # words on which a rate is as much one's own as everybody's
_SPREAD = 0.12  # how far, in logs, a new speaker's rates stray from those of the speaker they take after
_FILE = Path(__file__).parent / "data" / "speakers.json"


class Profile(msgspec.Struct, frozen=True):
    """One speaker before one recogniser. Rates are chances per word by class, per mark by kind, or per place."""

    words: list[int]  # how many words of each class the rates were counted on
    misheard: list[float]
    lost: list[float]
    spread: float  # chance that a mishearing takes in the next word too
    gap: float  # the same for a word that is lost
    shrink: float  # chance that a syllable of what is misheard is not heard at all
    grow: float  # chance that one too many is heard
    stray: float  # chance per word of one that nobody said
    clause: float  # chance that a whole clause is lost
    same: float  # share of mishearings that come out as they always do for this speaker
    start: float  # how many times likelier the first words of a text are misheard or lost
    pace: float  # how much sentences differ: spread of the log of the error rate
    marks: dict[str, dict[str, float]]  # mark → chances of "lost", "comma" and "stop"
    commas: dict[str, float]  # chance of a comma from nowhere between words: "plain", or "beside" what was misheard
    end: float  # chance that a text without a closing mark gets one
    foreign: dict[str, float]  # Latin words: chances of "english" (the word 英文 in their place) and of "lost"
    digits: float  # chance that a number is misheard
    writes: dict[str, float]  # kind of rewriting → chance
    heard: dict[str, float]  # what is heard for what, such as `n>l`, `an>ang`, `1>4`


class Population(msgspec.Struct, frozen=True):
    """The speakers that were fitted."""

    people: list[Profile]


def read_population(path: Path | str) -> Population:
    return read_people(path, Population, "speech")


@lru_cache(8)
def population(path: str = "") -> Population:
    """The speakers in a file, or those that ship with the package."""
    return read_population(path or _FILE)


def new_speaker(people: list[Profile], group: str, rng: Stream) -> Profile:
    """Someone of this dialect group who takes after one of these people."""
    base = people[rng.below(len(people))]
    return msgspec.structs.replace(
        base,
        misheard=_rates(people, base, "misheard", near_one(rng)),
        lost=_rates(people, base, "lost", near_one(rng)),
        heard=accented(base.heard, group),
    )


def _rates(people: list[Profile], base: Profile, name: str, scale: float) -> list[float]:
    """A speaker's rates, drawn to those of all by as much as they rest on few words."""
    made = []
    for c, rate in enumerate(getattr(base, name)):
        words = sum(p.words[c] for p in people)
        mean = sum(getattr(p, name)[c] * p.words[c] for p in people) / words if words else rate
        own = (1 - _COMMON) * base.words[c] / (base.words[c] + _FEW)
        made.append(min(0.9, scale * (own * rate + (1 - own) * mean)))
    return made


def near_one(rng: Stream) -> float:
    return exp(_SPREAD * normal(rng) - _SPREAD**2 / 2)


def normal(rng: Stream) -> float:
    """A standard normal, near enough: the sum of a few uniform ones."""
    return (sum([rng.random() for _ in range(6)]) - 3.0) * 1.4142135623730951


def word_class(word: str, beside_single: bool) -> int:
    """The class of a word by its length, how common it is, and whether a single one stands beside another."""
    if len(word) == 1:
        return rare_character(word) + 2 * beside_single
    frequency = lexicon().frequency.get(word, 0.0)
    return 4 * min(2, len(word) - 1) + sum(frequency < bound for bound in _COMMON_WORD)


def rare_character(word: str) -> bool:
    """Is this one character that seldom stands alone?"""
    return len(word) == 1 and lexicon().frequency.get(word, 0.0) < _COMMON_CHARACTER
