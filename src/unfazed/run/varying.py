"""Varying in other processes: each holds the operators, takes blocks of examples and gives their variants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from unfazed.core.errors import UnfazedError
from unfazed.core.values import Example
from unfazed.run.workers import Engine, Lost
from unfazed.vary.engine import Blocks, Made, Through, Variation, Varier, here


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


def varied_by(engine: Engine) -> Through:
    """What makes variants of blocks on this engine."""

    def through(variation: Variation, blocks: Blocks) -> Iterator[tuple[list[Example], Made]]:
        Varier(variation)  # what is wrong with an operator is said here, before any process is started
        with engine.map(Varying(variation)) as vary:
            for block, made in vary(blocks):
                if isinstance(made, Lost):
                    rows = f"{block[0].row} to {block[-1].row}"
                    raise UnfazedError(f"Workers die while they vary rows {rows} of the data: {made.reason}.")
                yield block, made

    return here if engine.here else through
