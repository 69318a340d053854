"""The changed answers of a run, one by one, and whether each was right before and after."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from math import isnan
from typing import NamedTuple

import msgspec
import numpy as np

from unfazed.core.ids import canonical
from unfazed.core.reprompt import PROMPT
from unfazed.core.task import Task
from unfazed.core.values import Example, Inputs, Json, Output, Variant
from unfazed.measure.block_answers import compared
from unfazed.measure.measuring import Runlike, blocks_of, folder_of, scorers_for
from unfazed.measure.results import Results
from unfazed.measure.stored import KeptScores
from unfazed.run.block import Block
from unfazed.run.record import Run
from unfazed.score import Comparing, Scorer, Stats, WithInputs, comparing_for, due_of, scorers


class Flip(NamedTuple):
    """A variant whose answer differs from the clean one; whether each was right is None where no score can say.

    `loss` is the score of the clean answer minus that of the other.
    """

    example: Example
    variant: Variant
    clean: Output
    varied: Output
    right_before: bool | None
    right_after: bool | None
    loss: float | None = None


def flips(
    run: Runlike, score: str | None = None, extract: str = "", equivalent: str = "", rubric: str | None = None
) -> Iterator[Flip]:
    """Every changed answer of a run, controls included, in the order of the suite; `score` is the task's main one."""
    for _, changed in flips_by_block(run, score, extract, equivalent, rubric):
        yield from changed


def flips_by_block(
    run: Runlike, score: str | None = None, extract: str = "", equivalent: str = "", rubric: str | None = None
) -> Iterator[tuple[Block, list[Flip]]]:
    """The same with the blocks in which they are."""
    task = run.suite.task
    comparing = comparing_for(run.suite, extract, equivalent, rubric)
    scorer = next(iter(scorers_for(task, [score] if score else None, comparing)), None)
    with KeptScores([run]) as kept, comparing.at(folder_of(run)):
        right = Right(scorer, task, kept)
        for block in blocks_of(run, comparing):
            yield block, list(_changed(run, block, comparing, right))


def _changed(run: Runlike, block: Block, comparing: Comparing, right: Right) -> Iterator[Flip]:
    changed = np.flatnonzero(compared(block, comparing).flip == 1)
    owner = block.owner[changed]
    outputs, out, clean_out = block.outputs, block.out[changed].tolist(), block.clean_out[owner].tolist()
    owners = owner.tolist()
    scores = _scores(block, right, owners, clean_out, block.clean_gold[owner].tolist())
    later = _scores(block, right, owners, out, block.gold[changed].tolist())
    example, last = None, -1
    for at, of, one, other, was, is_ in zip(changed.tolist(), owners, clean_out, out, scores, later, strict=True):
        if of != last:
            example, last = block.example(of), of
        assert example is not None
        shown, variant = _shown(run, example, block.variant(at, of))
        clean, output = outputs[one], outputs[other]
        before = None if clean.unreadable else right.full(was)
        after = False if output.unreadable else right.full(is_)
        loss = None if was is None or is_ is None else was - is_
        yield Flip(shown, variant, clean, output, before, after, loss)


def _scores(block: Block, right: Right, owners: list[int], out: list[int], gold: list[int]) -> list[float | None]:
    """The score of each output with its gold; each distinct pair is scored once."""
    due = list(zip(out, gold, owners if right.sees_inputs else [0] * len(out), strict=True))
    inputs, outputs, golds = block.inputs, block.outputs, block.golds
    pairs = {one: (outputs[one[0]].value, right.due(golds[one[1]], inputs[one[2]])) for one in dict.fromkeys(due)}
    right.see(list(pairs.values()))
    found = {one: right.score(*pair) for one, pair in pairs.items()}
    return [found[one] for one in due]


def _shown(run: Runlike, example: Example, variant: Variant) -> tuple[Example, Variant]:
    """Both as people should read them: with the prompts, where these differ."""
    if not isinstance(run, Run) or PROMPT not in variant.inputs:
        return example, variant
    before, after = run.shown(example.inputs, variant.inputs)
    return msgspec.structs.replace(example, inputs=before), msgspec.structs.replace(variant, inputs=after)


def flips_of(results: Results, run: Runlike) -> Iterator[Flip]:
    """Every changed answer, by the score and the comparison that the results were measured with."""
    return flips(run, *as_measured(results))


def as_measured(results: Results) -> tuple[str | None, str, str, str | None]:
    """The score and the comparison that results were measured with, as `flips` takes them."""
    how = results.compared
    known = how.get("score") or (results.score if results.score in scorers else None)
    return known, how.get("extract", ""), how.get("equivalent", ""), how.get("rubric_file")


class Right:
    """Does an output have the full score? Told for the pairs of output and gold that were seen together."""

    def __init__(self, scorer: Scorer | None, task: Task, stats: Stats) -> None:
        self._scorer, self._task, self._stats = scorer, task, stats
        self._known: dict[Hashable, float] = {}

    @property
    def sees_inputs(self) -> bool:
        return self._scorer is not None and self._scorer.sees_inputs

    def due(self, gold: Json, inputs: Inputs) -> Json:
        """The gold as the scorer takes it; `inputs` are the example's."""
        return gold if self._scorer is None else due_of(self._scorer, gold, inputs)

    def see(self, pairs: Sequence[tuple[Json, Json]]) -> None:
        self._known = {}
        if self._scorer is None:
            return
        new = {key: pair for pair in pairs if (key := self._key(*pair)) is not None}
        if not new:
            return
        if self._scorer.apart:
            scores = self._scorer.aggregate(self._stats(self._scorer, list(new.values()), self._task)).tolist()
        else:  # an answer's row would depend on the others of its block
            alone = (self._scorer.stats([output], [gold], self._task) for output, gold in new.values())
            scores = [float(self._scorer.aggregate(row)[0]) for row in alone]
        self._known = {key: s for key, s in zip(new, scores, strict=True) if not isnan(s)}

    def __call__(self, output: Json, gold: Json) -> bool | None:
        return self.full(self.score(output, gold))

    def full(self, score: float | None) -> bool | None:
        return None if score is None or self._scorer is None else score >= self._scorer.bounds[1]

    def score(self, output: Json, gold: Json) -> float | None:
        key = self._key(output, gold)
        return None if key is None else self._known.get(key)

    def _key(self, output: Json, gold: Json) -> Hashable | None:
        if self._scorer is None or gold is None:
            return None
        plain, seen = (gold.gold, canonical(gold.inputs)) if isinstance(gold, WithInputs) else (gold, b"")
        said, true = self._scorer.key(output, self._task), self._scorer.gold_key(plain, self._task)
        return None if said is None or true is None else (said, true, seen)
