"""Gates, limits that a result must hold such as worst=0.60, and the verdict of a run that was held to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import get_args

import msgspec

from unfazed.core.errors import GateFailed, UnfazedError, UnknownName, UsageError, option
from unfazed.core.values import Estimate
from unfazed.measure.measuring import measure_run
from unfazed.measure.results import Results
from unfazed.run.plan import GateOn, Plan
from unfazed.run.record import Run

AT_LEAST = ("clean", "average", "worst", "consistency", "noticed")
AT_MOST = ("drop", "flips")
_ENDS = get_args(GateOn)
_ROUNDING = 1e-12  # 0.9 - 0.8 is a hair more than 0.1


class Gate(msgspec.Struct, frozen=True):
    """A limit on one measure. `on` says which figure is held against it.

    `ci-lower` takes the unfavourable end of the interval, the lower one of scores and the upper one of drops and flips;
    `ci-upper` takes the favourable end.
    """

    name: str
    limit: float
    on: GateOn = "value"


class GateResult(msgspec.Struct, frozen=True):
    """Whether a gate passed; `bound` is the figure that was held against `limit`."""

    name: str
    bound: float | None
    limit: float
    passed: bool
    sentence: str


def gates_of(
    fail_under: Mapping[str, object] | Iterable[str] = (), max_drop: float | None = None,
    max_flips: float | None = None, on: GateOn = "value",
) -> list[Gate]:  # fmt: skip
    """The gates that were asked for. `fail_under` holds NAME=VALUE texts, or is a mapping."""
    if on not in _ENDS:
        raise UnknownName("figure to gate on", on, _ENDS)
    pairs = fail_under.items() if isinstance(fail_under, Mapping) else [_split(text) for text in fail_under]
    gates = [Gate(_known(name), _number(name, value), on) for name, value in pairs]
    if max_drop is not None:
        gates.append(Gate("drop", _number("drop", max_drop), on))
    if max_flips is not None:
        gates.append(Gate("flips", _number("flips", max_flips), on))
    return gates


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"A gate is NAME=VALUE, such as worst=0.60, not {text!r}.")
    return name.strip(), value


def _known(name: str) -> str:
    if name in AT_MOST:
        raise UsageError(
            f"{name!r} should be low, so it can't fail under a limit: use {option(f'max-{name}')} instead."
        )
    if name not in AT_LEAST:
        raise UnknownName("measure to gate on", name, AT_LEAST)
    return name


def _number(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, bool) or not isfinite(number):
        raise UsageError(f"The limit of {name!r} must be a number, not {value!r}.")
    return number


def check_gates(results: Results, gates: Iterable[Gate]) -> list[GateResult]:
    """Holds the overall measures against each gate, in the order given."""
    return [_check(gate, getattr(results.whole, gate.name)) for gate in gates]


def _check(gate: Gate, estimate: Estimate | None) -> GateResult:
    low_is_bad = gate.name in AT_LEAST
    end = {"value": "value", "ci-lower": "low", "ci-upper": "high"}[gate.on]
    if not low_is_bad and end != "value":
        end = "low" if end == "high" else "high"
    bound: float | None = getattr(estimate, end) if estimate is not None else None
    if bound is None:
        sentence = f"{gate.name}: nothing was measured, so the limit of {gate.limit:g} does not hold."
        return GateResult(gate.name, None, gate.limit, False, sentence)
    gap = bound - gate.limit if low_is_bad else gate.limit - bound
    passed = gap >= -_ROUNDING
    which = {"value": "", "low": "the lower end of ", "high": "the upper end of "}[end]
    wanted = "at least" if low_is_bad else "at most"
    figure = _figures(bound, gate.limit)
    sentence = f"{which}{gate.name} is {figure}; {wanted} {gate.limit:g} was asked: {'passed' if passed else 'failed'}."
    return GateResult(gate.name, bound, gate.limit, passed, sentence)


def _figures(bound: float, limit: float) -> str:
    """Three decimals, or as many as it takes to tell the figure from the limit."""
    for digits in range(3, 13):
        text = f"{bound:.{digits}f}"
        if bound == limit or float(text) != limit:
            return text
    return repr(bound)


class Verdict(msgspec.Struct, frozen=True):
    """What a run showed and whether that is good enough.

    Example: `unfazed.carry_out(plan).exit_code`.
    """

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
            f"{option('allow-missing')} accepts a share of them."
        )
    return Verdict(results, gates, warnings, exit_code)
