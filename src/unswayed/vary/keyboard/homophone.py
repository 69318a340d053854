"""Random homophones: the baseline of READIN's paper, against which real typing is compared."""

from __future__ import annotations

from functools import lru_cache
from math import log, log1p

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.chinese import lexicon
from unswayed.vary.operator import Change, Operator, Text

_QUARTER = 2**16  # of 64 random bits
_new = tuple.__new__  # half the price of calling the class, which is what most of the time goes into
_COMMON = 3500  # characters: those that the Chinese standard for general use calls common


@lru_cache(1)
def homophones() -> dict[str, str]:
    """The other common simplified characters that sound like each common one, tone aside."""
    readings = lexicon().commonest_readings()
    alike: dict[str, list[str]] = {}
    for c in sorted(readings, key=lambda c: (-readings[c][0], c))[:_COMMON]:
        alike.setdefault(readings[c][1], []).append(c)
    return {c: "".join(o for o in same if o != c) for same in alike.values() for c in same if len(same) > 1}


@lru_cache(8)
def _jump_table(rate: float) -> list[int]:
    """How many characters are passed over before the next one that is replaced, by a quarter of the bits."""
    gap = 1 / log(1 - rate) if rate < 1 else 0.0
    return [int(log1p(-k / _QUARTER) * gap) for k in range(_QUARTER)]


class Homophone(Operator):
    """Replaces single characters by others that sound the same, each with probability `rate`, and at least one.

    People make other mistakes: they get whole words wrong. See `keyboard/pinyin`.
    """

    languages = ("zh",)
    quick = True
    presets = ("typing",)
    slips = True
    example = ("请帮我查一下明天的高铁票", "请帮我查一下铭天的高铁票")

    def __init__(self, rate: float = 0.15) -> None:
        if not 0 < rate <= 1:
            raise ValueError(f"rate must be above 0 and at most 1, not {rate}")
        self.rate = rate
        self._jumps = _jump_table(rate)
        self._alike = homophones()

    def change(self, text: Text, rng: Stream) -> Change | None:
        # One by one: for a block of texts as columns this was 1.22 times faster end to end.
        chars = text.text
        alike, jumps, bits = self._alike, self._jumps, rng.bits
        edits = []
        n, at, drawn, used = len(chars), 0, 0, True
        while True:
            # a quarter of the bits says how far the next replaced character is, another one what replaces it
            used = not used
            drawn = drawn >> 32 if used else bits()
            at += jumps[drawn & 0xFFFF]
            if at >= n:
                break
            others = alike.get(chars[at])
            if others:
                edits.append(_new(Edit, (at, at + 1, others[(drawn >> 16 & 0xFFFF) * len(others) >> 16])))
            at += 1
        if not edits:
            places = [i for i in range(n) if chars[i] in alike]
            if not places:
                return None
            at = rng.choice(places)
            edits.append(Edit(at, at + 1, rng.choice(alike[chars[at]])))
        edits = self.allowed(text, edits)
        if not edits:
            return None
        at, _, new = edits[0]
        return _new(Change, (tuple(edits), f"{chars[at]}→{new} at {at}, {len(edits)} in all"))
