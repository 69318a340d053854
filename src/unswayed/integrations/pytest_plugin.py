"""The pytest plug-in: `def test_holds(unswayed): …` varies, runs and judges a system inside a test suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from unswayed.measure.results import Results
    from unswayed.run.plan import PlanLike


class Checker:
    """The value of the `unswayed` fixture: `check` fails the test if a gate is not met."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def check(
        self, system: str | Callable[..., Any], data: object, operators: str | Sequence[str] = (), *,
        input: str | Sequence[str] | None = None, gold: str | None = None, task: str | None = None,
        language: str | None = None, draws: int | None = None, seed: int | None = None,
        scores: str | Sequence[str] | None = None, fail_under: Mapping[str, float] | None = None,
        max_drop: float | Mapping[str, float] | None = None, max_flips: float | Mapping[str, float] | None = None,
        plan: PlanLike = None,
    ) -> Results:  # fmt: skip
        """Varies `data` with `operators`, runs `system`, and fails the test if a gate is not met.

        `data`, `input` … `scores` and `plan` are as in `unswayed.check`; `fail_under`, `max_drop` and `max_flips` are
        gates. Returns the results, for further assertions.
        """
        from unswayed.api import carry_out
        from unswayed.report.tables import render
        from unswayed.run.making import make_suite
        from unswayed.run.plan import plan_of

        __tracebackhide__ = True
        self._count += 1
        folder = self._folder / str(self._count)
        gates = {"gate": {"fail_under": fail_under, "max_drop": max_drop, "max_flips": max_flips}}
        made = plan_of(plan_of(plan, gates), scores=scores)
        suite = make_suite(
            data, operators, input=input, gold=gold, task=task, language=language, draws=draws, seed=seed,
            to=folder / "suite", plan=made,
        )  # fmt: skip
        verdict = carry_out(made, folder, system=system, suite=suite)
        if verdict.exit_code:
            reasons = (
                verdict.results.sanity + [gate.sentence for gate in verdict.gates if not gate.passed] + verdict.warnings
            )
            pytest.fail("\n".join([*reasons, "", render(verdict.results, "table")]), pytrace=False)
        return verdict.results


@pytest.fixture
def unswayed(tmp_path: Path) -> Checker:
    """Checks that a system stays unswayed: `unswayed.check(predict, "cases.jsonl", ["keyboard/adjacent"])`."""
    return Checker(tmp_path / "unswayed")
