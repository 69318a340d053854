"""The changed answers of a run, and those that one run lost and another gained, one by one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice, repeat
from math import isnan
from operator import contains
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.text import spelled
from unswayed.base.values import Example, Inputs, Json, Output, Variant
from unswayed.measure.measuring import Runlike, blocks_of, folder_of, items_of, scorers_for
from unswayed.measure.results import Results
from unswayed.measure.stored import KeptScores
from unswayed.measure.table_reader import compared
from unswayed.measure.validity import wrong
from unswayed.run.block import Block, Ints, Kind, first_of_each
from unswayed.run.plan import MeasurePlan
from unswayed.run.record import Run
from unswayed.score import Comparing, Scorer, Stats, WithInputs, comparing_for, due_of, scorers
from unswayed.systems.template import PROMPT

_MOST_KNOWN = 1 << 14  # pairs of output and gold whose scores are remembered


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


class Case(NamedTuple):
    """What a changed answer is but for its texts: many changed answers are the same case."""

    kind: Kind
    gold: Json  # the variant's
    clean: Output
    varied: Output
    right_before: bool | None
    right_after: bool | None
    loss: float | None


class FlipBlock(NamedTuple):
    """Changed answers as columns: the example, the variant's inputs and its note, and the place in `cases` of each."""

    examples: list[Example]
    varied: list[Inputs]
    notes: list[str]
    numbers: list[int]
    cases: list[Case]

    @classmethod
    def of(cls, flips: Sequence[Flip]) -> FlipBlock:
        """Changed answers that were made one by one."""
        variants = [flip.variant for flip in flips]
        kinds = [Kind(v.draw, v.source, v.meaning, v.family) for v in variants]
        cases = [Case(kind, flip.variant.gold, *flip[2:]) for kind, flip in zip(kinds, flips, strict=True)]
        texts, notes = [v.inputs for v in variants], [v.note for v in variants]
        return cls([flip.example for flip in flips], texts, notes, list(range(len(flips))), cases)

    def flip(self, at: int) -> Flip:
        example, case = self.examples[at], self.cases[self.numbers[at]]
        draw, source, meaning, family = case.kind
        texts, note = self.varied[at], self.notes[at]
        variant = Variant(example.row, example.id, draw, source, family, meaning, texts, case.gold, note)
        return Flip(example, variant, case.clean, case.varied, case.right_before, case.right_after, case.loss)

    def each(self) -> Iterator[Flip]:
        """The same one by one."""
        return map(self.flip, range(len(self.numbers)))

    def rows(self) -> Iterator[tuple[Example, Inputs, str, int]]:
        return zip(self.examples, self.varied, self.notes, self.numbers, strict=True)

    def between(self, start: int, stop: int) -> FlipBlock:
        """Some of them; the numbers of cases stay."""
        some = slice(start, stop)
        return FlipBlock(self.examples[some], self.varied[some], self.notes[some], self.numbers[some], self.cases)


def flips(
    run: Runlike, score: str | None = None, extract: str = "", equivalent: str = "", rubric: str | None = None
) -> Iterator[Flip]:
    """Every changed answer of a run, controls included, in the order of the suite; `score` is the task's main one."""
    for _, changed in flips_by_block(run, score, extract, equivalent, rubric):
        yield from changed.each()


def flips_by_block(
    run: Runlike, score: str | None = None, extract: str = "", equivalent: str = "", rubric: str | None = None
) -> Iterator[tuple[Block, FlipBlock]]:
    """The same as columns, with the blocks in which they are."""
    task = run.suite.task
    comparing = comparing_for(run.suite, extract, equivalent, rubric)
    scorer = next(iter(scorers_for(task, [score] if score else None, comparing)), None)
    with KeptScores([run]) as kept, comparing.cache_in_run(folder_of(run)):
        right = Right(scorer, task, kept)
        for block in blocks_of(run, comparing):
            yield block, _changed(run, block, comparing, right)


