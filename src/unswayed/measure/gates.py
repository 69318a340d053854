"""Gates, limits that a result must hold such as worst=0.60, and the verdict of a run that was held to them.

A gate names its set as people write it: an operator, a family or slice=value, with * for each of several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Literal

import msgspec
import numpy as np

from unswayed.base.errors import GateFailed, NothingEvaluated, UnknownName, UnswayedError, UsageError, option
from unswayed.base.values import Estimate
from unswayed.measure.measuring import measure_run
from unswayed.measure.precision import not_reached
from unswayed.measure.questions import slice_key
from unswayed.measure.results import TO_100, Results
from unswayed.run.plan import GateOn, GatePlan, Plan
from unswayed.run.record import Run
from unswayed.run.spending import money
from unswayed.stats import incomplete_beta
from unswayed.storage.answers import Asked
from unswayed.storage.suite import Suite

AT_LEAST = ("clean", "average", "worst", "cvar", "consistency", "noticed")
AT_MOST = ("drop", "flips")
_ROUNDING = 1e-12  # 0.9 - 0.8 is a hair more than 0.1


class Gate(msgspec.Struct, frozen=True):
    """A limit on one measure of all variants, or of the sets that `set` names.

    `on` says which figure is held against it: `at-worst` takes the unfavourable end of the interval, the lower one of
    scores and the upper one of drops and flips; `at-best` takes the favourable end. A gate with a * for several sets is
    one family: a set fails it by its value only if more than chance puts it beyond the limit.
    """

    name: str
    limit: float
    on: GateOn = "value"
    set: str = "all"


class GateResult(msgspec.Struct, frozen=True):
    """Whether a gate passed; `bound` is the figure that was held against `limit`.

    `name` is the measure, after the set and a colon where it is not of all variants. `status` is "unclear" for one of
    several sets whose value is beyond the limit by no more than chance: it passes.
    """

    name: str
    bound: float | None
    limit: float
    passed: bool
    sentence: str
    status: Literal["passed", "failed", "unclear"] = "passed"


def gates_of(plan: GatePlan) -> list[Gate]:
    """The gates of a plan."""
    gates = []
    for name, limit in plan.fail_under.items():
        set_, measure = split_measure(name)
        if measure in AT_MOST:
            instead = option(f"max-{measure}")
            raise UsageError(f"{measure!r} should be low, so it can't fail under a limit: use {instead} instead.")
        if measure not in AT_LEAST:
            raise UnknownName("measure to gate on", measure, AT_LEAST)
        gates.append(Gate(measure, limit, plan.on, set_ or "all"))
    for measure, limits in (("drop", plan.max_drop), ("flips", plan.max_flips)):
        of = limits if isinstance(limits, dict) else {} if limits is None else {"all": limits}
        gates += [Gate(measure, limit, plan.on, set_) for set_, limit in of.items()]
    return gates


def check_sets(gates: Iterable[Gate], suite: Suite) -> None:
    """Raises if a gate names a set that the suite does not have, so before anything is asked."""
    named = [gate.set for gate in gates if gate.set != "all"]
    known = sets_of(suite) if named else {}
    for set_ in named:
        sets_named(set_, known)


def check_gates(
    results: Results, gates: Iterable[Gate], known: Known | None = None, bounds: bool = False
) -> list[GateResult]:
    """Holds measures against each gate, in the order given; a gate with a * is one for each set.

    `known` are the sets that the suite has. One of them that the results do not have was not measured. Where the set-up
    is broken, no gate passes. With `bounds`, what is missing counts at its least favourable.
    """
    known = results.sets if known is None else known
    checked = []
    for gate in gates:
        low_is_bad, sign = gate.name in AT_LEAST, 1 if gate.name in AT_LEAST else -1
        end = {"value": "value", "at-worst": "low", "at-best": "high"}[gate.on]
        if not low_is_bad and end != "value":
            end = "low" if end == "high" else "high"
        sets, found = sets_named(gate.set, known), []
        for set_ in sets:
            block = results.whole if set_ == ALL else results.sets.get(set_[0], {}).get(set_[1])
            estimate: Estimate | None = getattr(block, gate.name, None)
            if bounds and estimate is not None and estimate.bounds is not None:
                worst = estimate.bounds[0 if low_is_bad else 1]
                estimate = msgspec.structs.replace(estimate, value=worst)
            found.append(estimate)
        # of several sets, those that more than chance puts beyond the limit; of one, its value is enough
        shown = [True] * len(sets)
        if len(sets) > 1:
            slices = not {kind for kind, _ in sets} & {"operator", "family"}
            top = 100.0 if results.score in TO_100 else 1.0
            shown = _beyond(found, gate.limit, sign, results.level, _variance(results, gate.name, found, slices), top)
        for set_, estimate, sure in zip(sets, found, shown, strict=True):
            name, what = gate.name, gate.name
            if set_ != ALL:
                name, what = f"{spelled(set_)}:{gate.name}", f"{gate.name} on {spelled(set_)}"
            bound: float | None = getattr(estimate, end) if estimate is not None else None
            status: Literal["passed", "failed", "unclear"] = "failed"
            if results.sanity:
                bound = None
                sentence = f"{name}: the set-up looks broken, so the limit of {gate.limit:g} does not hold."
            elif bound is None:
                sentence = f"{what}: nothing was measured, so the limit of {gate.limit:g} does not hold."
            else:
                within = sign * (bound - gate.limit) >= -_ROUNDING
                status = "passed" if within else "failed" if sure or gate.on == "at-worst" else "unclear"
                which = "" if end == "value" else f" at the {'lower' if end == 'low' else 'upper'} end of its interval"
                limit = f"the {'lower' if low_is_bad else 'upper'} limit is {gate.limit:g}"
                # three decimals, or as many as it takes to tell the figure from the limit
                texts = (f"{bound:.{digits}f}" for digits in range(3, 13))
                exact = bound == gate.limit
                figure = next((text for text in texts if exact or float(text) != gate.limit), repr(bound))
                why = f". Among {len(sets)} sets that may be chance, so it passes" if status == "unclear" else ""
                sentence = f"Gate {status}: {what} is {figure}{which}; {limit}{why}."
            checked.append(GateResult(name, bound, gate.limit, status != "failed", sentence, status))
    return checked


def _variance(results: Results, name: str, found: Sequence[Estimate | None], slices: bool) -> float:
    """The variance of one example's number: from all examples together or, of operators, from all of their estimates.

    Of a score interval the product of the distances of both ends from the value is the squared error times z². That is
    a little too much, as such an interval allows for errors that were not seen: the run's variances are preferred.
    """
    sampled = results.people.measures.get(name) if results.people is not None and slices else None
    if sampled is not None and sampled.clusters is None:
        parts = sampled.variance
        within = (parts.people or 0.0) + (parts.repeats or 0.0) + (parts.rest or 0.0)
        return (parts.examples or 0.0) + within / sampled.draws
    z = NormalDist().inv_cdf((1 + results.level) / 2)
    whole: Estimate | None = getattr(results.whole, name)
    pooled = [whole] if slices and whole is not None and whole.low is not None else found
    squares = [
        one.n * (one.value - one.low) * (one.high - one.value) / z**2
        for one in pooled
        if one is not None and one.value is not None and one.low is not None and one.high is not None
    ]
    return sum(squares) / len(squares) if squares else 0.0


def _beyond(
    found: Sequence[Estimate | None], limit: float, sign: int, level: float, variance: float, top: float
) -> list[bool]:
    """Which of several sets are beyond a limit by more than chance; `sign` is 1 where low is bad.

    A set is if it has more errors than chance gives it of those of all sets, by an exact test that is corrected for the
    number of sets (Bonferroni). If the sets are beyond the limit on average, a set also is if its estimate stays there
    when drawn towards that average (empirical Bayes). Both take the `variance` of an example from all sets. `top` is
    the best score.
    """
    known = [i for i, one in enumerate(found) if one is not None and one.low is not None and one.high is not None]
    sure = [False] * len(found)
    if not known:
        return sure
    variance = max(variance, 1e-12)
    # seen so that high is bad
    value = np.array([-sign * (getattr(found[i], "value", None) or 0.0) for i in known])
    n = np.array([getattr(found[i], "n", 1) for i in known], dtype=np.float64)
    middle, error = float(n @ value) / float(n.sum()), np.sqrt(variance / n)
    apart = max(0.0, float(((value - middle) ** 2).sum()) / max(len(known) - 1, 1) - float((error**2).mean()))
    shrunk = middle + apart / (apart + error**2 + 1e-12) * (value - middle)
    # Errors are taken as Poisson, each of which moves an example's number by `unit`, at most by the whole scale. Given
    # how many there are in all sets, those of one set are binomial.
    unit = min(top, variance / max(abs(middle + (top if sign > 0 else 0.0)), 1e-12))
    errors = n * (variance / unit**2 + (value - middle) / unit)
    total, alpha = float(errors.sum()), (1 - level) / len(known)
    for place, i in enumerate(known):
        x, share = float(errors[place]), float(n[place] / n.sum())
        rest = max(total - x, 0.0) + 1
        p = sum(incomplete_beta(x + more, rest, share) for more in (0, 1)) / 2 if x > 0 else 1.0  # mid-p
        sure[i] = p <= alpha or min(middle, float(shrunk[place])) > -sign * limit
    return sure


class Verdict(msgspec.Struct, frozen=True):
    """What a run showed and whether that is good enough.

    Example: `unswayed.carry_out(plan).exit_code`.
    """

    results: Results
    gates: list[GateResult]
    warnings: list[str]
    exit_code: int
    session: Asked | None = None  # what was asked for it, and which answers were used again


def judge(run: Run, plan: Plan) -> Verdict:
    """Measures a run and holds it against the plan's gates; asks the system nothing."""
    measured, gate = plan.measure, plan.gate
    results = measure_run(run, plan)
    asked = gates_of(gate)
    known = sets_of(run.suite) if any(gate.set != "all" for gate in asked) else None
    gates = check_gates(results, asked, known, measured.missing == "bounds")
    warnings = [*(run.session.warnings if run.session else ()), *results.validity["warnings"]]
    items = results.validity["examples"] + results.validity["variants"]
    missing = results.validity["not_asked"]
    missing += results.validity["failed"] if measured.missing == "leave" else 0  # otherwise they count
    exit_code = 0
    if any(not result.passed for result in gates):
        exit_code = GateFailed.exit_code
    if missing > gate.allow_missing * items:
        exit_code = UnswayedError.exit_code
        warnings.append(
            f"Incomplete: {missing:,} of {items:,} items have no output. The same command asks them again; "
            f"{option('allow-missing')} accepts a share of them."
        )
    warnings += not_reached(results, run.manifest.stop_when)
    if run.sample is not None and run.sample.why == "stopped" and gate.allow_missing < 1:
        exit_code = UnswayedError.exit_code
        warnings.append(
            f"Incomplete: {run.sample.of - run.sample.examples:,} of {run.sample.of:,} examples were not asked, or not "
            f"with all of their variants. The same command asks them; {option('limit')} asks fewer."
        )
    if run.sample is not None and run.sample.why == "budget":
        warnings.append(
            f"Stopped: the budget of {money(run.manifest.budget or 0.0)} is spent. The same command with a greater "
            f"{option('budget')} resumes it."
        )
    if results.sanity:
        exit_code = NothingEvaluated.exit_code
        warnings.insert(
            0,
            "Nothing was concluded, as the set-up looks broken. "
            f"{option('no-sanity', value='False')} accepts it as it is.",
        )
    return Verdict(results, gates, warnings, exit_code, run.session)


