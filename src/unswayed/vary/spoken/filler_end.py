"""Fillers with which people end what they say."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams
from unswayed.vary.block import BlockOperator, SingleEdits, Texts
from unswayed.vary.operator import Change, Text

FILLERS = (files("unswayed.vary.spoken") / "data" / "filler_end.txt").read_text("utf-8").splitlines()
_SAID = [f" {filler}" for filler in FILLERS]
_SAID_IN_TOKENS = [said.replace("?", " ?") for said in _SAID]
_NOTES = [f'"{filler}" at the end' for filler in FILLERS]


class FillerEnd(BlockOperator):
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
        n = rng.below(len(FILLERS))
        said = _SAID_IN_TOKENS if text.tokenised else _SAID
        return Change((Edit(end, end, said[n]),), _NOTES[n])

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        ends, said, tokens = texts.once(_found)
        chosen = streams.below(0, [len(FILLERS)] * len(texts))
        news = [its[n] if end else None for its, n, end in zip(said, chosen, ends, strict=True)]
        return SingleEdits(OneEach(ends, ends, news, tokens), lambda: [_NOTES[n] for n in chosen])


def _found(texts: Texts) -> tuple[list[int], list[list[str]], list[int]]:
    """Where each text ends, what may be said there, and after how many tokens that is, where they are counted."""
    said = [_SAID if tags is None else _SAID_IN_TOKENS for tags in texts.tags]
    ends = [len(text.rstrip()) for text in texts.strings]
    whole = zip(texts.strings, ends, texts.tags, strict=True)
    return ends, said, [-1 if tags is None or end < len(text) else len(tags) for text, end, tags in whole]
