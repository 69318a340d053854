"""What is missing is seldom missing at random: bounds for numbers that lack outputs, and a test of where they lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import erfc, fsum, sqrt

import msgspec
import numpy as np

from unswayed.base.values import UNREADABLE, Estimate, Json, Output
from unswayed.measure.block_answers import Fill
from unswayed.run.block import Block
from unswayed.run.record import NOT_ASKED
from unswayed.stats import holm

# The ends of what the missing answers could have been: each measure is least in one of them and greatest in the other.
FILLS = (Fill(clean=True, varied=False), Fill(clean=False, varied=True))
_EXACT = 2000  # examples up to which the test's distribution is computed, not approximated


def as_wrong(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks with failed outputs as unreadable ones, which count as wrong."""
    for block in blocks:
        yield replace(block, outputs=[wrong(output) for output in block.outputs])


def wrong(output: Output) -> Output:
    """The output, or, if it failed, an unreadable one."""
    if output.ok or output.unreadable or output.error == NOT_ASKED.error:
        return output
    return msgspec.structs.replace(output, error=UNREADABLE + str(output.error))


def bounded(found: Estimate, filled: Iterable[Estimate], widen: bool) -> Estimate:
    """The estimate with the bounds that the filled ones give; with `widen`, its interval takes in theirs."""
    filled = [one for one in filled if one.value is not None]
    if not found.missing or not filled:
        return found
    values = [e.value for e in (found, *filled) if e.value is not None]
    bounds = min(values), max(values)
    if not widen:
        return msgspec.structs.replace(found, bounds=bounds)
    lows = [e.low for e in (found, *filled) if e.low is not None]
    highs = [e.high for e in (found, *filled) if e.high is not None]
    return msgspec.structs.replace(found, bounds=bounds, low=min(lows, default=None), high=max(highs, default=None))


class Missingness:
    """Counts, of the whole and of each operator, how many of an example's variants were lost, and its clean input."""

    def __init__(self) -> None:
        self._sound: Counter[tuple[str, ...]] = Counter()  # operators of examples of which nothing was lost
        self._groups: dict[str, Counter[tuple[int, int, bool]]] = {}

    def see(self, block: Block) -> None:
        """Takes in the examples of a block."""
        failed = np.array([output.error is not None for output in block.outputs], dtype=bool)
        lost = failed[block.clean_out] | (np.bincount(block.owner, failed[block.out], len(block.rows)) > 0)
        at = 0
        sources = [block.kinds[kind].source for kind in block.kind.tolist()]
        size = int(block.sizes[0])
        if size and not lost.any() and (block.sizes == size).all():
            self._sound.update(zip(*[iter(sources)] * size, strict=True))
            return
        for example, (size, broken) in enumerate(zip(block.sizes.tolist(), lost.tolist(), strict=True)):
            own = sources[at : at + size]
            if broken:
                outputs = [block.outputs[number] for number in block.out[at : at + size].tolist()]
                self._see(block.outputs[block.clean_out[example]], own, outputs)
            else:
                self._sound[tuple(own)] += 1
            at += size

    def _see(self, clean: Output, sources: Sequence[str], outputs: Sequence[Output]) -> None:
        """An output is lost if it failed or can't be read; what was not asked does not count."""
        if clean.error == NOT_ASKED.error:
            return
        counts: dict[str, list[int]] = {}
        for source, output in zip(sources, outputs, strict=True):
            if output.error == NOT_ASKED.error:
                continue
            for name in ("", source):
                count = counts.setdefault(name, [0, 0])
                count[0] += 1
                count[1] += output.error is not None
        for name, (made, lost) in counts.items():
            self._groups.setdefault(name, Counter())[made, lost, clean.error is not None] += 1

    def report(self) -> dict[str, Json]:
        """The shares that were lost and the chance of such a difference; empty if nothing was lost."""
        if not self._groups:
            return {}
        for operators, count in self._sound.items():
            for name in {"", *operators}:
                self._groups.setdefault(name, Counter())[1, 0, False] += count
        self._sound.clear()
        rows = {name: _compared(groups) for name, groups in sorted(self._groups.items())}
        if not rows[""]["clean"] and not rows[""]["varied"]:
            return {}
        for row, p in zip(rows.values(), holm([row["p"] for row in rows.values()]), strict=True):
            row["p_corrected"] = p
        whole = rows.pop("")
        return {**whole, "operators": rows} if len(rows) > 1 else {**whole}


def _compared(groups: Mapping[tuple[int, int, bool], int]) -> dict[str, float]:
    """Lost shares of clean inputs and of variants, each example weighing the same, and the p-value of their difference.

    If an example's clean input is as likely to be lost as its variants, each of its lost items is the clean one with
    chance 1 / items: the number of lost clean inputs is a sum of independent coins. With one variant each, this is
    McNemar's exact test.
    """
    n = sum(groups.values())
    clean = sum(count for (_, _, gone), count in groups.items() if gone)
    varied = fsum(count * lost / made for (made, lost, _), count in groups.items())
    chances: Counter[float] = Counter()
    for (made, lost, gone), count in groups.items():
        if 0 < lost + gone <= made:
            chances[(lost + gone) / (made + 1)] += count
    certain = sum(count for (made, lost, gone), count in groups.items() if lost + gone > made)
    return {"clean": clean / n, "varied": varied / n, "p": _two_sided(clean - certain, chances)}


def _two_sided(heads: int, chances: Mapping[float, int]) -> float:
    """How likely coins with these chances are to show heads so many times or further from what is expected."""
    n = sum(chances.values())
    if n > _EXACT:
        mean = fsum(p * count for p, count in chances.items())
        spread = sqrt(fsum(p * (1 - p) * count for p, count in chances.items()))
        return min(1.0, erfc(max(0.0, abs(heads - mean) - 0.5) / spread / sqrt(2)))
    found = np.ones(1)
    for p, count in sorted(chances.items()):
        coin, power = np.array([1 - p, p]), count
        while power:
            found = np.convolve(found, coin) if power & 1 else found
            coin, power = np.convolve(coin, coin), power >> 1
    return min(1.0, 2 * float(min(found[: heads + 1].sum(), found[heads:].sum())))
