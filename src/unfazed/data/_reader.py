"""The reader contract: does this path look like mine, and which examples are in it? Also, lines of UTF-8 files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar, Protocol

import msgspec

from unfazed.core.chat import Turn
from unfazed.core.errors import DataError, StoredFileError, option
from unfazed.core.outside import bounded_lines, open_regular
from unfazed.core.registry import Registry
from unfazed.core.values import Example, Variant


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user says about their data; what they leave out is guessed.

    Example: `unfazed.ReadOptions(inputs=("utterance",), gold="intent")`.
    """

    format: str | None = None  # a reader's name
    task: str | None = None
    inputs: tuple[str, ...] = ()  # fields that hold the texts
    gold: str | None = None
    id: str | None = None
    groups: tuple[str, ...] = ()  # fields whose values are slices
    labels: tuple[str, ...] | None = None  # all labels that there may be
    turn: Turn = "last-user"  # the messages of a chat that are varied

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


class Reader:
    """Extend, and put in `data/NAME.py` or behind the entry point `unfazed.readers`. One is made for each reading.

    Example: `class Toml(Reader)` with `suffixes = (".toml",)` and a method `read(self, path, options)`.

    Before it yields an example, `read` sets `file` and `line` to where the example stands, so that whatever is
    found wrong with it later can be said with its place. Examples without an id of their own get `id=""`.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()  # in lower case, with the dot
    people: ClassVar[str] = ""  # what of a variant names the person who made it, if any: draw, source or note
    has_fields: ClassVar[bool] = True  # False: there are no named fields to choose from
    task: ClassVar[str] = ""  # of all that it reads, where that is always the same
    language: str = ""  # of all that it reads, where the format says so, at the latest once reading began

    file: Path
    line: int = 0  # 1-based, as editors count
    fields: GoldField | None = None  # of records with named fields, once reading began
    equivalent: str = ""  # when an answer is the same as the gold, where the data says so, once reading began

    def accepts(self, path: Path) -> bool:
        """Does the path look like this format? Only the name, and the start of what is there, are looked at."""
        return path.is_file() and path.suffix.lower() in self.suffixes

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        """The examples as they stand, in order, without holding all of them. `row` counts them from 0."""
        raise NotImplementedError

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        """The examples said another way, where the data has that, in the order of the examples and with their ids."""
        return iter(())


readers: Registry[Reader] = Registry("reader", Reader, "unfazed.data")


_UTF8_MARK = b"\xef\xbb\xbf"


def read_lines(path: Path) -> Iterator[str]:
    """Each line with its line break. Only `\\n` ends a line: texts may hold other separators, such as U+2028."""
    offset = 0
    with open_bytes(path) as file:
        for number, line in enumerate(_bounded(file, path), 1):
            size = len(line)
            if number == 1 and line.startswith(_UTF8_MARK):
                line = line[len(_UTF8_MARK) :]
                offset = len(_UTF8_MARK)
                size -= offset
                if not line:
                    return
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise DataError(_not_utf8(line, error.start, offset), path, number) from error
            offset += size


def _bounded(file: BinaryIO, path: Path) -> Iterator[bytes]:
    try:
        yield from bounded_lines(file, path)
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{path}: "), path) from error


def without_break(line: str) -> str:
    """The line without its `\\n` or `\\r\\n`."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith("\n") else line


def open_bytes(path: Path) -> BinaryIO:
    """The open file; a `DataError` if it can't be opened, or is a pipe or a device, which may never end."""
    try:
        return open_regular(path)
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{path}: "), path) from error


def _not_utf8(line: bytes, start: int, offset: int) -> str:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "This file looks like UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`."
    else:
        encoding = "Convert the file with `iconv -f LATIN1 -t UTF-8`, or whichever encoding it has."
    return (
        f"byte {start + 1} of this row (byte {offset + start + 1} of the file), 0x{line[start]:02x}, "
        f"is not UTF-8. {encoding}"
    )
