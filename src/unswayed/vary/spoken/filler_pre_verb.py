"""Fillers with which people put off the verb."""

from __future__ import annotations

from functools import lru_cache

from unswayed.vary.operator import Text
from unswayed.vary.spoken import Fillers, Verb, VerbFiller, Words

FILLERS = ("like", "basically", "actually")


class FillerPreVerb(VerbFiller):
    """Says *like*, *basically* or *actually* before the verb."""

    presets = ("speech",)
    example = ("can you play some jazz by miles davis", "can you basically play some jazz by miles davis")

    def fillers_at(self, verb: Verb, text: Text) -> Fillers:
        start, _, first, _ = verb
        return start, *_before(first)


@lru_cache(8192)
def _before(verb: str) -> tuple[Words, Words]:
    """What may be said before a verb, and the notes on it."""
    fillers = [filler for filler in FILLERS if filler != verb]  # not *like like*
    return tuple(f"{filler} " for filler in fillers), tuple(f'"{filler}" before "{verb}"' for filler in fillers)
