"""Varying as a job: examples in blocks, their variants out, in this process or in others.

A worker imports this module before it begins, so it imports little.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from unswayed.base.progress import Progress
from unswayed.base.values import Example, Variant
from unswayed.run.plan import Engine
from unswayed.run.workers import InOrder, mapped_on, open_pool, unlost
from unswayed.storage.suite_rows import Piece, pieces_of
from unswayed.vary.engine import Variation, Varier, blocks_of

_MOST_HELD = 1 << 26  # bytes of variants that are made before they are asked for
_decode = msgspec.json.Decoder(Example).decode_lines


class Lines(NamedTuple):
    """A block of examples as lines of JSON, which are read by whoever varies them."""

    lines: bytes
    first: int  # row
    last: int
    size: int


class Varying(msgspec.Struct, frozen=True):
    """All that another process needs to make the same variants.

    They are `encoded` as a suite stores them or not; `packed` into bytes where they are sent, and may have to wait.
    """

    variation: Variation
    encoded: bool = False
    packed: bool = False

    def start(self) -> VaryingWork:
        return VaryingWork(Varier(self.variation), self)


Made = tuple[list[Variant] | list[Piece], Mapping[str, int]]


class VaryingWork:
    def __init__(self, varier: Varier, job: Varying) -> None:
        self._varier, self._job = varier, job

    def do(self, block: Sequence[Example] | Lines) -> Made | bytes:
        variants, none = self._varier.block(_decode(block.lines) if isinstance(block, Lines) else block)
        made = list(pieces_of(variants)) if self._job.encoded else list(variants), none
        return pickle.dumps(made, pickle.HIGHEST_PROTOCOL) if self._job.packed else made

    def close(self) -> None:
        """Operators hold nothing that needs to be let go of."""


def vary_on(
    engine: Engine, examples: Iterable[Example], variation: Variation, unchanged: Counter[str]
) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order, the same on every engine. `unchanged` is as in `vary`."""
    job = Varying(variation)
    with (
        Progress("varied") as progress,
        mapped_on(engine, job, lambda block: _doing(block[0].row, block[-1].row)) as made_by,
    ):
        _check(job, engine)
        for block, (made, none) in made_by(blocks_of(examples, variation.at_once)):
            unchanged.update(none)
            yield from made
            progress.add(len(block))


class Encoding:
    """Variants as a suite stores them. Other processes make them from now on, also while examples are still read."""

    def __init__(self, work: InOrder, packed: bool, unchanged: Counter[str]) -> None:
        self._work, self._packed, self._unchanged = work, packed, unchanged

    def go_on(self) -> None:
        """To be called when there is a new block: without it, all blocks are done when the variants are asked for."""
        if self._packed:
            self._work.go_on()

    def pieces(self) -> Iterator[Piece]:
        with Progress("varied") as progress:
            for block, result in unlost(self._work, lambda block: _doing(block.first, block.last)):
                made, none = pickle.loads(result) if self._packed else result  # noqa: S301 - made by our own worker
                self._unchanged.update(none)
                yield from made
                progress.add(block.size)


@contextmanager
def encoding_on(
    engine: Engine, next_block: Callable[[], Lines | None], variation: Variation, unchanged: Counter[str]
) -> Iterator[Encoding]:
    """What `vary_on` makes, encoded, so that workers encode, too."""
    packed = not engine.here
    job = Varying(variation, encoded=True, packed=packed)
    with open_pool(engine, job) as pool:
        _check(job, engine)
        yield Encoding(InOrder(pool, next_block, _MOST_HELD), packed, unchanged)


def _check(job: Varying, engine: Engine) -> None:
    """Raises what is wrong with an operator here, while other processes still start."""
    if not engine.here:
        job.start()


def _doing(first: int, last: int) -> str:
    return f"vary rows {first} to {last} of the data"
