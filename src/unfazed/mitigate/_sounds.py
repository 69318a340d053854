"""How Chinese characters sound, and which syllables people take for each other."""

from __future__ import annotations

from functools import lru_cache

from unfazed.vary.chinese import lexicon

_READINGS = 3  # of a character, the commonest first
_INITIALS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("f", "h"), ("l", "r"))
_FINALS = (("ang", "an"), ("eng", "en"), ("ing", "in"))


@lru_cache(1)
def readings() -> dict[str, tuple[str, ...]]:
    """The syllables of each character, tones aside."""
    found: dict[str, list[tuple[float, str]]] = {}
    for syllable, characters in lexicon().characters.items():
        for character, frequency in characters:
            found.setdefault(character, []).append((-frequency, syllable))
    return {c: tuple(s for _, s in sorted(of)[:_READINGS]) for c, of in found.items()}


@lru_cache(1)
def near() -> dict[str, tuple[str, ...]]:
    """For each syllable those that accents do not tell from it: zh and z, n and l, an and ang."""
    return {syllable: tuple(sorted(_near(syllable))) for syllable in lexicon().syllables}


def _near(syllable: str) -> set[str]:
    initial, final = _split(syllable)
    others = {b if initial == a else a for a, b in _INITIALS if initial in (a, b)}
    found = {other + final for other in others}
    for a, b in _FINALS:
        for one, other in ((a, b), (b, a)):
            if final.endswith(one):
                found.add(initial + final.removesuffix(one) + other)
    return found & lexicon().syllables - {syllable}


def _split(syllable: str) -> tuple[str, str]:
    size = 2 if syllable[1:2] == "h" else 1
    return syllable[:size], syllable[size:]
