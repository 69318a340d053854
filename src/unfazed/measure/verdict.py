"""A whole plan carried out: suite, run, measures, gates, and the exit code that says how it ended."""

from __future__ import annotations

from pathlib import Path

import msgspec

from unfazed.core.errors import GateFailed, UnfazedError, UsageError
from unfazed.core.suite import Suite
from unfazed.measure.gates import GateResult, check_gates, gates_of
from unfazed.measure.measuring import measure_run
from unfazed.measure.results import Results
from unfazed.run.engine import run_system
from unfazed.run.making import suite_of
from unfazed.run.plan import Plan
from unfazed.run.record import Run
from unfazed.systems.opening import open_system


class Verdict(msgspec.Struct, frozen=True):
    """What a run showed and whether that is good enough."""

    results: Results
    gates: list[GateResult]
    warnings: list[str]
    exit_code: int


def carry_out(plan: Plan, to: str | Path) -> Verdict:
    """Makes the suite where the plan says how and it is not there, runs the system on it, and judges the run."""
    gates_of(plan.gate.fail_under, plan.gate.max_drop, plan.gate.max_flips, plan.gate.on)  # a wrong gate is told first
    if plan.run.system is None:
        raise UsageError("No system was given: say --system module:function, a model's folder, or cmd:COMMAND.")
    suite = Suite(plan.run.suite) if plan.run.suite is not None else suite_of(plan, Path(to) / "suite")
    suite.verify()
    system = open_system(plan.run.system, **plan.run.options)
    try:
        run = run_system(suite, system, to, plan.run.asking, plan.engine)
    finally:
        system.close()
    return judge(run, plan)


def judge(run: Run, plan: Plan) -> Verdict:
    """Measures a run and holds it against the plan's gates; asks the system nothing."""
    measured, gate = plan.measure, plan.gate
    results = measure_run(run, measured.scores, measured.level, measured.bootstrap, measured.seed, engine=plan.engine)
    gates = check_gates(results, gates_of(gate.fail_under, gate.max_drop, gate.max_flips, gate.on))
    warnings = list(results.validity["warnings"])
    items = results.validity["examples"] + results.validity["variants"]
    missing = results.validity["failed"] + results.validity["not_asked"]
    exit_code = 0
    if any(not result.passed for result in gates):
        exit_code = GateFailed.exit_code
    if missing > gate.allow_missing * items:
        exit_code = UnfazedError.exit_code
        warnings.append(
            f"Incomplete: {missing:,} of {items:,} items have no output. The same command asks them again; "
            f"--allow-missing accepts a share of them."
        )
    return Verdict(results, gates, warnings, exit_code)
