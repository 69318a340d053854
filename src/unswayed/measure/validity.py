"""What was in the data: counts, failures, warnings, what missing outputs could change, and signs of a broken set-up.

Where a set-up looks broken, measures mean nothing and no gate may pass. Each sign rests on a test that a system that is
clearly better than guessing fails in at most 1% of runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from math import erfc, fsum, sqrt
from numbers import Number

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, option
from unswayed.base.ids import canonical
from unswayed.base.task import Known, Task
from unswayed.base.text import label as shown, percent
from unswayed.base.values import CUT_OFF, REFUSED, UNREADABLE, Estimate, Json, Output
from unswayed.measure.run_table import RunTable
from unswayed.measure.spill import Distinct, Spill
from unswayed.measure.table_reader import Fill
from unswayed.run.block import AS_IT_WAS, Block
from unswayed.run.plan import Missing
from unswayed.run.record import NOT_ASKED
from unswayed.score import Comparing, golds_of, tags_of
from unswayed.stats import binomial_tail, holm

# The ends of what the missing answers could have been: each measure is least in one of them and greatest in the other.
FILLS = (Fill(clean=True, varied=False), Fill(clean=False, varied=True))
_EXACT = 2000  # examples up to which the test's distribution is computed, not approximated


def as_wrong(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks with failed outputs as unreadable ones, which count as wrong."""
    for block in blocks:
        yield replace(block, outputs=[wrong(output) for output in block.outputs])


def with_parts(blocks: Iterable[Block], comparing: Comparing) -> Iterator[Block]:
    """The blocks with answers of another form as answers like all others, where a part of each is compared."""
    for block in blocks:
        outputs = [msgspec.structs.replace(o, error=None) if comparing.reads(o) else o for o in block.outputs]
        yield replace(block, outputs=outputs) if comparing.extract else block


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
    low, high = min(lows, default=None), max(highs, default=None)
    return msgspec.structs.replace(found, bounds=bounds, low=low, high=high, p=None)  # that p is of what is known


class Missingness:
    """Counts, of the whole and of each operator, how many of an example's variants were lost, and its clean input."""

    def __init__(self) -> None:
        self._groups: dict[str, Counter[tuple[int, int, bool]]] = {}

    def see(self, block: Block) -> None:
        """Takes in the examples of a block. An output is lost if it failed or can't be read; what was not asked does
        not count."""
        lost = np.array([output.error is not None for output in block.outputs])
        asked = np.array([output.error != NOT_ASKED.error for output in block.outputs])
        names = ["", *dict.fromkeys(kind.source for kind in block.kinds)]
        place, n, owner = {name: at for at, name in enumerate(names)}, len(block.rows), block.owner
        source = np.array([place[kind.source] for kind in block.kinds], dtype=np.int64)[block.kind]
        cell, counted = owner * len(names) + source, asked[block.out] & asked[block.clean_out][owner]
        made, gone = (
            np.bincount(cell[chosen], minlength=n * len(names)).reshape(n, -1)
            for chosen in (counted, counted & lost[block.out])
        )
        made[:, 0], gone[:, 0] = made.sum(axis=1), gone.sum(axis=1)
        made[(block.sizes == 0) & ~lost[block.clean_out], 0] = 1  # without variants, there is still the clean input
        at, of = np.nonzero(made)
        each = np.column_stack([of, made[at, of], gone[at, of], lost[block.clean_out][at]])
        rows, counts = np.unique(each, axis=0, return_counts=True)
        for (name, *group), count in zip(rows.tolist(), counts.tolist(), strict=True):
            self._groups.setdefault(names[name], Counter())[group[0], group[1], group[2] == 1] += count

    def report(self) -> dict[str, Json]:
        """The shares that were lost and the chance of such a difference; empty if nothing was lost."""
        rows = {name: _compared(groups) for name, groups in sorted(self._groups.items())}
        if not rows or (not rows[""]["clean"] and not rows[""]["varied"]):
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


_LONG_WORDS = 8  # of a right answer that nobody writes word for word by chance
_FEW_COPIES, _COPIED_SHARE = 10, 0.1  # from which on such answers are pointed out
_REASONS = 10_000  # that are told apart


