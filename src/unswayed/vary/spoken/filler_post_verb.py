"""Fillers with which people go on after the verb."""

from __future__ import annotations

from functools import lru_cache

from unswayed.vary.operator import Text
from unswayed.vary.spoken import Fillers, Verb, VerbFiller, Words

FILLERS = ("basically", "actually", "like", "you know")


class FillerPostVerb(VerbFiller):
    """Says *basically*, *actually*, *like* or *you know* after the verb and its object: *add tune actually to*."""

    version = 2
    objects = True
    presets = ("speech",)
    example = ("show me the flights to boston", "show me the flights actually to boston")

    def fillers_at(self, verb: Verb, text: Text) -> Fillers:
        """After a labelled value where it is longer than the object: it is said whole."""
        _, end, _, last = verb
        whole = next((stop for start, stop in text.marked if start < end < stop), end)
        if whole != end:
            last = text.text[:whole].rsplit(" ", 1)[-1].lower()
        return whole, *_after(last, not text.text[whole:].strip())


@lru_cache(8192)
def _after(word: str, ends: bool) -> tuple[Words, Words]:
    """What may be said after a word, which may end the utterance, and the notes on it."""
    unfit = (word, "like") if ends else (word,)  # not *like like*, and *like* ends no utterance
    fillers = [filler for filler in FILLERS if filler not in unfit]
    return tuple(f" {filler}" for filler in fillers), tuple(f'"{filler}" after "{word}"' for filler in fillers)
