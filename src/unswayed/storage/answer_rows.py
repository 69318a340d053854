"""The rows in which answers are stored, a few dozen in each, and the buffer in which they wait to be written.

A row has the keys of its answers in one piece; the answers as lines of JSON, so that equal labels can be told from
their bytes; and details, the other columns: seconds, attempts, tokens, errors. A column of equal values is one value,
so that labels cost nothing but themselves. Measured on a million answers with counts of tokens: 0.7 CPU seconds to
write; a table with a row for each answer, sorted by key, took 5 to 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from unswayed.base.secrets import masked, without_known_bytes
from unswayed.base.values import BatchOutputs, Output
from unswayed.storage.keys import KEY_BYTES, Key

_MIN_ROW_ANSWERS = 64  # fewer wait for more; where they differ, more would have to be read for each that is looked up
_MAX_ROW_ANSWERS = 1024
_MAX_ROW_BYTES = 1 << 20  # of answers; longer ones have rows of their own
_MAX_BUFFER_ANSWERS = 16_384
_MAX_BUFFER_BYTES = 8 << 20

T = TypeVar("T")
Column = list[T]
_encoder = msgspec.json.Encoder()


class StoredRow(NamedTuple):
    """A row of the table `batches`, but for its number."""

    session: int
    keys: bytes
    details: bytes
    answers: bytes


class Details(msgspec.Struct, array_like=True, gc=False):
    """The columns of a row beside its answers: one value where all are equal, else a list. Errors are by place."""

    seconds: float | list[float] = 0.0
    attempts: int | list[int] = 1
    tokens_in: int | list[int | None] | None = None
    tokens_out: int | list[int | None] | None = None
    errors: dict[int, str] = {}

    def check(self, size: int) -> Details:
        """Itself; raises where its columns are not those of so many answers."""
        columns = (self.seconds, self.attempts, self.tokens_in, self.tokens_out)
        if any(type(column) is list and len(column) != size for column in columns):
            raise ValueError("a column with more values than keys, or fewer")
        if self.errors and not 0 <= min(self.errors) <= max(self.errors) < size:
            raise ValueError("an error of no answer")
        return self


_read_details = msgspec.msgpack.Decoder(Details).decode
_write_details = msgspec.msgpack.Encoder().encode


class WriteBuffer:
    """Write buffer: answers that were given and not written yet. They are encoded at once, as their owner may change
    them later; a few at a time become a row."""

    def __init__(self) -> None:
        self.rows: list[StoredRow] = []
        self._answers = self._bytes = 0  # of those rows
        self._session = 0
        self._clear()

    def _clear(self) -> None:
        self._keys: list[Key] = []
        self._lines: list[bytes] = []
        self._seconds: list[float] = []
        self._attempts: list[int] = []
        self._tokens_in: list[int | None] = []
        self._tokens_out: list[int | None] = []
        self._errors: list[str | None] = []

    @property
    def is_full(self) -> bool:
        return self._answers >= _MAX_BUFFER_ANSWERS or self._bytes >= _MAX_BUFFER_BYTES

    def add(self, session: int, keys: Sequence[Key], outputs: Sequence[Output]) -> None:
        """Adds outputs by key; of the same key, the one that was added last counts."""
        if session != self._session:
            self.seal()
            self._session = session
        if len(keys) > _MAX_ROW_ANSWERS:
            for at in range(0, len(keys), _MAX_ROW_ANSWERS):
                self.add(session, keys[at : at + _MAX_ROW_ANSWERS], outputs[at : at + _MAX_ROW_ANSWERS])
            return
        if isinstance(outputs, BatchOutputs):
            lines, n = _encoder.encode_lines(outputs.values), len(keys)
            self._seconds += [outputs.seconds] * n
            self._attempts += [1] * n
            self._tokens_in += [None] * n
            self._tokens_out += [None] * n
            self._errors += [None] * n
        else:  # a column at a time: that is several times as fast as a row at a time
            lines = _encoder.encode_lines([output.value for output in outputs])
            self._seconds += [output.seconds for output in outputs]
            self._attempts += [output.attempts for output in outputs]
            self._tokens_in += [output.tokens_in for output in outputs]
            self._tokens_out += [output.tokens_out for output in outputs]
            self._errors += [output.error for output in outputs]
        self._keys += keys
        self._lines.append(lines)
        if len(self._keys) >= _MIN_ROW_ANSWERS or len(lines) > _MAX_ROW_BYTES:
            self.seal()

    def seal(self) -> None:
        """Makes what was added a row; several where the answers are long."""
        if not self._keys:
            return
        lines = b"".join(self._lines)
        if without_known_bytes(lines) != lines:  # not over the end of a line
            lines = b"".join([without_known_bytes(line) + b"\n" for line in lines.split(b"\n")[:-1]])
        self._answers += len(self._keys)
        self._bytes += len(lines)
        if len(lines) <= _MAX_ROW_BYTES:
            self._add_row(0, len(self._keys), lines)
        else:
            for at, line in enumerate(lines.split(b"\n")[:-1]):
                self._add_row(at, at + 1, line + b"\n")
        self._clear()

    def _add_row(self, start: int, end: int, lines: bytes) -> None:
        errors = {}
        if self._errors.count(None) < len(self._errors):
            some = enumerate(self._errors[start:end])
            errors = {at: masked(e).encode("utf-8", "replace").decode() for at, e in some if e is not None}
        details = Details(
            _one_or_all(self._seconds[start:end]),
            _one_or_all(self._attempts[start:end]),
            _one_or_all(self._tokens_in[start:end]),
            _one_or_all(self._tokens_out[start:end]),
            errors,
        )
        self.rows.append(StoredRow(self._session, b"".join(self._keys[start:end]), _write_details(details), lines))

    def take_rows(self) -> list[StoredRow]:
        """All that waits, which is then with the caller."""
        self.seal()
        rows, self.rows = self.rows, []
        self._answers = self._bytes = 0
        return rows


def _one_or_all(column: Column[T]) -> T | Column[T]:
    return column[0] if column.count(column[0]) == len(column) else column


def masked_output(output: Output) -> Output:
    """The output as the store keeps it, with secrets masked."""
    if output.error is not None:
        return msgspec.structs.replace(output, error=masked(output.error))
    content = msgspec.json.encode(output.value)
    stored = without_known_bytes(content)
    return output if stored == content else msgspec.structs.replace(output, value=msgspec.json.decode(stored))


def key_places(keys: bytes, wanted: Sequence[Key]) -> Iterator[tuple[Key, int]]:
    """Those of the keys that are in a row, with their places: the last one where a key is there several times."""
    for key in wanted:
        at = keys.rfind(key)
        while at >= 0 and at % KEY_BYTES:  # the end of one and the beginning of the next are no key
            at = keys.rfind(key, 0, at + KEY_BYTES - 1)
        if at >= 0:
            yield key, at // KEY_BYTES


def read_details(details: bytes, keys: bytes) -> Details:
    """The details of a row with these keys."""
    return _read_details(details).check(len(keys) // KEY_BYTES)


def read_outputs(keys: bytes, details: bytes, answers: bytes, wanted: Sequence[Key]) -> Iterator[tuple[Key, Output]]:
    """The outputs of a row, of those of the keys that are in it."""
    places = dict(key_places(keys, wanted))
    if not places:
        return
    row, lines = read_details(details, keys), split_answers(keys, answers)
    columns = row.seconds, row.attempts, row.tokens_in, row.tokens_out
    decode = msgspec.json.decode
    for key, at in places.items():
        error = row.errors.get(at)
        rest: list[Any] = [column[at] if type(column) is list else column for column in columns]
        yield key, Output(None if error is not None else decode(lines[at]), error, *rest)


def split_answers(keys: bytes, answers: bytes) -> list[bytes]:
    """The answers of a row with these keys, as JSON."""
    lines = answers.split(b"\n")
    if lines.pop() or len(lines) * KEY_BYTES != len(keys):
        raise ValueError("a row with more keys than answers, or fewer")
    return lines
