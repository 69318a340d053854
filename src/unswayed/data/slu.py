"""Spoken-language corpora as three parallel files: `seq.in` (tokens), `seq.out` (BIO tags), `label` (intents)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from unswayed.base.errors import DataError
from unswayed.base.options import ReadOptions
from unswayed.base.values import Example
from unswayed.data._reader import Reader, read_lines

_FILES = ("seq.in", "seq.out", "label")


class SluReader(Reader):
    """A folder with the three files. Joined intents such as `a#b` stay one class."""

    has_fields = False

    def accepts(self, path: Path) -> bool:
        return path.is_dir() and all((path / name).is_file() for name in _FILES)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        files = [path / name for name in _FILES]
        absent = next((file for file in files if not file.is_file()), None)
        if absent is not None:
            raise DataError("this file is missing; an SLU folder has seq.in, seq.out and label.", absent)
        self.file = files[0]
        for row, lines in enumerate(zip_longest(*map(read_lines, files))):
            self.line = row + 1
            if None in lines:
                longer = next(file for file, text in zip(files, lines, strict=True) if text is not None)
                what = f"the file ends after {row} lines, but {longer.name} goes on. All three must have as many lines."
                raise DataError(what, files[lines.index(None)], self.line)
            # What spaces separate; other white space may belong to a token.
            tokens, tags = ([token for token in line.strip().split(" ") if token] for line in lines[:2])
            intent = lines[2].strip()
            if len(tokens) != len(tags):
                what = f"{len(tags)} tags for the {len(tokens)} tokens of {files[0]}:{self.line}."
                raise DataError(what, files[1], self.line)
            if not tokens:
                what = "there is no utterance on this line. Remove it from all three files."
                raise DataError(what, self.file, self.line)
            if not intent:
                raise DataError("there is no intent on this line.", files[2], self.line)
            yield Example(row, "", {"text": " ".join(tokens)}, {"intent": intent, "slots": tags})
