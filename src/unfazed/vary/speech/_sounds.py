"""How Mandarin words sound: syllables with tones, their initials and finals, and how likely one is heard as another."""

from __future__ import annotations

import re
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

from unfazed.vary.keyboard._lexicon import lexicon

_FILE = Path(__file__).parent / "data" / "tones.txt"
_INITIAL = re.compile(r"zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw]?")
_MARKED = re.compile(r"(.)(\d)")
NEUTRAL = 5


class Syllable(NamedTuple):
    """A syllable as it is spelled, and its tone from 1 to 5."""

    plain: str
    tone: int


@lru_cache(2_000)
def halves(plain: str) -> tuple[str, str]:
    """Initial and final. After j, q, x and y the letter u is ü; yi and wu have no initial of their own."""
    initial = _INITIAL.match(plain)[0]  # type: ignore[index]
    final = plain[len(initial) :]
    if initial in ("j", "q", "x", "y") and final.startswith("u"):
        final = "v" + final[1:]
    if initial == "y":
        final = final if final[0] in "iv" else "i" + final
        return "", {"ie": "ie", "ian": "ian"}.get(final, final)
    if initial == "w":
        return "", final if final[0] == "u" else "u" + {"ei": "i", "en": "n", "eng": "eng"}.get(final, final)
    if initial in ("zh", "ch", "sh", "r", "z", "c", "s") and final == "i":
        final = "-i"  # the buzzed vowel of zhi and zi
    return initial, final


@lru_cache(1)
def _tones() -> dict[tuple[str, str], int]:
    found = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        plain, marked = line.split("\t")
        for c, tone in _MARKED.findall(marked):
            found[c, plain] = int(tone)
    return found


@lru_cache(100_000)
def pronounced(word: str) -> tuple[Syllable, ...] | None:
    """The syllables of a word, or None if a character has no reading."""
    plain = lexicon().reading(word)
    return spoken(word, plain) if plain else None


def spoken(word: str, plain: tuple[str, ...]) -> tuple[Syllable, ...]:
    """The syllables of a word that is read so."""
    tones = _tones()
    return tuple(Syllable(p, tones.get((c, p), NEUTRAL)) for c, p in zip(word, plain, strict=True))


class Ear:
    """What is heard for what: costs, as negative logs of chances, of hearing one initial, final or tone for another.

    `heard` maps `n>l`, `an>ang` or `1>4` to a chance; what is not named is as likely as `_REST` of all that is unnamed.
    """

    _REST = 0.004

    def __init__(self, heard: dict[str, float]) -> None:
        self._heard = heard
        self._near: dict[str, list[tuple[str, float]]] = {}
        self._tone = {(a, b): self._cost(f"{a}>{b}", 0.0 if a == b else 3.0) for a in range(1, 6) for b in range(1, 6)}

    def _cost(self, pair: str, otherwise: float) -> float:
        chance = self._heard.get(pair)
        return otherwise if chance is None else -log(max(chance, 1e-4))

    def half(self, one: str, two: str) -> float:
        """The cost of hearing an initial or a final as another."""
        return self._cost(f"{one}>{two}", 0.3 if one == two else -log(self._REST))

    def tones(self, one: tuple[Syllable, ...], two: tuple[Syllable, ...]) -> float:
        """The cost of hearing the tones of one as those of the other."""
        tone = self._tone
        return sum([tone[a[1], b[1]] for a, b in zip(one, two, strict=True)])

    def near(self, plain: str, most: int) -> list[tuple[str, float]]:
        """The syllables that this one is likeliest heard as, itself among them, with their costs."""
        found = self._near.get(plain)
        if found is None:
            initial, final = halves(plain)
            rated = []
            for other in sorted(lexicon().syllables):
                i, f = halves(other)
                cost = self.half(initial, i) + self.half(final, f)
                if cost < 9.5:
                    rated.append((other, cost))
            found = self._near[plain] = sorted(rated, key=lambda pair: pair[1])
        return found[:most]
