"""Fillers with which people go on after the verb."""

from __future__ import annotations

from unfazed.core.edits import Edit
from unfazed.vary.operator import Change
from unfazed.vary.spoken import Phrase, VerbFiller


class FillerPostVerb(VerbFiller):
    """Says *basically*, *actually*, *like* or *you know* after the verb and its particle or pronoun."""

    fillers = ("basically", "actually", "like", "you know")
    presets = ("speech",)
    example = ("show me the flights to boston", "show me like the flights to boston")

    @classmethod
    def said(cls, phrase: Phrase) -> tuple[Change, ...]:
        _, end, last, _ = phrase[-1]
        fillers = [filler for filler in cls.fillers if filler != last]  # not *like like*
        return tuple(Change((Edit(end, end, f" {filler}"),), f'"{filler}" after "{last}"') for filler in fillers)
