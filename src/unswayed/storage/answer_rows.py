"""The rows in which answers are stored, a few dozen in each, and the buffer in which they wait to be written.

A row has the keys of its answers in one piece; the answers as lines of JSON, so that equal labels can be told from
their bytes; and details, the other columns: seconds, attempts, tokens, errors. A column of equal values is one value,
so that labels cost nothing but themselves. Measured on a million answers with counts of tokens: 0.7 CPU seconds to
write; a table with a row for each answer, sorted by key, took 5 to 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.errors import StoredFileError
from unswayed.base.secrets import masked, without_known_bytes
from unswayed.base.values import BatchOutputs, Output
from unswayed.storage.keys import KEY_BYTES, Key

if TYPE_CHECKING:
    from unswayed.storage.answers import AnswerStore

_MIN_ROW_ANSWERS = 64  # fewer wait for more; where they differ, more would have to be read for each that is looked up
_MAX_ROW_ANSWERS = 1024
_MAX_ROW_BYTES = 1 << 20  # of answers; longer ones have rows of their own
_MAX_BUFFER_ANSWERS = 16_384
_MAX_BUFFER_BYTES = 8 << 20

T = TypeVar("T")
_encoder = msgspec.json.Encoder()


StoredAnswer = bytes | tuple[str, bytes]  # as JSON; after its error, if it has one


class StoredRow(NamedTuple):
    """A row of the table `batches`, but for its number."""

    session: int
    keys: bytes
    details: bytes
    answers: bytes


class Details(msgspec.Struct, array_like=True, gc=False):
    """The columns of a row beside its answers: one value where all are equal, else a list. Errors are by
    place, and so is what models thought aloud."""

    seconds: float | list[float] = 0.0
    attempts: int | list[int] = 1
    tokens_in: int | list[int | None] | None = None
    tokens_out: int | list[int | None] | None = None
    errors: dict[int, str] = {}
    reasoning: dict[int, str] = {}


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
        self._reasoning: dict[int, str] = {}  # of the few that have some, by place

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
            before = len(self._keys)
            self._reasoning |= {before + at: output.reasoning for at, output in enumerate(outputs) if output.reasoning}
        self._keys += keys
        self._lines.append(lines)
        if len(self._keys) >= _MIN_ROW_ANSWERS or len(lines) > _MAX_ROW_BYTES:
            self.seal()

    def seal(self) -> None:
        """Makes what was added a row; several where the answers are long."""
        if not self._keys:
            return
        # Answers are one piece of bytes until a row is made: that nothing in it is secret is asked once for all of
        # them, which is a search for each known secret, and only a piece that has one is looked at line by line.
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
        # Counting what is None walks a list in C; most rows have no errors, and are done with it.
        errors = {}
        if self._errors.count(None) < len(self._errors):
            some = enumerate(self._errors[start:end])
            errors = {at: _clean(error) for at, error in some if error is not None}
        details = Details(
            _one_or_all(self._seconds[start:end]),
            _one_or_all(self._attempts[start:end]),
            _one_or_all(self._tokens_in[start:end]),
            _one_or_all(self._tokens_out[start:end]),
            errors,
            {at - start: _clean(text) for at, text in self._reasoning.items() if start <= at < end},
        )
        self.rows.append(StoredRow(self._session, b"".join(self._keys[start:end]), _write_details(details), lines))

    def take_rows(self) -> list[StoredRow]:
        """All that waits, which is then with the caller."""
        self.seal()
        rows, self.rows = self.rows, []
        self._answers = self._bytes = 0
        return rows


def _clean(text: str) -> str:
    """A text without secrets, and without halves of characters."""
    return masked(text).encode("utf-8", "replace").decode()


def _one_or_all(column: list[T]) -> T | list[T]:
    return column[0] if column.count(column[0]) == len(column) else column


def masked_output(output: Output) -> Output:
    """The output as the store keeps it, with secrets masked."""
    if output.error is not None:
        output = msgspec.structs.replace(output, error=masked(output.error))
    content = msgspec.json.encode(output.value)
    stored = without_known_bytes(content)
    return output if stored == content else msgspec.structs.replace(output, value=msgspec.json.decode(stored))


def damaged_store(file: Path, error: Exception) -> StoredFileError:
    """The error of a store that holds what no store writes."""
    return StoredFileError(f"{file}: the store is damaged or not a store ({error}). Run again into another folder.")


def key_places(keys: bytes, wanted: Sequence[Key]) -> Iterator[tuple[Key, int]]:
    """Those of the keys that are in a row, with their places: the last one where a key is there several times."""
    for key in wanted:
        # `rfind` on the joined keys needs no object for any key that is not asked for. A match that does not begin
        # where a key does is a part of two neighbours, and the search goes on before it.
        at = keys.rfind(key)
        while at >= 0 and at % KEY_BYTES:  # the end of one and the beginning of the next are no key
            at = keys.rfind(key, 0, at + KEY_BYTES - 1)
        if at >= 0:
            yield key, at // KEY_BYTES


def read_details(details: bytes, keys: bytes) -> Details:
    """The details of a row with these keys; raises where its columns are not those of so many answers."""
    row, size = _read_details(details), len(keys) // KEY_BYTES
    columns = (row.seconds, row.attempts, row.tokens_in, row.tokens_out)
    if any(type(column) is list and len(column) != size for column in columns):
        raise ValueError("a column with more values than keys, or fewer")
    if row.errors and not 0 <= min(row.errors) <= max(row.errors) < size:
        raise ValueError("an error of no answer")
    return row


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
        rest.append(row.reasoning.get(at, ""))
        yield key, Output(decode(lines[at]), error, *rest)


def split_answers(keys: bytes, answers: bytes) -> list[bytes]:
    """The answers of a row with these keys, as JSON."""
    lines = answers.split(b"\n")
    if lines.pop() or len(lines) * KEY_BYTES != len(keys):
        raise ValueError("a row with more keys than answers, or fewer")
    return lines


Ints = npt.NDArray[np.int64]
Firsts = npt.NDArray[np.uint64]  # the first halves of keys
Tags = npt.NDArray[np.uint32]  # bits of the second half of a key, then the number of its answer
_NUMBER_BITS = 14
_MAX_DISTINCT, _MAX_BYTES = 1 << _NUMBER_BITS, 4 << 20  # answers that are held
_PARTS = 32
_PART_SHIFT = np.uint64(64 - 5)  # leaves the bits of a first half that say in which part it is
_NUMBER = np.uint32(_MAX_DISTINCT - 1)


class StoredAnswers:
    """Gives the answers of keys, `missing` for those that have none, without their seconds and tokens.

    `expected` is about how many keys will be asked for: a store that holds many more is not worth reading whole.
    """

    def __init__(self, store: AnswerStore, missing: Output, expected: int) -> None:
        self._store, self._missing = store, missing
        self._codes: _KeyCodes | None = None
        if store.size > 2 * expected + 1000:
            return
        known, parts = _DistinctAnswers(store), _KeyParts(store.size)
        for keys, answers in store.scan():
            numbers = list(map(known.__getitem__, answers))
            # Answers that are too many or too long to be held are looked up.
            if len(known) > _MAX_DISTINCT or known.size > _MAX_BYTES or not parts.add(keys, numbers):
                return
        codes = _KeyCodes(parts, known.answers)
        self._codes = codes if codes.is_unambiguous else None

    def codes_of(self, keys: Sequence[Key]) -> tuple[list[Output], Ints]:
        """The distinct answers, and which of them each key has."""
        if self._codes is None:
            found = self._store.get(keys)
            place = {key: at for at, key in enumerate(found, 1)}
            codes = np.fromiter((place.get(key, 0) for key in keys), dtype=np.int64, count=len(keys))
            every = [self._missing, *found.values()]
        else:
            codes, every = self._codes.numbers(keys), [self._missing, *self._codes.answers]
        there = np.zeros(len(every), dtype=bool)
        there[codes] = True
        return [every[number] for number in np.flatnonzero(there).tolist()], (np.cumsum(there) - 1)[codes]


class _KeyCodes:
    """Keys in parts, each in ascending order of their first halves, with the number of each key's answer: 12 bytes.

    Of the second half 18 bits are held: among ten million keys, one that is not there passes for another once in 10^17.
    """

    def __init__(self, parts: _KeyParts, answers: list[Output]) -> None:
        self.answers = answers
        self._parts: list[tuple[Firsts, Tags]] = []
        for every, others, size in zip(parts.first, parts.tags, parts.filled.tolist(), strict=True):
            first, tags = every[:size], others[:size]  # sorted where they are
            order = first.argsort(kind="stable")  # of answers to the same key, the last stays the last
            first[:], tags[:] = first[order], tags[order]
            self._parts.append((first, tags))

    @property
    def is_unambiguous(self) -> bool:
        """Does the first half of a key tell it from all others?"""
        for first, tags in self._parts:
            alike = np.flatnonzero(first[1:] == first[:-1])
            if (tags[alike] | _NUMBER != tags[alike + 1] | _NUMBER).any():
                return False
        return True

    def numbers(self, keys: Sequence[Key]) -> Ints:
        """The number of each key's answer, from 1; 0 for a key that is not there."""
        wanted = _key_halves(b"".join(keys))
        order = np.argsort(wanted[:, 0])  # those near to each other are looked up together, which is much faster
        first, checks = wanted[order, 0], _key_tags(wanted[order, 1])
        numbers = np.zeros(len(keys), dtype=np.int64)
        ends = np.searchsorted(first >> _PART_SHIFT, np.arange(_PARTS), side="right").tolist()
        for (held, tags), (start, end) in zip(self._parts, pairwise([0, *ends]), strict=True):
            if len(held) and start < end:
                at = np.maximum(np.searchsorted(held, first[start:end], side="right") - 1, 0)  # the last of equal ones
                there = (held[at] == first[start:end]) & (tags[at] | _NUMBER == checks[start:end] | _NUMBER)
                numbers[start:end] = np.where(there, (tags[at] & _NUMBER).astype(np.int64) + 1, 0)
        found = np.empty(len(keys), dtype=np.int64)
        found[order] = numbers
        return found