Named = tuple[str, str]  # the kind ("operator", "family" or a slice's name) and the name
Known = Mapping[str, Iterable[str]]  # the names that there are, by kind
ALL: Named = ("", "")
_WHOLE = ("", "all")


def spelled(name: Named) -> str:
    """A set as people write it."""
    return "all" if name == ALL else name[1] if name[0] in ("operator", "family") else "=".join(name)


def labelled(name: Named) -> str:
    """A set as differences and signatures have it: `all`, `operator=keyboard/adjacent`, `domain=home`."""
    return "all" if name == ALL else "=".join(name)


def split_measure(text: str) -> tuple[str, str]:
    """The set and the measure of `[SET:]MEASURE`. A measure has no colon, so a set's name may have some."""
    set_, _, measure = text.rpartition(":")
    return set_.strip(), measure.strip()


def sets_named(text: str, known: Known) -> list[Named]:
    """The sets that a text names: one or, with *, each of several; raises if there is none.

    `operator=` and `family=` tell apart what has the same name. Without them, an operator comes before a family.
    """
    if text in _WHOLE:
        return [ALL]
    # a * stands for any text; without one, only whole names are meant
    pattern = re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL) if "*" in text else None
    levels = [[(name, (kind, name)) for name in known.get(kind, ())] for kind in ("operator", "family")]
    levels.append([(labelled((kind, name)), (kind, name)) for kind, names in known.items() for name in names])
    for level in levels:
        exact = [named for called, named in level if called == text]
        if found := exact or [named for called, named in level if pattern is not None and pattern.fullmatch(called)]:
            return found
    key, equals, value = text.partition("=")
    if not equals:
        raise UnknownName("operator or family", text, {*known.get("operator", ()), *known.get("family", ())})
    if key in ("operator", "family"):
        raise UnknownName(key, value, known.get(key, ()))
    if key in known:
        raise UnknownName(f"value of the slice {key!r}", value, known[key])
    raise UnknownName("slice", key, [kind for kind in known if kind not in ("operator", "family")])


def sets_of(suite: Suite) -> dict[str, list[str]]:
    """The operators, families and slices of a suite, by kind."""
    found: dict[str, dict[str, None]] = {"operator": {}, "family": {}}
    for example, variants in suite.groups():
        for key, value in example.groups.items():
            found.setdefault(slice_key(key), {})[value] = None
        for variant in variants:
            found["operator"][variant.source] = None
            found["family"][variant.family] = None
    return {kind: sorted(names) for kind, names in found.items()}
