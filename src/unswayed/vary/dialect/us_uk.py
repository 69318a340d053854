"""American and British English."""

from __future__ import annotations

from functools import cache
from itertools import product

from unswayed.base.seeds import Stream
from unswayed.vary.dialect import WordExchange, change_some, read_table, split_pairs
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.words import checked_choice, checked_rate

_IZE = ("ize", "izes", "ized", "izing", "ization", "izations", "izer", "izers")
_YZE = ("yze", "yzes", "yzed", "yzing", "yzer", "yzers")


class UsUk(Operator):
    """Replaces American spellings and words by British ones, such as *colour* and *lorry*. `to=us` is the reverse.

    With `rate` 0, the default, one word changes. Otherwise each word changes with that probability, and at least one.
    """

    languages = ("en",)
    distinct = True
    example = ("the theater has an elevator and gray walls", "the theater has an elevator and grey walls")

    def __init__(self, to: str = "uk", rate: float = 0.0) -> None:
        self.to, self.rate = checked_choice("to", to, "uk", "us"), checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        return change_some(text.text, exchange_table(self.to == "us").places(text.text), self.rate, rng, articles=True)


@cache
def exchange_table(back: bool) -> WordExchange:
    """American words with the British ones; with `back` the other way."""
    table = read_table("us_uk")
    pairs = [*split_pairs(table["spelling"], "spelling", back, table["endings"])]
    for stems, endings in ((table["ize"] if back else "", _IZE), (table["yze"], _YZE)):  # *-ize* is British, too
        for stem, ending in product(stems.split(), endings):
            american, british = stem + ending, stem + ending.replace("z", "s")
            pairs.append((british, american, "spelling") if back else (american, british, "spelling"))
    return WordExchange([*pairs, *split_pairs(table["vocabulary"], "vocabulary", back)])
