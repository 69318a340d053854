"""What was in the data: counts, failures, and plain warnings about what a reader should not overlook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from unswayed.base.errors import NothingEvaluated
from unswayed.base.task import Known, Task
from unswayed.base.values import CUT_OFF, REFUSED, Json, Output
from unswayed.measure.missing import Missingness
from unswayed.measure.run_table import RunTable
from unswayed.measure.spill import Distinct, Spill
from unswayed.run.block import AS_IT_WAS, Block
from unswayed.run.plan import Missing
from unswayed.run.record import NOT_ASKED
from unswayed.score import label_of

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
            self._see_gold(gold)
        given = np.bincount(block.clean_out, minlength=len(block.outputs))
        varied = np.bincount(block.out, minlength=len(block.outputs))
        for number in dict.fromkeys(block.in_turn(block.clean_out, block.out).tolist()):  # as they come
            answered = self._see_output(block.outputs[number], int(given[number] + varied[number]))
            self._varied += int(varied[number]) if answered else 0
        self._missing.see(block)

    def _see_gold(self, gold: Json) -> None:
        label = None if gold is None else self._label(gold)
        if label is not None:
            self._gold_labels.add(label)

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
            raise NothingEvaluated(
                f"No {'variant' if counts['variants'] else 'example'} has an output that can be read: of "
                f"{counts['examples']:,} examples and {counts['variants']:,} variants {counts['failed']:,} failed, "
                f"{counts['not_asked']:,} were not asked and {counts['unreadable']:,} have not the task's form. "
                f"{self._commonest_error() or 'Run the system with `unswayed run`.'}"
            )

    def _commonest_error(self) -> str:
        return f"The commonest error: {self._errors.most_common(1)[0][0]}" if self._errors else ""

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
