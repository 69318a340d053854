"""Word vectors from a text file, a word and its numbers a line, or GloVe's from the installed package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unswayed.base import DataError
from unswayed.papers.parte.glove import GLOVE, glove_lines

VOCABULARY = 50_000  # as many words as P̂aRTE's models know
_WORD = re.compile(r"n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+?(?=n['’]t\b)|[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")

Floats = npt.NDArray[np.float32]


def words_of(text: str, most: int) -> list[str]:
    """The first words, marks and Chinese characters of a text; *don't* is *do n't*, as vectors have it."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        found.append(match[0].replace("’", "'"))
        if len(found) == most:
            break
    return found


class Vectors:
    """Known words and a row of numbers for each. A word is looked up as it is, then in small letters."""

    def __init__(self, words: list[str], rows: Floats) -> None:
        self.words, self.rows = words, rows
        self._place = {word: i for i, word in enumerate(words)}

    def find(self, word: str) -> int:
        """The word's row, or -1."""
        place = self._place.get(word)
        return self._place.get(word.lower(), -1) if place is None else place

    @classmethod
    def read(cls, path: str | Path, texts: Iterable[Iterable[str]], most: int = VOCABULARY) -> Vectors:
        """The vectors of the words in these texts, the commonest first, then of the file's first words, up to `most`.

        Files have their words in the order of how common they are. `glove` stands for those of the installed package.
        """
        lines: Iterable[tuple[int, str, Sequence[bytes] | Floats]]
        lines = glove_lines() if str(path) == GLOVE else _lines(Path(path))
        counts = Counter(word for words in texts for word in words)
        wanted = set(counts) | {word.lower() for word in counts}
        found: dict[str, Floats] = {}
        others: dict[str, Floats] = {}
        size = 0
        for line, word, numbers in lines:
            size = size or len(numbers)
            if word in wanted or len(others) < most:
                into = found if word in wanted else others
                if word not in into:
                    into[word] = _row(numbers, size, Path(path), line)
        if not found:
            raise DataError("none of the words to learn from has a vector here. Is it a file of word vectors?", path)
        words = sorted(found, key=lambda word: (-counts[word], word))[:most]
        words += list(others)[: most - len(words)]
        return cls(words, np.stack([found[word] if word in found else others[word] for word in words]))


def _lines(path: Path) -> Iterator[tuple[int, str, list[bytes]]]:
    """Line number, word and numbers. A word may hold spaces, so the numbers are counted from the end."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    with file:
        size = 0
        for number, line in enumerate(file, 1):
            parts = line.rstrip().split(b" ")
            if number == 1 and len(parts) == 2:
                continue  # fastText's and word2vec's first line: how many words, how many numbers
            size = size or len(parts) - 1
            if size < 2 or len(parts) <= size:
                raise DataError(f"a line must be a word and {max(size, 2)} numbers; this has {len(parts)} parts.", path,
                                number)  # fmt: skip
            try:
                yield number, b" ".join(parts[:-size]).decode("utf-8"), parts[-size:]
            except UnicodeDecodeError as error:
                raise DataError("the word is not UTF-8.", path, number) from error


def _row(numbers: Sequence[bytes] | Floats, size: int, path: Path, line: int) -> Floats:
    try:
        row = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise DataError(f"a line must be a word and {size} numbers ({error}).", path, line) from error
    if not np.isfinite(row).all():
        raise DataError("a number is not finite.", path, line)
    return row