def _other_form() -> str:
    """What to do where answers have another form than the task's."""
    return (
        f" To compare a part of each answer, use {option('extract')}, for example json.category; the stored answers "
        f"are used again. To take any text, make the suite with {option('task')} generate."
    )


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

    def __init__(
        self, task: Task, labels: Iterable[str] | None, unchanged: Mapping[str, int], spill: Spill,
        comparing: Comparing | None = None,
    ) -> None:  # fmt: skip
        self.task = task
        compared = comparing or Comparing(task)
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
        self._gold_labels = {name for label in labels or () if (name := compared.label(label, gold=True)) is not None}
        self._output_labels: Counter[str] = Counter()
        self._gold_label: Known[str | None] = Known(lambda value: compared.label(value, gold=True))
        self._label: Known[str | None] = Known(compared.label)
        self._labelled = type(task).label is not Task.label
        self._written = task.name in ("translate", "generate")  # answers of words of the system's own

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            counts = self.counts
            counts["examples"] += len(block.rows)
            counts["variants"] += len(block.kind)
            without = np.array([gold is None for gold in block.golds])
            counts["without_gold"] += int(without[block.clean_gold].sum())
            counts["same_as_original"] += int((block.text == AS_IT_WAS).sum())
            self._texts.add(block.digest)
            labels = (self._gold_label(gold) for gold in block.golds if gold is not None)  # each is some item's
            self._gold_labels.update(label for label in labels if label is not None)
            if self._written:
                for gold, out in zip(block.clean_gold.tolist(), block.clean_out.tolist(), strict=True):
                    self._watch_copies(block.golds[gold], block.outputs[out].value)
            given = np.bincount(block.clean_out, minlength=len(block.outputs))
            varied = np.bincount(block.out, minlength=len(block.outputs))
            for number in dict.fromkeys(block.in_turn(block.clean_out, block.out).tolist()):  # as they come
                count, output = int(given[number] + varied[number]), block.outputs[number]
                error = output.error
                if error is None:
                    value = output.value
                    if isinstance(value, str) and not value.strip():
                        self._free["empty"] += count
                    label = self._label(value) if self._labelled else None
                    if label is not None:
                        self._output_labels[label] += count
                elif error == NOT_ASKED.error:
                    counts["not_asked"] += count
                    continue
                else:
                    self._errors.add(error.splitlines()[0][:200] if error else "", count)
                    if not output.unreadable:
                        counts["failed"] += count
                        self._free["cut_off"] += count * error.startswith(CUT_OFF)
                        self._free["refused"] += count * error.startswith(REFUSED)
                        continue
                self.answered += count  # something was answered
                self._varied += int(varied[number])
            self._missing.see(block)
            yield block

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
                f"{advice}{_other_form() if counts['unreadable'] else ''}"
            )

    def report(self, warnings: list[str], missing: Missing = "leave") -> dict[str, Json]:
        unseen = {
            label: count
            for label, count in self._output_labels.items()
            if self._gold_labels and label not in self._gold_labels
        }
        commonest = sorted(unseen, key=lambda label: (-unseen[label], label))[:_NAMED]
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

    def _watch_copies(self, gold: Json, said: Json) -> None:
        """Counts long right answers, and the outputs that are one of them word for word."""
        if isinstance(said, str):
            long = [one for one in golds_of(gold) if isinstance(one, str) and one.count(" ") >= _LONG_WORDS - 1]
            self._free["long"] += bool(long)
            self._free["copied"] += said.strip() in [one.strip() for one in long]

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
            yield f"{counts['unreadable']:,} of {items:,} outputs can't be read: counted as wrong.{_other_form()}"
        if counts["not_asked"]:
            yield f"{counts['not_asked']:,} of {items:,} items were not asked yet: the run is not complete."
        if 0 < counts["without_gold"] < counts["examples"]:
            yield f"{counts['without_gold']:,} of {counts['examples']:,} examples came without gold, for flips only."
        if self._free["copied"] >= max(_FEW_COPIES, _COPIED_SHARE * self._free["long"]):
            yield (
                f"{self._free['copied']:,} of {self._free['long']:,} answers to clean inputs are the long right answer "
                f"word for word: the right answers may derive from this system, or it has seen them."
            )
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


SANITY_VERSION = 2  # of these tests; decides whether stored results are used again
_CHANCE = 0.01  # of a false alarm
_CLEARLY = 1 / 3  # of the way from guessing to perfection: from there on a system is clearly better
_RELATED = 2.326  # standard deviations above shuffled answers, one-sided 1%
_MISSES = 5  # that one answer for all must have: a system that finds 60% of these would have to miss each of them
_UNJUDGED = 20  # examples without gold that may not all have one answer,
_SCORES = 5  # or one score
_REPORTED = ("judge:", "logged:")  # how systems are called whose guesses are a finding
_DISTINCT = 100_000  # pairs of gold and answer that are told apart
_NAMED = 5  # labels in a sentence

Pairs = Mapping[tuple[str, str | None], int]