def _changed(run: Runlike, block: Block, comparing: Comparing, right: Right) -> FlipBlock:
    changed = np.flatnonzero(compared(block, comparing).flip == 1)
    owner = block.owner[changed]
    cases, numbers = _cases(block, right, changed, owner)
    places, owners = changed.tolist(), owner.tolist()
    known = block.examples(owners)
    examples, varied = [known[of] for of in owners], [block.varied[at] for at in places]
    if isinstance(run, Run) and any(map(contains, varied, repeat(PROMPT))):
        shown = [_shown(run, *both) for both in zip(examples, varied, strict=True)]
        examples, varied = [example for example, _ in shown], [inputs for _, inputs in shown]
    return FlipBlock(examples, varied, [block.notes[at] for at in places], numbers.tolist(), cases)


def _cases(block: Block, right: Right, changed: Ints, owner: Ints) -> tuple[list[Case], Ints]:
    """The distinct cases in the order in which they come, and the number of each changed answer's."""
    kind, gold, out = block.kind[changed], block.gold[changed], block.out[changed]
    clean_gold, clean_out = block.clean_gold[owner], block.clean_out[owner]
    first, numbers = np.zeros(0, dtype=np.int64), np.zeros(len(changed), dtype=np.int64)
    for column in (kind, gold, out, clean_gold, clean_out, *([owner] if right.sees_inputs else [])):
        size = int(column.max(initial=0)) + 1
        first, numbers = first_of_each(numbers * size + column, (int(numbers.max(initial=0)) + 1) * size)
    owners, said, later = owner[first].tolist(), clean_out[first].tolist(), out[first].tolist()
    scores = _scores(block, right, owners, said, clean_gold[first].tolist())
    others = _scores(block, right, owners, later, gold[first].tolist())
    cases = []
    for at, one, other, was, is_ in zip(first.tolist(), said, later, scores, others, strict=True):
        clean, output = block.outputs[one], block.outputs[other]
        before = None if clean.unreadable else right.full(was)
        after = False if output.unreadable else right.full(is_)
        loss = None if was is None or is_ is None else was - is_
        true = block.golds[gold[at]]
        cases.append(Case(block.kinds[kind[at]], true, clean, output, before, after, loss))
    return cases, numbers


def _scores(block: Block, right: Right, owners: list[int], out: list[int], gold: list[int]) -> list[float | None]:
    """The score of each output with its gold; each distinct pair is scored once."""
    due = list(zip(out, gold, owners if right.sees_inputs else [0] * len(out), strict=True))
    inputs, outputs, golds = block.inputs, block.outputs, block.golds
    pairs = {one: (outputs[one[0]].value, right.due(golds[one[1]], inputs[one[2]])) for one in dict.fromkeys(due)}
    right.see(list(pairs.values()))
    found = {one: right.score(*pair) for one, pair in pairs.items()}
    return [found[one] for one in due]


def _shown(run: Run, example: Example, varied: Inputs) -> tuple[Example, Inputs]:
    """Both as people should read them: with the prompts, where these differ."""
    before, after = run.shown(example.inputs, varied)
    return msgspec.structs.replace(example, inputs=before), after


def flips_of(results: Results, run: Runlike) -> Iterator[Flip]:
    """Every changed answer, by the score and the comparison that the results were measured with."""
    return flips(run, *as_measured(results))


def as_measured(results: Results) -> tuple[str | None, str, str, str | None]:
    """The score and the comparison that results were measured with, as `flips` takes them."""
    how = results.compared
    known = how.get("score") or (results.score if results.score in scorers else None)
    return known, how.get("extract", ""), how.get("equivalent", ""), how.get("rubric_file")


