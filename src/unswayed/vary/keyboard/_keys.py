"""Slips of the fingers on the keys of a pinyin: keys dropped, swapped, doubled, missed, and sounds mixed up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from unswayed.base.seeds import Stream

# How often each slip is seen where one explains the keys: a quarter drop a key, a quarter mix up sounds, …
_SLIPS = ("drop", "sound", "neighbour", "vowel", "swap", "double", "space")
_WEIGHTS = (0.27, 0.27, 0.17, 0.15, 0.05, 0.06, 0.03)
_TWICE = 0.2  # share of slips that come as two
_VOWELS = {"o": "ia", "i": "ouea", "u": "iae", "e": "aiu", "a": "euoi"}


def slip(keys: str, rng: Stream) -> str:
    """The keys with one slip, or two; never the same keys."""
    made = _one(keys, rng)
    if len(keys) > 4 and rng.random() < _TWICE:
        made = _one(made, rng)
    for _ in range(8):
        if made != keys and made:
            return made
        made = _one(keys, rng)
    return keys + keys[-1:]


def _one(keys: str, rng: Stream) -> str:
    kind = rng.weighted(_SLIPS, _WEIGHTS)
    if kind == "sound":
        return _mix_sounds(keys, rng)
    if len(keys) < 2:
        return rng.choice(_near(keys))
    at = 1 + rng.below(len(keys) - 1)  # the first key of a word is seldom wrong
    c = keys[at]
    if kind == "drop":
        return keys[:at] + keys[at + 1 :]
    if kind == "swap":
        return keys[: at - 1] + c + keys[at - 1] + keys[at + 1 :]
    if kind == "double":
        return keys[:at] + c + keys[at:]
    if kind == "space":  # a key too many, before the space bar
        return keys + rng.choice("iuhnge")
    near = _VOWELS.get(c) if kind == "vowel" else None
    return keys[:at] + rng.choice(near or _near(c)) + keys[at + 1 :]


@cache  # of the letters; layouts are loaded when the first key is missed
def _near(key: str) -> Sequence[str]:
    """The keys beside this one."""
    from unswayed.vary.keyboard.adjacent import slips_on

    return slips_on("en")[key] or "e"


def _mix_sounds(keys: str, rng: Stream) -> str:
    """n for ng, z for zh, and the other way round: a way of speaking rather than of moving the fingers."""
    ways = []
    for i, c in enumerate(keys):
        if c == "g" and i and keys[i - 1] == "n":
            ways += [keys[:i] + keys[i + 1 :]] * 2
        elif c == "h" and i and keys[i - 1] in "zcs":
            ways.append(keys[:i] + keys[i + 1 :])
        elif c == "n" and i and keys[i - 1] in "aeio" and keys[i + 1 : i + 2] != "g":
            ways += [keys[: i + 1] + "g" + keys[i + 1 :]] * 2
        elif c in "zcs" and keys[i + 1 : i + 2] != "h":
            ways.append(keys[: i + 1] + "h" + keys[i + 1 :])
    return rng.choice(ways) if ways else keys
