"""A finger lands one key to the side on a QWERTY keyboard."""

from __future__ import annotations

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.words import checked_rate, picked, some

_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
_SHIFT = (0.0, 0.5, 0.75, 1.25)  # how far each row is set in, in keys


def _neighbours() -> dict[str, str]:
    """Letters within about one key of each letter. Distance is mutual, so the map is symmetric."""
    at = {key: (x + _SHIFT[y], y) for y, row in enumerate(_ROWS) for x, key in enumerate(row) if key.isalpha()}
    near = {
        a: "".join(b for b, (x2, y2) in at.items() if a != b and abs(x - x2) <= 1 and abs(y - y2) <= 1)
        for a, (x, y) in at.items()
    }
    return {**near, **{a.upper(): b.upper() for a, b in near.items()}}


NEIGHBOURS = _neighbours()


class Adjacent(Operator):
    """Replaces letters by the letter of a key beside theirs.

    With `rate` 0, the default, one letter changes. Otherwise each letter changes with that probability, and at least
    one. `words` limits the mistakes to that share of the words, so that they come together.
    """

    languages = ("en", "es", "pt", "it", "nl", "sv", "da", "nb", "fi", "pl", "id", "ms", "vi", "tr")
    presets = ("typing",)
    example = ("play some jazz by miles davis", "plsy some jazz by miles davis")

    def __init__(self, rate: float = 0.0, words: float = 1.0) -> None:
        self.rate, self.words = checked_rate(rate), checked_rate(words)

    def change(self, text: Text, rng: Stream) -> Change | None:
        places = self._many(text, rng) if self.rate else []
        if not places:
            place = self._one(text.text, rng)
            if place is None:
                return None
            places = [place]
        edits = [Edit(i, i + 1, rng.choice(NEIGHBOURS[text.text[i]])) for i in places]
        return Change(tuple(edits), ", ".join(f"{text.text[i]}→{new} at {i}" for i, _, new in edits[:5]))

    def _many(self, text: Text, rng: Stream) -> list[int]:
        written = text.text
        if self.words == 1:
            return [i for i, c in enumerate(written) if c in NEIGHBOURS and rng.random() < self.rate]
        letters = [i for start, end in some(text.tokens, self.words, rng) for i in range(start, end)]
        return [letters[k] for k in picked(len(letters), self.rate, rng) if written[letters[k]] in NEIGHBOURS]

    def _one(self, text: str, rng: Stream) -> int | None:
        """A random letter's place. Guessing finds one at once in most texts, and each letter as likely as any."""
        for _ in range(8):
            i = rng.below(len(text))
            if text[i : i + 1] in NEIGHBOURS:
                return i
        letters = [i for i, c in enumerate(text) if c in NEIGHBOURS]
        return rng.choice(letters) if letters else None
