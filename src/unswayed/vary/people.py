"""Simulated people as numbers: who types Chinese, who speaks Mandarin, and recognisers that listen to English.

A file of profiles has whom `unswayed calibrate` fitted; new people are drawn who take after them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from math import exp, inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.seeds import Stream
from unswayed.storage.untrusted_files import read_bounded
from unswayed.vary.chinese import lexicon
from unswayed.vary.chinese_slips import KINDS
from unswayed.vary.keyboard.ime import UNRANKED

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")
_FOLDER = files("unswayed.vary")


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
    a, b, c, d, e, f = rng.randoms(6)  # added in this order, which decides how they are rounded
    normal = (a + b + c + d + e + f - 3.0) * 1.4142135623730951  # near enough: the sum of a few uniform ones
    return exp(spread * normal - spread**2 / 2)


Profile = TypeVar("Profile", "TypistProfile", "SpeakerProfile")


def _pool_rates(
    people: Sequence[Profile], base: Profile, rates_of: Callable[[Profile], list[float]], least: float, few: int
) -> list[float]:
    """A person's rates by class of words, each drawn to that of all people by as much as it rests on few words.

    `least` is how much of them is everybody's at least; on `few` words, a rate is as much one's own as everybody's.
    """
    pooled = []
    for c, own in enumerate(rates_of(base)):
        words = sum(p.words[c] for p in people)
        mean = sum(rates_of(p)[c] * p.words[c] for p in people) / words if words else own
        share = (1 - least) * base.words[c] / (base.words[c] + few)
        pooled.append(share * own + (1 - share) * mean)
    return pooled


class Accent(NamedTuple):
    """Pairs of sounds that speakers of a group are misheard on, either way round, and how much more often than others.

    `share` is that of the group among speakers; `tones` is how much more often tones are shifted; `most` is the highest
    chance.
    """

    pairs: tuple[tuple[str, float], ...]
    share: float = 0.0
    tones: float = 1.0
    most: float = inf


def add_accent(heard: Mapping[str, float], accent: Accent) -> dict[str, float]:
    """Chances of mishearing, such as `n>l`, as they are for a speaker with this accent."""
    made = dict(heard)
    for pairs, strength in accent.pairs:
        for one, two in (pair.split("/") for pair in pairs.split()):
            for change in (f"{one}>{two}", f"{two}>{one}"):
                if change in made:
                    made[change] = min(accent.most, made[change] * strength)
    for change, chance in heard.items():
        if change[0].isdigit() and change[0] != change[-1]:
            made[change] = min(accent.most, chance * accent.tones)
    return made


# Typists of Chinese

WORD_KINDS = KINDS[:8]  # slips that happen to words; marks, digits and letters are handled apart
# As `typed_mark` tells them: the last mark of a text is apart, and so is the point of a number.
TYPED_MARKS = ("close", "end", "point", "comma", "list", "quote", "title", "bracket", "space", "dot", "other")
# Words of 1, 2, 3 or more characters; first in the list and very common, common or rare; further down; not there.
_LENGTHS, _PLACES = 3, 5
TYPED_CLASSES = _LENGTHS * _PLACES
_VERY_COMMON, _COMMON = (12.0, 9.5, 7.5), (10.0, 5.5, 4.5)  # log frequencies, by length
_TYPIST_SPREAD = 0.1  # how far, in logs, a new person's rates stray from those of the person they take after
_MAX_SLIP_CHANCE = 0.6
TYPISTS_FILE = _FOLDER / "keyboard" / "data" / "typists.json"


class Sitting(msgspec.Struct, frozen=True):
    """How a person typed a stretch of texts: people change their ways from one sitting to the next."""

    rows: int
    rates: dict[str, float]  # kind → slips per word
    lost: dict[str, float]  # mark → chance that it is left out
    changed: dict[str, float]  # mark → chance that another one is typed
    added: float  # chance per word of a mark from nowhere
    cut: float  # chance that the end of a text is not typed
    hasty: float  # chance that a text without a slip is typed again: how seldom anything comes out right


class TypistProfile(msgspec.Struct, frozen=True):
    """One person with texts of one length."""

    length: float  # mean number of characters of the texts that were typed
    memory: float  # share of the words that fare alike wherever an example has them
    words: list[int]  # how many words of each class the rates were counted on
    shape: dict[str, list[float]]  # kind → how much likelier it is for each class of word than for all
    joined: dict[str, float]  # kind → chance that the slip takes in the next word too
    others: int  # digits and Latin letters that were seen
    other: float  # chance per digit or Latin letter that it is typed wrong
    pace: float  # how much sentences differ in haste: spread of the log of the error rate
    whole: float  # share of omissions that leave out a whole word of several characters
    first: float  # share of wrong choices that are the first on the list
    missing: float  # mean number of characters that are missing where the end of a text is not typed
    sittings: list[Sitting]

    def rates(self, sitting: Sitting, kind: str) -> list[float]:
        """The chances of a kind of slip in a sitting for each class of word."""
        return [min(_MAX_SLIP_CHANCE, sitting.rates[kind] * likelier) for likelier in self.shape[kind]]


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
    scale: dict[str, float] = {kind: near_one(stream, _TYPIST_SPREAD) for kind in WORD_KINDS}
    shape = {}  # how slips fall on classes of words
    for kind in WORD_KINDS:
        pooled = _pool_rates(people, base, lambda p, kind=kind: p.shape[kind], 0.1, 300)  # type: ignore[misc]
        level = sum(m * n for m, n in zip(pooled, base.words, strict=True)) / max(1, sum(base.words))
        shape[kind] = [m / max(level, 1e-9) for m in pooled]
    return msgspec.structs.replace(
        base,
        shape=shape,
        other=sum(p.other * p.others for p in people) / max(1, sum(p.others for p in people)),
        sittings=[
            msgspec.structs.replace(s, rates={kind: rate * scale[kind] for kind, rate in s.rates.items()})
            for s in base.sittings
        ],
    )


def typed_class(word: str, rank: int) -> int:
    """The class of a word by its length, its place in the engine's list, and how common it is."""
    length = min(len(word), _LENGTHS) - 1
    if rank:
        return length * _PLACES + (3 if rank < UNRANKED else 4)
    frequency = lexicon().log_frequency(word)
    return length * _PLACES + (frequency < _VERY_COMMON[length]) + (frequency < _COMMON[length])


