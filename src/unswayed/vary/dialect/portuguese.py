"""Brazilian and European Portuguese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.dialect import FeatureEdit, WordExchange, change_some, read_table, split_pairs
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.words import cased, checked_choice, checked_rate

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
    distinct = True
    example = ("O trem está chegando em um minuto.", "O trem está a chegar em um minuto.")

    def __init__(self, to: str = "pt-PT", rate: float = 0.0) -> None:
        self.to, self.rate = checked_choice("to", to, "pt-PT", "pt-BR"), checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        back = self.to == "pt-BR"
        places = exchange_table(back).places(text.text)
        return change_some(text.text, places if back else [*places, *_by_rule(text.text)], self.rate, rng)


@cache
def exchange_table(back: bool) -> WordExchange:
    table = read_table("portuguese")
    pairs = [pair for kind in ("vocabulary", "spelling", "grammar") for pair in split_pairs(table[kind], kind, back)]
    if back:
        pairs += [("autocarro", "ônibus", "vocabulary"), ("autocarros", "ônibus", "vocabulary")]
    return WordExchange(pairs)


def _by_rule(text: str) -> Iterator[FeatureEdit]:
    """What no list of words says: accents, gerunds, and buses, whose number the word before tells."""
    for match in _CIRCUMFLEX.finditer(text):  # *econômico* → *económico*
        start, end = match.span()
        # A name of several words, such as *Antônio Carlos Jobim*, keeps its spelling.
        name = text[start].isupper() and (_NAME_BEFORE.search(text[:start]) or _NAME_AFTER.match(text[end:]))
        if not name and match[0].lower() not in read_table("portuguese")["circumflex"].split():
            yield FeatureEdit(Edit(start, end, f"{match[1]}{_ACUTE[match[2]]}{match[3]}"), "spelling")
    for match in _GERUND.finditer(text):  # *está fazendo* → *está a fazer*
        yield FeatureEdit(Edit(*match.span(), f"{match[1]}{match[2] or ''} a {match[3]}{match[4]}r"), "grammar")
    for match in _BUS.finditer(text):  # *os ônibus* → *os autocarros*
        start = match.end() - len("ônibus")
        new = "autocarros" if (match[1] or "s").strip().endswith(("s", "de")) else "autocarro"
        yield FeatureEdit(Edit(start, match.end(), cased(new, text[start])), "vocabulary")
