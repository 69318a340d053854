"""Outputs on their way into a store's file: most of them go there thousands at a time, in one statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import itemgetter

import msgspec

from unfazed.core.secrets import masked, without_known_bytes
from unfazed.core.store_keys import KEY_BYTES, Key
from unfazed.core.values import Json, Output

_MOST_ROWS = 16_384
_MOST_TEXT = 8 << 20  # characters
_LONG = 1 << 20  # characters of an answer that goes by itself
_WIDTH = 24  # characters of the seconds of an answer, which are a number exactly

# Handing a row to SQLite takes several times as long as storing it does, so rows are handed over as a few long texts.
_ALIKE = f"""
INSERT OR REPLACE INTO {{}} SELECT
    substr(?1, {KEY_BYTES} * key + 1, {KEY_BYTES}), CAST(value AS BLOB), NULL,
    CAST(substr(?3, {_WIDTH} * key + 1, {_WIDTH}) AS REAL), 1, ?4, NULL, NULL
FROM json_each(?2)
"""  # noqa: S608 - numbers of ours
_OTHER = "INSERT OR REPLACE INTO {} VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

_encoder = msgspec.json.Encoder()


class Waiting:
    """Outputs of one session. Those that came at the first attempt from a system that counts no tokens are alike but
    for the answer and its seconds; all others are rows by key."""

    def __init__(self, session: int = 0) -> None:
        self.session = session
        self._keys: list[Key] = []
        self._answers: list[str] = []  # as JSON
        self._seconds: list[float] = []
        self._others: dict[Key, tuple[object, ...]] = {}
        self._text = 0

    def __len__(self) -> int:
        return len(self._keys) + len(self._others)

    @property
    def enough(self) -> bool:
        """Are there so many that they had better be written?"""
        return len(self) >= _MOST_ROWS or self._text >= _MOST_TEXT

    def add(self, keys: Sequence[Key], outputs: Sequence[Output]) -> None:
        """Adds outputs by key; a later one of the same key takes the place of an earlier one."""
        if not all(map(_is_alike, outputs)):
            last = dict(zip(keys, outputs, strict=True))
            self._others |= {key: self._row(key, output) for key, output in last.items() if not _is_alike(output)}
            last = {key: output for key, output in last.items() if _is_alike(output)}
            keys, outputs = list(last), list(last.values())
        answers = kept_texts([output.value for output in outputs])
        lengths = list(map(len, answers))
        if max(lengths, default=0) > _LONG:
            self._others |= {key: self._row(key, output) for key, output in zip(keys, outputs, strict=True)}
            return
        if not self._others.keys().isdisjoint(keys):  # these are written after those that are alike
            self._others = {key: row for key, row in self._others.items() if key not in set(keys)}
        self._keys += keys
        self._answers += answers
        self._seconds += [output.seconds for output in outputs]
        self._text += sum(lengths)

    def _row(self, key: Key, output: Output) -> tuple[object, ...]:
        answer = None if output.error is not None else kept_texts([output.value])[0].encode()
        error = None if output.error is None else masked(output.error)
        self._text += len(error or answer or b"")
        return (
            key, answer, error, output.seconds, output.attempts, self.session, output.tokens_in, output.tokens_out
        )  # fmt: skip

    def write(self, db: sqlite3.Connection, table: str) -> None:
        """Hands all to SQLite, in the order of keys, which are random: that touches each page once."""
        if self._keys:
            import numpy as np

            widths = {each: b"%*.17g" % (_WIDTH, each) for each in set(self._seconds)}  # one of each batch
            numbers = list(map(widths.__getitem__, self._seconds))
            order = np.frombuffer(b"".join(self._keys), dtype=">u8")[:: KEY_BYTES // 8].argsort(kind="stable").tolist()
            keys, answers, seconds = ([column[i] for i in order] for column in (self._keys, self._answers, numbers))
            db.execute(
                _ALIKE.format(table),
                (b"".join(keys), _encoder.encode(answers).decode(), b"".join(seconds), self.session),
            )
        if self._others:
            db.executemany(_OTHER.format(table), sorted(self._others.values(), key=itemgetter(0)))


def _is_alike(o: Output) -> bool:
    return o.error is None and o.attempts == 1 and o.tokens_in is None and o.tokens_out is None


def kept_texts(values: Sequence[Json]) -> list[str]:
    """Answers as JSON, as the store keeps them: with secrets masked."""
    lines = _encoder.encode_lines(values)
    if without_known_bytes(lines) == lines:
        return lines.decode().split("\n")[:-1]
    return [without_known_bytes(_encoder.encode(value)).decode() for value in values]
