"""Varying as a job: examples in blocks, their variants out, in this process or in others.

A worker imports this module before it begins, so it imports little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from unfazed.core.progress import Progress
from unfazed.core.suite_rows import Piece, pieces_of
from unfazed.core.values import Example, Variant
from unfazed.run.workers import Engine
from unfazed.vary.engine import Variation, Varier, blocks_of


class Varying(msgspec.Struct, frozen=True):
    """All that another process needs to make the same variants, `encoded` as a suite stores them or not."""

    variation: Variation
    encoded: bool = False

    def start(self) -> VaryingWork:
        return VaryingWork(Varier(self.variation), self.encoded)


class VaryingWork:
    def __init__(self, varier: Varier, encoded: bool) -> None:
        self._varier, self._encoded = varier, encoded

    def do(self, block: Sequence[Example]) -> tuple[list[Variant] | list[Piece], Mapping[str, int]]:
        variants, none = self._varier.block(block)
        return list(pieces_of(variants)) if self._encoded else list(variants), none

    def close(self) -> None:
        """Operators hold nothing that needs to be let go of."""


def vary_on(
    engine: Engine, examples: Iterable[Example], variation: Variation, unchanged: Counter[str]
) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order, the same on every engine. `unchanged` is as in `vary`."""
    return _made_on(engine, examples, Varying(variation), unchanged)


def encoded_on(
    engine: Engine, examples: Iterable[Example], variation: Variation, unchanged: Counter[str]
) -> Iterator[Piece]:
    """The same as a suite stores them, so that workers encode, too."""
    return _made_on(engine, examples, Varying(variation, encoded=True), unchanged)


def _made_on(engine: Engine, examples: Iterable[Example], job: Varying, unchanged: Counter[str]) -> Iterator[Any]:
    if not engine.here:
        job.start()  # raises what is wrong with an operator before any process is started
    with Progress("varied") as progress, engine.map(job, _doing) as made_by:
        for block, (made, none) in made_by(blocks_of(examples)):
            unchanged.update(none)
            yield from made
            progress.add(len(block))


def _doing(block: Sequence[Example]) -> str:
    return f"vary rows {block[0].row} to {block[-1].row} of the data"
