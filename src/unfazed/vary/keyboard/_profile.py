"""How people type, as numbers: one profile for each person that was fitted, and new people drawn from them."""

from __future__ import annotations

from functools import lru_cache
from math import exp
from pathlib import Path

import msgspec

from unfazed.core.seeds import Stream
from unfazed.vary._people import read_people
from unfazed.vary.keyboard._explain import Kind
from unfazed.vary.keyboard._lexicon import lexicon
from unfazed.vary.keyboard.ime import UNRANKED

# Slips that happen to words. Marks, digits and letters are handled apart.
WORD_KINDS: tuple[Kind, ...] = (
    "select_full",
    "select_abbr",
    "input_full",
    "input_abbr",
    "false_start",
    "stray",
    "omitted",
    "letters",
)
MARKS = ("end", "comma", "list", "quote", "title", "bracket", "space", "dot", "other")  # what `mark_class` tells apart
# Words of 1, 2, 3 or more characters; first in the list and very common, common or rare; further down; not there.
LENGTHS, PLACES = 3, 5
CLASSES = LENGTHS * PLACES
_VERY_COMMON, _COMMON_WORD = (12.0, 9.5, 7.5), (10.0, 5.5, 4.5)  # log frequencies, by length
_COMMON = 0.1  # how much of a new person's rates is everybody's, at least
_FEW = 100  # words on which a rate is as much one's own as everybody's
_SPREAD = 0.15  # how far, in logs, a new person's rates stray from those of the person they take after
_FILE = Path(__file__).parent / "data" / "typists.json"


class Profile(msgspec.Struct, frozen=True):
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


class Population(msgspec.Struct, frozen=True):
    """The people that were fitted, with the engine that ranked the words for it."""

    engine: str
    people: list[Profile]


def read_population(path: Path | str) -> Population:
    return read_people(path, Population, "keyboard")


@lru_cache(8)
def population(path: str = "") -> Population:
    """The people in a file, or those that ship with the package."""
    return read_population(path or _FILE)


def registers(people: list[Profile]) -> list[list[Profile]]:
    """The profiles by the length of the texts that they rest on: people type short questions otherwise than prose."""
    groups: list[list[Profile]] = []
    for person in sorted(people, key=lambda p: p.length):
        if groups and person.length < 2 * groups[-1][0].length:
            groups[-1].append(person)
        else:
            groups.append([person])
    return groups


def new_person(people: list[Profile], rng: Stream) -> Profile:
    """Someone who takes after one of these people, a different one in each draw, as long as there are others."""
    base = rng.dealt(people, "typist")
    stream = rng.habit(f"typist of {base.length}")
    rates = {}
    for kind, own in base.rates.items():
        scale = _near_one(stream)
        rates[kind] = [min(0.6, scale * _shrunk(people, kind, c, rate, base.words[c])) for c, rate in enumerate(own)]
    return msgspec.structs.replace(
        base,
        rates=rates,
        lost=_blend(stream, [p.lost for p in people], base.lost),
        changed=_blend(stream, [p.changed for p in people], base.changed),
        other=sum(p.other * p.others for p in people) / max(1, sum(p.others for p in people)),
    )


def _shrunk(people: list[Profile], kind: str, c: int, rate: float, seen: int) -> float:
    """A person's rate, drawn to that of all by as much as it rests on few words."""
    words = sum(p.words[c] for p in people)
    mean = sum(p.rates[kind][c] * p.words[c] for p in people) / words if words else rate
    own = (1 - _COMMON) * seen / (seen + _FEW)
    return own * rate + (1 - own) * mean


def _blend(rng: Stream, people: list[dict[str, float]], own: dict[str, float]) -> dict[str, float]:
    return {
        mark: min(0.95, _near_one(rng) * ((1 - _COMMON) * rate + _COMMON * sum(p[mark] for p in people) / len(people)))
        for mark, rate in own.items()
    }


def _near_one(rng: Stream) -> float:
    return exp(_SPREAD * normal(rng) - _SPREAD**2 / 2)


def normal(rng: Stream) -> float:
    """A standard normal, near enough: the sum of a few uniform ones."""
    return (sum(rng.random() for _ in range(6)) - 3.0) * 1.4142135623730951


def word_class(word: str, rank: int) -> int:
    """The class of a word by its length, its place in the engine's list, and how common it is."""
    length = min(len(word), LENGTHS) - 1
    if rank:
        return length * PLACES + (3 if rank < UNRANKED else 4)
    frequency = lexicon().frequency.get(word, 0.0)
    return length * PLACES + (frequency < _VERY_COMMON[length]) + (frequency < _COMMON_WORD[length])


_MARK_CLASS = {
    **dict.fromkeys("。！？.!?；;", "end"),
    **dict.fromkeys("，,", "comma"),
    "、": "list",
    **dict.fromkeys("“”‘’\"'", "quote"),
    **dict.fromkeys("《》〈〉", "title"),
    **dict.fromkeys("（）()【】[]", "bracket"),
    **dict.fromkeys(" \u3000\t\u2003", "space"),
    **dict.fromkeys("·•", "dot"),
}


def mark_class(mark: str) -> str:
    return _MARK_CLASS.get(mark, "other")
