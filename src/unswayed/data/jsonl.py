"""JSON lines: an example a line, in unswayed's own form or with flat fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from unswayed.base.options import ReadOptions
from unswayed.base.values import Example
from unswayed.data._fields import Fields, RecordReader
from unswayed.data._forms import json_object
from unswayed.data._reader import ReadBlock, open_bytes, read_line_blocks, suffix_of

# one object that holds the rows in a list, such as {"version": 1, "data": [{…}]}
WRAPPED = re.compile(
    rb'\s*\{\s*(?:"[^"]*"\s*:\s*(?:"[^"]*"|[\w.+-]+)\s*,\s*)*'
    rb'"(?:data|rows|examples|items|records|instances|samples)"\s*:\s*\[\s*\{'
)
# one object that holds a list of rows for each split: {"train": [{…}], "test": [{…}]}
SPLITS = re.compile(rb'\s*\{\s*"(?:train|training|dev|valid|validation|test)"\s*:\s*\[\s*\{')
_decode = msgspec.json.Decoder().decode


class Jsonl(RecordReader):
    """`{"inputs": {…}, "gold": …}` or `{"text": …, "label": …}` a line; blank lines are passed over."""

    suffixes = (".jsonl", ".ndjson", ".json-lines", ".jsonlines")

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
                    examples = self.fields.form.examples(row, records)
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
