"""A person types with a pinyin input method and may not go back: READIN's keyboard noise, simulated."""

from __future__ import annotations

from unfazed.core.errors import UsageError
from unfazed.core.seeds import Stream
from unfazed.vary.keyboard import ime
from unfazed.vary.keyboard._profile import new_person, population
from unfazed.vary.keyboard._typist import Typist
from unfazed.vary.operator import Change, Operator, Text


class Pinyin(Operator):
    """Types the text by pinyin as a hurried person would: wrong words taken, keys missed, false starts left standing.

    A draw is one person with one input method for the whole suite. `engine` names the input method, or several
    joined by +, of which each person has one: embedded, google, libime, libpinyin, rime, sunpinyin. `profile` is a
    file made by `unfazed calibrate keyboard`.
    """

    languages = ("zh",)
    example = ("我的支付宝账户为什么不能提现到银行卡", "我的自恢复报账户为什么不能体惜")

    def __init__(self, engine: str = "embedded", profile: str = "") -> None:
        names = [name.strip() for name in engine.split("+") if name.strip()]
        if not names:
            raise UsageError(f"engine must name an input method: {', '.join(ime.ENGINES)}.")
        self._engines = [ime.engine(name) for name in names]
        self._people = population(profile).people
        self._typists: dict[int, Typist] = {}

    def change(self, text: Text, rng: Stream) -> Change | None:
        edits = self._typist(rng).type(text.text, rng)
        if not edits or (len(edits) == 1 and text.text[edits[0].start : edits[0].end] == edits[0].new):
            return None
        at, end, new = edits[0]
        more = f", {len(edits)} slips in all" if len(edits) > 1 else ""
        return Change(tuple(edits), f"{text.text[at:end]}→{new} at {at}{more}")

    def _typist(self, rng: Stream) -> Typist:
        """The person of this draw, made when first met."""
        stream = rng.habit("who they are")
        mark = stream.bits()
        found = self._typists.get(mark)
        if found is None:
            engine = self._engines[stream.below(len(self._engines))]
            found = self._typists[mark] = Typist(new_person(self._people, stream), engine)
        return found