_MARKS_BY_KIND = {
    "end": "。！？.!?；;",
    "comma": "，,",
    "list": "、",
    "quote": "“”‘’\"'",
    "title": "《》〈〉",
    "bracket": "（）()【】[]",
    "space": " \u3000\t\u2003",
    "dot": "·•",
}
_KIND_OF_MARK = {mark: kind for kind, marks in _MARKS_BY_KIND.items() for mark in marks}


def typed_mark(text: str, at: int) -> str:
    """The kind of the mark at this place of a text."""
    kind = _KIND_OF_MARK.get(text[at], "other")
    if kind == "end" and at == len(text) - 1:
        return "close"
    return "point" if text[at] == "." and kind == "end" and text[at + 1].isalnum() else kind


# Speakers of Mandarin

# Pairs of sounds that accents of Mandarin merge. The groups are those of READIN's ten speakers: Harbin; Zhangjiakou and
# Shijiazhuang; Datong; Hefei; Changde, Guangyuan and Zigong; Loudi.
_RETROFLEX, _N_L, _F_H, _R = "zh/z ch/c sh/s", "n/l", "f/h", "r/l r/"
_NASAL, _FRONT_NASAL = "an/ang en/eng in/ing ian/iang uan/uang un/ong", "en/eng in/ing"


