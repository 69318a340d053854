"""What was in the data: counts, failures, warnings, and what the outputs that are missing could change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import erfc, fsum, sqrt

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated
from unswayed.base.task import Known, Task
from unswayed.base.values import CUT_OFF, REFUSED, UNREADABLE, Estimate, Json, Output
from unswayed.measure.run_table import RunTable
from unswayed.measure.spill import Distinct, Spill
from unswayed.measure.table_reader import Fill
from unswayed.run.block import AS_IT_WAS, Block
from unswayed.run.plan import Missing
from unswayed.run.record import NOT_ASKED
from unswayed.score import label_of
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


_SHOWN = 5
_REASONS = 10_000  # that are told apart


class Reasons(Counter[str]):
    """Why items failed, and how many for each reason. Where reasons are too many, the rarest are let go."""

    def add(self, reason: str, count: int = 1) -> None:
        self[reason] += count
        if len(self) > 2 * _REASONS:
            kept = dict(self.most_common(_REASONS))
            for seldom in [known for known in self if known not in kept]:
                del self[seldom]


class Validity:
    """Watches a run's items as they stream by; `report` says what it saw."""

    def __init__(self, task: Task, labels: Iterable[str] | None, unchanged: Mapping[str, int], spill: Spill) -> None:
        self.task = task
        self.unchanged = unchanged
        self.counts = dict.fromkeys(
            ("examples", "variants", "failed", "not_asked", "unreadable", "without_gold", "same_as_original"), 0
        )
        self.operators: dict[str, int] = {}
        self.answered = 0
        self._varied = 0  # outputs of variants, read or not
        self._free: Counter[str] = Counter()  # what goes wrong with free answers
        self._errors = Reasons()
        self._missing = Missingness()
        self._texts = Distinct(spill)
        self._gold_labels = set(labels or ())
        self._output_labels: Counter[str] = Counter()
        self._label: Known[str | None] = Known(lambda value: label_of(value, task))
        self._labelled = type(task).label is not Task.label

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            self._see(block)
            yield block

    def _see(self, block: Block) -> None:
        counts = self.counts
        counts["examples"] += len(block.rows)
        counts["variants"] += len(block.kind)
        without = np.array([gold is None for gold in block.golds])
        counts["without_gold"] += int(without[block.clean_gold].sum())
        counts["same_as_original"] += int((block.text == AS_IT_WAS).sum())
        self._texts.add(block.digest)
        for gold in block.golds:  # each is some item's
            label = None if gold is None else self._label(gold)
            if label is not None:
                self._gold_labels.add(label)
        given = np.bincount(block.clean_out, minlength=len(block.outputs))
        varied = np.bincount(block.out, minlength=len(block.outputs))
        for number in dict.fromkeys(block.in_turn(block.clean_out, block.out).tolist()):  # as they come
            answered = self._see_output(block.outputs[number], int(given[number] + varied[number]))
            self._varied += int(varied[number]) if answered else 0
        self._missing.see(block)

    def _see_output(self, output: Output, count: int) -> bool:
        """Takes in an output that came so often; was something answered?"""
        error = output.error
        if error is None:
            value = output.value
            self.answered += count
            if isinstance(value, str) and not value.strip():
                self._free["empty"] += count
            label = self._label(value) if self._labelled else None
            if label is not None:
                self._output_labels[label] += count
            return True
        if error == NOT_ASKED.error:
            self.counts["not_asked"] += count
            return False
        self._errors.add(error.splitlines()[0][:200] if error else "", count)
        if output.unreadable:
            self.answered += count
            return True
        self.counts["failed"] += count
        self._free["cut_off"] += count * error.startswith(CUT_OFF)
        self._free["refused"] += count * error.startswith(REFUSED)
        return False

    def check(self, table: RunTable) -> None:
        """Counts what could not be read, and raises if nothing could."""
        counts = self.counts
        counts["unreadable"] = self.answered - table.clean_answers - table.answers
        self.operators = table.sources()
        read = table.clean_answers + table.answers  # where none of the variants' can be read, that is a result
        answered = self._varied if counts["variants"] else read
        if not read or not answered:
            commonest = self._errors.most_common(1)
            advice = f"The commonest error: {commonest[0][0]}" if commonest else "Run the system with `unswayed run`."
            raise NothingEvaluated(
                f"No {'variant' if counts['variants'] else 'example'} has an output that can be read: of "
                f"{counts['examples']:,} examples and {counts['variants']:,} variants {counts['failed']:,} failed, "
                f"{counts['not_asked']:,} were not asked and {counts['unreadable']:,} have not the task's form. "
                f"{advice}"
            )

    def report(self, warnings: list[str], missing: Missing = "leave") -> dict[str, Json]:
        unseen = {
            label: count
            for label, count in self._output_labels.items()
            if self._gold_labels and label not in self._gold_labels
        }
        commonest = sorted(unseen, key=lambda label: (-unseen[label], label))[:_SHOWN]
        duplicates = self._texts.n - self._texts.count()
        return {
            **self.counts,
            **{name: count for name, count in self._free.items() if count},
            "errors": dict(self._errors.most_common(10)),
            "operators": self.operators,
            "unchanged": dict(sorted(self.unchanged.items())),
            "unseen_labels": {"count": sum(unseen.values()), "labels": commonest},
            "duplicated_texts": duplicates,
            "lost": self._missing.report(),
            **({"counted_wrong": self.counts["failed"]} if missing == "wrong" and self.counts["failed"] else {}),
            "warnings": [*self._warnings(sum(unseen.values()), commonest, duplicates, missing), *warnings],
        }

    def _warnings(self, unseen: int, labels: list[str], duplicates: int, missing: Missing) -> Iterator[str]:
        counts = self.counts
        items = counts["examples"] + counts["variants"]
        if counts["failed"]:
            left_out = "counted as wrong" if missing == "wrong" else "left out, not counted as wrong"
            yield f"{counts['failed']:,} of {items:,} items failed: {left_out}."
        if self._free["cut_off"]:
            yield f"{self._free['cut_off']:,} of these answers were cut off by the token limit. Allow more tokens."
        if self._free["refused"]:
            yield f"{self._free['refused']:,} of these were refusals of the model."
        if self._free["empty"]:
            yield f"{self._free['empty']:,} of {items:,} answers are empty: they count as answers."
        if counts["unreadable"]:
            yield f"{counts['unreadable']:,} of {items:,} outputs can't be read: counted as wrong."
        if counts["not_asked"]:
            yield f"{counts['not_asked']:,} of {items:,} items were not asked yet: the run is not complete."
        if 0 < counts["without_gold"] < counts["examples"]:
            yield f"{counts['without_gold']:,} of {counts['examples']:,} examples came without gold, for flips only."
        if unseen:
            shown = ", ".join(f"{label!r:.80}" for label in labels)
            yield f"{unseen:,} of {items:,} outputs had a label that no gold has ({shown}): are labels named alike?"
        if duplicates:
            yield (
                f"{duplicates:,} of {counts['examples']:,} examples repeated the texts of another: "
                f"intervals may be too narrow."
            )
        if not counts["variants"]:
            yield "The suite has no variants: only the clean score can be measured."
