"""The choices of a question in another order and under other letters; the gold goes with its choice."""

from __future__ import annotations

from itertools import permutations

from unswayed.base.chat import CHOICES, LETTERS, choices_in, lettered
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.base.values import Example
from unswayed.vary.operator import PromptOperator, Rewritten
from unswayed.vary.prompt import checked_share

_ALL = 5  # choices up to which all orders are dealt out; of more, orders are drawn
_OTHER = LETTERS[5:]


class Options(PromptOperator):
    """Puts the answer choices in another order, or under other letters; the right answer moves along.

    It needs rows with choices, such as MMLU's `question`, `choices` and `answer`. A flip is another choice, not another
    letter. `vary` is `order`, `letters` (F to J in place of A to E, for up to five choices) or `both`. Each draw is one
    order for all questions with as many choices. `share` is the share of the draws that each example is asked with.
    """

    name = "prompt/options"
    needs = "rows with choices: a question, a list of choices, and the right one"
    example = ("A. red\nB. blue\nC. green", "A. red\nB. green\nC. blue")

    def __init__(self, vary: str = "order", share: float = 1.0) -> None:
        self.share = checked_share(share)
        if vary not in ("order", "letters", "both"):
            raise UsageError(f"vary must be order, letters or both, not {vary!r:.40}.")
        self._vary = vary
        self._known: dict[tuple[int, int], tuple[tuple[int, ...], str] | None] = {}

    def rewrite(self, example: Example, language: str, rng: Stream) -> Rewritten | None:
        before = choices_in(example.inputs)
        n = len(before)
        if n and (rng.draw, n) not in self._known:  # the draw's order of so many choices, and their letters
            alphabets = [LETTERS] if self._vary == "order" or n > len(_OTHER) else [_OTHER]
            alphabets = [LETTERS, *alphabets] if self._vary == "both" and n <= len(_OTHER) else alphabets
            same = tuple(range(n))
            orders = [same] if self._vary == "letters" else list(permutations(same)) if n <= _ALL else []
            orders = orders or [tuple(rng.habit(f"order of {n}").sample(same, n))]
            ways = [(order, its) for order in orders for its in alphabets if (order, its) != (same, LETTERS)]
            self._known[rng.draw, n] = rng.dealt(ways, f"orders of {n}") if ways else None
        drawn = self._known[rng.draw, n] if n else None
        if drawn is None:
            return None
        order, letters = drawn
        old, texts = list(before), list(before.values())
        gold = example.gold
        if isinstance(gold, str) and gold in before:
            gold = letters[order.index(old.index(gold))]
        made = lettered([texts[i] for i in order], letters)
        if made == example.inputs[CHOICES]:
            return None
        said = "order " + " ".join(old[i] for i in order)
        note = f"{said}, letters {letters[: len(order)]}" if letters != LETTERS else said
        return Rewritten({**example.inputs, CHOICES: made}, gold, note)
