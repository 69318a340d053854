"""Fillers with which people begin to speak."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams
from unswayed.vary.block import BlockOperator, SingleEdits, Texts
from unswayed.vary.operator import Change, Text

FILLERS = ("so", "like", "actually", "okay so", "so okay", "so basically", "now", "well")
_SAID = [f"{filler} " for filler in FILLERS]
_NOTES = [f'"{filler}" at the beginning' for filler in FILLERS]


class FillerBegin(BlockOperator):
    """Begins with a filler such as *so*, *like* or *okay so*."""

    languages = ("en",)
    presets = ("speech",)
    example = ("play some jazz by miles davis", "so play some jazz by miles davis")

    def change(self, text: Text, rng: Stream) -> Change | None:
        if not text.text.strip():
            return None
        n = rng.below(len(FILLERS))
        return Change((Edit(0, 0, _SAID[n]),), _NOTES[n])

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        chosen = streams.below(0, [len(FILLERS)] * len(texts))
        news = [_SAID[n] if there else None for n, there in zip(chosen, texts.once(_ends), strict=True)]
        first = [0] * len(texts)
        return SingleEdits(OneEach(first, first, news, first), lambda: [_NOTES[n] for n in chosen])


def _ends(texts: Texts) -> list[int]:
    """Where each text ends, without spaces behind it."""
    return [len(text.rstrip()) for text in texts.strings]
