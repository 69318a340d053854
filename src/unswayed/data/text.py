"""Plain text: a text a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unswayed.base.options import ReadOptions
from unswayed.base.values import Example
from unswayed.data._reader import Reader, read_lines, without_break
from unswayed.data.conll import looks_like_conll


class TextLines(Reader):
    """A text a line, without gold; an empty line is an empty text, so that rows stay lines."""

    suffixes = (".txt", ".text")
    has_fields = False

    def accepts(self, path: Path) -> bool:
        return super().accepts(path) and not looks_like_conll(path)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        for row, line in enumerate(read_lines(path, options.encoding)):
            self.line = row + 1
            yield Example(row, "", {"text": without_break(line)})
