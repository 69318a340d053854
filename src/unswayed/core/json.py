"""JSON from outside: whatever is wrong with it, also what the library tells otherwise, is a msgspec.DecodeError."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, overload

import msgspec

from unswayed.core.errors import DataError, StoredFileError
from unswayed.core.outside import read_bounded

T = TypeVar("T")
_MOST_LINES = 2 << 30  # bytes of a file of JSON lines that is held in memory


@overload
def decode(content: bytes | str) -> Any: ...
@overload
def decode(content: bytes | str, type: type[T]) -> T: ...
def decode(content: bytes | str, type: Any = Any) -> Any:
    """The value in a text; raises msgspec.DecodeError where it is no such value, not UTF-8 or too deep to follow."""
    try:
        return msgspec.json.decode(content, type=type)
    except UnicodeError as error:
        raise msgspec.DecodeError(f"it is not UTF-8 ({error})") from error
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None


def read_json_lines(path: Path, type: type[T]) -> Iterator[tuple[int, T]]:
    """Each line's number and its value of this type; empty lines are skipped, and a bad one is named."""
    try:
        lines = read_bounded(path, _MOST_LINES).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{path}: "), path) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield number, decode(line, type)
            except msgspec.MsgspecError as error:
                raise DataError(f"this is not a JSON object of the right form: {error}.", path, number) from error
