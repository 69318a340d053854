"""Fillers with which people go on after the verb."""

from __future__ import annotations

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Text
from unfazed.vary.spoken import Phrase, VerbFiller, verb_phrases


class FillerPostVerb(VerbFiller):
    """Says *basically*, *actually*, *like* or *you know* after the verb and its object: *add tune actually to*."""

    version = 2
    fillers = ("basically", "actually", "like", "you know")
    presets = ("speech",)
    example = ("show me the flights to boston", "show me the flights actually to boston")

    @classmethod
    def _choices(cls, text: str) -> list[tuple[Phrase, tuple[Change, ...]]]:
        return [(phrase, () if n else cls.said(phrase)) for n, phrase in enumerate(verb_phrases(text, objects=True))]

    @classmethod
    def said(cls, phrase: Phrase) -> tuple[Change, ...]:
        return cls._after(phrase[-1].end, phrase[-1].lower)

    @classmethod
    def _after(cls, end: int, last: str) -> tuple[Change, ...]:
        fillers = [filler for filler in cls.fillers if filler != last]  # not *like like*
        return tuple(Change((Edit(end, end, f" {filler}"),), f'"{filler}" after "{last}"') for filler in fillers)

    def at(self, phrase: Phrase, changes: tuple[Change, ...], text: Text, rng: Stream) -> Change:
        """A labelled value is said whole, also where it is longer than the object. *like* ends no utterance."""
        end = phrase[-1].end
        whole = next((stop for start, stop in text.marked if start < end < stop), end)
        if whole != end:
            changes = self._after(whole, text.text[:whole].rsplit(" ", 1)[-1].lower())
        changes = changes or self.said(phrase)
        if not text.text[whole:].strip():
            changes = tuple(change for change in changes if change.edits[0].new != " like")
        return rng.choice(changes)
