"""Rows that are read and checked in blocks are those that are read and checked one by one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base.errors import DataError, UnswayedError
from unswayed.base.values import Example
from unswayed.data import ReadOptions, _reader, examples_of, read_examples, read_lines
from unswayed.data._checks import Checks, LineIndex
from unswayed.data._fields import _Flat
from unswayed.data._reader import read_line_blocks
from unswayed.data.jsonl import Jsonl

WORDS = ["turn", "off", "on", "the", "lights", "in", "kitchen", "hall", "play", "some", "jazz", "please", "café", "灯"]


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "check_block", lambda *_: None)
    monkeypatch.setattr(_Flat, "examples", lambda *_: None)


def some_rows(form: str, count: int = 3_000) -> list[object]:
    """Rows of which many are the same, as short utterances are."""
    draw = random.Random(form)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 3))) for _ in range(count)]
    rows: dict[str, list[object]] = {
        "labels": [{"text": t, "label": t[:1]} for t in texts],
        "ids": [{"id": f"n{i}", "text": t, "label": len(t)} for i, t in enumerate(texts)],
        "no gold": [{"text": t} for t in texts],
        "pairs": [{"sentence1": t, "sentence2": u, "label": True} for t, u in pairwise(texts)],
        "own form": [{"inputs": {"text": t}, "gold": "a", "groups": {"g": t[0]}} for t in texts],
        "slots": [{"text": t, "intent": "i", "slots": ["O"] * len(t.split())} for t in texts],
        "numbers": [{"text": t, "label": 0.5} for t in texts],
    }
    return rows[form]


def written(folder: Path, rows: list[object]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


@pytest.mark.parametrize("form", ["labels", "ids", "no gold", "pairs", "own form", "slots", "numbers"])
def test_examples_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    file = written(tmp_path, some_rows(form))
    options = ReadOptions(task="text") if form == "numbers" else None
    at_once = list(read_examples(file, options))
    assert len(at_once) == len(some_rows(form))
    assert len({e.id for e in at_once}) == len(at_once)
    one_by_one(monkeypatch)
    assert list(read_examples(file, options)) == at_once


@pytest.mark.parametrize("form", ["labels", "ids", "own form"])
def test_examples_in_memory_are_the_same(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    at_once = list(examples_of(some_rows(form)))
    assert len({e.id for e in at_once}) == len(some_rows(form))
    one_by_one(monkeypatch)
    assert list(examples_of(some_rows(form))) == at_once


BAD: dict[str, object] = {
    "a missing text": {"label": "x"},
    "a text that is none": {"text": 3, "label": "x"},
    "a label that is none": {"text": "a", "label": [1]},
    "a label that is too much": {"text": "a", "label": None},
    "not an object": [1, 2],
    "an id that was there": {"text": "a", "label": "x", "id": "n7"},
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("at", [50, 1_500])
def test_a_bad_row_is_named_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str, at: int) -> None:
    rows = some_rows("ids" if bad == "an id that was there" else "labels")
    rows[at : at + 2] = [BAD[bad], BAD[bad]]
    file = written(tmp_path, rows)

    def read() -> tuple[list[Example], str]:
        found = []
        with pytest.raises(DataError) as error:
            found.extend(read_examples(file))
        return found, str(error.value)

    _, at_once = read()
    assert f"rows.jsonl:{at + 1}: " in at_once
    one_by_one(monkeypatch)
    assert read()[1] == at_once


LINES = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"caf\xc3\xa9", b"\xe2\x80\xa8", b"\xff", b"\xef\xbb\xbf", b"b c"]),
    max_size=12,
)


@given(LINES, st.integers(1, 9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_lines_in_blocks_are_lines(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int) -> None:
    """Whatever the blocks are cut to, and whatever is found to be wrong."""
    file = tmp_path_factory.mktemp("lines") / "a.txt"
    file.write_bytes(b"".join(parts))

    def found(read: Callable[[Path], Iterator[str]]) -> list[str]:
        lines: list[str] = []
        try:
            lines.extend(read(file))
        except UnswayedError as error:
            lines.append(str(error))
        return lines

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_reader, "_BYTES_AT_ONCE", size)
        patch.setattr(_reader, "_LINES_AT_ONCE", 2)
        assert found(read_lines) == found(_reader._utf8_lines)


def test_a_line_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "short"}\n{"text": "' + "long " * 500 + '"}\n')
    monkeypatch.setattr(_reader, "_BYTES_AT_ONCE", 64)
    monkeypatch.setattr(_reader, "MOST_LINE", 1_000)
    assert [len(line) for block in read_line_blocks(file) for line in block] == [18, 2_513]  # allowed: 256 MB
    bounded = _reader.bounded_lines
    monkeypatch.setattr(_reader, "bounded_lines", lambda file, path: bounded(file, path, 1_000))
    with pytest.raises(DataError, match="line 2 is longer than"):
        list(read_line_blocks(file))


@given(st.lists(st.lists(st.text("ab\ud800é", max_size=3), max_size=6), max_size=6), st.booleans())
def test_many_ids_are_remembered_as_one_by_one(blocks: list[list[str]], all_new: bool) -> None:
    ids, lines = LineIndex(), dict[str, int]()
    line = 0
    for block in blocks:
        numbers = list(range(line, line + len(block)))
        before, known = dict(lines), []
        for n, (id, number) in enumerate(zip(block, numbers, strict=True)):
            if lines.setdefault(id, number) != number:
                known.append(n)
        if known and all_new:
            lines = before
            assert ids.add_each(block, numbers, all_new) is None
        else:
            assert ids.add_each(block, numbers, all_new) == known
        line += len(block)
    assert [ids.add(id, -1) for id in lines] == list(lines.values())


class Shouted(Jsonl):
    """A plug-in that reads as ours does, and does something to each example."""

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        for example in super().read(path, options):
            yield Example(example.row, example.id, {"text": example.inputs["text"].upper()}, example.gold)


def test_a_readers_own_way_to_read_goes_before_the_blocks_that_it_inherits(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in some_rows("labels", 600)))
    plain, shouted = (
        [
            pair
            for examples, _, lines in reader().blocks(file, ReadOptions())
            for pair in zip(examples, lines, strict=True)
        ]
        for reader in (Jsonl, Shouted)
    )
    assert [(e.inputs["text"].upper(), e.gold, line) for e, line in plain] == [
        (e.inputs["text"], e.gold, line) for e, line in shouted
    ]
    assert len(shouted) == 600
