"""Examples that a prompt shows: which ones, and in what order; never the one that is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.chat import CHAT, is_chat
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Inputs, Json
from unswayed.systems.reprompt import Reprompt, Shot
from unswayed.vary.prompt._reprompting import Reprompting


class Fewshot(Reprompting):
    """Shows other examples with their answers before the question: which ones, or in what order.

    `n` is how many. They come from `file`, which is read like the data, or from the first 200 rows of the data; the
    example that is asked about is never shown. `vary` is `which`, other examples in each draw, or `order`, the same in
    another order. Each draw is one choice for the whole suite. `share` is the share of the draws that each example is
    asked with.
    """

    name = "prompt/fewshot"
    needs = "other examples with answers that are texts or labels"
    pool = 200
    example = ("{question}", "What is 1 and 1?\n2\n\n{question}")

    def __init__(self, n: int = 3, file: str = "", vary: str = "which", share: float = 1.0) -> None:
        super().__init__(share)
        if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 100:
            raise UsageError(f"n must be a whole number from 1 to 100, not {n!r:.40}.")
        if vary not in ("which", "order"):
            raise UsageError(f"vary must be which or order, not {vary!r:.40}.")
        self._n, self._vary, self.file = n, vary, file
        self._shots: list[tuple[Example, Shot]] = []
        self._chosen: dict[int, list[int]] = {}

    def take_pool(self, examples: Sequence[Example]) -> None:
        """The examples that may be shown."""
        shots = ((e, said_text(e.gold)) for e in examples)
        self._shots = [(e, Shot(_texts(e.inputs), said)) for e, said in shots if said is not None]
        if len(self._shots) <= self._n:
            raise UsageError(
                f"{self.name} shows {self._n} examples, and never the one that is asked about. That takes at least "
                f"{self._n + 1} examples with answers; there are {len(self._shots)}."
            )

    def reprompt(self, example: Example, language: str, rng: Stream) -> tuple[Reprompt, str] | None:
        if rng.draw not in self._chosen:
            self._chosen[rng.draw] = self._draw(rng)
        absent = next((n for n in example.inputs if n not in self._shots[0][0].inputs), None)
        if absent is not None:
            raise UsageError(f"{self.file}: its examples have no {absent!r}, which the data's have.")
        own = [i for i in self._chosen[rng.draw] if not _same(self._shots[i][0], example)][: self._n]
        note = "shows " + ", ".join(self._shots[i][0].id for i in own)
        return Reprompt(shots=tuple(self._shots[i][1] for i in own)), note

    def _draw(self, rng: Stream) -> list[int]:
        """The numbers of those that are shown, and of two more, should some be the example itself."""
        places = range(len(self._shots))
        if self._vary == "which":
            return rng.habit("shots").sample(places, self._n + 2)
        same = rng.shared("shots").sample(places, self._n + 2)
        return [*rng.habit("order").sample(same[: self._n], self._n), *same[self._n :]]


def _same(one: Example, other: Example) -> bool:
    return one.id == other.id or one.inputs == other.inputs


def _texts(inputs: Inputs) -> dict[str, str]:
    """An example's texts; of a chat, the last one of the user's."""
    if not is_chat(inputs):
        return dict(inputs)
    named = [name for name in inputs if name != CHAT]
    return {named[-1]: inputs[named[-1]]}


def said_text(gold: Json) -> str | None:
    """The answer that a gold gives, as a text; None where it is none, such as tags or calls."""
    if isinstance(gold, dict) and isinstance(gold.get("answers"), list):
        gold = gold["answers"]
    if isinstance(gold, list):
        gold = gold[0] if gold else None
    if isinstance(gold, dict):
        gold = gold.get("text")
    if isinstance(gold, bool):
        return "true" if gold else "false"
    return str(gold) if isinstance(gold, (str, int, float)) and str(gold).strip() else None
