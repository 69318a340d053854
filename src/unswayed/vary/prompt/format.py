"""The format of a prompt: separators, case, spacing and enumerators, as FormatSpread varies them."""

from __future__ import annotations

from itertools import product
from typing import Any

from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.systems.template import Reprompt
from unswayed.vary.prompt import Reprompting

_CHOICES: dict[str, tuple[object, ...]] = {
    "separator": (None, ": ", " : ", ":\n", " - ", "::: ", " || "),
    "case": (None, "upper", "lower", "title"),
    "gap": (None, "\n", "\n\n", " ", " || "),
    "enumerator": (None, "{}.", "{})", "({})", "[{}]"),
    "label": (False, True),
    "end": ("", "\n", " "),
}


class Format(Reprompting):
    """Changes the prompt's format: separators, case of descriptors, spacing, enumerators, the end.

    A descriptor is a word or three before a colon at the start of a line, such as `Question:`. `parts` are what may
    change, with commas between them: separator, case, gap (between lines with a field or a descriptor), enumerator
    (`A.`, `A)`, `(A)`), label (a field that stands alone on a line gets a descriptor) and end. Each draw is one format
    for all examples; no two draws are the same as long as there are others. `share` is the share of the formats that
    each example is asked with.
    """

    name = "prompt/format"
    example = ("Question: {question}\nAnswer:", "QUESTION:\n{question}\n\nANSWER:")

    def __init__(self, parts: str = "separator,case,gap,enumerator,label,end", share: float = 1.0) -> None:
        super().__init__(share)
        self._parts = [part.strip() for part in parts.split(",") if part.strip()]
        self._order: list[tuple[object, ...]] = []
        for part in self._parts:
            if part not in _CHOICES:
                raise UnknownName("part of a format", part, list(_CHOICES))

    def draw_reprompt(self, language: str, rng: Stream) -> tuple[Reprompt, str]:
        if not self._order:
            combined = list(product(*(_CHOICES[part] for part in self._parts)))[1:]  # the first changes nothing
            self._order = rng.shared("formats").sample(combined, len(combined))
        values = self._order[rng.draw % len(self._order)]
        named = dict(zip(self._parts, values, strict=True))
        chosen: dict[str, Any] = {part: value for part, value in named.items() if value not in (None, "", False)}
        return Reprompt(**chosen), ", ".join(f"{part} {value!r}" for part, value in chosen.items())
