"""Words and texts as operators handle them: how common they are, which to take, how to write new ones, when two are the
same."""

from __future__ import annotations

import gzip
import re
import tomllib
import unicodedata
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from importlib.resources import files
from math import log1p
from operator import add
from typing import TYPE_CHECKING, TypeVar

from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")
_NEVER = 1e-12  # rates below are none
# Fifty thousand English words, a line for each, the most frequent first: the word, and how it is said (see `_speako`).
COMMON_WORDS = files("unswayed.vary") / "spoken" / "data" / "speako_words.tsv.gz"
WORD_RANKS = files("unswayed.vary") / "spoken" / "data" / "speako_ranks.txt.gz"  # their words alone, and the names
FREQUENT = 150  # rank of words that are lost and added by themselves
_FREQUENCY_CLASSES = (100, 1_000, 5_000, 20_000)  # ranks at which classes end; the last is for all other words


def summed(values: Iterable[float]) -> float:
    """The sum, added up from the first to the last. `sum` rounds in another way from Python 3.12 on."""
    return reduce(add, values, 0.0)


def word_lists(file: Traversable) -> dict[str, frozenset[str]]:
    """The lists of words in a TOML file, by name."""
    return {name: frozenset(words.split()) for name, words in tomllib.loads(file.read_text("utf-8")).items()}


@cache
def word_ranks() -> dict[str, int]:
    """The rank of each common English word, in small letters; the most frequent has 0."""
    words = gzip.decompress(WORD_RANKS.read_bytes()).decode().partition("\n")[0].split(" ")
    return dict(zip(words, range(len(words)), strict=True))


@cache
def common_names() -> frozenset[str]:
    """The names among the common words, in small letters: of people, places and peoples."""
    return frozenset(gzip.decompress(WORD_RANKS.read_bytes()).decode().partition("\n")[2].split(" "))


def frequency_class(rank: int | None) -> int:
    """0 for the most frequent words, 4 for the rarest and for words that are not on the list."""
    return len(_FREQUENCY_CLASSES) if rank is None else bisect(_FREQUENCY_CLASSES, rank)


def checked_rate(rate: float) -> float:
    """A rate as it is; raises where it is not from 0 to 1."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be from 0 to 1, not {rate}")
    return rate


def checked_choice(name: str, value: str, *choices: str) -> str:
    """A parameter's value as it is; raises where it is not among the choices."""
    if value not in choices:
        raise UsageError(f"{name} must be {' or '.join(choices)}, not {value!r}.")
    return value


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


def draw_key(weights: Mapping[str, float], rng: Stream) -> str:
    """One of the keys, each as likely as its weight says."""
    return rng.weighted(list(weights), list(weights.values()))


def cased(new: str, old: str) -> str:
    """The new word with capitals where the old one has them: at its beginning, or throughout."""
    if old.islower():
        return new
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def sounds_as_vowel(word: str) -> bool:
    lower = word.lower()
    vowel = lower[:1] in "aeiou" and not lower.startswith(("uni", "eu", "one", "use", "ura"))
    return vowel or lower.startswith("hour")


def common_ends(one: Sequence[object], other: Sequence[object]) -> tuple[int, int]:
    """How many items both begin with, and how many of the others both end with."""
    most = min(len(one), len(other))
    head = next((n for n in range(most) if one[n] != other[n]), most)
    tail = next((n for n in range(most - head) if one[-1 - n] != other[-1 - n]), most - head)
    return head, tail


_MARKS = re.compile(r"[^\w\s]")
_HAN = re.compile(r"([\u3400-\u9fff])")


def tokens(text: str) -> list[str]:
    """Words in small letters without the marks in them, as P̂aRTE counts them; Chinese by the character."""
    return _HAN.sub(r" \1 ", _MARKS.sub("", text.lower())).split()


def normal(text: str) -> str:
    """The text as it is compared: case, marks, spaces and the width of characters are left out of account."""
    return "".join(tokens(unicodedata.normalize("NFKC", text))) or " ".join(text.split())


def jaccard(a: str, b: str) -> float:
    """Shared tokens over all tokens, from 0 to 1."""
    here, there = set(tokens(a)), set(tokens(b))
    return len(here & there) / len(here | there) if here | there else 1.0
