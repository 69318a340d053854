"""Fillers with which people begin to speak."""

from __future__ import annotations

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text

FILLERS = ("so", "like", "actually", "okay so", "so okay", "so basically", "now", "well")
CHANGES = tuple(Change((Edit(0, 0, filler + " "),), f'"{filler}" at the beginning') for filler in FILLERS)


class FillerBegin(Operator):
    """Begins with a filler such as *so*, *like* or *okay so*."""

    languages = ("en",)
    presets = ("speech",)
    example = ("play some jazz by miles davis", "so play some jazz by miles davis")

    def change(self, text: Text, rng: Stream) -> Change | None:
        return rng.choice(CHANGES) if text.text.strip() else None
