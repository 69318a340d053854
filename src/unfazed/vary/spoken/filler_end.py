"""Fillers with which people end what they say."""

from __future__ import annotations

from pathlib import Path

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text

FILLERS = (Path(__file__).parent / "data" / "filler_end.txt").read_text("utf-8").splitlines()


class FillerEnd(Operator):
    """Ends with a filler such as *please*, *right now* or *would you mind?*.

    Where each token has a label, the question mark is a token, as in the corpora.
    """

    version = 2
    languages = ("en",)
    presets = ("speech",)
    example = ("play some jazz by miles davis", "play some jazz by miles davis right away")

    def change(self, text: Text, rng: Stream) -> Change | None:
        end = len(text.text.rstrip())
        if not end:
            return None
        filler = rng.choice(FILLERS)
        said = filler.replace("?", " ?") if text.tokenised else filler
        return Change((Edit(end, end, " " + said),), f'"{filler}" at the end')
