"""What people with 20 to 500 examples can see: true drops that are called more than chance, at which size and width.

The three draws of an example are independent, half of the examples' draws are one and the same, or all are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import comb, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks._measure import Row
from benchmarks._simulated import Trials, exact_width, paired_t, share
from unswayed.base.values import Estimate
from unswayed.measure.gates import check_gates, gates_of
from unswayed.measure.sentences import severity
from unswayed.run.plan import GatePlan
from unswayed.stats import clopper_pearson, mean_interval, numbers_of, sign_flip_interval
from unswayed.stats.means import least_distance

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
    """Power, size, coverage and width of the drop, of which the verdict speaks, with three and with ten draws."""
    ten = ((50, 0.98, 0.95, 10), (50, 0.96, 0.96, 10))
    for (n, clean, varied, found_before, draws), alike in product(
        [(*one, 3) for one in TABLE] + [(n, a, b, None, d) for n, a, b, d in ten], ALIKE
    ):
        rng, where = np.random.default_rng(9), f"n = {n}, {clean:g} to {varied:g}, {draws} draws {alike:g} alike"
        for rate in dict.fromkeys((varied, clean)):
            seen = Trials("Newcombe's at effective n")
            for _ in range(times):
                right, again = answers(rng, n, clean, rate, alike, draws)
                numbers = numbers_of(right - again.mean(axis=1))
                ends = mean_interval(numbers, (-1.0, 1.0), 0.95, "difference")
                low, high, p = sign_flip_interval(numbers, ends, 0.95, 1.0)
                effective = n * draws / (1 + (draws - 1) * alike)
                theirs = _newcombe(right.astype(float), again.mean(axis=1), effective)
                seen.add((low, high), clean - rate, theirs, p < 0.05)
            if rate == clean:
                what = f"no drop, n = {n}, {clean:g}, {draws} draws {alike:g} alike: called more than chance (size)"
                yield share(f"no drop: {where}", what, seen.power, times, most=0.06, seen=seen)
                continue
            least = found_before - 0.05 if found_before and alike == 0 else None
            what = f"a drop, {where}: called more than chance (power)"
            yield share(f"drop: {where}", what, seen.power, times, least=least, seen=seen)
            what = "the same: intervals that cover"
            yield share(f"drop covers: {where}", what, seen.coverage, times, least=0.93, seen=seen)


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
    """Shares near 1, against Clopper and Pearson's interval of as many independent answers.

    Where variants go wrong one by one, a row also has the least width of any interval that would hold if some examples
    failed as a whole (`least_distance`).
    """
    for n, rate, draws, alike in product((50, 100, 1000), (0.9, 0.98, 0.995), (1, 3, 10), ALIKE):
        if draws == 1 and alike:
            continue
        rng, seen = np.random.default_rng(10), Trials("Clopper and Pearson's at effective n")
        effective = round(n * draws / (1 + (draws - 1) * alike))
        below = 0.0
        for _ in range(times):
            right = int(rng.binomial(effective, rate))
            below += (clopper_pearson_high(right, effective) - rate) / times
            ends = mean_interval(answers(rng, n, 1.0, rate, alike, draws)[1].mean(axis=1))
            seen.add(ends, rate, exact_width(right, effective))
        where, note = f"n = {n}, {draws} draws, {alike:g} alike, rate {rate:g}", ""
        if draws > 1 and alike == 0:
            least = (below + least_distance(n)) / (seen.theirs / times)
            note = f"at least {max(least, 1.0):.2f} × if examples may fail as a whole"
        what = f"average, {where}: intervals that cover"
        yield share(f"average: {where}", what, seen.coverage, times, least=0.93, note=note, seen=seen)


@lru_cache(maxsize=100_000)
def clopper_pearson_high(right: int, n: int) -> float:
    return clopper_pearson(right, n)[1]


def wildcards(times: int, n: int = 500, slices: int = 20) -> Iterator[Row]:
    """Twenty slices under one wildcard gate: all alike, and one that loses 15 points more.

    The note has the power of a test that knows how healthy slices fail, at which 5% of healthy builds do.
    """
    (gate,), size = gates_of(GatePlan(max_drop={"s=*": 0.10})), 3
    for alike in ALIKE:
        rng, failed = np.random.default_rng(11), [0, 0]
        seen, best = Trials("paired t"), ([], [])  # type: tuple[Trials, tuple[list[float], list[float]]]
        # the chance of each total of healthy examples, in thirds
        one = np.array([comb(size, k) * 0.05**k * 0.95 ** (size - k) * (1 - alike) for k in range(size + 1)])
        one[[0, size]] += alike * np.array([0.95, 0.05])
        chances, total = [], np.ones(1)
        for _ in range(n):
            chances.append(np.append(np.cumsum(total[::-1])[::-1], 0.0))
            total = np.convolve(total, one)[: 3 * size * slices]
        for _ in range(times):
            for place, lost in enumerate((0.0, 0.15)):
                code = rng.integers(0, slices, n)
                right, again = answers(rng, n, 1.0, np.where(code == 0, 0.95 - lost, 0.95), alike)
                drop = right - again.mean(axis=1)
                estimates = {str(k): _estimated(drop[code == k]) for k in range(slices) if (code == k).any()}
                failed[place] += not all(one.passed for one in check_gates(_measured(drop, estimates), [gate]))
                sums, many = np.rint(size * np.bincount(code, drop, slices)).astype(int), np.bincount(code)
                best[place].append(
                    min(chances[many[k]][min(sums[k], len(chances[many[k]]) - 1)] for k in range(slices))
                )
                if not place:
                    found = estimates["0"]
                    seen.add((found.low, found.high), 0.05, paired_t(drop[code == 0]), False)
        knows = float(np.mean(np.array(best[1]) <= np.quantile(best[0], 0.05)))
        seen.found = failed[1]
        where = f"20 slices, n = {n}, draws {alike:g} alike"
        what = f"wildcard gate at 0.10, {where}, each drops 0.05: fails"
        yield share(f"wildcard: {where}", what, failed[0] / times, times, most=0.05, seen=seen)
        note = f"{knows:.1%} if the healthy slices' errors were known"
        least = 0.8 if not alike else knows - 0.1
        what = "the same, one slice drops 0.20: fails (power)"
        yield share(f"wildcard power: {where}", what, failed[1] / times, times, least=least, note=note, seen=seen)


def _estimated(drop: npt.NDArray[np.float64]) -> Estimate:
    numbers = numbers_of(drop)
    ends = mean_interval(numbers, (-1.0, 1.0), 0.95, "difference")
    low, high, p = sign_flip_interval(numbers, ends, 0.95, 1.0)
    return Estimate(float(drop.mean()), low, high, len(drop), 0, "", p=p)


def _measured(drop: npt.NDArray[np.float64], slices: Mapping[str, Estimate]) -> Any:
    """What a gate looks at in the results of a run."""
    variance = SimpleNamespace(examples=float(drop.var(ddof=1)), people=None, repeats=None, rest=None)
    people = SimpleNamespace(measures={"drop": SimpleNamespace(clusters=None, variance=variance, draws=1.0)})
    return SimpleNamespace(
        whole=SimpleNamespace(drop=_estimated(drop)), people=people, level=0.95, score="accuracy", sanity=[],
        sets={"s": {name: SimpleNamespace(drop=one) for name, one in slices.items()}},
    )  # fmt: skip


def grades(times: int, n: int = 100) -> Iterator[Row]:
    """Eight in a hundred answers change, as often to a right one as to a wrong one: moderate."""
    for alike in ALIKE:
        rng, sure, seen = np.random.default_rng(12), 0, Trials("Clopper and Pearson's at effective n")
        effective = round(n * 3 / (1 + 2 * alike))
        for _ in range(times):
            clean, same = answers(rng, n, 0.5, 0.92, alike)
            varied = clean[:, None] == same
            changed = (~same).mean(axis=1)
            flips = Estimate(float(changed.mean()), *mean_interval(changed), n, 0, "")
            results: Any = SimpleNamespace(
                repeats=None, wavering=None, flip_rate=flips, drop=_estimated(clean - varied.mean(axis=1)), sanity=[],
                score="accuracy", level=0.95, task="classify", compared={},
            )  # fmt: skip
            found = severity(results)
            assert found is not None
            sure += not found.not_excluded
            named = found.grade == "moderate" or "moderate" in found.not_excluded
            seen.add((flips.low, flips.high), 0.08, exact_width(int(rng.binomial(effective, 0.92)), effective), named)
        where = f"n = {n}, flips of 8%, draws {alike:g} alike"
        what = f"grades, {where}: no other grade is named"
        yield share(f"grade: {where}", what, sure / times, times, least=0.6, seen=seen)
        yield share(f"grade true: {where}", "the same: the true grade is named", seen.power, times, seen=seen)
