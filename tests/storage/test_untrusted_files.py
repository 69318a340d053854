"""A suite that this user verified is known again by the hashes of its files, and by nothing less; a folder of the first
editions is named as such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unswayed
from unswayed.base.errors import StoredFileError
from unswayed.base.values import Example, Variant
from unswayed.storage import suite as module, untrusted_files as outside
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.storage.untrusted_files import OLD_NAME


@pytest.fixture(autouse=True)
def _mine(tmp_path, monkeypatch):
    """A user of their own."""
    become("mine", tmp_path, monkeypatch)
    yield
    outside.own_key.cache_clear()


def become(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / name))
    outside.own_key.cache_clear()
    monkeypatch.setattr(module, "_verified", {})  # as in a new process


def made(path: Path, text: str = "hi") -> Suite:
    examples = [Example(0, "a", {"text": text})]
    variants = [Variant(0, "a", 0, "x/y", "x", "same", {"text": f"{text}?"}, None, "n")]
    return write_suite(path, Manifest(task="text", language="en"), lambda: examples, lambda: variants)


def reads(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many tables are read to open a suite in a new process."""
    tables: list[str] = []
    whole = Suite.lists
    with monkeypatch.context() as patch:
        patch.setattr(module, "_verified", {})
        patch.setattr(Suite, "lists", lambda self, table, *names: tables.append(table) or whole(self, table, *names))
        Suite(path)
    return len(tables)


def test_a_suite_that_was_made_or_verified_here_is_not_read_again(tmp_path, monkeypatch):
    made(tmp_path / "s")
    assert reads(tmp_path / "s", monkeypatch) == 0
    become("other", tmp_path, monkeypatch)
    assert [reads(tmp_path / "s", monkeypatch) for _ in range(3)] == [2, 0, 0]


def test_without_a_place_for_notes_it_is_read_each_time(tmp_path, monkeypatch):
    made(tmp_path / "s")
    (tmp_path / "file").write_text("no folder")
    become("file", tmp_path, monkeypatch)
    assert [reads(tmp_path / "s", monkeypatch) for _ in range(2)] == [2, 2]


@pytest.mark.parametrize("changed", [{"content": "0" * 32}, {"variants": 7}, {"labels": ["x"]}, {"task": "classify"}])
def test_a_manifest_that_says_something_else_is_found_out(tmp_path, monkeypatch, changed):
    made(tmp_path / "s")
    file = tmp_path / "s/manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    monkeypatch.setattr(module, "_verified", {})
    with pytest.raises(StoredFileError, match="content id or its counts"):
        Suite(tmp_path / "s")


def test_a_file_that_changed_is_found_out(tmp_path, monkeypatch):
    made(tmp_path / "s")
    made(tmp_path / "other", "ho")
    (tmp_path / "s/variants.parquet").write_bytes((tmp_path / "other/variants.parquet").read_bytes())
    monkeypatch.setattr(module, "_verified", {})
    with pytest.raises(StoredFileError, match="changed after its manifest"):
        Suite(tmp_path / "s")


def test_notes_of_somebody_else_count_for_nothing(tmp_path, monkeypatch):
    made(tmp_path / "s")
    theirs = (tmp_path / "mine/unswayed/verified").read_bytes()
    become("other", tmp_path, monkeypatch)
    assert outside.own_key() is not None
    (tmp_path / "other/unswayed/verified").write_bytes(theirs)
    assert reads(tmp_path / "s", monkeypatch) == 2


def test_notes_stay_few(tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "_MOST_BYTES", 400)
    for i in range(100):
        outside.note_down(b"%d" % i)
        assert outside.is_noted(b"%d" % i)
        assert (tmp_path / "mine/unswayed/verified").stat().st_size <= 400


@pytest.mark.parametrize(
    ("file", "kind", "command"), [("manifest.json", "Suite", "unswayed vary"), ("run.json", "Run", "unswayed run")]
)
@pytest.mark.parametrize("indent", [None, 2])
def test_an_old_manifest_says_what_made_it(
    file: str, kind: str, command: str, indent: int | None, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(json.dumps({"format": 3, OLD_NAME: "0.1.0", "task": "classify"}, indent=indent))
    with pytest.raises(StoredFileError, match=rf"called {OLD_NAME}, made this folder.*`{command}`"):
        getattr(unswayed, kind)(tmp_path)


def test_a_text_with_the_old_name_is_no_old_manifest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 3, "labels": [OLD_NAME]}))
    with pytest.raises(StoredFileError, match="damaged"):
        unswayed.Suite(tmp_path)
