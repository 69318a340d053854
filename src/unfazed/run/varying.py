"""Varying as a job: examples in blocks, their variants out, in this process or in others.

A worker imports this module before it begins, so it imports little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from unfazed.core.progress import Progress
from unfazed.core.values import Example, Variant
from unfazed.run.workers import Engine
from unfazed.vary.engine import Made, Variation, Varier, blocks_of


class Varying(msgspec.Struct, frozen=True):
    """All that another process needs to make the same variants."""

    variation: Variation

    def start(self) -> VaryingWork:
        return VaryingWork(Varier(self.variation))


class VaryingWork:
    def __init__(self, varier: Varier) -> None:
        self._varier = varier

    def do(self, block: Sequence[Example]) -> Made:
        return self._varier.block(block)

    def close(self) -> None:
        """Operators hold nothing that needs to be let go of."""


def vary_on(
    engine: Engine, examples: Iterable[Example], variation: Variation, unchanged: Counter[str]
) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order, the same on every engine. `unchanged` is as in `vary`."""
    if not engine.here:
        Varier(variation)  # raises what is wrong with an operator before any process is started
    with Progress("varied") as progress, engine.map(Varying(variation), _doing) as made_by:
        for block, (variants, none) in made_by(blocks_of(examples)):
            unchanged.update(none)
            yield from variants
            progress.add(len(block))


def _doing(block: Sequence[Example]) -> str:
    return f"vary rows {block[0].row} to {block[-1].row} of the data"
