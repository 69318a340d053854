"""Examples that pass by once on their way into a suite, and are kept until they are varied."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import msgspec

from unswayed.base.values import Example
from unswayed.run.varying import Lines
from unswayed.storage.files import unwritable
from unswayed.vary.engine import blocks_of


class _Place(NamedTuple):
    """Where the lines of a block are."""

    at: int
    length: int
    first: int
    last: int
    size: int


class Passing:
    """Examples that are read from their source once.

    What is read is kept in a file beside `to` that has no name, so nothing is left of it however the process ends.
    """

    def __init__(self, examples: Iterable[Example], to: Path, at_once: int) -> None:
        self._blocks, self._to = blocks_of(examples, at_once), to
        self._places: deque[_Place] = deque()
        with unwritable(to, "the suite"):
            to.parent.mkdir(parents=True, exist_ok=True)
            self._file = TemporaryFile(dir=to.parent, buffering=0)  # noqa: SIM115 - closed on leaving

    def __enter__(self) -> Passing:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()

    def read(self, noted: Callable[[], None]) -> Iterator[Example]:
        """The examples as they come from their source. `noted` is called when there are more lines."""
        encode = msgspec.json.Encoder().encode_lines
        for block in self._blocks:
            self._keep(encode(block), block)
            noted()
            yield from block

    def _keep(self, lines: bytes, block: list[Example]) -> None:
        with unwritable(self._to, "the suite"):
            at, rest = self._file.seek(0, SEEK_END), memoryview(lines)
            while rest:
                rest = rest[self._file.write(rest) :]
        self._places.append(_Place(at, len(lines), block[0].row, block[-1].row, len(block)))

    def lines(self) -> Lines | None:
        """The next block of those that were read."""
        if not self._places:
            return None
        at, length, *about = self._places.popleft()
        with unwritable(self._to, "the suite"):
            self._file.seek(at)
            lines = self._file.read(length)
        return Lines(lines, *about)
