"""Sanity before verdict: signs that a set-up is broken, so that its measures mean nothing and no gate may pass.

Each sign rests on a test that a system which is clearly better than guessing fails in at most 1% of runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from math import sqrt
from numbers import Number

import numpy as np

from unswayed.base.errors import option
from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.text import label as shown, percent
from unswayed.base.values import Estimate, Output
from unswayed.run.block import Block
from unswayed.score import Comparing, label_of, tags_of
from unswayed.stats import binomial_tail

VERSION = 1  # of these tests; decides whether stored results are used again
_CHANCE = 0.01  # of a false alarm
_CLEARLY = 1 / 3  # of the way from guessing to perfection: from there on a system is clearly better
_RELATED = 2.326  # standard deviations above shuffled answers, one-sided 1%
_MISSES = 5  # that one answer for all must have: a system that finds 60% of these would have to miss each of them
_UNJUDGED = 20  # examples without gold that may not all have one answer,
_SCORES = 5  # or one score
_DISTINCT = 100_000  # pairs of gold and answer that are told apart
_NAMED = 5  # labels in a sentence

Pairs = Mapping[tuple[str, str | None], int]


class Sanity:
    """Watches a run's items as they stream by; `signs` gives a sentence for each sign of a broken set-up."""

    def __init__(self, task: Task, labels: Iterable[str] | None, comparing: Comparing | None = None) -> None:
        self._compared = comparing or Comparing(task)
        self._task, self._declared = task, set(labels or ())
        self._pairs: Counter[tuple[str, str | None]] = Counter()
        self._golds: Counter[bytes] = Counter()
        self._only: Hashable = None  # the answer to everything, as long as there is one
        self._one = True
        self._number = False
        self._clean = self._unreadable = self._blank = self._texts = self._slots = self._without_slots = 0

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            if self._one:
                for number in dict.fromkeys([*block.out.tolist(), *block.clean_out.tolist()]):
                    self._see_answer(block.outputs[number])
            pairs = block.clean_gold * len(block.outputs) + block.clean_out
            each, counts = np.unique(pairs, return_counts=True)
            if len(self._pairs) + len(self._golds) + 2 * len(each) > _DISTINCT:  # near the end, one by one
                each, counts = pairs, np.ones(len(pairs), dtype=np.int64)
            for pair, count in zip(each.tolist(), counts.tolist(), strict=True):
                clean, gold = block.outputs[pair % len(block.outputs)], block.golds[pair // len(block.outputs)]
                if clean.error is None or clean.unreadable:
                    read = self._compared.answer(clean) != Comparing.unreadable
                    # takes in an answer to clean inputs that came so often with that gold
                    task = self._task
                    self._clean += count
                    self._unreadable += 0 if read else count
                    true = None if gold is None else label_of(gold, task)
                    if true is not None and len(self._pairs) < _DISTINCT:
                        self._pairs[true, label_of(clean.value, task) if read else None] += count
                    elif gold is not None and len(self._golds) < _DISTINCT:
                        self._golds[canonical(gold)] += count
                    if true is None and isinstance(clean.value, str) and gold not in ("", {"answers": []}):
                        self._texts += count
                        self._blank += 0 if clean.value.strip() else count
                    if isinstance(gold, dict) and any(tag != "O" for tag in tags_of(gold) or ()):
                        self._slots += count
                        self._without_slots += 0 if any(tag != "O" for tag in tags_of(clean.value) or ()) else count
            yield block

    def _see_answer(self, output: Output) -> None:
        answer = self._compared.answer(output)
        if answer is None or answer == Comparing.unreadable or not self._one:
            return
        if self._only is None:
            self._only = answer
            self._number = isinstance(output.value, Number) and not isinstance(output.value, bool)
        self._one = answer == self._only

    def signs(self, score: Estimate, floor: float) -> list[str]:
        """`score` is the clean inputs' main score, and `floor` the least that it can be."""
        found: list[str | None] = []
        if _mostly(self._unreadable, self._clean):
            found.append(f"Most answers to clean inputs can't be read: {self._unreadable:,} of {self._clean:,}.")
        found.append(self._other_names() or self._constant_answer() or self._guessing())
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
        if better or _above_shuffled(right, n, true, said) > _RELATED:
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


def _above_shuffled(right: int, n: int, true: Counter[str], said: Counter[str | None]) -> float:
    """How far above the mean `right` is, in standard deviations, if answers are dealt to the inputs at random."""
    both = {label: said[label] for label in true}
    mean = sum(true[label] * both[label] for label in true) / n
    # Σ over all pairs of an answer and a gold of ([same] - their means + the mean of all)², expanded
    square = sum(true[label] * both[label] for label in true)
    rows = sum(both[label] * count**2 for label, count in true.items()) / n
    columns = sum(count * both[label] ** 2 for label, count in true.items()) / n
    variance = (square - rows - columns + mean * mean) / (n - 1) if n > 1 else 0.0
    return (right - mean) / sqrt(variance) if variance > 1e-12 else 0.0


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
