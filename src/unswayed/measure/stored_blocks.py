"""The blocks of a run on disk: the columns of its suite, read side by side, and the answers in its store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any, cast

import msgspec
import numpy as np

from unswayed.base.ids import canonical_lines
from unswayed.base.values import Inputs, Json, Meaning
from unswayed.run.block import Block, Kind, first_of_each, text_numbers
from unswayed.run.record import NOT_ASKED, Run
from unswayed.stats import Ints
from unswayed.storage.answer_rows import StoredAnswers
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Keyer
from unswayed.storage.parquet import Repeated
from unswayed.storage.suite import Suite

_VARIANTS = 1 << 13  # about how many are in a block
_MOST_EXAMPLES = 2048
_OWNER_BITS, _TEXT_BITS = 12, 52  # in a number that tells the texts of a block's examples apart
_VARIED = ("row", "example_id", "draw", "source", "family", "meaning", "inputs", "gold", "note")
_inputs = msgspec.json.Decoder(list[dict[str, str]]).decode
_values = msgspec.json.Decoder(list[Any]).decode
_ODD = (msgspec.MsgspecError, UnicodeError, RecursionError)

_Columns = Mapping[str, Any]  # by name: arrays, lists, or what is `Repeated`
_Halves = np.ndarray[Any, np.dtype[np.uint64]]


def stored_blocks(run: Run) -> Iterator[Block]:
    """All of a run in the order of its suite. Its answers come without their seconds and tokens."""
    suite, key = run.suite, Keyer(run.identity)
    size = min(_MOST_EXAMPLES, max(1, _VARIANTS * suite.manifest.examples // max(1, len(suite))))
    with AnswerStore.reader(run.place) as store:
        answers = StoredAnswers(store, NOT_ASKED, suite.manifest.examples + len(suite))
        variants = _Variants(suite)
        tables = suite.numbered("examples", "gold", "groups")
        for examples in (_cut(table, at, at + size) for table in tables for at in range(0, len(table["row"]), size)):
            rows, ids = examples["row"], examples["id"]
            texts, inputs = _read_inputs(suite, "examples", examples["inputs"], partial(list, ids))
            theirs = variants.up_to(rows, ids)
            varied_texts, varied = _read_inputs(
                suite, "variants", theirs["inputs"], partial(_listed, theirs["example_id"])
            )
            keys = key.of_lines([*texts, *varied_texts])
            outputs, out = answers.codes_of(keys)
            # The first half of a key tells requests apart as the request itself does, and is there already.
            first_halves = np.frombuffer(b"".join(keys), dtype=np.uint64)[::2]
            distinct, gold = _distinct([examples["gold"], *theirs["gold"]])
            kinds, kind = _kinds(suite, theirs)
            shown, group = _distinct([examples["groups"]])
            n = len(rows)
            yield Block(
                rows=rows.tolist(),
                ids=ids,
                inputs=inputs,
                digest=first_halves[:n],
                group=group,
                clean_gold=gold[:n],
                clean_out=out[:n],
                sizes=variants.sizes,
                kind=kind,
                varied=varied,
                text=_text_numbers(first_halves, variants.sizes, texts, varied_texts),
                gold=gold[n:],
                out=out[n:],
                notes=_listed(theirs["note"]),
                kinds=kinds,
                groups=_read(suite, "groups", shown, _inputs),
                golds=_read(suite, "golds", distinct, _values),
                outputs=outputs,
            )
        variants.end()


def _cut(columns: _Columns, start: int, end: int | None) -> _Columns:
    return {
        name: column._replace(numbers=column.numbers[start:end]) if type(column) is Repeated else column[start:end]
        for name, column in columns.items()
    }


class _Variants:
    """The columns of variants, of which those of some examples are taken at a time."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._more = suite.numbered("variants", "example_id", "source", "family", "meaning", "gold", "note")
        self._waiting: list[_Columns] = []
        self.sizes = np.zeros(0, dtype=np.int64)  # how many each of the examples had that were asked for last

    def up_to(self, rows: Ints, ids: list[str]) -> dict[str, Any]:
        """The columns of these examples' variants. What is repeated comes in pieces, with numbers of their own."""
        # Variants come in batches of the file, which end somewhere inside an example: what is not due yet waits.
        waiting = self._waiting
        while not waiting or waiting[-1]["row"][-1] <= rows[-1]:
            batch = next(self._more, None)
            if batch is None:
                break
            waiting.append(batch)
        taken, self._waiting = [], []
        for columns in waiting:
            end = 0 if self._waiting else int(np.searchsorted(columns["row"], rows[-1], side="right"))
            if end:
                taken.append(_cut(columns, 0, end))
            if end < len(columns["row"]):
                self._waiting.append(_cut(columns, end, None))
        pieces = {name: [columns[name] for columns in taken] for name in _VARIED}
        found = np.concatenate([np.zeros(0, dtype=np.int64), *pieces["row"]])
        at = np.minimum(np.searchsorted(rows, found), len(rows) - 1)
        wrong = (rows[at] != found) | np.append(False, found[1:] < found[:-1])[: len(found)]
        if wrong.any():
            self._refuse(int(found[wrong.argmax()]))
        self.sizes = np.bincount(at, minlength=len(rows))
        own, number = _distinct(pieces["example_id"])
        place = at * (len(own) + 1) + number
        others = np.flatnonzero(np.append(True, place[1:] != place[:-1])[: len(place)])  # neighbours are mostly alike
        for where, example, name in zip(others, at[others].tolist(), number[others].tolist(), strict=True):
            if ids[example] != own[name]:
                raise self._suite.odd("variants.parquet", f"row {found[where]}", "it has a variant of another example")
        draws = np.concatenate([np.zeros(0, dtype=np.int64), *pieces["draw"]])
        return {**pieces, "draw": draws, "inputs": [text for part in pieces["inputs"] for text in part]}

    def end(self) -> None:
        """Raises if variants are left."""
        left = self._waiting[0] if self._waiting else next(self._more, None)
        if left is not None:
            self._refuse(int(left["row"][0]))

    def _refuse(self, row: int) -> None:
        what = "its variants do not follow the order of the examples"
        raise self._suite.odd("variants.parquet", f"row {row}", what)


