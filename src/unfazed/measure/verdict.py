"""Is a run good enough? Its measures, its gates, and the exit code that follows from them."""

from __future__ import annotations

import msgspec

from unfazed.core.errors import GateFailed, UnfazedError
from unfazed.measure.gates import GateResult, check_gates, gates_of
from unfazed.measure.measuring import measure_run
from unfazed.measure.results import Results
from unfazed.run.plan import Plan
from unfazed.run.record import Run


class Verdict(msgspec.Struct, frozen=True):
    """What a run showed and whether that is good enough."""

    results: Results
    gates: list[GateResult]
    warnings: list[str]
    exit_code: int


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
