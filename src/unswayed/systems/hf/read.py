"""`hf/read`: the stretch of a context that answers a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unswayed.base.values import Inputs, Json
from unswayed.systems.hf import HfSystem, length_groups

_MAX_CONTEXT_CHARS = 20_000
_TOP_ENDS = 20  # beginnings, and ends, whose spans are looked at
_MAX_ANSWER_PIECES = 128


class ContextWindow(NamedTuple):
    """A piece of a context with its question; `places` are the letters of each piece, None outside the context."""

    text: int
    row: dict[str, list[int]]
    places: list[tuple[int, int] | None]


class HfReader(HfSystem):
    """Long contexts are read in windows that overlap; the best span of all of them is the answer."""

    name = "hf/read"
    auto = "AutoModelForQuestionAnswering"
    tasks = ("qa", "text")
    needed = ("question", "context")

    def windows(self, number: int, inputs: Inputs) -> list[ContextWindow]:
        """The context in stretches that overlap, each with the question."""
        pieces = self.tokenizer(self.cut_text(inputs["question"]), add_special_tokens=False)["input_ids"]
        most = self.room // 3
        question = self.tokenizer.decode(pieces[:most]) if len(pieces) > most else inputs["question"]
        context = inputs["context"][:_MAX_CONTEXT_CHARS].encode("utf-8", "replace").decode()
        told = {"truncation": "only_second", "max_length": self.room, "stride": self.room // 4}
        encoded = self.tokenizer(question, context, **told, return_overflowing_tokens=True, return_offsets_mapping=True)
        names = [name for name in self.reads if name in encoded]
        windows = []
        for n in range(len(encoded["input_ids"])):
            sides = zip(encoded.sequence_ids(n), encoded["offset_mapping"][n], strict=True)
            places = [(a, b) if side == 1 and b > a else None for side, (a, b) in sides]
            windows.append(ContextWindow(number, {name: encoded[name][n] for name in names}, places))
        return windows

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        windows = [window for i, inputs in enumerate(batch) for window in self.windows(i, inputs)]
        # The score and the letters of the likeliest span so far; (0, 0) where there is nothing to point to.
        best: list[tuple[float, int, int]] = [(float("-inf"), 0, 0)] * len(batch)
        for group in length_groups([len(window.row["input_ids"]) for window in windows]):
            out = self.model(**self.padded([windows[i].row for i in group]))
            scores = zip(out.start_logits.tolist(), out.end_logits.tolist(), strict=True)
            for i, (starts, ends) in zip(group, scores, strict=True):
                text = windows[i].text
                # Of equal scores the first place wins, so that the order of windows does not matter.
                best[text] = max(best[text], best_span(windows[i], starts, ends), key=lambda s: (s[0], -s[1]))
        return [inputs["context"][a:b] for inputs, (_, a, b) in zip(batch, best, strict=True)]


def best_span(window: ContextWindow, starts: list[float], ends: list[float]) -> tuple[float, int, int]:
    """The score and the letters of the likeliest span in a window."""
    inside = [n for n, place in enumerate(window.places) if place is not None]
    last_pieces = sorted(inside, key=lambda n: -ends[n])[:_TOP_ENDS]
    best = (float("-inf"), 0, 0)
    for a in sorted(inside, key=lambda n: -starts[n])[:_TOP_ENDS]:
        for b in last_pieces:
            first, last = window.places[a], window.places[b]
            score = round(starts[a] + ends[b], 4)  # padding may change the last digits
            if first and last and a <= b < a + _MAX_ANSWER_PIECES and score > best[0]:
                best = (score, first[0], last[1])
    return best
