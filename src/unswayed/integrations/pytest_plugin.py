"""The pytest plug-in: `def test_holds(unswayed): …` varies, runs and judges a system inside a test suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from unswayed.measure.results import Results


class Checker:
    """The value of the `unswayed` fixture: `check` fails the test if a gate is not met."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def check(
        self, system: str | Callable[..., Any], data: object, operators: str | Sequence[str], *, draws: int = 1,
        seed: int = 0, task: str | None = None, language: str | None = None, scores: Sequence[str] = (),
        fail_under: Mapping[str, float] | None = None, max_drop: float | dict[str, float] | None = None,
        max_flips: float | dict[str, float] | None = None, gate_on: str = "value", **fields: Any,
    ) -> Results:  # fmt: skip
        """Varies `data` with `operators`, runs `system`, and fails the test if a gate is not met.

        `data`, and `fields` such as `input` and `gold`, are as in `unswayed.check`: a path, examples, a DataFrame.
        Returns the results, for further assertions.
        """
        from unswayed.api import carry_out
        from unswayed.report.tables import render
        from unswayed.run.making import make_suite
        from unswayed.run.plan import GatePlan, MeasurePlan, Plan

        __tracebackhide__ = True
        self._count += 1
        folder = self._folder / str(self._count)
        suite = make_suite(
            data, operators, to=folder / "suite", draws=draws, seed=seed, task=task, language=language, **fields
        )
        gate = GatePlan(fail_under=dict(fail_under or {}), max_drop=max_drop, max_flips=max_flips, on=gate_on)  # type: ignore[arg-type]
        plan = Plan(measure=MeasurePlan(scores=tuple(scores)), gate=gate)
        verdict = carry_out(plan, folder, system=system, suite=suite)
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
