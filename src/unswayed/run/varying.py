"""Varying as a job: examples in blocks, their variants out, in this process or in others.

A worker imports this module before it begins, so it imports little.
"""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile, gettempdir
from typing import Any, NamedTuple

import msgspec

from unswayed.base.dependencies import Dependencies
from unswayed.base.progress import Progress
from unswayed.base.values import Example, Variant
from unswayed.run.plan import Engine
from unswayed.run.workers import OrderedResults, Work, mapped_on, open_pool, raise_crashes
from unswayed.storage.files import unwritable
from unswayed.storage.suite import MEMORY_BYTES
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


class ExampleSpool:
    """Spool of examples on their way into a suite: they are read from their source once.

    What is read is kept until it is varied: in a file beside `to` that has no name, so nothing is left of it however
    the process ends; or in memory, up to 256 MB.
    """

    def __init__(self, examples: Iterable[Example], to: Path | None, at_once: int) -> None:
        self._blocks, self._to = blocks_of(examples, at_once), to or Path(gettempdir())
        self._places: deque[tuple[int, ...]] = (
            deque()
        )  # of each block: where its lines are, how long; then as in `Lines`
        self._file: Any
        if to is None:
            self._file = SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - closed on leaving
            return
        with unwritable(to, "the suite"):
            to.parent.mkdir(parents=True, exist_ok=True)
            self._file = TemporaryFile(dir=to.parent, buffering=0)  # noqa: SIM115 - closed on leaving

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    def read(self, noted: Callable[[], None]) -> Iterator[Example]:
        """The examples as they come from their source. `noted` is called when there are more lines."""
        encode = msgspec.json.Encoder().encode_lines
        for block in self._blocks:
            lines = encode(block)
            with unwritable(self._to, "the suite"):
                at, rest = self._file.seek(0, SEEK_END), memoryview(lines)
                while rest:
                    rest = rest[self._file.write(rest) :]
            self._places.append((at, len(lines), block[0].row, block[-1].row, len(block)))
            noted()
            yield from block

    def next_lines(self) -> Lines | None:
        """The next block of those that were read."""
        if not self._places:
            return None
        at, length, *about = self._places.popleft()
        with unwritable(self._to, "the suite"):
            self._file.seek(at)
            lines = self._file.read(length)
        return Lines(lines, *about)


class Varying(msgspec.Struct, frozen=True):
    """All that another process needs to make the same variants.

    They are `encoded` as a suite stores them or not; `packed` into bytes where they are sent, and may have to wait.
    """

    variation: Variation
    encoded: bool = False
    packed: bool = False

    def start(self) -> VaryingWork:
        return VaryingWork(Varier(self.variation), self)


Made = tuple[list[Variant] | list[Piece], Mapping[str, int], Mapping[str, int], Dependencies | None]


class VaryingWork(Work):
    def __init__(self, varier: Varier, job: Varying) -> None:
        self._varier, self._job = varier, job

    def do(self, block: Sequence[Example] | Lines) -> Made | bytes:
        variants, none = self._varier.block(_decode(block.lines) if isinstance(block, Lines) else block)
        varier = self._varier
        pieces = list(pieces_of(variants)) if self._job.encoded else list(variants)
        made: Made = pieces, none, varier.left_out.copy(), varier.rests_on()
        varier.left_out.clear()
        return pickle.dumps(made, pickle.HIGHEST_PROTOCOL) if self._job.packed else made


def vary_on(
    engine: Engine, examples: Iterable[Example], variation: Variation, unchanged: Counter[str], left_out: Counter[str]
) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order, the same on every engine.

    `unchanged` is as in `vary`; `left_out` collects the slips that were left out, by what they would have touched.
    """
    job = Varying(variation)
    with (
        Progress("varied") as progress,
        mapped_on(engine, job, lambda block: _doing(block[0].row, block[-1].row)) as made_by,
    ):
        _check(job, engine)
        for block, (made, none, left, _) in made_by(blocks_of(examples, variation.at_once)):
            unchanged.update(none)
            left_out.update(left)
            yield from made
            progress.add(len(block))


class Encoding:
    """Variants as a suite stores them. Other processes make them from now on, also while examples are still read."""

    def __init__(
        self,
        work: OrderedResults,
        packed: bool,
        unchanged: Counter[str],
        left_out: Counter[str],
        rests_on: Dependencies,
    ) -> None:
        self._work, self._packed = work, packed
        self._unchanged, self._left_out, self._rests_on = unchanged, left_out, rests_on

    def go_on(self) -> None:
        """To be called when there is a new block: without it, all blocks are done when the variants are asked for."""
        if self._packed:
            self._work.go_on()

    def pieces(self) -> Iterator[Piece]:
        with Progress("varied") as progress:
            for block, result in raise_crashes(self._work, lambda block: _doing(block.first, block.last)):
                # A pickle that our own worker made.
                made, none, left, found = pickle.loads(result) if self._packed else result  # noqa: S301
                self._unchanged.update(none)
                self._left_out.update(left)
                if found is not None:
                    self._rests_on.add(found)
                yield from made
                progress.add(block.size)


@contextmanager
def encoding_on(
    engine: Engine, next_block: Callable[[], Lines | None], variation: Variation, unchanged: Counter[str],
    left_out: Counter[str], rests_on: Dependencies,
) -> Iterator[Encoding]:  # fmt: skip
    """What `vary_on` makes, encoded, so that workers encode, too. `rests_on` gets what operators were found to read."""
    packed = not engine.here
    job = Varying(variation, encoded=True, packed=packed)
    with open_pool(engine, job) as pool:
        _check(job, engine)
        yield Encoding(OrderedResults(pool, next_block, _MOST_HELD), packed, unchanged, left_out, rests_on)


def _check(job: Varying, engine: Engine) -> None:
    """Raises what is wrong with an operator here, while other processes still start."""
    if not engine.here:
        job.start()


def _doing(first: int, last: int) -> str:
    return f"vary rows {first} to {last} of the data"
