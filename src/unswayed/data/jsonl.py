"""JSON lines: an example a line, in unswayed's own form or with flat fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.values import Example
from unswayed.data._encoding import read_line_blocks, suffix_of
from unswayed.data._fields import Fields
from unswayed.data._forms import record_of
from unswayed.data._reader import ReadBlock, Reader, ReadOptions, open_bytes

# one object that holds the rows in a list, such as {"version": 1, "data": [{…}]}
WRAPPED = re.compile(
    rb'\s*\{\s*(?:"[^"]*"\s*:\s*(?:"[^"]*"|[\w.+-]+)\s*,\s*)*'
    rb'"(?:data|rows|examples|items|records|instances|samples)"\s*:\s*\[\s*\{'
)
# one object that holds a list of rows for each split: {"train": [{…}], "test": [{…}]}
SPLITS = re.compile(rb'\s*\{\s*"(?:train|training|dev|valid|validation|test)"\s*:\s*\[\s*\{')
_decode = msgspec.json.Decoder().decode


class Jsonl(Reader):
    """`{"inputs": {…}, "gold": …}` or `{"text": …, "label": …}` a line; blank lines are passed over."""

    suffixes = (".jsonl", ".ndjson", ".json-lines", ".jsonlines")
    fields: Fields

    def accepts(self, path: Path) -> bool:
        if super().accepts(path) or not path.is_file() or suffix_of(path) != ".json":
            return super().accepts(path)
        # A `.json` file may also be one value over many lines, or SQuAD's on one.
        with open_bytes(path) as file:
            line = file.readline(1 << 20).strip()
        if b'"paragraphs"' in line[: 1 << 14] or WRAPPED.match(line) or SPLITS.match(line):
            return False
        return line.startswith(b"{") and (line.endswith(b"}") or len(line) > (1 << 19))

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        for examples, _, lines in self._blocks(path, options):
            for example, self.line in zip(examples, lines, strict=True):
                yield example

    def blocks(self, path: Path, options: ReadOptions) -> Iterator[ReadBlock]:
        own = type(self).read is not Jsonl.read  # a plug-in's way to read goes before ours
        return super().blocks(path, options) if own else self._blocks(path, options)

    def _blocks(self, path: Path, options: ReadOptions) -> Iterator[ReadBlock]:
        self.file, self.fields = path, Fields(options)
        row = before = 0  # examples and lines so far
        for lines in read_line_blocks(path, options.encoding):
            numbers = range(before + 1, before + len(lines) + 1)
            # A block of plain objects is turned into examples by columns; anything else is looked at line by line.
            examples = None
            with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                records = list(map(_decode, lines))
                if set(map(type, records)) == {dict}:
                    examples = self.fields.examples(row, records)
            if examples is not None:
                yield ReadBlock(examples, [path] * len(examples), list(numbers))
                row += len(examples)
            else:
                for block in self._gathered(self._one_by_one(row, numbers, lines)):
                    yield block
                    row += len(block.examples)
            before += len(lines)

    def _one_by_one(self, row: int, numbers: Iterable[int], lines: Iterable[str]) -> Iterator[Example]:
        for number, line in zip(numbers, lines, strict=True):
            if not line.isspace():
                self.line = number
                yield self.fields.example(row, json_object(line, self.file, number), self.file, number)
                row += 1


def json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    """The object that a line of JSON is; a `DataError` where it is none."""
    try:
        record = _decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DataError(json_problem(line, error)[0], path, number) from error
    record = record_of(record)
    if not isinstance(record, dict):
        raise DataError(f"a row must be an object {{…}}, not {line.strip():.40}", path, number)
    return record


def json_problem(text: str, error: Exception) -> tuple[str, int | None]:
    """What is wrong with a text that did not decode, and in which of its lines.

    Python's laxer decoder distinguishes NaN from halves of characters, and knows the place.
    """
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError as surrogate:
        broken = ord(surrogate.object[surrogate.start])
        return f"the text holds half a character, \\u{broken:04x}, which can't be stored. Fix or remove it.", None
    except json.JSONDecodeError as precise:  # some messages end in the *at* that comes next
        what = precise.msg.removesuffix(" at")
        return f"this is not valid JSON: {what} at column {precise.colno}.", precise.lineno
    except (ValueError, RecursionError):
        return f"this is not valid JSON: {error}.", None
    return "this is not valid JSON: it holds NaN, Infinity or a number out of range. Give a label, or null.", None
