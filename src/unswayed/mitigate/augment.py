"""Augmentation: training data with altered copies of its examples, labels kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unswayed.base.errors import DataError, UsageError
from unswayed.base.ids import content_id
from unswayed.base.seeds import Seeds
from unswayed.base.task import guess_task
from unswayed.base.values import Example, Variant
from unswayed.data.conll import SUFFIXES as CONLL, conll_sentence
from unswayed.storage.files import replacing_or_printing
from unswayed.vary.engine import Variation, Varier, blocks_of
from unswayed.vary.facts import FACTUAL
from unswayed.vary.operator import Operator, PromptOperator

BY, NOTE = "augmented", "augmented_note"  # the groups that tell a copy: by which operator, and what it did
_SET_NAME = "set/random"


def augment(
    examples: Iterable[Example], operators: Sequence[Operator], seed: int = 0, *, task: str | None = None,
    language: str = "en", copies: int = 1, people: int = 1, unchanged: Counter[str] | None = None,
    mapped: BlockMapper | None = None,
) -> Iterator[Example]:  # fmt: skip
    """Each example followed by its copies, each altered by one operator at random; another where that finds nothing.

    A copy keeps the label even where the operator is a control, as augmentation does. Where operators simulate a
    person, `people` is how many there are; each example goes to one of them. A text that the person left unaltered is
    no copy. `unchanged` counts, under `set/random`, the examples that have no copies. `mapped` does the work elsewhere:
    it is an engine's `map`.
    """
    if not operators:
        raise UsageError("No operator was given to augment with. See `unswayed list operators`.")
    twice = next((name for name, count in Counter(op.name for op in operators).items() if count > 1), None)
    if twice:
        raise UsageError(f"The operator {twice} is asked for twice.")
    stream = iter(examples)
    first = next(stream, None)
    if first is None:
        raise DataError("there are no examples to augment.")
    prompted = next((operator.name for operator in operators if isinstance(operator, PromptOperator)), None)
    if prompted:
        raise UsageError(f"{prompted} varies prompts, of which training data has none. Leave it out.")
    task = task or guess_task(first).name
    settings = Variation(
        operators=(), task=task, language=language, draws=copies, seed=seed, set="random", keep_facts=task in FACTUAL
    )
    if people < 1:
        raise UsageError(f"people must be 1 or more, not {people}.")
    job, row = Augmenting(operators, settings, people), 0
    work = "augment rows {} to {} of the data"  # as an error names what a process was doing
    with (mapped or _map_here)(job, lambda block: work.format(block[0].row, block[-1].row)) as do:
        for block, variants in do(blocks_of(chain([first], stream))):
            copied: defaultdict[int, list[Variant]] = defaultdict(list)
            for variant in variants:
                copied[variant.row].append(variant)
            if unchanged is not None and len(copied) < len(block):
                unchanged[_SET_NAME] += len(block) - len(copied)
            for example in block:
                yield msgspec.structs.replace(example, row=row)
                row += 1
                for variant in copied.get(example.row, ()):
                    groups = {**example.groups, BY: variant.source, NOTE: variant.note}
                    yield Example(row, f"{example.id}+{variant.draw + 1}", variant.inputs, variant.gold, groups)
                    row += 1


AugmentedBlocks = Iterator[tuple[Sequence[Example], Sequence[Variant]]]
BlockMap = Callable[[Iterable[Sequence[Example]]], AugmentedBlocks]  # blocks → each with its copies, in order
BlockMapper = Callable[["Augmenting", Callable[[Any], str]], AbstractContextManager[BlockMap]]


class Augmenting(NamedTuple):
    """All that another process needs to make the same copies."""

    operators: Sequence[Operator]
    settings: Variation
    people: int

    def start(self) -> AugmentingWork:
        return AugmentingWork(self)


class AugmentingWork:
    def __init__(self, job: Augmenting) -> None:
        seed = job.settings.seed  # which the first person has itself
        seeds = [seed, *(int(content_id([seed, k]), 16) for k in range(1, job.people))]
        settings = [msgspec.structs.replace(job.settings, seed=one) for one in seeds]
        self._variers = [Varier(one, job.operators, keep_gold=True) for one in settings]
        self._lots = Seeds(job.settings.seed, "augment/people", 1)

    def do(self, block: Sequence[Example]) -> list[Variant]:
        """The altered copies of a block's examples, in their order."""
        whose = [self._lots.stream(example.id, 0).below(len(self._variers)) for example in block]
        variants: list[Variant] = []
        for k in sorted(set(whose)):
            variants += self._variers[k].block([e for e, owner in zip(block, whose, strict=True) if owner == k])[0]
        place = {example.row: at for at, example in enumerate(block)}
        variants = [variant for variant in variants if variant.inputs != block[place[variant.row]].inputs]
        return sorted(variants, key=lambda variant: place[variant.row])

    def close(self) -> None:
        """Operators hold nothing that needs to be let go of."""


def _map_here(job: Augmenting, doing: Callable[[Any], str]) -> AbstractContextManager[BlockMap]:
    work = job.start()
    return nullcontext(lambda blocks: ((block, work.do(block)) for block in blocks))


def write_examples(examples: Iterable[Example], to: str | Path) -> Counter[str]:
    """Writes examples as JSON lines in unswayed's own form; counts them by the operator that made them, "" for none.

    A file that has a name as CoNLL's, such as `train.conll`, gets tokens and tags. The file appears when it is whole.
    `-` is standard output.
    """
    in_columns = Path(to).suffix.lower() in CONLL
    encode = msgspec.json.Encoder().encode
    counts: Counter[str] = Counter()
    with replacing_or_printing(to) as write:
        for example in examples:
            write(conll_sentence(example).encode() if in_columns else encode(example) + b"\n")
            counts[example.groups.get(BY, "")] += 1
    return counts
