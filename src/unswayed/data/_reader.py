"""The reader contract: does this path look like mine, and which examples are in it?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import msgspec

from unswayed.base.chat import Turn
from unswayed.base.errors import option
from unswayed.base.registry import Registry
from unswayed.base.values import Example, Variant
from unswayed.data._encoding import open_bytes, read_lines, suffix_of

__all__ = ["GoldField", "PlacedExample", "Problem", "ReadBlock", "ReadOptions", "Reader", "open_bytes", "read_lines",
    "readers", "without_break"]  # fmt: skip
_BLOCK_EXAMPLES = (
    200  # examples of a block; as many as are looked at to guess the task, so that no more are read for it
)


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user says about their data; what they leave out is guessed.

    Example: `unswayed.ReadOptions(inputs=("utterance",), gold="intent")`.
    """

    format: str | None = None  # a reader's name
    task: str | None = None
    inputs: tuple[str, ...] = ()  # fields that hold the texts
    gold: str | None = None
    id: str | None = None
    groups: tuple[str, ...] = ()  # fields whose values are slices
    labels: tuple[str, ...] | None = None  # all labels that there may be
    turn: Turn = "last-user"  # the messages of a chat that are varied
    encoding: str | None = None  # of a file of text that is not UTF-8
    sheet: str | None = None  # of a workbook

    def chosen_fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that the caller chose, by the option that did, in the caller's spelling."""
        chosen = {
            option("input"): self.inputs,
            option("gold"): (self.gold,) if self.gold else (),
            option("id"): (self.id,) if self.id else (),
            f"{option('group', 'groups')} or {option('cluster')}": self.groups,
        }
        return {name: fields for name, fields in chosen.items() if fields}


class Problem(Exception):
    """What is wrong with a record, without its place."""


class GoldField(Protocol):
    """Whatever makes examples of records and knows which field their gold came from."""

    gold: str | None

    def guessed(self, path: Path) -> tuple[str, ...]:
        """What was guessed of the fields and may be otherwise, in sentences."""
        ...


class PlacedExample(NamedTuple):
    """An example, and where it stands."""

    example: Example
    file: Path
    line: int


class ReadBlock(NamedTuple):
    """Examples that were read together, and where each stands."""

    examples: list[Example]
    files: list[Path]
    lines: list[int]

    def placed(self) -> Iterator[PlacedExample]:
        return map(PlacedExample, self.examples, self.files, self.lines)


class Reader:
    """Extend, and put in `data/NAME.py` or behind the entry point `unswayed.readers`. One is made for each reading.

    Example: `class Toml(Reader)` with `suffixes = (".toml",)` and a method `read(self, path, options)`.

    Before it yields an example, `read` sets `file` and `line` to where the example stands, so that whatever is
    found wrong with it later can be said with its place. Examples without an id of their own get `id=""`.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()  # in lower case, with the dot
    people: ClassVar[str] = ""  # what of a variant names the person who made it, if any: draw, source or note
    fallback: ClassVar[bool] = False  # True: read by this one only where no other reader knows the path
    has_fields: ClassVar[bool] = True  # False: there are no named fields to choose from
    task: ClassVar[str] = ""  # of all that it reads, where that is always the same
    language: str = ""  # of all that it reads, where the format says so, at the latest once reading began

    file: Path
    line: int = 0  # 1-based, as editors count
    fields: GoldField | None = None  # of records with named fields, once reading began
    equivalent: str = ""  # when an answer is the same as the gold, where the data says so, once reading began

    def accepts(self, path: Path) -> bool:
        """Does the path look like this format? Only the name, and the start of what is there, are looked at."""
        return path.is_file() and suffix_of(path) in self.suffixes

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        """The examples as they stand, in order, without holding all of them. `row` counts them from 0."""
        raise NotImplementedError

    def blocks(self, path: Path, options: ReadOptions) -> Iterator[ReadBlock]:
        """What `read` gives, some at a time. Extend together with `read` where that is quicker.

        What is wrong with a row is raised once the rows before it were given.
        """
        return self._gathered(self.read(path, options))

    def _gathered(self, examples: Iterator[Example]) -> Iterator[ReadBlock]:
        while True:
            block = ReadBlock([], [], [])
            try:
                for example in islice(examples, _BLOCK_EXAMPLES):
                    block.examples.append(example)
                    block.files.append(self.file)
                    block.lines.append(self.line)
            except Exception:
                yield block
                raise
            if not block.examples:
                return
            yield block

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        """The examples said another way, where the data has that, in the order of the examples and with their ids."""
        return iter(())


readers: Registry[Reader] = Registry("reader", Reader, "unswayed.data")


def without_break(line: str) -> str:
    """The line without its `\\n` or `\\r\\n`."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith("\n") else line
