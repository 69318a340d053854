"""A letter held for longer: *soooo*."""

from __future__ import annotations

import re
import unicodedata

from unswayed.base.edits import Edit
from unswayed.base.protect import protected_spans, touching
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.surface import CYRILLIC, LATIN, LONGEST, fixed_places, in_name, joined, noted
from unswayed.vary.words import checked_rate, some

_WORD = re.compile(r"(?<!['’])[^\W\d_]{2,}(?!['’])")
_VOWELS = "aeiouyøæœıаеиіїоуыэюяєαεηιουω"
_SHORTEST = 4  # letters of a word, unless it is one that people stress
_STRESSED = frozenset({
    "so", "no", "oh", "hi", "ok", "yes", "hey", "wow", "yay", "ugh", "why", "way", "too", "now", "bad", "big", "sad",
    "fun", "hot", "omg", "si", "sí", "muy", "já", "tão", "sim", "ja", "nee", "nej", "nei", "non", "oui", "da", "nu",
    "не", "ну", "да", "ой", "ай", "вот", "так", "как", "όχι", "ναι",
})  # fmt: skip
_HELD_LAST = "ywhszmrfл" + "мрсзшฟกขคงจชซดตนบปพมยรลวสหอ"  # consonants that people hold at the end of a word
_LONG = "اويى" + "אהוי"  # long vowels of Arabic, and what Hebrew writes for vowels

_VOWELS_HELD = frozenset(_VOWELS + _LONG)
_HELD = _VOWELS_HELD.union(_HELD_LAST)


class Repeat(Operator):
    """Repeats a letter of a word as people do for stress: *soooo good*.

    Two to four more letters come, so that no other word results. Names, short forms and numbers stay.
    With `rate` 0, the default, one word changes. Otherwise each word changes with that probability, and at least one.
    """

    languages = (*LATIN, *CYRILLIC, "el", "ar", "fa", "he", "th")
    presets = ("surface",)
    example = ("this song is so good", "thisss song is so good")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        written = text.text[:LONGEST]
        fixed, plain = fixed_places(written), written.isascii()
        places, spans = [], self.spares(protected_spans(text.text))
        for word in _WORD.finditer(written):
            lower = word[0].lower()
            short = len(word[0]) < _SHORTEST and lower not in _STRESSED and word[0] < "\u0590"
            if short or word.start() in fixed or in_name(written, word):
                continue
            bare = lower if lower.isascii() else "".join(unicodedata.normalize("NFD", c)[0] for c in lower)
            small = bare if len(lower) == len(word[0]) else word[0]
            # the last letter is held if it can be, else the last vowel
            held = len(small) - 1
            if small[held] not in _HELD:
                held = next((k for k in range(held, -1, -1) if small[k] in _VOWELS_HELD), -1)
            if held >= 0 and (plain or not joined(written, word.start() + held + 1)):
                at = word.start() + held
                if not spans or not any(touching(written, spans, [Edit(at, at + 1, "")])):
                    places.append(at)
        edits = tuple(
            Edit(at, at + 1, written[at] + written[at].lower() * (2 + rng.below(3)))
            for at in some(places, self.rate, rng)
        )
        return Change(edits, noted(written, edits)) if edits and text.keeps(edits) else None
