"""Outputs on their way into a store's file: most of them go there thousands at a time, in one statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import itemgetter

import msgspec

from unswayed.base.secrets import masked, without_known_bytes
from unswayed.base.values import Output
from unswayed.storage.store_keys import KEY_BYTES, Key

_MOST_ROWS = 16_384
_MOST_TEXT = 8 << 20  # bytes
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


def as_kept(output: Output) -> Output:
    """The output as the store keeps it, with secrets masked."""
    if output.error is not None:
        return msgspec.structs.replace(output, error=masked(output.error))
    content = msgspec.json.encode(output.value)
    kept = without_known_bytes(content)
    return output if kept == content else msgspec.structs.replace(output, value=msgspec.json.decode(kept))


def batch_and_others(keys: Sequence[Key], outputs: Sequence[Output]) -> tuple[dict[Key, Output], dict[Key, Output]]:
    """Those that can be kept as a batch, as they took equally long and differ in nothing but the answer; the others."""
    last = dict(zip(keys, outputs, strict=True))
    seconds = next((output.seconds for output in last.values() if _is_alike(output)), None)
    batch = {key: output for key, output in last.items() if output.seconds == seconds and _is_alike(output)}
    return batch, {key: output for key, output in last.items() if key not in batch} if len(batch) < len(last) else {}


class Waiting:
    """Outputs of one session. Those that came at the first attempt from a system that counts no tokens are alike but
    for the answer and its seconds; all others are rows by key."""

    def __init__(self, session: int = 0) -> None:
        self.session = session
        self._keys: list[Key] = []
        self._answers: list[bytes] = []  # lines of JSON, as many as were added together
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
        """Adds outputs by key; a later one of the same key takes the place of an earlier one.

        What is done for each batch waits for memory that the system has pushed out of the cache, so there is little.
        """
        if not all(map(_is_alike, outputs)):
            last = dict(zip(keys, outputs, strict=True))
            self._others |= {key: self._row(key, output) for key, output in last.items() if not _is_alike(output)}
            last = {key: output for key, output in last.items() if _is_alike(output)}
            keys, outputs = list(last), list(last.values())
        if not self._others.keys().isdisjoint(keys):  # these are written after those that are alike
            self._others = {key: row for key, row in self._others.items() if key not in set(keys)}
        answers = _encoder.encode_lines([output.value for output in outputs])  # now: its owner may change it
        self._keys += keys
        self._answers.append(answers)
        self._seconds += [output.seconds for output in outputs]
        self._text += len(answers)

    def _row(self, key: Key, output: Output) -> tuple[object, ...]:
        answer = None if output.error is not None else without_known_bytes(_encoder.encode(output.value))
        error = None if output.error is None else masked(output.error)
        self._text += len(error or answer or b"")
        return (
            key, answer, error, output.seconds, output.attempts, self.session, output.tokens_in, output.tokens_out
        )  # fmt: skip

    def write(self, db: sqlite3.Connection, table: str) -> None:
        """Hands all to SQLite, in the order of keys, which are random: that touches each page once."""
        if self._keys:
            answers = self._texts()
            if max(map(len, answers)) > _LONG:
                rows = zip(self._keys, answers, self._seconds, strict=True)
                alike = [(k, a.encode(), None, s, 1, self.session, None, None) for k, a, s in rows]
                db.executemany(_OTHER.format(table), sorted(alike, key=itemgetter(0)))
            else:
                self._write_together(answers, db, table)
        if self._others:
            db.executemany(_OTHER.format(table), sorted(self._others.values(), key=itemgetter(0)))

    def _write_together(self, answers: list[str], db: sqlite3.Connection, table: str) -> None:
        import numpy as np

        widths = {each: b"%*.17g" % (_WIDTH, each) for each in set(self._seconds)}  # one of each batch
        keys, seconds = b"".join(self._keys), b"".join(map(widths.__getitem__, self._seconds))
        order = np.frombuffer(keys, dtype=">u8")[:: KEY_BYTES // 8].astype(np.uint64).argsort(kind="stable")
        keys = np.frombuffer(keys, dtype=f"V{KEY_BYTES}")[order].tobytes()
        seconds = np.frombuffer(seconds, dtype=f"V{_WIDTH}")[order].tobytes()
        texts = _encoder.encode([answers[i] for i in order.tolist()]).decode()
        db.execute(_ALIKE.format(table), (keys, texts, seconds, self.session))

    def _texts(self) -> list[str]:
        """The answers that are alike, with secrets masked."""
        lines = b"".join(self._answers)
        if without_known_bytes(lines) != lines:  # not over the end of a line
            lines = b"".join([without_known_bytes(line) + b"\n" for line in lines.split(b"\n")[:-1]])
        return lines.decode().split("\n")[:-1]


def _is_alike(o: Output) -> bool:
    return o.error is None and o.attempts == 1 and o.tokens_in is None and o.tokens_out is None
