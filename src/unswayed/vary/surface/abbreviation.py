"""Short forms that people use in messages: *u*, *pls*, *tmrw*."""

from __future__ import annotations

import re
import tomllib
from functools import cache

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.surface import DATA, LONGEST, base, fixed_places, in_name, noted
from unswayed.vary.words import cased, checked_rate, some

_FILES = DATA / "abbreviations"
_LANGUAGES = {file.name[:-5] for file in _FILES.iterdir() if file.name.endswith(".toml")}
_UNSPACED = ("zh", "ja")


class Abbreviation(Operator):
    """Writes a word or a phrase as people shorten it in messages: *pls*, *tmrw*, *bcp*, *vllt*.

    Within a draw, a word is always shortened in the same way. With `rate` 0, the default, one word changes. Otherwise
    each word changes with that probability, and at least one.
    """

    version = 2
    languages = ("en", *sorted(_LANGUAGES - {"en"}))
    distinct = True
    presets = ("surface",)
    example = ("please call me tomorrow before you leave", "please call me tomorrow b4 you leave")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        short, pattern = _short_forms(base(text.language))
        written = text.text[:LONGEST]
        fixed = fixed_places(written)
        nouns = base(text.language) == "de"  # which have capitals, as names have elsewhere
        places = [
            match
            for match in pattern.finditer(written)
            if match.start() not in fixed
            and (nouns or match[0].isupper() or not in_name(written, match))
            # a labelled phrase keeps its words, of which the label has a number
            and (" " not in match[0] or not text.labelled(match.start()))
        ]
        edits = []
        for place in some(places, self.rate, rng):
            word = " ".join(place[0].lower().replace("’", "'").split())
            edits.append(Edit(place.start(), place.end(), cased(rng.habit(word).choice(short[word]), place[0])))
        return Change(tuple(edits), noted(written, edits)) if edits and text.keeps(edits) else None


@cache
def _short_forms(language: str) -> tuple[dict[str, list[str]], re.Pattern[str]]:
    """The short forms of a language by what they stand for, and a pattern that finds those, the longest first."""
    listed = tomllib.loads((_FILES / f"{language}.toml").read_text("utf-8"))
    short = {word: forms.split() for word, forms in listed.items()}
    longest = sorted(short, key=lambda word: (-len(word), word))
    words = "|".join(re.escape(word).replace("'", "['’]").replace(r"\ ", r"\s") for word in longest)
    border = ("", "") if language in _UNSPACED else (r"(?<![\w'’-])", r"(?![\w'’-])")
    return short, re.compile(f"{border[0]}(?:{words}){border[1]}", re.I)