def _listed(pieces: Sequence[Repeated]) -> list[str]:
    """The value of each row."""
    return [value for values, numbers in pieces for value in map(values.__getitem__, numbers.tolist())]


def _distinct(pieces: Sequence[Repeated]) -> tuple[list[str], Ints]:
    """The distinct values in the order in which they come, and the number of each row's."""
    place: dict[str, int] = {}
    found = [np.zeros(0, dtype=np.int64)]
    for values, numbers in pieces:
        known = [place.setdefault(value, len(place)) for value in values]
        found.append(np.array(known, dtype=np.int64)[numbers])
    every, numbers = list(place), np.concatenate(found)
    first, number = first_of_each(numbers, len(every))
    return [every[value] for value in numbers[first].tolist()], number


def _kinds(suite: Suite, columns: Mapping[str, Any]) -> tuple[list[Kind], Ints]:
    """The kinds of variants in the order in which they come, and the kind of each."""
    # A kind is a combination of four columns: their numbers become the digits of one, so a kind is found by looking at
    # each distinct combination once.
    draws, number = np.unique(columns["draw"], return_inverse=True)
    named = {name: _distinct(columns[name]) for name in ("source", "meaning", "family")}
    size = len(draws)
    for values, numbers in named.values():
        number, size = number * len(values) + numbers, size * len(values)
    first, number = first_of_each(number, size)
    sources, meanings, families = (
        [values[each] for each in numbers[first].tolist()] for values, numbers in named.values()
    )
    kinds = []
    for draw, source, meaning, family in zip(columns["draw"][first].tolist(), sources, meanings, families, strict=True):
        if meaning not in ("same", "changed"):
            wrong = f"its meaning is {meaning!r:.60}, not same or changed"
            raise suite.odd("variants.parquet", f"a variant of {source}", wrong)
        kinds.append(Kind(draw, source, cast(Meaning, meaning), family))
    return kinds, number


def _text_numbers(hashes: _Halves, sizes: Ints, own: list[bytes], varied: list[bytes]) -> Ints:
    """The column `text`: most often, all texts of an example differ. Only where hashes are alike, texts are compared.

    `hashes` has those of the examples' own texts and then of the varied ones.
    """
    n, starts = len(own), np.cumsum(sizes) - sizes
    found = np.arange(len(varied)) - np.repeat(starts, sizes) + 1
    # Owner and hash in one number: after one sort, equal texts of an example stand side by side.
    owner = np.append(np.arange(n), np.repeat(np.arange(n), sizes)).astype(np.uint64)
    each = np.sort((owner << np.uint64(_TEXT_BITS)) | (hashes >> np.uint64(_OWNER_BITS)))
    alike = np.unique(each[1:][each[1:] == each[:-1]] >> np.uint64(_TEXT_BITS)).astype(np.int64)
    some = np.isin(np.arange(n), alike)
    texts = list(compress(varied, np.repeat(some, sizes).tolist()))
    found[np.repeat(some, sizes)] = text_numbers(compress(own, some.tolist()), sizes[some].tolist(), texts)
    return found


def _read_inputs(
    suite: Suite, table: str, texts: list[str], ids: Callable[[], list[str]]
) -> tuple[list[bytes], list[Inputs]]:
    """Inputs as canonical JSON, by which they are told apart, and as they are. `ids` are of their examples."""
    try:
        # All texts are decoded in one call. Only if that fails are they looked at one by one, to name the row.
        inputs = _inputs("[" + ",".join(texts) + "]")
        if len(inputs) != len(texts):
            raise msgspec.DecodeError("it is not one JSON value")
        return canonical_lines(inputs), inputs
    except _ODD:
        for text, id in zip(texts, ids(), strict=True):
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
