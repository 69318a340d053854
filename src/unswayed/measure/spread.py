"""The spread of scores over prompts, as values and in sentences."""

from __future__ import annotations

import msgspec

from unswayed.base.text import number, percent
from unswayed.base.values import Estimate

OVER = "these prompts and these examples"


class PromptScore(msgspec.Struct, frozen=True):
    """One prompt: its draw, what was changed, how many examples were asked with it, and its score on all of them."""

    draw: int
    prompt: str
    asked: int
    score: float
    low: float
    high: float


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How scores differ between the prompts of one operator, if each were asked with every example.

    `quantiles` are of the prompts' scores; `range` is from the 5% to the 95% quantile, and `by_chance` what that would
    be if all prompts were equally good. `own` is the score of the prompt that was not varied, and `beaten` the share
    of prompts with a lower one. `asked` is the share of prompts and examples that were asked; the rest is estimated.
    """

    prompts: int
    examples: int
    asked: float
    quantiles: dict[str, Estimate]
    range: Estimate
    by_chance: float
    own: Estimate
    beaten: Estimate
    scores: list[PromptScore]

    def row(self, operator: str) -> dict[str, object]:
        """The quantiles side by side."""
        exact = self.own.low == self.own.high
        own = self.own.value if exact else self.own
        first = {"prompts of": operator, "prompts": self.prompts, "asked": percent(self.asked)}
        return {**first, **self.quantiles, "your prompt": own}

    def sentence(self, operator: str) -> str:
        low, *_, high = self.quantiles.values()
        chance = f"if all were equally good, chance would give a range of {number(self.by_chance, 2)}"
        return (
            f"Over {self.prompts} prompts of {operator}, the score ranges from {_shown(low)} to {_shown(high)} "
            f"(5% and 95% quantile; {chance}). Your prompt has {number(self.own.value, 2)}: "
            f"better than {percent(self.beaten.value)} of them."
        )


def _shown(e: Estimate) -> str:
    return f"{number(e.value, 2)} [{number(e.low, 2)}, {number(e.high, 2)}]"
