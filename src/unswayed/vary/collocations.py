"""Which English words belong together, as *food court* does, how common each is, and which don't stand for others."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate

from unswayed.vary.english import KIND_OF, Tagged
from unswayed.vary.spoken._speako import ears
from unswayed.vary.words import word_lists

_PAIRS = files("unswayed.vary") / "speech" / "data" / "english_pairs.txt.xz"
_SPARED = word_lists(files("unswayed.vary") / "spoken" / "data" / "synonyms_spared.toml")
OF_PEOPLE = frozenset(("me", "us", "you", "him", "her", "them"))
_UNRANKED = 100_000
NOUNS = frozenset(("NN", "NNS", "NNP"))
BEFORE_NOUNS = frozenset(("DT", "JJ", "PRP$", "POS"))
PARTICLES = frozenset(("up", "out", "off", "down", "away", "back", "over", "around"))
_FIXED, _USUAL = 5, 3  # bits from which on two words are a fixed expression, or are usually said together
NAMING = frozenset(("called", "titled", "entitled", "named", "name", "title"))
_COMMON, _RARER = 10_000, 8  # ranks: a candidate may be so rare, or so many times rarer than the word


class Collocations:
    """Ranks of words by how common they are, and bits by which a pair is likelier than chance."""

    def __init__(self) -> None:
        self._rank = ears().ranks
        self._rows = lzma.decompress(_PAIRS.read_bytes()).decode().split("\n")
        self._after: dict[int, dict[int, int]] = {}  # by first word and second; read when asked for, since few are

    def rank(self, word: str) -> int:
        """How many words are commoner."""
        return self._rank.get(word, _UNRANKED)

    def bits(self, first: str, second: str) -> int:
        """By how many bits the second word is likelier after the first than by chance; 0 for unknown pairs."""
        one, two = self._rank.get(first), self._rank.get(second)
        if one is None or two is None:
            return 0
        after = self._after.get(one)
        return (self._read(one) if after is None else after).get(two, 0)

    def _read(self, first: int) -> dict[int, int]:
        """The bits of a word's pairs. A cell is the bits and how far the second word is from the one before, in hex."""
        cells = self._rows[first].split() if first < len(self._rows) else []
        seconds = accumulate(int(cell[1:], 16) for cell in cells)
        self._after[first] = found = {second: int(cell[0], 16) for second, cell in zip(seconds, cells, strict=True)}
        return found


@lru_cache(1)
def collocations() -> Collocations:
    return Collocations()


def in_name(words: Sequence[Tagged], i: int) -> bool:
    """Is the noun, adjective or verb part of a name or of a compound, as in *fort worth* and *the daily show*?"""
    kind = KIND_OF.get(words[i].tag)
    before, after = words[i - 1].tag if i else "", words[i + 1].tag if i + 1 < len(words) else ""
    if kind == "n":
        return before in NOUNS or after in NOUNS
    if kind == "a":
        return before == "NNP" or after == "NNP"
    if kind == "v":
        noun = before in BEFORE_NOUNS or (not after and before in NOUNS)
        return noun or (bool(after) and after != "RP" and words[i + 1].lower in PARTICLES)
    return False


def collocated(before: str, after: str, word: str, candidate: str, strict: bool = False) -> bool:
    """May the candidate stand for the word between two others? Not in a fixed expression, nor if much rarer."""
    found = collocations()
    if f"{word}/{candidate}" in _SPARED["fine"] and not strict:
        return True
    if found.rank(candidate) > max(_COMMON, _RARER * found.rank(word)):
        return False
    fixed = _USUAL if strict else _FIXED
    if found.bits(before, word) >= fixed and not found.bits(before, candidate):
        return False
    return found.bits(word, after) < fixed or bool(found.bits(candidate, after))


def vague(lemma: str, other: str, after: str) -> bool:
    """Does one of the two mean something else with each object, so that it stands for nothing else?"""
    if lemma not in _SPARED["vague"] and other not in _SPARED["vague"]:
        return False
    pair = f"{lemma}/{other}"
    return pair not in _SPARED["fine"] and (after not in OF_PEOPLE or pair not in _SPARED["fine_for_people"])


def everywhere(lemma: str, other: str, after: str) -> bool:
    """Do the two say the same with any object?"""
    pair = f"{lemma}/{other}"
    listed = pair in _SPARED["fine"] and pair not in _SPARED["fine_of_music"]
    return listed or (after in OF_PEOPLE and pair in _SPARED["fine_for_people"])


def never(lemma: str, other: str) -> bool:
    """Is this a pair that a thesaurus has and nobody means?"""
    return f"{lemma}/{other}" in _SPARED["never"]
