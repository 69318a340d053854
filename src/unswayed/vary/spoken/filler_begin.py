"""Fillers with which people begin to speak."""

from __future__ import annotations

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text

FILLERS = ("so", "like", "actually", "okay so", "so okay", "so basically", "now", "well")
_SAID = [f"{filler} " for filler in FILLERS]
_NOTES = [f'"{filler}" at the beginning' for filler in FILLERS]


class FillerBegin(Operator):
    """Begins with a filler such as *so*, *like* or *okay so*."""

    languages = ("en",)
    quick = True
    presets = ("speech",)
    example = ("play some jazz by miles davis", "so play some jazz by miles davis")

    def change(self, text: Text, rng: Stream) -> Change | None:
        if not text.text.strip():
            return None
        # One by one: for a block of texts as columns this was 1.24 times faster end to end.
        n = rng.below(len(FILLERS))
        return Change((Edit(0, 0, _SAID[n]),), _NOTES[n])
