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
from unswayed.measure.measuring import Runlike, blocks_of, items_of, place_of, scorers_for
from unswayed.measure.results import Results
from unswayed.measure.stored import KeptScores
from unswayed.measure.table_reader import compared
from unswayed.measure.validity import with_parts, wrong
from unswayed.run.block import Block, Ints, Kind, first_of_each
from unswayed.run.plan import MeasurePlan
from unswayed.run.record import Run
from unswayed.score import Match, Scorer, Stats, comparing_for, due_of, scorers
from unswayed.systems.template import PROMPT

_MAX_KNOWN = 1 << 14  # pairs of output and gold whose scores are remembered


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
    for block, changed, _ in answers_by_block(run, score, extract, equivalent, rubric, every=False):
        yield block, changed


class EveryAnswer(NamedTuple):
    """Every answer of a block, example by example, the clean one first; and what became of each.

    `flip` is 1 where the answer differs from the clean one, 0 where it does not, -1 where that can't be said, and
    `CLEAN` for the clean one itself.
    """

    rows: FlipBlock
    flip: list[int]


CLEAN = 2


def answers_by_block(
    run: Runlike, score: str | None = None, extract: str = "", equivalent: str = "", rubric: str | None = None, *,
    every: bool = True,
) -> Iterator[tuple[Block, FlipBlock, EveryAnswer | None]]:  # fmt: skip
    """Each block with its changed answers and, unless told otherwise, with all of its answers."""
    task = run.suite.task
    comparing = comparing_for(run.suite, extract, equivalent, rubric)
    scorer = next(iter(scorers_for(task, [score] if score else None, comparing)), None)
    with KeptScores([run]) as kept, comparing.cache_in_run(place_of(run)):
        right = Right(scorer, task, kept)
        for block in with_parts(blocks_of(run), comparing):
            flip = compared(block, comparing).flip
            changed = _rows_at(run, block, right, np.flatnonzero(flip == 1))
            yield block, changed, _every(run, block, right, flip) if every else None


def _every(run: Runlike, block: Block, right: Right, flip: Ints) -> EveryAnswer:
    varied = _rows_at(run, block, right, np.arange(len(flip)))
    n = len(block.rows)
    clean, known = block.clean_out.tolist(), block.examples(range(n))
    outputs = [block.outputs[out] for out in clean]
    due = [
        (output.value, example.gold if output.ok or output.unreadable else None, example.inputs)
        for output, example in zip(outputs, known.values(), strict=True)
    ]
    golds, cases = [example.gold for example in known.values()], []
    for gold, output, scored in zip(golds, outputs, right.scores(due), strict=True):
        good = False if output.unreadable else right.full(scored)
        cases.append(Case(Kind(-1, "clean input", "same", ""), gold, output, output, good, good, None))
    order = np.argsort(np.concatenate([np.arange(n), block.owner]), kind="stable").tolist()
    examples = [*known.values(), *varied.examples]
    inputs = [*(example.inputs for example in known.values()), *varied.varied]
    notes, numbers = [""] * n + varied.notes, [*range(n), *(n + number for number in varied.numbers)]
    flips = [CLEAN] * n + flip.tolist()
    rows = FlipBlock(
        [examples[at] for at in order], [inputs[at] for at in order], [notes[at] for at in order],
        [numbers[at] for at in order], [*cases, *varied.cases],
    )  # fmt: skip
    return EveryAnswer(rows, [flips[at] for at in order])


def _rows_at(run: Runlike, block: Block, right: Right, changed: Ints) -> FlipBlock:
    owner = block.owner[changed]
    # the distinct cases in the order in which they come, and the number of each changed answer's
    kind, gold, out = block.kind[changed], block.gold[changed], block.out[changed]
    clean_gold, clean_out = block.clean_gold[owner], block.clean_out[owner]
    first, numbers = np.zeros(0, dtype=np.int64), np.zeros(len(changed), dtype=np.int64)
    for column in (kind, gold, out, clean_gold, clean_out, *([owner] if right.sees_inputs else [])):
        size = int(column.max(initial=0)) + 1
        first, numbers = first_of_each(numbers * size + column, (int(numbers.max(initial=0)) + 1) * size)
    said, later = clean_out[first].tolist(), out[first].tolist()
    seen_with = owner[first].tolist() if right.sees_inputs else [0] * len(first)
    scores = []
    for outputs, golds in ((said, clean_gold[first].tolist()), (later, gold[first].tolist())):
        due = list(zip(outputs, golds, seen_with, strict=True))
        distinct = list(dict.fromkeys(due))  # so that each is looked at once
        missing = [not (one.ok or one.unreadable) for one in block.outputs]  # these have no score
        answered = [
            (block.outputs[o].value, None if missing[o] else block.golds[g], block.inputs[of]) for o, g, of in distinct
        ]
        found = dict(zip(distinct, right.scores(answered), strict=True))
        scores.append([found[one] for one in due])
    cases = []
    for at, one, other, was, is_ in zip(first.tolist(), said, later, *scores, strict=True):
        clean, output = block.outputs[one], block.outputs[other]
        before = None if clean.unreadable else right.full(was)
        after = False if output.unreadable else right.full(is_)
        loss = None if was is None or is_ is None else was - is_
        cases.append(Case(block.kinds[kind[at]], block.golds[gold[at]], clean, output, before, after, loss))
    places, owners = changed.tolist(), owner.tolist()
    known = block.examples(owners)
    examples, varied = [known[of] for of in owners], [block.varied[at] for at in places]
    if isinstance(run, Run) and any(map(contains, varied, repeat(PROMPT))):  # people should read the prompts whole
        shown = [run.shown(example.inputs, inputs) for example, inputs in zip(examples, varied, strict=True)]
        examples = [msgspec.structs.replace(e, inputs=own) for e, (own, _) in zip(examples, shown, strict=True)]
        varied = [inputs for _, inputs in shown]
    return FlipBlock(examples, varied, [block.notes[at] for at in places], numbers.tolist(), cases)


