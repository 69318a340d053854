"""Simulated people as numbers: a profile for each typist or speaker that was fitted, and new people drawn from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import exp
from pathlib import Path
from typing import TypeVar

import msgspec

from unfazed.core.errors import DataError
from unfazed.core.json import decode
from unfazed.core.outside import read_bounded
from unfazed.core.seeds import Stream
from unfazed.vary.chinese import KINDS, lexicon
from unfazed.vary.keyboard.ime import UNRANKED

T = TypeVar("T")


def read_profiles(path: Path | str, kind: type[T]) -> T:
    """The people in a file that `unfazed calibrate` wrote: `Typists` or `Speakers`."""
    try:
        return decode(read_bounded(Path(path)), kind)
    except OSError as error:
        raise DataError(error.strerror or str(error), path) from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"this is not a file of {kind.__name__.lower()} that `unfazed calibrate` wrote: {error}", path
        ) from error


WORD_KINDS = KINDS[:8]  # slips that happen to words; marks, digits and letters are handled apart
TYPED_MARKS = ("end", "comma", "list", "quote", "title", "bracket", "space", "dot", "other")  # as in `typed_mark`
# Words of 1, 2, 3 or more characters; first in the list and very common, common or rare; further down; not there.
LENGTHS, PLACES = 3, 5
TYPED_CLASSES = LENGTHS * PLACES
_VERY_COMMON_TYPED, _COMMON_TYPED = (12.0, 9.5, 7.5), (10.0, 5.5, 4.5)  # log frequencies, by length
_TYPIST_COMMON = 0.1  # how much of a new person's rates is everybody's, at least
_TYPIST_FEW = 100  # words on which a rate is as much one's own as everybody's
_TYPIST_SPREAD = 0.15  # how far, in logs, a new person's rates stray from those of the person they take after
TYPISTS_FILE = Path(__file__).parent / "keyboard" / "data" / "typists.json"


class TypistProfile(msgspec.Struct, frozen=True):
    """One person with texts of one length. Rates are chances per word by class, or per mark of a kind."""

    length: float  # mean number of characters of the texts that were typed
    memory: float  # share of the words that fare alike wherever an example has them
    words: list[int]  # how many words of each class the rates were counted on
    rates: dict[str, list[float]]  # kind → chance for each class of word
    joined: dict[str, float]  # kind → chance that the slip takes in the next word too
    lost: dict[str, float]  # mark → chance that it is left out
    changed: dict[str, float]  # mark → chance that another one is typed
    added: float  # chance per word of a mark from nowhere
    others: int  # digits and Latin letters that were seen
    other: float  # chance per digit or Latin letter that it is typed wrong
    pace: float  # how much sentences differ in haste: spread of the log of the error rate
    care: float  # how much a slip makes them watch out for a while, and its absence lulls them
    whole: float  # share of omissions that leave out a whole word of several characters
    first: float  # share of wrong choices that are the first on the list


class Typists(msgspec.Struct, frozen=True):
    """The people that were fitted, with the engine that ranked the words for it."""

    engine: str
    people: list[TypistProfile]


@lru_cache(8)
def typists(path: str = "") -> Typists:
    """The people in a file, or those that ship with the package."""
    return read_profiles(path or TYPISTS_FILE, Typists)


def registers(people: list[TypistProfile]) -> list[list[TypistProfile]]:
    """The profiles by the length of the texts that they rest on: people type short questions otherwise than prose."""
    groups: list[list[TypistProfile]] = []
    for person in sorted(people, key=lambda p: p.length):
        if groups and person.length < 2 * groups[-1][0].length:
            groups[-1].append(person)
        else:
            groups.append([person])
    return groups


def new_typist(people: list[TypistProfile], rng: Stream) -> TypistProfile:
    """Someone who takes after one of these people, a different one in each draw, as long as there are others."""
    base = rng.dealt(people, "typist")
    stream = rng.habit(f"typist of {base.length}")
    rates = {}
    for kind, own in base.rates.items():
        scale = _near_one(stream, _TYPIST_SPREAD)
        everyone = [p.rates[kind] for p in people]
        drawn = _shrunk(people, own, everyone, base.words, _TYPIST_COMMON, _TYPIST_FEW)
        rates[kind] = [min(0.6, scale * rate) for rate in drawn]
    return msgspec.structs.replace(
        base,
        rates=rates,
        lost=_blend(stream, [p.lost for p in people], base.lost),
        changed=_blend(stream, [p.changed for p in people], base.changed),
        other=sum(p.other * p.others for p in people) / max(1, sum(p.others for p in people)),
    )


def _shrunk(
    people: Sequence[TypistProfile | SpeakerProfile], own: list[float], everyone: list[list[float]], seen: list[int],
    common: float, few: int,
) -> Iterator[float]:  # fmt: skip
    """A person's rates by class, each drawn to that of all by as much as it rests on few words."""
    for c, rate in enumerate(own):
        words = sum(p.words[c] for p in people)
        mean = sum(rates[c] * p.words[c] for rates, p in zip(everyone, people, strict=True)) / words if words else rate
        share = (1 - common) * seen[c] / (seen[c] + few)
        yield share * rate + (1 - share) * mean