class Sanity:
    """Watches a run's items as they stream by; `signs` gives a sentence for each sign of a broken set-up."""

    def __init__(self, task: Task, labels: Iterable[str] | None, comparing: Comparing | None = None) -> None:
        self._compared = compared = comparing or Comparing(task)
        self._declared = {name for label in labels or () if (name := compared.label(label, gold=True)) is not None}
        self._pairs: Counter[tuple[str, str | None]] = Counter()
        self._golds: Counter[bytes] = Counter()
        self._only: Hashable = None  # the answer to everything, as long as there is one
        self._one = True
        self._number = False
        self._clean = self._unreadable = self._blank = self._texts = self._slots = self._without_slots = 0
        self._due = self._without_part = 0  # golds, where a part is compared
        self.findings: list[str] = []  # what would be a sign of a broken set-up, were the system another

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            for number in dict.fromkeys([*block.out.tolist(), *block.clean_out.tolist()]) if self._one else ():
                output = block.outputs[number]
                answer = self._compared.answer(output)
                if answer not in (None, Comparing.unreadable, Comparing.no_part):
                    if self._only is None:
                        self._only = answer
                        self._number = isinstance(output.value, Number) and not isinstance(output.value, bool)
                    self._one = self._one and answer == self._only
            pairs = block.clean_gold * len(block.outputs) + block.clean_out
            each, counts = np.unique(pairs, return_counts=True)
            if len(self._pairs) + len(self._golds) + 2 * len(each) > _DISTINCT:  # near the end, one by one
                each, counts = pairs, np.ones(len(pairs), dtype=np.int64)
            for pair, count in zip(each.tolist(), counts.tolist(), strict=True):
                clean, gold = block.outputs[pair % len(block.outputs)], block.golds[pair // len(block.outputs)]
                if clean.error is None or clean.unreadable:
                    read = self._compared.answer(clean) not in (Comparing.unreadable, Comparing.no_part)
                    # takes in an answer to clean inputs that came so often with that gold
                    self._clean += count
                    self._unreadable += 0 if read else count
                    if self._compared.extract and gold is not None:
                        golds = golds_of(gold)
                        self._due += count
                        self._without_part += count * all(self._compared.gold_part(one) is None for one in golds)
                    true = None if gold is None else self._compared.label(gold, gold=True)
                    if true is not None and len(self._pairs) < _DISTINCT:
                        self._pairs[true, self._compared.label(clean.value) if read else None] += count
                    elif gold is not None and len(self._golds) < _DISTINCT:
                        self._golds[canonical(gold)] += count
                    if true is None and isinstance(clean.value, str) and gold not in ("", {"answers": []}):
                        self._texts += count
                        self._blank += 0 if clean.value.strip() else count
                    if isinstance(gold, dict) and any(tag != "O" for tag in tags_of(gold) or ()):
                        self._slots += count
                        self._without_slots += 0 if any(tag != "O" for tag in tags_of(clean.value) or ()) else count
            yield block

    def signs(self, score: Estimate, floor: float, system: str = "") -> list[str]:
        """`score` is the clean inputs' main score, and `floor` the least that it can be.

        Of a judge, and of answers that were logged elsewhere, it is a finding that they are no better than guesses, and
        no sign of a broken set-up: see `findings`.
        """
        found: list[str | None] = []
        if self._due and self._without_part == self._due:
            found.append(f"No gold has the part {self._compared.extract}, so no answer can be scored.")
        if _mostly(self._unreadable, self._clean):
            part = self._compared.extract
            what = f"have no part {part}, or can't be read" if part else "can't be read"
            found.append(f"Most answers to clean inputs {what}: {self._unreadable:,} of {self._clean:,}.")
        found.append(self._other_names() or self._constant_answer())
        guesses = None if found[-1] else self._guessing()
        if guesses and system.startswith(_REPORTED):
            self.findings.append(guesses)
        else:
            found.append(guesses)
        if _mostly(self._blank, self._texts):
            found.append(f"Most answers to clean inputs are empty texts: {self._blank:,} of {self._texts:,}.")
        if self._without_slots >= max(self._slots, _MISSES):
            found.append(f"No answer to a clean input has a slot, but {self._slots:,} golds have some.")
        lowest = not self._pairs and score.value is not None and score.value <= floor
        if lowest and (1 - _CLEARLY) ** score.n <= _CHANCE:
            found.append(f"No answer to a clean input is right: all {score.n:,} have the lowest score.")
        return [sentence for sentence in found if sentence]

    def _other_names(self) -> str | None:
        """Are labels named otherwise than in the gold?"""
        gold = self._declared | {true for true, _ in self._pairs}
        unknown = Counter[str]()
        for (_, said), count in self._pairs.items():
            if said is not None and said not in gold:
                unknown[said] += count
        n, total = sum(self._pairs.values()), sum(unknown.values())
        if not _mostly(total, n) or (len(gold) < 2 and total < n):
            return None
        return (
            f"Most answers to clean inputs have a label that no gold has: {total:,} of {n:,}. The system says "
            f"{_few(sorted(unknown, key=lambda name: (-unknown[name], name)))}; gold has {_few(sorted(gold))}. "
            f"{_advice(self._pairs) or 'Name the labels alike in the system and in the data.'}"
        )

    def _constant_answer(self) -> str | None:
        if not self._one or self._only is None:
            return None
        wrong = sum(self._golds.values()) - max(self._golds.values(), default=0)
        wrong += sum(count for (true, said), count in self._pairs.items() if true != said)
        judged = self._golds or self._pairs
        few = wrong < _MISSES if judged else self._clean < (_SCORES if self._number else _UNJUDGED)
        if few:
            return None
        answer = self._only[0] if isinstance(self._only, tuple) else self._only
        text = answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)
        what = "score" if self._number else "answer"
        return f"The system gives one {what} to all inputs: {shown(text, 60)!r}."

    def _guessing(self) -> str | None:
        """Are clean inputs answered no better than by the commonest label?"""
        n = sum(self._pairs.values())
        true, said = _totals(self._pairs)
        if len(true) < 2:
            return None
        right = sum(count for (gold, output), count in self._pairs.items() if gold == output)
        name, most = _commonest(true)
        clear = most / n + _CLEARLY * (1 - most / n)
        better = binomial_tail(n - right, n, 1 - clear) > _CHANCE
        # how far `right` is above its mean, in standard deviations, if answers are dealt to the inputs at random
        both = {label: said[label] for label in true}
        square = sum(true[label] * both[label] for label in true)
        mean = square / n
        # Σ over all pairs of an answer and a gold of ([same] - their means + the mean of all)², expanded
        rows = sum(both[label] * count**2 for label, count in true.items()) / n
        columns = sum(count * both[label] ** 2 for label, count in true.items()) / n
        variance = (square - rows - columns + mean * mean) / (n - 1) if n > 1 else 0.0
        above = (right - mean) / sqrt(variance) if variance > 1e-12 else 0.0
        if better or above > _RELATED:
            return None
        return (
            f"Clean inputs are answered no better than by guessing: {right:,} of {n:,} are right "
            f"({percent(right / n)}), and always {shown(name, 40)!r} would be right in {percent(most / n)}. "
            f"{_advice(self._pairs)}"
        ).strip()


