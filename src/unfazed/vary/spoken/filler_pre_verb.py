"""Fillers with which people put off the verb."""

from __future__ import annotations

from unfazed.core.edits import Edit
from unfazed.vary.operator import Change
from unfazed.vary.spoken import Phrase, VerbFiller


class FillerPreVerb(VerbFiller):
    """Says *like*, *basically* or *actually* before the verb."""

    fillers = ("like", "basically", "actually")
    presets = ("speech",)
    example = ("can you play some jazz by miles davis", "can you basically play some jazz by miles davis")

    @classmethod
    def said(cls, phrase: Phrase) -> tuple[Change, ...]:
        start, _, verb, _ = phrase[0]
        fillers = [filler for filler in cls.fillers if filler != verb]  # not *like like*
        return tuple(Change((Edit(start, start, f"{filler} "),), f'"{filler}" before "{verb}"') for filler in fillers)