class _KeyParts:
    """Keys as they come, in parts by their first bits: each is sorted by itself, so that memory holds all keys once.

    Keys are hashes, so parts are about equally long, and have their room in one array from the start: memory that an
    array of this size took goes back when it is no longer needed, which small pieces would not.
    """

    def __init__(self, size: int) -> None:
        # A part has the room that it is expected to need, and eight standard deviations more: keys are hashes, so this
        # overflows only if somebody made the keys, and then answers are looked up one by one instead.
        room = size // _PARTS + 8 * isqrt(size // _PARTS + 1) + 64
        self.first: Firsts = np.empty((_PARTS, room), dtype=np.uint64)
        self.tags: Tags = np.empty((_PARTS, room), dtype=np.uint32)
        self.filled = np.zeros(_PARTS, dtype=np.int64)

    def add(self, keys: bytes, numbers: Sequence[int]) -> bool:
        """Adds keys in one piece, and the number of each one's answer, from 1; False if there is no room for them."""
        halves = _key_halves(keys)
        tags = _key_tags(halves[:, 1]) | (np.array(numbers, dtype=np.uint32) - np.uint32(1))
        part = (halves[:, 0] >> _PART_SHIFT).astype(np.uint8)
        order = part.argsort(kind="stable")
        counts = np.bincount(part, minlength=_PARTS)
        if (self.filled + counts).max() > self.first.shape[1]:
            return False
        part = part[order]
        # Which free place of its part each key gets: keys are grouped by part with a stable sort, and `counts.cumsum()
        # - counts` is where each group begins, so the difference is the number of a key within its group.
        at = self.filled[part] + np.arange(len(part)) - (counts.cumsum() - counts)[part]
        self.first[part, at], self.tags[part, at] = halves[order, 0], tags[order]
        self.filled += counts
        return True


def _key_halves(keys: bytes) -> npt.NDArray[np.uint64]:
    return np.frombuffer(keys, dtype=np.uint64).reshape(-1, 2)


def _key_tags(second: npt.NDArray[np.uint64]) -> Tags:
    """What is held of the second halves of keys, with room for the numbers of answers."""
    return second.astype(np.uint32) & ~_NUMBER


class _DistinctAnswers(dict[StoredAnswer, int]):
    """Numbers answers as they are stored, from 1, and reads each once."""

    def __init__(self, store: AnswerStore) -> None:
        super().__init__()
        self.answers: list[Output] = []
        self.size = 0
        self._store = store

    def __missing__(self, stored: StoredAnswer) -> int:
        error, answer = stored if isinstance(stored, tuple) else (None, stored)
        try:
            self.answers.append(Output(msgspec.json.decode(answer), error))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as damage:
            raise damaged_store(self._store.file, damage) from damage
        self.size += len(answer) + len(error or "")
        self[stored] = len(self.answers)
        return len(self.answers)