def _totals(pairs: Pairs) -> tuple[Counter[str], Counter[str | None]]:
    """How often each label is the gold one, and how often it is the answer."""
    true, said = Counter[str](), Counter[str | None]()
    for (gold, output), count in pairs.items():
        true[gold] += count
        said[output] += count
    return true, said


def _commonest(counts: Counter[str]) -> tuple[str, int]:
    """The commonest label, the first by name where several are, and how often it occurs."""
    name = min(counts, key=lambda label: (-counts[label], label))
    return name, counts[name]


def _mostly(count: int, n: int) -> bool:
    """More than half, and more than a system with a third of them would show by chance."""
    return count > n / 2 and binomial_tail(count, n, _CLEARLY) <= _CHANCE


def _advice(pairs: Pairs) -> str:
    """Which label of the system's stands for which of the gold's, where the clean answers make that evident."""
    n = sum(pairs.values())
    by_said: dict[str, Counter[str]] = {}
    for (true, said), count in pairs.items():
        if said is not None:
            by_said.setdefault(said, Counter())[true] += count
    meant = {said: _commonest(golds) for said, golds in by_said.items()}
    names = {said: true for said, (true, _) in meant.items() if said != true}
    right = sum(count for _, count in meant.values())
    most = max(_totals(pairs)[0].values(), default=0)
    evident = len({true for true, _ in meant.values()}) == len(meant) > 1 and n >= 5 * len(meant)
    if not names or not evident or right - most < (n - most) / 2:
        return ""
    mapping = ",".join(f"{said}={true}" for said, true in sorted(names.items())[: 2 * _NAMED])
    return (
        f"{percent(right / n)} would be right with {shown(mapping, 200)}: rename the system's labels so, in the system "
        f"or, for a model behind a URL, with {option('answers')}."
    )


def _few(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(repr(shown(name, 40)) for name in names[:_NAMED]) + more