class Right:
    """Does an output have the full score? Told for the pairs of output and gold that were seen last."""

    def __init__(self, scorer: Scorer | None, task: Task, stats: Stats) -> None:
        self._scorer, self._task, self._stats = scorer, task, stats
        self._known: dict[Hashable, float | None] = {}  # of labels, the same few pairs come again and again

    @property
    def sees_inputs(self) -> bool:
        return self._scorer is not None and self._scorer.sees_inputs

    def due(self, gold: Json, inputs: Inputs) -> Json:
        """The gold as the scorer takes it; `inputs` are the example's."""
        return gold if self._scorer is None else due_of(self._scorer, gold, inputs)

    def see(self, pairs: Sequence[tuple[Json, Json]]) -> None:
        if self._scorer is None:
            return
        if len(self._known) > _MOST_KNOWN:
            self._known = {}
        new = {key: pair for pair in pairs if (key := self._key(*pair)) is not None and key not in self._known}
        if not new:
            return
        if self._scorer.apart:
            scores = self._scorer.aggregate(self._stats(self._scorer, list(new.values()), self._task)).tolist()
        else:  # an answer's row would depend on the others of its block
            alone = (self._scorer.stats([output], [gold], self._task) for output, gold in new.values())
            scores = [float(self._scorer.aggregate(row)[0]) for row in alone]
        self._known |= {key: None if isnan(s) else s for key, s in zip(new, scores, strict=True)}

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


_BLOCK = 500  # examples that are scored together


class Changed(NamedTuple):
    """An answer that is right in one run and wrong in the other; `operator` is empty for a clean input."""

    change: Literal["lost", "gained"]
    example: str
    operator: str
    draw: int | None
    text: str
    answer_a: str
    answer_b: str
    gold: str


_AnswerPair = tuple[Example, Example | Variant, Output, Output]


def changed_answers(a: Runlike, b: Runlike, score: str, plan: MeasurePlan) -> Iterator[Changed]:
    """Every lost and gained answer, in the order of the suite; none where nothing can be scored."""
    task = a.suite.task
    with comparing_for(a.suite, plan.extract, plan.equivalent, plan.rubric).cache_in_run(None) as comparing:
        scorer = next(iter(scorers_for(task, plan.scores or [score], comparing)), None) if score != "none" else None
        said = _both(a, b, plan)
        with KeptScores([a, b]) as kept:
            right = Right(scorer, task, kept)
            while scorer is not None and (block := list(islice(said, _BLOCK))):
                due = [right.due(item.gold, example.inputs) for example, item, *_ in block]
                right.see([(o.value, gold) for (_, _, *both), gold in zip(block, due, strict=True) for o in both])
                for (_, item, *both), gold in zip(block, due, strict=True):
                    was, is_ = (False if o.unreadable else right(o.value, gold) for o in both)
                    if gold is not None and was is not None and is_ is not None and was != is_:
                        yield _changed_answer("lost" if was else "gained", item, both[0], both[1])


def _both(a: Runlike, b: Runlike, plan: MeasurePlan) -> Iterator[_AnswerPair]:
    """What both runs answered, of clean inputs and of variants with the same meaning."""
    pairs = zip(items_of(a, b), items_of(b, a), strict=True)
    for (example, clean_a, varied_a), (_, clean_b, varied_b) in pairs:
        before, after = (wrong(o) if plan.missing == "wrong" else o for o in (clean_a, clean_b))
        if _is_answered(before) and _is_answered(after):
            yield example, example, before, after
        for (variant, output_a), (_, output_b) in zip(varied_a, varied_b, strict=True):
            before, after = (wrong(o) if plan.missing == "wrong" else o for o in (output_a, output_b))
            if _is_answered(before) and _is_answered(after) and variant.meaning == "same":
                yield example, variant, before, after


def _is_answered(output: Output) -> bool:
    return output.ok or output.unreadable


def _changed_answer(change: Literal["lost", "gained"], item: Example | Variant, a: Output, b: Output) -> Changed:
    inputs = item.inputs
    text = next(iter(inputs.values())) if len(inputs) == 1 else spelled(dict(inputs))
    said: list[Json] = [a.value, b.value, item.gold]
    shown = (spelled(value, inputs) for value in said)
    if isinstance(item, Variant):
        return Changed(change, item.example_id, item.source, item.draw, text, *shown)
    return Changed(change, item.id, "", None, text, *shown)
