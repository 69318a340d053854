"""The answers of a block compared: which are there, and which variants' differ from the clean ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import NoneType
from typing import NamedTuple

import numpy as np

from unswayed.base.values import Output
from unswayed.run.block import Block, first_of_each
from unswayed.run.record import NOT_ASKED
from unswayed.score import Comparing
from unswayed.stats import Ints

MISSING, LEFT_OUT = -1, -2  # instead of whether an answer changed: one of the two failed, or was not asked
_SIMPLE = (str, int, bool, NoneType)
_NONE, _UNREADABLE = -1, 0  # instead of the number of an answer


class Fill(NamedTuple):
    """What stands for missing answers: right ones or wrong ones. A wrong answer to a variant differs from the clean."""

    clean: bool
    varied: bool


class Compared(NamedTuple):
    """The number of each answer, equal for equal ones: -1 where there is none, 0 if it can't be read.

    `flip` is 1 where a variant's answer differs from the clean one, -1 where either is missing, and -2 where either
    was not asked.
    """

    before: Ints
    after: Ints
    flip: Ints


def joined_outputs(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks with equal outputs as one, without their seconds and tokens, so that each is looked at once."""
    for block in blocks:
        first, place = first_of_each(*_alike(block.outputs))
        outputs = [block.outputs[at] for at in first.tolist()]
        yield replace(block, outputs=outputs, clean_out=place[block.clean_out], out=place[block.out])


def _alike(outputs: Sequence[Output]) -> tuple[Ints, int]:
    """A number for each output, the same for equal ones of the types that labels and texts have; and a bound."""
    known: dict[Hashable, int] = {}
    keys = ((type(o.value), o.value, o.error) if type(o.value) in _SIMPLE else id(o) for o in outputs)
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64), len(outputs)


def compared(block: Block, comparing: Comparing, fill: Fill | None = None) -> Compared:
    """The answers of all items of a block; with `fill`, those that failed are as if they were there."""
    numbers: dict[Hashable, int] = {None: _NONE, Comparing.unreadable: _UNREADABLE}

    def number(answer: Hashable) -> int:
        return numbers.setdefault(answer, len(numbers) - 1)

    of = np.array([number(comparing.answer(output)) for output in block.outputs], dtype=np.int64)
    before, after, owner = of[block.clean_out], of[block.out], block.owner
    for at, example in block.moved():
        output = block.outputs[block.out[at]]
        after[at] = number(comparing.varied(block.example(example), block.variant(at, example), output))
    first = before[owner]
    flip = np.where(first == after, 0, 1)
    if not comparing.plain:
        answers = list(numbers)
        for at in np.flatnonzero((flip == 1) & (first >= 0) & (after >= 0)).tolist():
            row = block.rows[owner[at]]
            flip[at] = comparing.flip(row, answers[first[at] + 1], answers[after[at] + 1])
    not_asked = np.array([output.error == NOT_ASKED.error for output in block.outputs])
    lost = (first < 0) | (after < 0)
    left_out = not_asked[block.clean_out][owner] | not_asked[block.out]
    flip[lost] = MISSING if fill is None else int(not fill.varied)
    flip[lost & left_out] = LEFT_OUT
    return Compared(before, after, flip)
