"""The pytest plug-in: `def test_holds(unfazed): …` varies, runs and judges a system inside a test suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from unfazed.measure.results import Results


class Checker:
    """What the `unfazed` fixture gives: `check` fails the test where a system is fazed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def check(
        self,
        system: str | Callable[..., Any],
        data: str | Path | Sequence[Any],
        operators: Sequence[str],
        *,
        draws: int = 1,
        seed: int = 0,
        task: str | None = None,
        language: str | None = None,
        scores: Sequence[str] = (),
        fail_under: Mapping[str, float] | None = None,
        max_drop: float | None = None,
        max_flips: float | None = None,
        gate_on: str = "value",
    ) -> Results:
        """Varies `data` with `operators`, asks `system`, and fails the test if a gate is not met.

        `data` is a path, or examples in Python (`unfazed.Example` or mappings such as {"text": …, "label": …}).
        Returns the results, for further assertions.
        """
        from unfazed.measure.verdict import judge
        from unfazed.report.tables import render
        from unfazed.run.engine import run_system
        from unfazed.run.making import make_suite
        from unfazed.run.plan import GatePlan, MeasurePlan, Plan

        __tracebackhide__ = True
        self._count += 1
        here = self._folder / str(self._count)
        suite = make_suite(data, operators, draws=draws, seed=seed, task=task, language=language, to=here / "suite")
        run = run_system(suite, system, here / "run")
        plan = Plan(
            measure=MeasurePlan(scores=tuple(scores)),
            gate=GatePlan(
                fail_under=dict(fail_under or {}),
                max_drop=max_drop,
                max_flips=max_flips,
                on=gate_on,  # type: ignore[arg-type]
            ),
        )
        verdict = judge(run, plan)
        if verdict.exit_code:
            reasons = [gate.sentence for gate in verdict.gates if not gate.passed] + verdict.warnings
            pytest.fail("\n".join([*reasons, "", render(verdict.results, "table")]), pytrace=False)
        return verdict.results


@pytest.fixture
def unfazed(tmp_path: Path) -> Checker:
    """Checks that a system stays unfazed: `unfazed.check(predict, "cases.jsonl", ["keyboard/adjacent"])`."""
    return Checker(tmp_path / "unfazed")