def as_measured(results: Results) -> tuple[str | None, str, str, str | None]:
    """The score and the comparison that results were measured with, as `flips` takes them."""
    how = results.compared
    known = how.get("score") or (results.score if results.score in scorers else None)
    return known, how.get("extract", ""), how.get("equivalent", ""), how.get("rubric_file")


class Right:
    """Which score an output has with its gold, and whether that is full. Those seen last are remembered."""

    def __init__(self, scorer: Scorer | None, task: Task, stats: Stats) -> None:
        self._scorer, self._task, self._stats = scorer, task, stats
        self._known: dict[Hashable, float | None] = {}  # of labels, the same few pairs come again and again

    @property
    def sees_inputs(self) -> bool:
        return self._scorer is not None and self._scorer.sees_inputs

    def scores(self, answered: Sequence[tuple[Json, Json, Inputs]]) -> list[float | None]:
        """Of each output with its gold, given the example's inputs; None where no score can say."""
        scorer, task, keys = self._scorer, self._task, list[Hashable]()
        if scorer is None:
            return [None] * len(answered)
        for output, gold, inputs in answered:
            said, true = (None, None) if gold is None else (scorer.key(output, task), scorer.gold_key(gold, task))
            seen = canonical(inputs) if scorer.sees_inputs else b""
            keys.append(None if said is None or true is None else (said, true, seen))
        if len(self._known) > _MAX_KNOWN:
            self._known = {}
        new: dict[Hashable, tuple[Json, Json]] = {}
        for key, (output, gold, inputs) in zip(keys, answered, strict=True):
            if key is not None and key not in self._known:
                new[key] = output, due_of(scorer, gold, inputs)
        if new and scorer.apart:
            found = scorer.aggregate(self._stats(scorer, list(new.values()), task)).tolist()
        else:  # an answer's row would depend on the others of its block
            alone = (scorer.stats([output], [gold], task) for output, gold in new.values())
            found = [float(scorer.aggregate(row)[0]) for row in alone]
        self._known |= {key: None if isnan(s) else s for key, s in zip(new, found, strict=True)}
        return [None if key is None else self._known[key] for key in keys]

    def full(self, score: float | None) -> bool | None:
        return None if score is None or self._scorer is None else score >= self._scorer.bounds[1]


_EXAMPLES = 200  # that are scored together


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


def changed_answers(a: Runlike, b: Runlike, score: str, plan: MeasurePlan) -> Iterator[Changed]:
    """Every lost and gained answer, in the order of the suite; none where nothing can be scored."""
    task, names = a.suite.task, plan.scores or ([score] if score in scorers else None)
    with comparing_for(a.suite, *plan.rules) as comparing, KeptScores([a, b]) as kept:
        scorer = next(iter(scorers_for(task, names, comparing)), None) if score != "none" else None
        if (
            scorer is not None and scorer.name == "correlation"
        ):  # of whole sets: one answer is right within the tolerance
            scorer = Match(comparing)
        right, both = Right(scorer, task, kept), zip(items_of(a, b), items_of(b, a), strict=True)
        while scorer is not None and (block := list(islice(both, _EXAMPLES))):
            pairs: list[tuple[Example, str, int | None, Inputs, Json, Output, Output]] = []
            for (example, clean_a, varied_a), (_, clean_b, varied_b) in block:
                pairs.append((example, "", None, example.inputs, example.gold, clean_a, clean_b))
                for (v, one), (_, other) in zip(varied_a, varied_b, strict=True):
                    if v.meaning == "same":
                        pairs.append((example, v.source, v.draw, v.inputs, v.gold, one, other))
            if plan.missing == "wrong":
                pairs = [(*item, wrong(one), wrong(other)) for *item, one, other in pairs]
            pairs = [pair for pair in pairs if all(output.ok or output.unreadable for output in pair[-2:])]
            before = right.scores([(one.value, gold, example.inputs) for example, *_, gold, one, _ in pairs])
            after = right.scores([(other.value, gold, example.inputs) for example, *_, gold, _, other in pairs])
            for pair, was, is_ in zip(pairs, before, after, strict=True):
                example, operator, draw, inputs, gold, one, other = pair
                was_right = False if one.unreadable else right.full(was)
                is_right = False if other.unreadable else right.full(is_)
                if gold is None or was_right is None or is_right is None or was_right == is_right:
                    continue
                text = next(iter(inputs.values())) if len(inputs) == 1 else spelled(dict(inputs))
                answers = spelled(one.value, inputs), spelled(other.value, inputs), spelled(gold, inputs)
                yield Changed("lost" if was_right else "gained", example.id, operator, draw, text, *answers)
