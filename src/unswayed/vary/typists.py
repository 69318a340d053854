"""Simulated typists of Chinese as numbers: the people that were fitted, the sittings they typed in, and new people."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

import msgspec

from unswayed.base.seeds import Stream
from unswayed.vary.chinese import lexicon
from unswayed.vary.chinese_slips import KINDS
from unswayed.vary.keyboard.ime import UNRANKED
from unswayed.vary.people import near_one, read_profiles

WORD_KINDS = KINDS[:8]  # slips that happen to words; marks, digits and letters are handled apart
# As `typed_mark` tells them: the last mark of a text is apart, and so is the point of a number.
MARKS = ("close", "end", "point", "comma", "list", "quote", "title", "bracket", "space", "dot", "other")
# Words of 1, 2, 3 or more characters; first in the list and very common, common or rare; further down; not there.
LENGTHS, PLACES = 3, 5
CLASSES = LENGTHS * PLACES
_VERY_COMMON, _COMMON = (12.0, 9.5, 7.5), (10.0, 5.5, 4.5)  # log frequencies, by length
_EVERYBODY = 0.1  # how much of a new person's rates is everybody's, at least
_FEW = 300  # words on which a class's rate is as much one's own as everybody's
_SPREAD = 0.1  # how far, in logs, a new person's rates stray from those of the person they take after
_MOST = 0.6  # the highest chance of a slip
TYPISTS_FILE = files("unswayed.vary") / "keyboard" / "data" / "typists.json"


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
        return [min(_MOST, sitting.rates[kind] * likelier) for likelier in self.shape[kind]]


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
    scale: dict[str, float] = {kind: near_one(stream, _SPREAD) for kind in WORD_KINDS}
    return msgspec.structs.replace(
        base,
        shape={kind: _shape(people, base, kind) for kind in WORD_KINDS},
        other=sum(p.other * p.others for p in people) / max(1, sum(p.others for p in people)),
        sittings=[
            msgspec.structs.replace(s, rates={kind: rate * scale[kind] for kind, rate in s.rates.items()})
            for s in base.sittings
        ],
    )


def _shape(people: list[TypistProfile], base: TypistProfile, kind: str) -> list[float]:
    """How a person's slips fall on classes of words, each drawn to that of all by as much as it rests on few words."""
    made = []
    for c, own in enumerate(base.shape[kind]):
        words = sum(p.words[c] for p in people)
        mean = sum(p.shape[kind][c] * p.words[c] for p in people) / words if words else own
        share = (1 - _EVERYBODY) * base.words[c] / (base.words[c] + _FEW)
        made.append(share * own + (1 - share) * mean)
    level = sum(m * n for m, n in zip(made, base.words, strict=True)) / max(1, sum(base.words))
    return [m / max(level, 1e-9) for m in made]


def typed_class(word: str, rank: int) -> int:
    """The class of a word by its length, its place in the engine's list, and how common it is."""
    length = min(len(word), LENGTHS) - 1
    if rank:
        return length * PLACES + (3 if rank < UNRANKED else 4)
    frequency = lexicon().log_frequency(word)
    return length * PLACES + (frequency < _VERY_COMMON[length]) + (frequency < _COMMON[length])


_MARK: Mapping[str, str] = {
    **dict.fromkeys("。！？.!?；;", "end"),
    **dict.fromkeys("，,", "comma"),
    "、": "list",
    **dict.fromkeys("“”‘’\"'", "quote"),
    **dict.fromkeys("《》〈〉", "title"),
    **dict.fromkeys("（）()【】[]", "bracket"),
    **dict.fromkeys(" \u3000\t\u2003", "space"),
    **dict.fromkeys("·•", "dot"),
}


def typed_mark(text: str, at: int) -> str:
    """The kind of the mark at this place of a text."""
    kind = _MARK.get(text[at], "other")
    if kind == "end" and at == len(text) - 1:
        return "close"
    return "point" if text[at] == "." and kind == "end" and text[at + 1].isalnum() else kind
