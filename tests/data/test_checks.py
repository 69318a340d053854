"""Checks of examples: a column of ids that was taken for labels, and remembered ids beside a plain dict."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest
from hypothesis import given, strategies as st

import unswayed
from unswayed.base.errors import DataError
from unswayed.data import ReadOptions, _checks, read_examples
from unswayed.data._checks import LineIndex


def written(folder: Path, values: list[str], gold: str = "label") -> Path:
    rows = [{"text": f"turn off lamp {i}", gold: value} for i, value in enumerate(values)]
    file = folder / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_ids_are_refused_at_once(tmp_path: Path) -> None:
    """The file is not read to its end: its last row is broken, and nobody sees that."""
    file = written(tmp_path, [f"u{i}" for i in range(3_000)])
    file.write_text(file.read_text() + "{")
    said = r"mine\.jsonl: label has 1,000 values in the first 1,000 rows: is it an id\? .*gold=.*task= classify"
    with pytest.raises(DataError, match=said):
        list(read_examples(file))


def test_a_command_says_how_to_go_on(tmp_path: Path) -> None:
    written(tmp_path, [f"u{i}" for i in range(195)] + ["u0"] * 5, gold="user")
    vary = "vary mine.jsonl --with keyboard/adjacent --gold user -o suite"
    done = commands.unswayed(*vary.split(), cwd=tmp_path)
    assert done.returncode == 4
    assert "--gold user has 195 values in 200 rows: is it an id?" in done.stderr
    assert "--task classify" in done.stderr
    assert not (tmp_path / "suite").exists()
    meant = commands.unswayed(*vary.split(), "--task", "classify", cwd=tmp_path)
    assert meant.returncode == 0, meant.stderr
    assert "--gold user has 195 values in 200 rows: is it an id?" in meant.stderr


def test_python_refuses_them_too(tmp_path: Path) -> None:
    records = [{"text": f"turn off lamp {i}", "label": f"u{i}"} for i in range(150)]
    with pytest.raises(DataError, match="label has 150 values in 150 rows: is it an id"):
        unswayed.make_suite(records, "keyboard/adjacent", to=tmp_path / "suite")
    unswayed.make_suite(records, "keyboard/adjacent", to=tmp_path / "suite", task="classify")


@pytest.mark.parametrize(
    ("values", "warned"),
    [
        ([f"u{i % 60}" for i in range(100)], True),
        ([f"u{i % 40}" for i in range(100)], False),
        ([f"u{i}" for i in range(99)], False),  # few rows
        ([f"u{i % 77}" for i in range(3_000)], False),  # as many intents as there may be
    ],
)
def test_between_the_two_it_warns(
    tmp_path: Path, values: list[str], warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(list(read_examples(written(tmp_path, values)))) == len(values)
    assert ("is it an id?" in capsys.readouterr().err) is warned


def test_named_labels_are_meant(tmp_path: Path) -> None:
    values = [f"u{i}" for i in range(200)]
    assert len(list(read_examples(written(tmp_path, values), ReadOptions(labels=tuple(values))))) == 200


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 10**9))))
def test_they_are_a_dict(rows):
    ids, lines = LineIndex(), {}
    for id, line in rows:
        assert ids.add(id, line) == lines.get(id)
        lines.setdefault(id, line)


def test_they_grow(monkeypatch):
    monkeypatch.setattr(_checks, "_MIN_PLACES", 4)
    ids = LineIndex()
    assert [ids.add(f"id {i}", i) for i in range(2000)] == [None] * 2000
    assert [ids.add(f"id {i}", -1) for i in range(2000)] == list(range(2000))


def test_half_a_character_and_line_0():
    ids = LineIndex()
    assert ids.add("\ud800", 0) is None
    assert ids.add("\ud800", 1) == 0
