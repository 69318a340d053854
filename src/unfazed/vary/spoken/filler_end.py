"""Fillers with which people end what they say."""

from __future__ import annotations

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text

FILLERS = (
    "if you please",
    "please",
    "pretty please",
    "please and thank you",
    "now please",
    "if you can",
    "now",
    "right now",
    "right away",
    "right this minute",
    "will you?",
    "would you?",
    "can you?",
    "would you mind?",
)


class FillerEnd(Operator):
    """Ends with a filler such as *please*, *right now* or *would you mind?*."""

    languages = ("en",)
    example = ("play some jazz by miles davis", "play some jazz by miles davis now")

    def change(self, text: Text, rng: Stream) -> Change | None:
        end = len(text.text.rstrip())
        if not end:
            return None
        filler = rng.choice(FILLERS)
        return Change((Edit(end, end, " " + filler),), f'"{filler}" at the end')
