"""A telephone instead of a keyboard: thumbs on small keys, and an autocorrection that turns non-words into words.

The weights here are assumptions. They were not counted in people's texts.
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_lowercase

import msgspec

from unswayed.base.edits import Edit
from unswayed.vary.slips import STYLES, SlipProfile
from unswayed.vary.words import cased, word_ranks

# How much likelier a slip is with thumbs than with ten fingers.
_THUMBS = {"near": 2.5, "far": 0.4, "swap": 0.4, "omit": 1.2, "raised": 0.3, "space_lost": 2.0, "space_twice": 0.3}
_AROUND = "\"'(),.:;?!"
_FRIENDLY = 20_000  # rank up to which a word is offered as a correction


def on_phone(profile: SlipProfile, autocorrect: bool) -> SlipProfile:
    """The profile of people with a telephone. Its keyboard begins sentences with a capital if it corrects."""
    rates = {kind: min(rate * _THUMBS.get(kind, 1.0), 1.0) for kind, rate in profile.rates.items()}
    choices = {**profile.choices, "near": {"across": 3.0, "along": 2.0}}  # a thumb misses upwards and downwards too
    people = profile.people
    if autocorrect:
        rates["first_capital"] = 0.0
        first = 1 + STYLES.index("first")
        people = [[0.0 if k == first else value for k, value in enumerate(row)] for row in people]
    return msgspec.structs.replace(profile, rates=rates, choices=choices, people=people, noticed=0.0)


def autocorrected(text: str, edits: list[Edit]) -> list[Edit]:
    """The slips after autocorrection: a word that came out as none is replaced by the likeliest word near it."""
    made: list[Edit] = []
    k = 0
    while k < len(edits):
        low, high = _token(text, edits[k])
        inside = []
        while k < len(edits) and edits[k].end <= high and edits[k].start >= low:
            inside.append(edits[k])
            k += 1
        if not inside:  # spaces came or went, so there is no one word to correct
            made.append(edits[k])
            k += 1
        else:
            made += _corrected(text, low, high, inside)
    return made


def _token(text: str, edit: Edit) -> tuple[int, int]:
    """Where the token begins and ends that an edit is in; nowhere if it has to do with a space."""
    if " " in edit.new or " " in text[edit.start : edit.end]:
        return 0, -1
    high = text.find(" ", edit.end)
    return text.rfind(" ", 0, edit.start) + 1, len(text) if high < 0 else high


def _corrected(text: str, low: int, high: int, inside: list[Edit]) -> list[Edit]:
    typed, at = "", low
    for start, end, new in inside:
        typed, at = typed + text[at:start] + new, end
    typed += text[at:high]
    core = typed.strip(_AROUND)
    if not core.isalpha() or core.lower() in word_ranks():
        return inside
    found = nearest(core.lower())
    if not found:
        return inside
    said = typed.replace(core, cased(found, core), 1)
    return [] if said == text[low:high] else [Edit(low, high, said)]


@lru_cache(65_536)
def nearest(word: str) -> str:
    """The most frequent word that one slip away is; empty if there is none."""
    known = word_ranks()
    near = [other for other in _one_slip(word) if known.get(other, _FRIENDLY) < _FRIENDLY and len(other) > 1]
    return min(near, key=known.__getitem__, default="")


def _one_slip(word: str) -> set[str]:
    halves = [(word[:k], word[k:]) for k in range(len(word) + 1)]
    found = {a + b[1:] for a, b in halves if b}
    found |= {a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1}
    found |= {a + c + b[1:] for a, b in halves if b for c in ascii_lowercase}
    return found | {a + c + b for a, b in halves for c in ascii_lowercase}
