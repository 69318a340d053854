"""The rules by which tasks whose answers are no texts compare two of them: `within@TOLERANCE` for numbers, `found@K`
for rankings, and `calls` for chats that end in tool calls or in text."""

from __future__ import annotations

from unswayed.base.chat import calls_of
from unswayed.base.errors import UsageError, option
from unswayed.base.ids import canonical
from unswayed.base.task.retrieve import grades_of, ranked_ids
from unswayed.base.task.score import number_of
from unswayed.base.task.tools import ToolsTask
from unswayed.base.values import Json
from unswayed.score._equivalent import AnswerPair, ContainsRule, EquivalentRule

_ROUNDING = 1e-9  # as 0.75 - 0.7 is a little more than 0.05


class WithinRule(EquivalentRule):
    """Two numbers differ by no more than the tolerance."""

    matches = False
    beside = "change"

    def __init__(self, tolerance: str) -> None:
        found = number_of(tolerance)
        if found is None or found < 0:
            what = "needs a tolerance of 0 or more behind the @, as in within@0.05"
            raise UsageError(f"{option('equivalent')} within {what}, not {tolerance!r}.")
        self.tolerance = found

    def key(self, value: Json) -> str:
        found = number_of(value)
        return "no number" if found is None else repr(found)

    def alike(self, pair: AnswerPair) -> bool | None:
        return self.value_beside(pair) <= self.tolerance * (1 + _ROUNDING)

    def value_beside(self, pair: AnswerPair) -> float:
        """By how much the number changed."""
        said, before = number_of(pair.said), number_of(pair.reference)
        return float("nan") if said is None or before is None else abs(said - before)


class FoundRule(EquivalentRule):
    """No relevant document that is among the first K of the clean ranking is missing there."""

    matches = False
    beside = "gained"

    def __init__(self, first: str) -> None:
        if not (first.isdecimal() and int(first)):
            what = "needs a whole number of 1 or more behind the @, as in found@10"
            raise UsageError(f"{option('equivalent')} found {what}, not {first!r}.")
        self.first = int(first)

    def key(self, value: Json) -> str:
        found = ranked_ids(value)  # the order among the first K, and what comes behind, make no difference
        return "no ranking" if found is None else canonical(sorted(found[: self.first])).decode()

    def alike(self, pair: AnswerPair) -> bool | None:
        before, after = self._relevant(pair.reference, pair.due), self._relevant(pair.said, pair.due)
        return before <= after

    def value_beside(self, pair: AnswerPair) -> float:
        """Is there a relevant document among the first K that was not there?"""
        return float(not self._relevant(pair.said, pair.due) <= self._relevant(pair.reference, pair.due))

    def _relevant(self, ranking: Json, due: Json) -> set[str]:
        return set((ranked_ids(ranking) or [])[: self.first]) & (grades_of(due) or {}).keys()


class CallsRule(EquivalentRule):
    """Two answers make the same calls, in any order. If the gold is a text, two answers without calls are compared as
    texts, of which one contains the other; else words beside calls make no difference."""

    matches = False
    _task = ToolsTask()

    def key(self, value: Json) -> str:
        words = "" if calls_of(value) or not isinstance(value, str) else super().key(value)
        return canonical([repr(self._task.answer(value)), words]).decode()

    def alike(self, pair: AnswerPair) -> bool | None:
        if self._task.answer(pair.said) != self._task.answer(pair.reference):
            return False
        return not isinstance(pair.due, str) or calls_of(pair.said) != [] or ContainsRule().alike(pair)


def task_rule(kind: str, parameter: str) -> EquivalentRule:
    """The rule of that name, with what stands behind its `@`, if anything."""
    if kind == "within":
        return WithinRule(parameter)
    if kind == "found":
        return FoundRule(parameter)
    if parameter:
        raise UsageError(f"{option('equivalent')} {kind} takes nothing after its name: {parameter!r}.")
    return CallsRule()
