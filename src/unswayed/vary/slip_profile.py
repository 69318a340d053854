"""How people slip when they type, as numbers: what `keyboard/typist` reads and `calibrate typist` writes."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError
from unswayed.vary.people import read_profiles
from unswayed.vary.slips import STYLES


class SlipProfile(msgspec.Struct, frozen=True, kw_only=True):
    """How the people of one source slip. Chances are per opportunity; weights say how much likelier than others."""

    source: str
    texts: int
    rates: dict[str, float]  # kind → chance, as `slips.PER` counts it
    letters: dict[str, dict[str, float]]  # kind → letter → weight
    places: dict[str, list[float]]  # kind → weight at the beginning, inside and at the end of a word
    lengths: list[float]  # weight of slips of letters in words of 1–3, 4–6, 7–9 and more letters
    frequencies: list[float]  # the same by class of frequency, from the most frequent words to unknown ones
    choices: dict[str, dict[str, float]]  # what is typed instead, by kind: directions of a key, letters, marks, words
    burst: float  # chance that a second slip follows in the same word
    noticed: float  # share of slips that give no word, seen and put right before others are
    haste: list[float]  # equally likely factors by which slips of letters differ between one person's texts
    people: list[list[float]]  # people: a factor of slips of letters, then the chance of each habit of `slips.STYLES`


class Profiles(msgspec.Struct, frozen=True):
    """The profiles of a file: what is left standing (`corrected`), and what is typed at first (`uncorrected`)."""

    modes: dict[str, SlipProfile]
    language: str = "en"


SHIPPED = ("noiseqa", "aalto", "ruspellru")


@lru_cache(16)
def profiles(name: str) -> Profiles:
    """The profiles that ship under a name, or those in a file, checked."""
    shipped = files("unswayed.vary.keyboard") / "data" / f"typing_{name}.json"
    found = read_profiles(shipped if name in SHIPPED else Path(name), Profiles)
    for mode, profile in found.modes.items():
        _check(profile, mode, name)
    return found


def _check(profile: SlipProfile, mode: str, path: str) -> None:
    sizes = {"lengths": (4, len(profile.lengths)), "frequencies": (5, len(profile.frequencies))}
    sizes |= {f"places of {kind}": (3, len(weights)) for kind, weights in profile.places.items()}
    sizes |= {f"people[{k}]": (1 + len(STYLES), len(row)) for k, row in enumerate(profile.people)}
    wrong = next((f"{name} has {n} numbers, not {size}" for name, (size, n) in sizes.items() if n != size), None)
    numbers = [*profile.rates.values(), *profile.lengths, *profile.frequencies, *profile.haste, profile.burst]
    numbers += [
        weight for group in (profile.letters, profile.choices) for one in group.values() for weight in one.values()
    ]
    numbers += [weight for row in (*profile.places.values(), *profile.people) for weight in row]
    if not wrong and not profile.haste:
        wrong = "haste is empty"
    if not wrong and not all(0 <= number < 1e6 for number in numbers):
        wrong = "a number is negative or too large"
    if not wrong and not all(0 <= share <= 1 for share in (*profile.rates.values(), profile.burst, profile.noticed)):
        wrong = "a chance is above 1"
    if wrong:
        raise DataError(f"this is not a profile of typists: in {mode}, {wrong}.", path)
