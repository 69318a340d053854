"""What a run costs: an estimate from its first examples, and a budget that ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from unswayed.base.errors import UsageError, option
from unswayed.base.values import Estimate, Output
from unswayed.score import judge_used
from unswayed.stats import t_quantile
from unswayed.storage.answers import AnswerStore, MemoryStores, Place
from unswayed.systems.system import Prices

if TYPE_CHECKING:
    from unswayed.run.record import Run

SAMPLE = 20  # examples that an estimate rests on
_FEW = 4  # of so few examples as many times that, a fourth is enough
_LEVEL = 0.95
_SPARE = 1.25  # of what judging is expected to cost, kept back: the next examples may have more to judge


class Spending(NamedTuple):
    """What a run may cost, for `run_system`, whose system must know its prices.

    Example: `unswayed.run_system(suite, system, "run/", spending=unswayed.Spending(budget=5.0))`.

    With `only_estimate`, the run ends after its sample. `judge` is called with the run as it is so far, to have a judge
    compare answers; `judge_prices` are its prices, the system's where they are None.
    """

    budget: float | None = None
    only_estimate: bool = False
    judge: Callable[[Run], object] | None = None
    judge_prices: Prices | None = None


class CostEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What the rest of a run will take, from a sample of its examples. `cost` is None without prices.

    Example: `unswayed.estimate_cost(plan, "run/").cost.high`.

    `requests` are still to be sent, `spent` is what the run has cost so far. `judge_cost` and `judge_calls` are for a
    judge of the answers, beside the system's own. `seconds` is about how long it takes.
    """

    examples: int
    requests: int
    tokens_in: Estimate | None = None
    tokens_out: Estimate | None = None
    cost: Estimate | None = None
    judge_calls: int = 0
    judge_cost: float | None = None
    spent: float | None = None
    seconds: float | None = None

    @property
    def sentence(self) -> str:
        """One line, as it is printed before a run goes on."""
        if not self.requests and not self.judge_calls:
            return "Nothing is left to ask" + ("." if self.spent is None else f". Spent so far: {money(self.spent)}.")
        parts = [f"{self.requests:,} more requests"]
        if self.tokens_in is not None and self.tokens_out is not None:
            tokens_in, tokens_out = self.tokens_in.value or 0, self.tokens_out.value or 0
            parts.append(f"{tokens_in:,.0f} tokens in, {tokens_out:,.0f} tokens out")
        if self.cost is not None and self.cost.value is not None:
            span = "" if self.cost.low is None else f" [{money(self.cost.low)}, {money(self.cost.high or 0.0)}]"
            parts.append(f"cost {money(self.cost.value)}{span}")
        if self.judge_calls:
            of = "" if self.judge_cost is None else f" ({money(self.judge_cost)})"
            parts.append(f"about {self.judge_calls:,} judge calls{of}")
        if self.seconds is not None:
            minutes = f"{self.seconds / 60:.0f} minutes" if self.seconds < 5400 else f"{self.seconds / 3600:.1f} hours"
            parts.append("about " + (f"{max(self.seconds, 1):.0f} seconds" if self.seconds < 90 else minutes))
        told = f"Estimate from {self.examples} examples: " + ", ".join(parts)
        return told + ("." if self.spent is None else f". Spent so far: {money(self.spent)}.")


def money(amount: float) -> str:
    """Two decimals, or as many as show two figures."""
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.2g}" if amount < 0.01 else f"{amount:.3f}"


