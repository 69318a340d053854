"""Examples that a prompt shows: which ones, and in what order; never the one that is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.chat import CHAT, is_chat
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.base.values import Example
from unswayed.systems.template import Reprompt, Shot
from unswayed.vary.prompt import Reprompting
from unswayed.vary.words import checked_choice


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
        self._n, self._vary, self.file = n, checked_choice("vary", vary, "which", "order"), file
        self._shots: list[tuple[Example, Shot]] = []
        self._chosen: dict[int, list[int]] = {}

    def take_pool(self, examples: Sequence[Example]) -> None:
        """The examples that may be shown."""
        self._shots = []
        for e in examples:
            named = [name for name in e.inputs if name != CHAT]  # of a chat, the last text of the user's is shown
            shown = {named[-1]: e.inputs[named[-1]]} if is_chat(e.inputs) else dict(e.inputs)
            gold = e.gold  # the answer that it gives as a text; examples with none, such as tags or calls, are left out
            if isinstance(gold, dict) and isinstance(gold.get("answers"), list):
                gold = gold["answers"]
            if isinstance(gold, list):
                gold = gold[0] if gold else None
            if isinstance(gold, dict):
                gold = gold.get("text")
            if isinstance(gold, bool):
                gold = "true" if gold else "false"
            if isinstance(gold, (str, int, float)) and str(gold).strip():
                self._shots.append((e, Shot(shown, str(gold))))
        if len(self._shots) <= self._n:
            raise UsageError(
                f"{self.name} shows {self._n} examples, and never the one that is asked about. That takes at least "
                f"{self._n + 1} examples with answers; there are {len(self._shots)}."
            )

    def reprompt(self, example: Example, language: str, rng: Stream) -> tuple[Reprompt, str] | None:
        if rng.draw not in self._chosen:  # two more than are shown, should some be the example itself
            places, n = range(len(self._shots)), self._n
            if self._vary == "which":
                self._chosen[rng.draw] = rng.habit("shots").sample(places, n + 2)
            else:
                same = rng.shared("shots").sample(places, n + 2)
                self._chosen[rng.draw] = [*rng.habit("order").sample(same[:n], n), *same[n:]]
        absent = next((n for n in example.inputs if n not in self._shots[0][0].inputs), None)
        if absent is not None:
            raise UsageError(f"{self.file}: its examples have no {absent!r}, which the data's have.")
        others = ((i, self._shots[i][0]) for i in self._chosen[rng.draw])
        own = [i for i, e in others if e.id != example.id and e.inputs != example.inputs][: self._n]
        note = "shows " + ", ".join(self._shots[i][0].id for i in own)
        return Reprompt(shots=tuple(self._shots[i][1] for i in own)), note
