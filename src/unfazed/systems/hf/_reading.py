"""Extractive question answering: the stretch of the context that a model points to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unfazed.core.values import Inputs, Json
from unfazed.systems.hf._system import HfSystem, groups

_CONTEXT = 20_000  # letters that are read
_TOP = 20  # beginnings, and ends, whose spans are looked at
_LONGEST = 128  # pieces of an answer


class Window(NamedTuple):
    """A piece of a context with its question; `places` are the letters of each piece, None outside the context."""

    text: int
    row: dict[str, list[int]]
    places: list[tuple[int, int] | None]


class Reading(HfSystem):
    """Long contexts are read in windows that overlap; the best span of all of them is the answer."""

    auto = "AutoModelForQuestionAnswering"
    tasks = ("qa", "text")

    def lacking(self, inputs: Inputs) -> str | None:
        absent = next((field for field in ("question", "context") if field not in inputs), None)
        return f"the input has no {absent!r}" if absent else None

    def windows(self, number: int, inputs: Inputs) -> list[Window]:
        asked = self.tokenizer(self.cut(inputs["question"]), add_special_tokens=False)["input_ids"]
        question = self.tokenizer.decode(asked[: self.room // 3]) if len(asked) > self.room // 3 else inputs["question"]
        context = inputs["context"][:_CONTEXT].encode("utf-8", "replace").decode()
        encoded = self.tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=self.room,
            stride=self.room // 4,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        found = []
        for n in range(len(encoded["input_ids"])):
            row = {
                name: encoded[name][n] for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded
            }
            sides = encoded.sequence_ids(n)
            places = [
                (a, b) if side == 1 and b > a else None
                for side, (a, b) in zip(sides, encoded["offset_mapping"][n], strict=True)
            ]
            found.append(Window(number, row, places))
        return found

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        spans = self._spans(batch)
        return [inputs["context"][a:b] for inputs, (a, b) in zip(batch, spans, strict=True)]

    def _spans(self, batch: Sequence[Inputs]) -> list[tuple[int, int]]:
        """Where each answer stands in its context; (0, 0) where there is nothing to point to."""
        windows = [window for i, inputs in enumerate(batch) for window in self.windows(i, inputs)]
        best: list[tuple[float, int, int]] = [(float("-inf"), 0, 0)] * len(batch)
        for group in groups([len(window.row["input_ids"]) for window in windows]):
            out = self.model(**self.padded([windows[i].row for i in group]))
            scores = zip(out.start_logits.tolist(), out.end_logits.tolist(), strict=True)
            for i, (starts, ends) in zip(group, scores, strict=True):
                window = windows[i]
                # Of equal scores the first place wins, so that the order of windows does not matter.
                best[window.text] = max(best[window.text], _best(window, starts, ends), key=lambda s: (s[0], -s[1]))
        return [(a, b) for _, a, b in best]

    @classmethod
    def sample_inputs(cls, text: str) -> Inputs:
        return {"question": "when does it rain ?", "context": text}


def _best(window: Window, starts: list[float], ends: list[float]) -> tuple[float, int, int]:
    """The score and the letters of the likeliest span in a window."""
    inside = [n for n, place in enumerate(window.places) if place is not None]
    best = (float("-inf"), 0, 0)
    for a in sorted(inside, key=lambda n: -starts[n])[:_TOP]:
        for b in sorted(inside, key=lambda n: -ends[n])[:_TOP]:
            first, last = window.places[a], window.places[b]
            score = round(starts[a] + ends[b], 4)  # padding may change the last digits
            if first and last and a <= b < a + _LONGEST and score > best[0]:
                best = (score, first[0], last[1])
    return best
