"""Characters by their sounds or shapes: the codes, and a system that sees texts folded by them."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

import msgspec

from unswayed.base import DataError, Example, Inputs, Json, UnknownName, content_id
from unswayed.mitigate import chosen_inputs
from unswayed.systems import Failed, System, SystemAround, open_system

_FILE = files("unswayed.papers.readin") / "data" / "characters.txt.xz"
_COLUMNS = {"pinyin": 1, "pinyin_tone": 1, "zhuyin": 2, "wubi": 3, "stroke": 4}
ENCODINGS = tuple(_COLUMNS)

# Letters of codes are others than those of texts, so that the word "ma" and the sound of 马 are told apart.
_LETTERS = {ord("a") + i: 0x1D68A + i for i in range(26)} | {ord("0") + i: 0x1D7F6 + i for i in range(10)}
_ZHUYIN = frozenset("ˊˇˋ˙") | {chr(code) for code in range(0x3105, 0x312A)}
_FIRST, _LAST = 0xE000, 0xF8FE  # ends a code; how far from the first says which of the characters with that code it is
_ESCAPE = "\uf8ff"  # stands before a character of a text that codes are made of


class Codes:
    """One way to write characters as codes. With `index`, decoding gives the very characters back.

    Without it, all characters of a code are written the same, and decoding gives the commonest of them.
    """

    def __init__(self, encoding: str = "pinyin", index: bool = True) -> None:
        if encoding not in _COLUMNS:
            raise UnknownName("encoding", encoding, ENCODINGS)
        self.encoding, self.index = encoding, index
        self._by_code: dict[str, list[str]] = {}
        code_of: dict[str, str] = {}
        for row in _table():
            code = row[_COLUMNS[encoding]]
            if encoding == "pinyin":
                code = code.rstrip("012345")
            if code:
                code = code.translate(_LETTERS)
                same = self._by_code.setdefault(code, [])
                same.append(row[0])
                code_of[row[0]] = code + chr(_FIRST + (len(same) - 1 if index else 0))
        self._code_of = code_of

    @cached_property
    def digest(self) -> str:
        """Changes when the table of codes does."""
        return content_id(self._code_of)

    @cached_property
    def replacements(self) -> dict[str, str]:
        """What each character becomes that does not stay as it is."""
        return {**self._code_of, **{symbol: _ESCAPE + symbol for symbol in sorted(_symbols())}}

    @cached_property
    def _encode(self) -> Callable[[str], str]:
        table = str.maketrans(self.replacements)
        return lambda text: text.translate(table)

    def encode(self, text: str) -> str:
        """Each character that has a code as the code; all else as it is."""
        return self._encode(text)

    def decode(self, coded: str) -> str:
        """The text of a coded text. What no code is, such as half of one, is left as it stands."""
        found: list[str] = []
        at = start = 0  # a code may begin at start
        while at < len(coded):
            symbol = coded[at]
            if symbol == _ESCAPE and at + 1 < len(coded):
                found += [coded[start:at], coded[at + 1]]
                at = start = at + 2
            elif _FIRST <= ord(symbol) <= _LAST:
                found.append(self._character(coded[start:at], symbol))
                at = start = at + 1
            else:
                if symbol not in _symbols():
                    found.append(coded[start : at + 1])
                    start = at + 1
                at += 1
        return "".join([*found, coded[start:]])

    def _character(self, code: str, end: str) -> str:
        same, number = self._by_code.get(code, []), ord(end) - _FIRST
        return same[number] if number < len(same) else code + end

    def fold(self, text: str) -> str:
        """The text with each character as the commonest of those with its code: homophones become one."""
        return text.translate(self._folded)

    @cached_property
    def _folded(self) -> dict[int, str]:
        return {ord(c): same[0] for same in self._by_code.values() for c in same if c != same[0]}


@lru_cache(1)
def _symbols() -> frozenset[str]:
    """What codes are made of, the marks that end them and the escape."""
    return frozenset(map(chr, _LETTERS.values())) | _ZHUYIN | {_ESCAPE} | {chr(c) for c in range(_FIRST, _LAST + 1)}


@lru_cache(1)
def _table() -> list[list[str]]:
    """Rows of a character, its pinyin, zhuyin, wubi and strokes; the commonest characters first."""
    try:
        text = lzma.decompress(_FILE.read_bytes()).decode("utf-8")
    except (OSError, lzma.LZMAError) as error:
        raise DataError(f"the table of characters can't be read ({error}). Install unswayed again.", _FILE) from error
    return [line.split("\t") for line in text.split("\n")]


NAME = "mitigate/fold"
VERSION = 1


class Folded(SystemAround):
    """Writes each character as the commonest with its code, then asks `system`, which has all other options.

    The system should have been trained on texts folded the same way. `fields` are as for mitigate/correct.
    """

    def __init__(
        self, system: str | Callable[..., Any] | System, encoding: str = "pinyin", fields: str | Sequence[str] = (),
        **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(open_system(system, **options))
        self.codes = Codes(encoding, index=False)
        self.fields = fields
        self.name = f"{self.system.name} by {encoding}"

    @property
    def identity(self) -> str:
        fields = "" if not self.fields else f" of {msgspec.json.encode(self.fields).decode()}"
        return f"{self.system.identity} after folding{fields} by {self.codes.encoding} {self.codes.digest} {VERSION}"

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return self.system.predict([folded_inputs(inputs, self.codes, self.fields) for inputs in batch])


def fold_examples(examples: Iterable[Example], codes: Codes, fields: str | Sequence[str] = ()) -> Iterator[Example]:
    """The examples with folded inputs, to train a system with that is asked about folded ones."""
    for example in examples:
        yield msgspec.structs.replace(example, inputs=folded_inputs(example.inputs, codes, fields))


def folded_inputs(inputs: Inputs, codes: Codes, fields: str | Sequence[str] = ()) -> Inputs:
    return inputs | {name: codes.fold(text) for name, text in chosen_inputs(inputs, fields).items()}
