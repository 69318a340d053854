"""Fillers with which people end what they say."""

from __future__ import annotations

from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text

FILLERS = (files("unswayed.vary.spoken") / "data" / "filler_end.txt").read_text("utf-8").splitlines()
_SAID = [f" {filler}" for filler in FILLERS]
_SAID_IN_TOKENS = [said.replace("?", " ?") for said in _SAID]
_NOTES = [f'"{filler}" at the end' for filler in FILLERS]


class FillerEnd(Operator):
    """Ends with a filler such as *please*, *right now* or *would you mind?*.

    Where each token has a label, the question mark is a token, as in the corpora.
    """

    version = 2
    languages = ("en",)
    quick = True
    presets = ("speech",)
    example = ("play some jazz by miles davis", "play some jazz by miles davis right away")

    def change(self, text: Text, rng: Stream) -> Change | None:
        end = len(text.text.rstrip())
        if not end:
            return None
        # One by one: for a block of texts as columns this was 1.29 times faster end to end.
        n = rng.below(len(FILLERS))
        said = _SAID_IN_TOKENS if text.tokenised else _SAID
        return Change((Edit(end, end, said[n]),), _NOTES[n])
