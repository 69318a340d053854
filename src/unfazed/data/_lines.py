"""Lines of UTF-8 files with their numbers, and errors that say which byte is not UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from unfazed.core.errors import DataError

_UTF8_MARK = b"\xef\xbb\xbf"


def read_lines(path: Path) -> Iterator[str]:
    """Each line with its line break. Only `\\n` ends a line: texts may hold other separators, such as U+2028."""
    offset = 0
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
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


def without_break(line: str) -> str:
    """The line without its `\\n` or `\\r\\n`."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith("\n") else line


def open_bytes(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error


def _not_utf8(line: bytes, start: int, offset: int) -> str:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "This file looks like UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`."
    else:
        encoding = "Convert the file with `iconv -f LATIN1 -t UTF-8`, or whichever encoding it has."
    return (
        f"byte {start + 1} of this row (byte {offset + start + 1} of the file), 0x{line[start]:02x}, "
        f"is not UTF-8. {encoding}"
    )
