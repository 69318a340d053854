"""Random homophones: the baseline of READIN's paper, against which real typing is compared."""

from __future__ import annotations

from functools import lru_cache
from math import log

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.keyboard._lexicon import lexicon
from unfazed.vary.operator import Change, Operator, Text

_COMMON = 3500  # characters: those that the Chinese standard for general use calls common


@lru_cache(1)
def homophones() -> dict[str, str]:
    """The other common simplified characters that sound like each common one, tone aside."""
    frequency: dict[str, float] = {}
    for pairs in lexicon().characters.values():
        for c, f in pairs:
            frequency[c] = max(f, frequency.get(c, f))
    common = set(sorted(frequency, key=lambda c: (-frequency[c], c))[:_COMMON])
    found: dict[str, str] = {}
    for _, pairs in sorted(lexicon().characters.items()):
        alike = sorted((c for c, _ in pairs if c in common), key=lambda c: (-frequency[c], c))
        for c in alike:
            found[c] = found.get(c, "") + "".join(other for other in alike if other not in found.get(c, "") + c)
    return {c: others for c, others in found.items() if others}


class Homophone(Operator):
    """Replaces single characters by others that sound the same, each with probability `rate`, one at least.

    People don't type so: they get whole words wrong. See `keyboard/pinyin`.
    """

    languages = ("zh",)
    example = ("请帮我查一下明天的高铁票", "请帮我查一吓明天狄高占票")

    def __init__(self, rate: float = 0.15) -> None:
        if not 0 < rate <= 1:
            raise ValueError(f"rate must be above 0 and at most 1, not {rate}")
        self.rate = rate
        self._gap = 1 / log(1 - rate) if rate < 1 else 0.0
        self._alike = homophones()

    def change(self, text: Text, rng: Stream) -> Change | None:
        chars, alike, gap, random = text.text, self._alike, self._gap, rng.random
        edits = []
        n = len(chars)
        at = int(log(1 - random()) * gap)  # jumps from one replaced character to the next
        while at < n:
            others = alike.get(chars[at])
            if others:
                edits.append(Edit(at, at + 1, others[int(random() * len(others))]))
            at += 1 + int(log(1 - random()) * gap)
        if not edits:
            places = [i for i in range(n) if chars[i] in alike]
            if not places:
                return None
            at = rng.choice(places)
            edits.append(Edit(at, at + 1, rng.choice(alike[chars[at]])))
        at, _, new = edits[0]
        return Change(tuple(edits), f"{chars[at]}→{new} at {at}, {len(edits)} in all")
