"""The blocks of a run on disk: the columns of its suite, read side by side, and the answers in its store."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, cast

import msgspec
import numpy as np

from unfazed.core.ids import json_texts
from unfazed.core.store import AnswerStore, keyer
from unfazed.core.store_scan import StoredAnswers
from unfazed.core.suite import Suite
from unfazed.core.values import Inputs, Json, Meaning
from unfazed.run.block import Block, Kind, numbered, text_numbers
from unfazed.run.record import NOT_ASKED, Run

_VARIANTS = 1 << 13  # about how many are in a block
_MOST_EXAMPLES = 2048
_inputs = msgspec.json.Decoder(list[dict[str, str]]).decode
_values = msgspec.json.Decoder(list[Any]).decode
_ODD = (msgspec.MsgspecError, UnicodeError, RecursionError)


def stored_blocks(run: Run) -> Iterator[Block]:
    """All of a run in the order of its suite. Its answers come without their seconds and tokens."""
    suite, key = run.suite, keyer(run.identity)
    size = min(_MOST_EXAMPLES, max(1, _VARIANTS * suite.manifest.examples // max(1, len(suite))))
    with AnswerStore.reader(run.path) as store:
        answers = StoredAnswers(store, NOT_ASKED, suite.manifest.examples + len(suite))
        variants = _Variants(suite)
        for examples in _examples(suite, size):
            rows, ids, own, golds, groups = examples
            texts, inputs = _read_inputs(suite, "examples", own, ids)
            columns = variants.up_to(rows, ids)
            varied_texts, varied = _read_inputs(suite, "variants", columns[6], columns[1])
            keys = key.of_lines(text.encode() for text in (*texts, *varied_texts))
            outputs, out = answers.of(keys)
            distinct, gold = numbered((*golds, *columns[7]))
            kinds, kind = numbered(zip(columns[2], columns[3], columns[5], columns[4], strict=True))
            shown, group = numbered(groups)
            sizes, n = variants.sizes, len(rows)
            yield Block(
                rows=rows,
                ids=ids,
                inputs=inputs,
                digest=np.frombuffer(b"".join(keys[:n]), dtype=np.uint64)[::2],
                group=group,
                clean_gold=gold[:n],
                clean_out=out[:n],
                sizes=sizes,
                kind=kind,
                varied=varied,
                text=text_numbers(texts, sizes.tolist(), varied_texts),
                gold=gold[n:],
                out=out[n:],
                notes=columns[8],
                kinds=[_kind(suite, *each) for each in kinds],
                groups=_read(suite, "groups", shown, _inputs),
                golds=_read(suite, "golds", distinct, _values),
                outputs=outputs,
            )
        variants.end()


def _examples(suite: Suite, size: int) -> Iterator[list[list[Any]]]:
    """The columns of examples, at most `size` at a time."""
    for columns in suite.lists("examples"):
        for at in range(0, len(columns[0]), size):
            yield [column[at : at + size] for column in columns]


class _Variants:
    """The columns of variants, of which those of some examples are taken at a time."""

    def __init__(self, suite: Suite) -> None:
        self._suite, self._more = suite, suite.lists("variants")
        self._waiting: list[list[Any]] = [[] for _ in range(9)]
        self.sizes = np.zeros(0, dtype=np.int64)  # how many each of the examples had that were asked for last

    def up_to(self, rows: list[int], ids: list[str]) -> list[list[Any]]:
        """The columns of these examples' variants."""
        waiting = self._waiting
        while not waiting[0] or waiting[0][-1] <= rows[-1]:
            batch = next(self._more, None)
            if batch is None:
                break
            for column, more in zip(waiting, batch, strict=True):
                column += more
        end = bisect_right(waiting[0], rows[-1])
        taken, self._waiting = [c[:end] for c in waiting], [c[end:] for c in waiting]
        self._check(rows, ids, np.array(taken[0], dtype=np.int64), taken[1])
        return taken

    def _check(self, rows: list[int], ids: list[str], found: Any, names: list[str]) -> None:
        at = np.minimum(np.searchsorted(np.array(rows), found), len(rows) - 1)
        wrong = (np.array(rows)[at] != found) | np.append(False, found[1:] < found[:-1])[: len(found)]
        if wrong.any():
            self._refuse(int(found[wrong.argmax()]))
        self.sizes = np.bincount(at, minlength=len(rows))
        own = [ids[place] for place in at.tolist()]
        if own != names:
            row = next(row for row, a, b in zip(found.tolist(), own, names, strict=True) if a != b)
            raise self._suite.odd("variants.parquet", f"row {row}", "it has a variant of another example")

    def end(self) -> None:
        """Raises if variants are left."""
        left = self._waiting if self._waiting[0] else next(self._more, None)
        if left is not None:
            self._refuse(left[0][0])

    def _refuse(self, row: int) -> None:
        what = "its variants do not follow the order of the examples"
        raise self._suite.odd("variants.parquet", f"row {row}", what)


def _read_inputs(suite: Suite, table: str, texts: list[str], ids: list[str]) -> tuple[list[str], list[Inputs]]:
    """Inputs as canonical JSON, by which they are told apart, and as they are."""
    try:
        inputs = _inputs("[" + ",".join(texts) + "]")
        if len(inputs) != len(texts):
            raise msgspec.DecodeError("it is not one JSON value")
        return json_texts(inputs), inputs
    except _ODD:
        for text, id in zip(texts, ids, strict=True):
            try:
                msgspec.json.decode(text, type=dict[str, str])
            except _ODD as error:
                where = f"example {id!r:.60}" if table == "examples" else f"a variant of {id!r:.60}"
                raise suite.odd(f"{table}.parquet", where, error) from error
        raise


def _read(suite: Suite, what: str, texts: list[str], decode: Any) -> list[Json]:
    try:
        values: list[Json] = decode("[" + ",".join(texts) + "]")
        if len(values) != len(texts):
            raise msgspec.DecodeError("one of them is not one JSON value")
    except _ODD as error:
        raise suite.odd("examples.parquet", what, error) from error
    return values


def _kind(suite: Suite, draw: int, source: str, meaning: str, family: str) -> Kind:
    if meaning not in ("same", "changed"):
        wrong = f"its meaning is {meaning!r:.60}, not same or changed"
        raise suite.odd("variants.parquet", f"a variant of {source}", wrong)
    return Kind(draw, source, cast(Meaning, meaning), family)
