"""What people with 20 to 500 examples can see: true drops that are called more than chance, at which size and width.

The three draws of an example are independent, half of the examples' draws are one and the same, or all are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks._measure import Row
from benchmarks._simulated import MadeRun, share
from unswayed.measure.gates import check_gates, gates_of
from unswayed.measure.measuring import measure_run
from unswayed.measure.sentences import severity
from unswayed.run.plan import GatePlan
from unswayed.stats import clopper_pearson, mean_interval, sign_flip_interval
from unswayed.stats.means import numbers_of

# n, clean, varied, and the power of the paired sign-flip test with independent draws, as found before
TABLE = ((20, 0.90, 0.80, 0.19), (50, 1.0, 0.95, 0.69), (50, 1.0, 0.90, 1.0), (100, 0.98, 0.95, 0.40))
ALIKE = (0.0, 0.5, 1.0)
Bools = npt.NDArray[np.bool_]


def answers(
    rng: np.random.Generator,
    n: int,
    clean: float,
    varied: float | npt.NDArray[np.float64],
    alike: float,
    draws: int = 3,
) -> tuple[Bools, Bools]:
    """Which clean answers are right, and which answers to variants; draws of an example are `alike` correlated."""
    rate = np.broadcast_to(np.asarray(varied, dtype=np.float64), (n,))[:, None]
    together = (rng.random(n) < alike)[:, None]
    right = np.where(together, rng.random((n, 1)) < rate, rng.random((n, draws)) < rate)
    return rng.random(n) < clean, right


def drops(times: int) -> Iterator[Row]:
    """Power, size, coverage and width of the drop, of which the verdict speaks."""
    for (n, clean, varied, found_before), alike in product(TABLE, ALIKE):
        rng = np.random.default_rng(9)
        seen = {varied: [0, 0, 0.0, 0.0], clean: [0, 0, 0.0, 0.0]}
        for rate, counts in seen.items():
            for _ in range(times):
                right, again = answers(rng, n, clean, rate, alike)
                numbers = numbers_of(right - again.mean(axis=1))
                ends = mean_interval(numbers, (-1.0, 1.0), 0.95, "difference")
                low, high, p = sign_flip_interval(numbers, ends, 0.95)
                assert low is not None
                assert high is not None
                counts[0] += p < 0.05
                counts[1] += low <= clean - rate <= high
                counts[2] += high - low
                counts[3] += _newcombe(right.astype(float), again.mean(axis=1), n * 3 / (1 + 2 * alike))
        power, covered, width, reference = seen[varied]
        where = f"n = {n}, {clean:g} to {varied:g}, draws {alike:g} alike"
        note = f"coverage {covered / times:.1%}, width {width / reference:.2f} of Newcombe's at effective n"
        least = found_before - 0.05 if alike == 0 else None
        yield share(
            f"drop: {where}",
            f"a drop, {where}: called more than chance (power)",
            power / times,
            times,
            least=least,
            note=note,
        )
        yield share(
            f"drop covers: {where}",
            f"the same: intervals that cover, width {width / reference:.2f} of Newcombe's",
            covered / times,
            times,
            least=0.93,
        )
        size = f"no drop, n = {n}, {clean:g}, draws {alike:g} alike: called more than chance (size)"
        yield share(f"no drop: {where}", size, seen[clean][0] / times, times, most=0.06)


def _newcombe(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], effective: float) -> float:
    """The width of Newcombe's interval for paired shares (his method 10), the second of `effective` answers."""
    ends = []
    for values, n in ((a, len(a)), (b, effective)):
        p, z = float(values.mean()), 1.959964
        middle, half = (
            (p + z * z / 2 / n) / (1 + z * z / n),
            z * sqrt(p * (1 - p) / n + (z / 2 / n) ** 2) / (1 + z * z / n),
        )
        ends.append((p - middle + half, middle + half - p))
    r = 0.0 if np.ptp(a) == 0 or np.ptp(b) == 0 else float(np.corrcoef(a, b)[0, 1])
    (la, ua), (lb, ub) = ends
    return sqrt(max(la**2 + ub**2 - 2 * r * la * ub, 0.0)) + sqrt(max(ua**2 + lb**2 - 2 * r * ua * lb, 0.0))


def ceiling(times: int) -> Iterator[Row]:
    """Shares near 1, against Clopper and Pearson's interval of as many independent answers."""
    for n, rate, draws, alike in product((50, 100, 1000), (0.9, 0.98, 0.995), (1, 3, 10), ALIKE):
        if draws == 1 and alike:
            continue
        rng, inside, width, reference = np.random.default_rng(10), 0, 0.0, 0.0
        effective = round(n * draws / (1 + (draws - 1) * alike))
        known: dict[int, float] = {}
        for _ in range(times):
            low, high = mean_interval(answers(rng, n, 1.0, rate, alike, draws)[1].mean(axis=1))
            inside += (low or 0.0) <= rate <= (high or 0.0)
            width += (high or 0.0) - (low or 0.0)
            right = int(rng.binomial(effective, rate))
            if right not in known:
                known[right] = -np.subtract(*clopper_pearson(right, effective))
            reference += known[right]
        where = f"n = {n}, {draws} draws, {alike:g} alike, rate {rate:g}"
        what = f"average, {where}: intervals that cover, width {width / reference:.2f} of Clopper and Pearson's"
        yield share(f"average: {where}", what, inside / times, times, least=0.93)


_HOW: dict[str, Any] = {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}}


def wildcards(times: int, n: int = 500, slices: int = 20) -> Iterator[Row]:
    """Twenty slices under one wildcard gate: all alike, and one that loses 15 points more."""
    gates = gates_of(GatePlan(max_drop={"s=*": 0.10}))
    for alike in ALIKE:
        rng, failed = np.random.default_rng(11), [0, 0]
        for _ in range(times):
            for place, lost in enumerate((0.0, 0.15)):
                code = rng.integers(0, slices, n)
                right, again = answers(rng, n, 1.0, np.where(code == 0, 0.95 - lost, 0.95), alike)
                made = MadeRun(right, again, ["k/a"] * 3, {"s": [str(one) for one in code.tolist()]})
                failed[place] += not all(gate.passed for gate in check_gates(measure_run(made, _HOW), gates))
        where = f"20 slices, n = {n}, draws {alike:g} alike"
        yield share(
            f"wildcard: {where}",
            f"wildcard gate at 0.10, {where}, each drops 0.05: fails",
            failed[0] / times,
            times,
            most=0.05,
        )
        yield share(
            f"wildcard power: {where}",
            "the same, one slice drops 0.20: fails (power)",
            failed[1] / times,
            times,
            least=0.8 if not alike else None,
        )


def grades(times: int, n: int = 100) -> Iterator[Row]:
    """Eight in a hundred answers change, as often to a right one as to a wrong one: moderate."""
    for alike in ALIKE:
        rng, sure, right_grade = np.random.default_rng(12), 0, 0
        for _ in range(times):
            clean, same = answers(rng, n, 0.5, 0.92, alike)
            found = severity(measure_run(MadeRun(clean, clean[:, None] == same, ["k/a"] * 3), _HOW))
            assert found is not None
            sure += not found.not_excluded
            right_grade += found.grade == "moderate" or "moderate" in found.not_excluded
        where = f"n = {n}, flips of 8%, draws {alike:g} alike"
        yield share(
            f"grade: {where}",
            f"grades, {where}: no other grade is named",
            sure / times,
            times,
            least=0.6 if not alike else None,
        )
        yield share(f"grade true: {where}", "the same: the true grade is named", right_grade / times, times, least=0.93)
