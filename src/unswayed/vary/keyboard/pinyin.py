"""A person types with a pinyin input method and may not go back: READIN's keyboard noise, simulated."""

from __future__ import annotations

from functools import lru_cache
from math import log

from unswayed.base.edits import apply
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.vary.keyboard import ime
from unswayed.vary.keyboard._pinyin_typist import PinyinTypist
from unswayed.vary.operator import UNALTERED, Change, Operator, Text
from unswayed.vary.people import new_typist, registers, typists


class Pinyin(Operator):
    """Types the text by pinyin like a person in a hurry: wrong words chosen, keys missed, false starts not deleted.

    Each draw is one person with one input method for the whole suite, who types each example in one of their sittings:
    people change their ways. `engine` names the input method: embedded,
    google, libime, libpinyin, rime or sunpinyin. Several, joined by +, take turns over the draws; `installed` means
    all that this machine has except the embedded one. `profile` is a file that `unswayed calibrate keyboard` writes.
    """

    version = 2
    languages = ("zh",)
    people = True
    quick = True
    unaltered = True
    presets = ("typing",)
    example = ("请问花呗怎么提前还款", "请问华北怎么提前还款")

    def __init__(self, engine: str = "embedded", profile: str = "") -> None:
        names = [name.strip() for name in engine.split("+") if name.strip()]
        if names == ["installed"]:
            names = [name for name in ime.engines.names() if name != "embedded" and not ime.missing_file(name)]
        if not names:
            raise UsageError(f"There is no input method {engine!r} here. See `unswayed doctor`.")
        self._engines = [ime.open_engine(name) for name in names]
        self._registers = registers(typists(profile).people)
        self._typists: dict[bytes, list[PinyinTypist]] = {}

    def change(self, text: Text, rng: Stream) -> Change | None:
        edits = self._typist(len(text.text), rng).type(text.text, rng)
        if not edits or (len(edits) > 1 and apply(text.text, edits) == text.text):  # one slip may undo another
            return UNALTERED
        at, end, new = edits[0]
        more = f", {len(edits)} slips in all" if len(edits) > 1 else ""
        return Change(tuple(edits), f"{text.text[at:end]}→{new} at {at}{more}")

    def _typist(self, length: int, rng: Stream) -> PinyinTypist:
        """The person of this draw, made when first met, as they type texts of about this length."""
        found = self._typists.get(rng.person)
        if found is None:
            engine = rng.dealt(self._engines, "engine")
            found = [PinyinTypist(new_typist(people, rng), engine) for people in self._registers]
            self._typists[rng.person] = found
        return found[_nearest(length, tuple([typist.profile.length for typist in found]))]


@lru_cache(1024)  # texts have few lengths
def _nearest(length: int, lengths: tuple[float, ...]) -> int:
    """Which of these lengths is by its log the nearest."""
    return min(range(len(lengths)), key=lambda n: abs(log(lengths[n] / (length + 1))))
