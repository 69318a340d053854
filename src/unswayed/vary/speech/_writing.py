"""How English recognisers write words that they heard right: numbers, capitals and contractions."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
DIGITS = {word: str(k) for k, word in enumerate(_UNITS)}
LARGER = {word: str(10 + k) for k, word in enumerate(_TEENS)} | {word: str(20 + 10 * k) for k, word in enumerate(_TENS)}
SPELLED = {digit: word for word, digit in DIGITS.items()}
_ORDINALS = "third 3rd fourth 4th fifth 5th sixth 6th seventh 7th eighth 8th ninth 9th tenth 10th twelfth 12th"
ORDINALS = dict(zip(_ORDINALS.split()[::2], _ORDINALS.split()[1::2], strict=True))
ROMAN = re.compile(r"(?=[IVXL]{2})X{0,3}L?X{0,3}(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50}
NUMERALS = {"II": "two", "III": "three", "IV": "four", "VI": "six", "VII": "seven", "VIII": "eight", "IX": "nine"}
_REIGNS = {"2": "the second", "3": "the third", "4": "the fourth"}
_CONTRACTED = """
i am/i'm, it is/it's, that is/that's, there is/there's, he is/he's, she is/she's, they are/they're, we are/we're,
you are/you're, i have/i've, i will/i'll, i would/i'd, what is/what's, who is/who's, do not/don't, does not/doesn't,
did not/didn't, can not/can't, is not/isn't, was not/wasn't, let us/let's
"""
_PAIRS = [pair.strip().split("/") for pair in _CONTRACTED.split(",")]
CONTRACTED = {(long.split()[0], long.split()[1]): short for long, short in _PAIRS}
EXPANDED = {short: " ".join(long) for long, short in CONTRACTED.items()}
_CAPITAL_I = re.compile(r"\bi(?=\b)")


class Written(NamedTuple):
    """A way to write a word otherwise, and its kind."""

    kind: str
    new: str


@cache
def rewritten(word: str, low: str) -> Written | None:
    """The other way to write a word that was heard right, if there is one."""
    if low in DIGITS:
        return Written("digits", DIGITS[low])
    if low in LARGER:
        return Written("tens", LARGER[low])
    if low in ORDINALS:
        return Written("ordinals", ORDINALS[low])
    if low in SPELLED:
        return Written("spelled", SPELLED[low])
    if low in EXPANDED:
        return Written("expanded", EXPANDED[low])
    if re.fullmatch(r"\d+0['’]s", low):
        return Written("decades", low[:-2] + "s")
    if len(word) > 1 and ROMAN.fullmatch(word):
        number = str(_arabic(word))
        return Written("roman", _REIGNS.get(number, number))
    return None


def _arabic(roman: str) -> int:
    values = [_ROMAN_DIGITS[c] for c in roman]
    return sum(-v if v < max(values[k:]) else v for k, v in enumerate(values))


def with_capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def as_said(word: str) -> str:
    """The word *I* and its contractions always have a capital."""
    return _CAPITAL_I.sub("I", word) if word[:1] == "i" and (word == "i" or word[1:2] == "'") else word


def mark_in(gap: str) -> str:
    """The mark that a pause between two words has: `.`, `?`, `!` or `,`, or none."""
    return next((c for c in gap if c in ".?!"), "," if set(gap) & set(",;:") else "")