GROUPS: Mapping[str, Accent] = {
    name: Accent(pairs, share, tones, 0.8)
    for name, share, tones, pairs in (
        ("northeastern", 0.1, 0.8, ((_RETROFLEX, 1.6), (_R, 2.0), (_NASAL, 0.6), (_N_L, 0.3), (_F_H, 0.4))),
        ("jilu", 0.2, 1.2, ((_RETROFLEX, 0.9), (_NASAL, 0.7), (_N_L, 0.4), (_F_H, 0.5))),
        ("jin", 0.1, 1.3, ((_RETROFLEX, 1.4), (_NASAL, 2.0), (_N_L, 0.6), (_F_H, 0.6))),
        ("jianghuai", 0.1, 1.0, ((_RETROFLEX, 1.4), (_NASAL, 1.6), (_N_L, 2.0), (_F_H, 0.6), (_R, 1.5))),
        ("southwestern", 0.3, 1.1, ((_RETROFLEX, 1.6), (_FRONT_NASAL, 1.8), (_N_L, 2.0), (_F_H, 1.3))),
        ("xiang", 0.2, 1.3, ((_RETROFLEX, 1.5), (_NASAL, 1.6), (_N_L, 1.8), (_F_H, 2.2))),
    )
}


SPOKEN_CLASSES = 12  # what `spoken_class` tells apart
_COMMON_CHARACTER = 11.0  # log frequency from which a word of one character counts as common
_COMMON_SPOKEN = (9.5, 7.5, 5.5)  # those that part longer words
_SPEAKER_SPREAD = 0.12  # how far, in logs, a new speaker's rates stray from those of the speaker they take after
SPEAKERS_FILE = _FOLDER / "speech" / "data" / "speakers.json"


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
    misheard = _pool_rates(people, base, lambda p: p.misheard, 0.15, 150)
    lost = _pool_rates(people, base, lambda p: p.lost, 0.15, 150)
    more, fewer = near_one(rng, _SPEAKER_SPREAD), near_one(rng, _SPEAKER_SPREAD)
    return msgspec.structs.replace(
        base,
        misheard=[min(0.9, more * rate) for rate in misheard],
        lost=[min(0.9, fewer * rate) for rate in lost],
        heard=add_accent(base.heard, GROUPS[group]),
    )


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


# Recognisers of English: `calibrate_listener` counts in real transcripts, `speech/english` simulates

LISTENERS_FOLDER = _FOLDER / "speech" / "data"
LISTENERS = ("noiseqa", "topicalchat_a", "topicalchat_b")
# Words by how common they are, as ranks; each class once for shorter and once for longer words; then numbers.
_BINS = (50, 150, 400, 1000, 3000, 8000, 20_000, 52_000)
_MIN_LONG = 8  # letters
UNKNOWN = 2 * len(_BINS)
NUMBER = UNKNOWN + 2
LISTENER_CLASSES = NUMBER + 1
COMMON_RANK = 150  # words up to here are mostly function words
_MIN_RAISED = 400  # words up to here get no capital but at the beginning of a sentence


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
    path = LISTENERS_FOLDER / f"listener_{name}.json" if name in LISTENERS else Path(name)
    return read_profiles(path, ListenerProfile)


def word_class(word: str, rank: int) -> int:
    """The class of a word in small letters, by its rank; -1 for a word that is not known."""
    if word[0].isdigit():
        return NUMBER
    long = len(word) >= _MIN_LONG
    if rank < 0:
        return UNKNOWN + long
    return 2 * bisect(_BINS, rank) + long


def raisable(word: str, rank: int) -> bool:
    """May a recogniser write a common word with a capital, as if it were part of a title?"""
    return rank >= _MIN_RAISED and not word.endswith(("ed", "ing", "ly"))


ACCENTS: Mapping[str, Accent] = {
    "american": Accent((("T/D AA/AO", 1.5),)),
    "british": Accent((("R/", 2.5), ("AA/AE", 1.5), ("AO/OW", 2.0), ("T/", 1.3))),
    "indian": Accent((("V/W TH/T DH/D", 4.0), ("R/D Z/JH", 2.0), ("P/B T/D", 1.5))),
    "chinese": Accent((("L/R TH/S", 4.0), ("N/L DH/Z", 3.0), ("V/W", 2.5), ("T/ D/", 2.0))),
    "spanish": Accent((("B/V", 4.0), ("IH/IY Z/S SH/CH JH/Y", 3.0), ("/EH", 1.5))),
}
