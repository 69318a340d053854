"""Simulated speakers as numbers: a profile for each that was fitted, and new people drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from math import exp
from pathlib import Path
from typing import TypeVar

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.json import decode
from unswayed.base.seeds import Stream
from unswayed.storage.untrusted_files import read_bounded
from unswayed.vary.chinese import lexicon

T = TypeVar("T")


def read_profiles(path: Path | str | Traversable, kind: type[T]) -> T:
    """The people in a file that `unswayed calibrate` wrote: `Typists` or `Speakers`."""
    try:
        return decode(read_bounded(Path(path)) if isinstance(path, (str, Path)) else path.read_bytes(), kind)
    except OSError as error:
        raise DataError(error.strerror or str(error), path) from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"this is not a file of {kind.__name__.lower()} that `unswayed calibrate` wrote: {error}", path
        ) from error


def near_one(rng: Stream, spread: float) -> float:
    """A factor whose log strays from 0 by about this much."""
    return exp(spread * normal(rng) - spread**2 / 2)


def normal(rng: Stream) -> float:
    """A standard normal, near enough: the sum of a few uniform ones."""
    a, b, c, d, e, f = rng.randoms(6)  # added in this order, which decides how they are rounded
    return (a + b + c + d + e + f - 3.0) * 1.4142135623730951


SPOKEN_CLASSES = 12  # what `spoken_class` tells apart
_COMMON_CHARACTER = 11.0  # log frequency from which a word of one character counts as common
_COMMON_SPOKEN = (9.5, 7.5, 5.5)  # those that part longer words
_SPEAKER_COMMON = 0.15  # how much of a new speaker's rates is everybody's, at least
_SPEAKER_FEW = 150  # words on which a rate is as much one's own as everybody's
_SPEAKER_SPREAD = 0.12  # how far, in logs, a new speaker's rates stray from those of the speaker they take after
SPEAKERS_FILE = files("unswayed.vary") / "speech" / "data" / "speakers.json"


class SpeakerProfile(msgspec.Struct, frozen=True):
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


class Speakers(msgspec.Struct, frozen=True):
    """The speakers that were fitted."""

    people: list[SpeakerProfile]


@lru_cache(8)
def speakers(path: str = "") -> Speakers:
    """The speakers in a file, or those that ship with the package."""
    return read_profiles(path or SPEAKERS_FILE, Speakers)


def new_speaker(people: list[SpeakerProfile], group: str, rng: Stream) -> SpeakerProfile:
    """Someone of this dialect group who takes after one of these people."""
    base = people[rng.below(len(people))]
    return msgspec.structs.replace(
        base,
        misheard=_rates(people, base, "misheard", near_one(rng, _SPEAKER_SPREAD)),
        lost=_rates(people, base, "lost", near_one(rng, _SPEAKER_SPREAD)),
        heard=accented(base.heard, group),
    )


def _rates(people: list[SpeakerProfile], base: SpeakerProfile, name: str, scale: float) -> list[float]:
    """A speaker's rates by class, each drawn to that of all by as much as it rests on few words."""
    made = []
    for c, rate in enumerate(getattr(base, name)):
        words = sum(p.words[c] for p in people)
        mean = sum(getattr(p, name)[c] * p.words[c] for p in people) / words if words else rate
        share = (1 - _SPEAKER_COMMON) * base.words[c] / (base.words[c] + _SPEAKER_FEW)
        made.append(min(0.9, scale * (share * rate + (1 - share) * mean)))
    return made


@lru_cache(20_000)
def spoken_class(word: str, beside_single: bool) -> int:
    """The class of a word by its length, how common it is, and whether a single one stands beside another."""
    if len(word) == 1:
        return rare_character(word) + 2 * beside_single
    frequency = lexicon().log_frequency(word)
    return 4 * min(2, len(word) - 1) + sum([frequency < bound for bound in _COMMON_SPOKEN])


@lru_cache(20_000)
def rare_character(word: str) -> bool:
    """Is this one character that seldom stands alone?"""
    return len(word) == 1 and lexicon().log_frequency(word) < _COMMON_CHARACTER


# Pairs of sounds that accents merge, either way round.
_RETROFLEX = (("zh", "z"), ("ch", "c"), ("sh", "s"))
_NASAL = (("an", "ang"), ("en", "eng"), ("in", "ing"), ("ian", "iang"), ("uan", "uang"), ("un", "ong"))
_N_L = (("n", "l"),)
_F_H = (("f", "h"),)
_R = (("r", "l"), ("r", ""))
_FRONT_NASAL = (("en", "eng"), ("in", "ing"))

# What each group does, by the strength with which it is heard against people at large. The groups are those of
# READIN's ten speakers: Harbin; Zhangjiakou and Shijiazhuang; Datong; Hefei; Changde, Guangyuan and Zigong; Loudi.
_Strong = tuple[tuple[tuple[tuple[str, str], ...], float], ...]
GROUPS: Mapping[str, tuple[float, _Strong, float]] = {
    # name: share of READIN's speakers, merged sounds, strength of tone shifts
    "northeastern": (0.1, ((_RETROFLEX, 1.6), (_R, 2.0), (_NASAL, 0.6), (_N_L, 0.3), (_F_H, 0.4)), 0.8),
    "jilu": (0.2, ((_RETROFLEX, 0.9), (_NASAL, 0.7), (_N_L, 0.4), (_F_H, 0.5)), 1.2),
    "jin": (0.1, ((_RETROFLEX, 1.4), (_NASAL, 2.0), (_N_L, 0.6), (_F_H, 0.6)), 1.3),
    "jianghuai": (0.1, ((_RETROFLEX, 1.4), (_NASAL, 1.6), (_N_L, 2.0), (_F_H, 0.6), (_R, 1.5)), 1.0),
    "southwestern": (0.3, ((_RETROFLEX, 1.6), (_FRONT_NASAL, 1.8), (_N_L, 2.0), (_F_H, 1.3)), 1.1),
    "xiang": (0.2, ((_RETROFLEX, 1.5), (_NASAL, 1.6), (_N_L, 1.8), (_F_H, 2.2)), 1.3),
}


def accented(heard: Mapping[str, float], group: str) -> dict[str, float]:
    """Chances of mishearing, as they are for a speaker of this group."""
    _, merged, tones = GROUPS[group]
    made = dict(heard)
    for pairs, strength in merged:
        for one, two in pairs:
            for pair in (f"{one}>{two}", f"{two}>{one}"):
                if pair in made:
                    made[pair] = min(0.8, made[pair] * strength)
    for pair, chance in heard.items():
        if pair[0].isdigit() and pair[0] != pair[-1]:
            made[pair] = min(0.8, chance * tones)
    return made