def sample_size(examples: int) -> int:
    """How many of so many examples an estimate rests on."""
    return max(1, min(SAMPLE, examples // _FEW))


def total(per_example: list[float], requests: list[int], due: int, name: str) -> Estimate:
    """What `due` more requests will take, from what those of some examples took: a ratio, its units the examples."""
    n, asked = len(per_example), sum(requests)
    signature = f"measure=total {name}:1|n={n}|requests={asked}|level={_LEVEL}"
    if not asked:
        return Estimate(None, None, None, n, 0, signature)
    rate = sum(per_example) / asked
    if n < 2:
        return Estimate(rate * due, None, None, n, 0, signature)
    spread = sum((took - rate * many) ** 2 for took, many in zip(per_example, requests, strict=True))
    error = sqrt(spread * n / (n - 1)) / asked
    reach = t_quantile((1 + _LEVEL) / 2, n - 1) * error
    return Estimate(rate * due, max(0.0, rate - reach) * due, (rate + reach) * due, n, 0, signature)


def checked_budget(budget: float | None, prices: Prices | None) -> float | None:
    """Raises where a budget is not one, or can't be counted."""
    if budget is None:
        return None
    number = isinstance(budget, (int, float)) and not isinstance(budget, bool)
    if not number or not isfinite(budget) or budget <= 0:
        raise UsageError(f"{option('budget')} must be a number above 0, not {budget!r:.60}.")
    if prices is None:
        raise UsageError(
            f"{option('budget')} needs prices. Add {option('price-in')} and {option('price-out')}, the cost of a "
            f"million tokens that the model reads and writes; the system must be a model behind a URL."
        )
    return float(budget)


def judge_cost(used: Mapping[str, float], prices: Prices | None) -> float | None:
    """What a judge's tokens cost; None without prices or tokens."""
    tokens = used.get("judge tokens in"), used.get("judge tokens out")
    return None if prices is None or tokens == (None, None) else prices.cost(*tokens)


class Purse:
    """Counts what a run spends, and says whether one more request is within its budget.

    Each request under way is taken to cost as much as the dearest so far, so the budget is exceeded by no more than
    requests under way that are dearer than any before them. What a judge will cost for examples that it has not seen
    is kept back.
    """

    def __init__(
        self, spending: Spending, prices: Prices | None, folder: Place, most_tokens: tuple[int, int] = (0, 0)
    ) -> None:
        self.limit = checked_budget(spending.budget, prices)
        self.prices, self.judge_prices = prices, spending.judge_prices or prices
        self._folder = folder
        self._judged_cost = judge_cost(judge_used(folder), self.judge_prices) or 0.0
        self.spent = self._judged_cost  # and for answers, also for those that were put aside
        if isinstance(folder, MemoryStores):
            self.spent += folder.answers.used().get("cost", 0.0)
        else:
            for file in sorted(folder.glob("outputs*.sqlite")):
                with AnswerStore.reading(file) as store:
                    self.spent += store.used().get("cost", 0.0)
        self._dearest = 0.0 if prices is None else prices.cost(*most_tokens)
        self.judged = 0  # examples that a judge has seen,
        self._each = 0.0  # and what it cost for each of them

    def pay(self, cost: float, outputs: Sequence[Output], shown: str) -> None:
        self.spent += cost
        if self.prices is None:
            return
        for output in outputs:
            if output.tokens_in is None and output.tokens_out is None and output.ok and self.limit is not None:
                raise UsageError(
                    f"{shown} does not say how many tokens an answer took, so {option('budget')} can't be counted. "
                    f"Leave it out, or have the server return `usage`."
                )
            self._dearest = max(self._dearest, self.prices.cost(output.tokens_in, output.tokens_out))

    def saw(self, examples: int) -> None:
        """A judge has seen so many examples by now."""
        cost = judge_cost(judge_used(self._folder), self.judge_prices) or 0.0
        self.spent += cost - self._judged_cost
        self._judged_cost, self.judged = cost, examples
        self._each = cost / examples if examples else 0.0

    def affords(self, under_way: int, examples: float) -> bool:
        """May one more request be sent, when so many are under way and so many examples are begun?"""
        if self.limit is None:
            return True
        kept_back = (under_way + 1) * self._dearest + _SPARE * self._each * max(0.0, examples - self.judged)
        return self.spent + kept_back <= self.limit and self.spent < self.limit

    def requests(self, used: Mapping[str, float], share: float = 1.0) -> int:
        """How many more requests the budget, or a share of it, is enough for, at the cost of the dearest so far."""
        each = max(used.get("cost", 0.0) / max(used.get("requests", 1.0), 1.0), self._dearest)
        left = min((self.limit or 0.0) - self.spent, share * (self.limit or 0.0))
        return 0 if left <= 0 else int(min(left / each, 1e9)) if each else 10**9

    def judgeable(self, complete: int) -> int:
        """How many of the examples that are complete the judge can be paid for."""
        if self.limit is None or not self._each:
            return complete
        return min(complete, self.judged + max(0, int((self.limit - self.spent) / self._each)))
