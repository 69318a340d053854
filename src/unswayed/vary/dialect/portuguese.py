"""Brazilian and European Portuguese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.dialect import FeatureEdit, WordExchange, change_some, read_table, split_pairs
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.words import checked_choice, checked_rate

_CIRCUMFLEX = re.compile(r"\b(\w*)([ôê])(?=[mn][aeiouáéíóú])(\w*)")
_ACUTE = {"ô": "ó", "ê": "é"}
_GERUND = re.compile(r"\b(est(?:ou|á|ão|amos|ava|avam))( não)? ([a-zà-ÿ]{2,}?)(a|e|i)ndo\b")
_BUS = re.compile(r"\b(\w+ )?ônibus\b(?! espaciais| espacial)", re.IGNORECASE)
_NAME_BEFORE, _NAME_AFTER = re.compile(r"\b[A-ZÀ-Ý][\w.]* $"), re.compile(r" (?:d[aeo]s? )?[A-ZÀ-Ý]")


class Portuguese(Operator):
    """Rewrites Brazilian Portuguese as in Portugal: words, spelling, *está a fazer*, *num*. `to=pt-BR` is the reverse.

    With `rate` 0, the default, one place changes. Otherwise each place changes with that probability, and at least one.
    """

    languages = ("pt",)
    example = ("O trem está chegando em um minuto.", "O trem está a chegar em um minuto.")

    def __init__(self, to: str = "pt-PT", rate: float = 0.0) -> None:
        self.to, self.rate = checked_choice("to", to, "pt-PT", "pt-BR"), checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        back = self.to == "pt-BR"
        places = list(exchange_table(back).places(text.text))
        if not back:
            places += [*_accents(text.text), *_gerunds(text.text), *_buses(text.text)]
        return change_some(text.text, places, self.rate, rng)


@cache
def exchange_table(back: bool) -> WordExchange:
    table = read_table("portuguese")
    pairs = [pair for kind in ("vocabulary", "spelling", "grammar") for pair in split_pairs(table[kind], kind, back)]
    if back:
        pairs += [("autocarro", "ônibus", "vocabulary"), ("autocarros", "ônibus", "vocabulary")]
    return WordExchange(pairs)


@cache
def _kept() -> frozenset[str]:
    return frozenset(read_table("portuguese")["circumflex"].split())


def _accents(text: str) -> Iterator[FeatureEdit]:
    """*econômico* → *económico*."""
    for match in _CIRCUMFLEX.finditer(text):
        if match[0].lower() not in _kept() and not _in_full_name(text, match.start(), match.end()):
            new = f"{match[1]}{_ACUTE[match[2]]}{match[3]}"
            yield FeatureEdit(Edit(match.start(), match.end(), new), "spelling")


def _in_full_name(text: str, start: int, end: int) -> bool:
    """Is this part of a name of several words, such as *Antônio Carlos Jobim*, which keeps its spelling?"""
    capital = text[start].isupper()
    return capital and bool(_NAME_BEFORE.search(text[:start]) or _NAME_AFTER.match(text[end:]))


def _gerunds(text: str) -> Iterator[FeatureEdit]:
    """*está fazendo* → *está a fazer*."""
    for match in _GERUND.finditer(text):
        new = f"{match[1]}{match[2] or ''} a {match[3]}{match[4]}r"
        yield FeatureEdit(Edit(match.start(), match.end(), new), "grammar")


def _buses(text: str) -> Iterator[FeatureEdit]:
    """*os ônibus* → *os autocarros*: the word before says how many."""
    for match in _BUS.finditer(text):
        start = match.end() - len("ônibus")
        many = (match[1] or "s").strip().endswith(("s", "de"))
        new = "autocarros" if many else "autocarro"
        capital = new.capitalize() if text[start].isupper() else new
        yield FeatureEdit(Edit(start, match.end(), capital), "vocabulary")