def _blend(rng: Stream, people: list[dict[str, float]], own: dict[str, float]) -> dict[str, float]:
    made = {}
    for mark, rate in own.items():
        mean = _TYPIST_COMMON * sum(p[mark] for p in people) / len(people)
        made[mark] = min(0.95, _near_one(rng, _TYPIST_SPREAD) * ((1 - _TYPIST_COMMON) * rate + mean))
    return made


def _near_one(rng: Stream, spread: float) -> float:
    return exp(spread * normal(rng) - spread**2 / 2)


def normal(rng: Stream) -> float:
    """A standard normal, near enough: the sum of a few uniform ones."""
    return (sum(rng.random() for _ in range(6)) - 3.0) * 1.4142135623730951


def typed_class(word: str, rank: int) -> int:
    """The class of a word by its length, its place in the engine's list, and how common it is."""
    length = min(len(word), LENGTHS) - 1
    if rank:
        return length * PLACES + (3 if rank < UNRANKED else 4)
    frequency = lexicon().frequency.get(word, 0.0)
    return length * PLACES + (frequency < _VERY_COMMON_TYPED[length]) + (frequency < _COMMON_TYPED[length])


_TYPED_MARK = {
    **dict.fromkeys("。！？.!?；;", "end"),
    **dict.fromkeys("，,", "comma"),
    "、": "list",
    **dict.fromkeys("“”‘’\"'", "quote"),
    **dict.fromkeys("《》〈〉", "title"),
    **dict.fromkeys("（）()【】[]", "bracket"),
    **dict.fromkeys(" \u3000\t\u2003", "space"),
    **dict.fromkeys("·•", "dot"),
}


def typed_mark(mark: str) -> str:
    return _TYPED_MARK.get(mark, "other")


SPOKEN_CLASSES = 12  # what `spoken_class` tells apart
_COMMON_CHARACTER = 11.0  # log frequency from which a word of one character counts as common
_COMMON_SPOKEN = (9.5, 7.5, 5.5)  # those that part longer words
_SPEAKER_COMMON = 0.15  # how much of a new speaker's rates is everybody's, at least
_SPEAKER_FEW = 150  # words on which a rate is as much one's own as everybody's
_SPEAKER_SPREAD = 0.12  # how far, in logs, a new speaker's rates stray from those of the speaker they take after
SPEAKERS_FILE = Path(__file__).parent / "speech" / "data" / "speakers.json"


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
        misheard=_rates(people, base, "misheard", _near_one(rng, _SPEAKER_SPREAD)),
        lost=_rates(people, base, "lost", _near_one(rng, _SPEAKER_SPREAD)),
        heard=accented(base.heard, group),
    )


def _rates(people: list[SpeakerProfile], base: SpeakerProfile, name: str, scale: float) -> list[float]:
    everyone = [getattr(p, name) for p in people]
    drawn = _shrunk(people, getattr(base, name), everyone, base.words, _SPEAKER_COMMON, _SPEAKER_FEW)
    return [min(0.9, scale * rate) for rate in drawn]


def spoken_class(word: str, beside_single: bool) -> int:
    """The class of a word by its length, how common it is, and whether a single one stands beside another."""
    if len(word) == 1:
        return rare_character(word) + 2 * beside_single
    frequency = lexicon().frequency.get(word, 0.0)
    return 4 * min(2, len(word) - 1) + sum(frequency < bound for bound in _COMMON_SPOKEN)


def rare_character(word: str) -> bool:
    """Is this one character that seldom stands alone?"""
    return len(word) == 1 and lexicon().frequency.get(word, 0.0) < _COMMON_CHARACTER


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
