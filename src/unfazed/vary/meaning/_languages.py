"""How each language changes what a sentence says: by replacing, by inserting, by leaving out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.meaning._english import English
from unfazed.vary.meaning._table import LONGEST, Found, numbers, table
from unfazed.vary.meaning._words import exchanged, swapped, tokens

_ONE = "o um do no ao pelo num de cada este esse"  # what says that ônibus is one
_SINGULAR = frozenset(_ONE.split())


def replaced(language: str, text: str, rng: Stream) -> list[Found]:
    """Every replacement, one draw each for those that have choices."""
    text = text[:LONGEST]
    found = {"en": _replace_en, "pt": _replace_pt, "zh": _replace_zh}[language](text, rng)
    return table(language).free(text, found)


def inserted(language: str, text: str) -> list[Found]:
    text = text[:LONGEST]
    found = {"en": _insert_en, "pt": _insert_pt, "zh": _insert_zh}[language](text)
    return table(language).free(text, found)


def deleted(language: str, text: str) -> list[Found]:
    text = text[:LONGEST]
    found = English(text).deleted() if language == "en" else table(language).left_out(text)
    return table(language).free(text, found)


def _replace_en(text: str, rng: Stream) -> Iterator[Found]:
    yield from _spaced("en", text, rng, English(text).fits)


def _replace_pt(text: str, rng: Stream) -> Iterator[Found]:
    words = tokens(text)

    def fits(place: int, sense: str) -> bool:
        return sense != "u" or (place > 0 and words[place - 1].text.lower() in _SINGULAR)

    yield from _spaced("pt", text, rng, fits)


def _spaced(language: str, text: str, rng: Stream, fits: Callable[[int, str], bool]) -> Iterator[Found]:
    known = table(language)
    yield from exchanged(text, known, rng.below, fits)
    yield from known.fixed(text)
    yield from numbers(text, iter(rng.bits, -1))
    yield from swapped(text, known)


def _replace_zh(text: str, rng: Stream) -> Iterator[Found]:
    others = table("zh").others
    for match in _chinese().finditer(text):
        for found in others[match[0]]:
            choices = [other for other in found.words if other not in text]
            if choices:
                new = rng.choice(choices)
                yield Found((Edit(match.start(), match.end(), new),), found.kind, f"{match[0]} → {new}")
    yield from numbers(text, iter(rng.bits, -1))


@cache
def _chinese() -> re.Pattern[str]:
    """All words of the table, the longest first; *他* is none in *其他* and *他们*."""
    words = sorted(table("zh").others, key=lambda word: (-len(word), word))
    return re.compile("|".join(f"(?<![其吉]){w}(?!们|人)" if len(w) == 1 else re.escape(w) for w in words))


def _insert_en(text: str) -> Iterator[Found]:
    return English(text).inserted()


def _insert_pt(text: str) -> Iterator[Found]:
    raw = table("pt").raw
    verbs, barred, former = (frozenset(raw[key].split()) for key in ("negate", "negate_after_not", "former"))
    words = tokens(text)
    if text.rstrip().endswith("?"):
        return
    for i, word in enumerate(words):
        before = words[i - 1].text.lower() if i else ""
        if word.text in verbs and before and before not in barred:
            yield Found((Edit(word.start, word.start, "não "),), "denied", f"'não' before {word.text!r}")
        elif word.text in former and before in ("o", "a", "do", "da", "um", "uma", "pelo", "pela", "ao", "os", "dos"):
            yield Found((Edit(word.start, word.start, "ex-"),), "modified", f"'ex-' before {word.text!r}")


def _insert_zh(text: str) -> Iterator[Found]:
    if text.rstrip().endswith(("?", "？", "吗")):
        return
    for rule in table("zh").raw["insert"]:
        word, _, pattern = rule.partition(" < ")
        for match in re.finditer(pattern, text):
            kind = "modified" if word == "前" else "denied"
            yield Found((Edit(match.start(), match.start(), word),), kind, f"{word!r} before {match[0]!r}")
