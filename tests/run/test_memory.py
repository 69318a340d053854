"""Calls without a folder: nothing is written, results are the same, and an interruption loses no answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import unswayed
from unswayed.base.errors import Interrupted, SystemBroken, UnswayedError
from unswayed.storage import suite as suite_module
from unswayed.systems.callable import CallableSystem
from unswayed.systems.system import Prices

pytestmark = pytest.mark.usefixtures("asked_once")

ROWS = [{"text": f"turn the {'light' if i % 2 else 'music'} on in room {i}", "label": "ab"[i % 2]} for i in range(40)]
WATCHED: list[list[Any]] = []  # the lists to which open files are added now
MAKING = ("os.mkdir", "os.rename", "tempfile.mkstemp", "tempfile.mkdtemp")
CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not WATCHED:
        return
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & CHANGING:
        WATCHED[-1].append(arguments[0])
    elif event in MAKING or (event == "sqlite3.connect" and arguments[0]):
        WATCHED[-1].append((event, *arguments))


sys.addaudithook(hook)


@contextmanager
def written() -> Iterator[list[Any]]:
    """What this process writes while this is open."""
    WATCHED.append([])
    try:
        yield WATCHED[-1]
    finally:
        WATCHED.pop()


def answer(batch: list[dict[str, str]]) -> list[str]:
    return ["b" if "light" in x["text"] else "a" for x in batch]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home/state"))
    return tmp_path / "home"


def test_nothing_is_written_without_a_folder(home: Path) -> None:
    with written() as files:
        results = unswayed.check(answer, ROWS, "keyboard/adjacent", draws=2, seed=7)
        assert len(results.flips()) > 0
        assert "accuracy" in repr(results)
        assert unswayed.compare(results, results).differences
        suite = unswayed.make_suite(ROWS, ["keyboard/adjacent", "spoken/filler_end"])
        run = unswayed.run_system(suite, answer)
        assert unswayed.measure_run(run).clean.value == 1.0
        unswayed.vary_text("turn the light on", "keyboard/adjacent", n=3, language="en")
        plan = {"vary": {"operators": ["spoken/filler_end"], "set": "random"}}
        assert unswayed.check(answer, ROWS, plan=plan).clean.value == 1.0
        unswayed.make_suite(
            ROWS, ["keyboard/adjacent", "spoken/filler_end"], selector=answer, plan={"vary": {"set": "hard"}}
        )
    assert files == []
    assert not home.exists()


def test_a_suite_in_memory_is_the_same_as_one_on_disk(tmp_path: Path) -> None:
    plan = {"data": {"cluster": "room"}}
    rows = [{**row, "room": str(i // 4)} for i, row in enumerate(ROWS)]
    kept = unswayed.make_suite(rows, "keyboard/adjacent", draws=3, to=tmp_path / "suite", plan=plan)
    here = unswayed.make_suite(rows, "keyboard/adjacent", draws=3, plan=plan)
    assert (here.path, here.name) == (None, "the suite in memory")
    assert here.id == kept.id
    assert list(here.groups()) == list(kept.groups())
    assert here.sources() == kept.sources()
    assert list(here.columns("variants", "draw", "note")) == list(kept.columns("variants", "draw", "note"))
    assert here.to_pandas().equals(kept.to_pandas())
    assert msgspec.structs.replace(here.manifest, hashes={}) == msgspec.structs.replace(kept.manifest, hashes={})
    saved = here.save(tmp_path / "saved")
    for name in ("manifest.json", "examples.parquet", "variants.parquet"):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "suite" / name).read_bytes()
    assert saved.id == kept.id


def test_numbers_are_those_of_a_run_in_a_folder(tmp_path: Path) -> None:
    plan = {"run": {"repeats": 1, "limit": 30}, "measure": {"within": 0.5}}
    kept = unswayed.check(answer, ROWS, "keyboard/adjacent", draws=2, to=tmp_path / "run", plan=plan)
    here = unswayed.check(answer, ROWS, "keyboard/adjacent", draws=2, plan=plan)
    assert msgspec.to_builtins(here) == msgspec.to_builtins(kept)
    saved = here.run.save(tmp_path / "saved")
    assert msgspec.to_builtins(unswayed.measure_run(saved, plan)) == msgspec.to_builtins(kept)
    assert [output for _, output in saved] == [output for _, output in here.run]
    again = unswayed.run_system(saved.suite, answer, tmp_path / "saved", plan=plan)
    assert again.session is not None
    assert again.session.asked == 0


def test_pages_are_written_of_a_run_in_memory(tmp_path: Path) -> None:
    one = unswayed.check(answer, ROWS, "keyboard/adjacent", name="one")
    other = unswayed.check(
        lambda batch: ["a"] * len(batch), ROWS, "keyboard/adjacent", plan={"measure": {"sanity": False}}
    )
    unswayed.write_report(one.run, one, tmp_path / "report.html")
    unswayed.write_view([one.run, other.run], tmp_path / "view.html")
    unswayed.write_comparison(unswayed.compare(one, other), tmp_path / "compare.html")
    for name in ("report.html", "view.html", "compare.html"):
        assert "one" in (tmp_path / name).read_text("utf-8"), name


def test_a_large_suite_goes_to_a_folder_that_is_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    small = unswayed.make_suite(ROWS, "keyboard/adjacent")
    for room in (100, 4000):  # examples alone are too large, or variants with them
        monkeypatch.setattr(suite_module, "MEMORY_BYTES", room)
        large = unswayed.make_suite(ROWS, "keyboard/adjacent")
        assert large.path is not None
        assert large.path.parent.parent == tmp_path
        assert large.id == small.id
        assert list(large.groups()) == list(small.groups())
        folder = large.path.parent
        del large
        assert not folder.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemBroken, SystemExit, ValueError])
def test_what_was_answered_comes_with_the_exception(error: type[BaseException]) -> None:
    def stops(batch: list[dict[str, str]]) -> list[str]:
        if len(asked) > 50:
            raise error("enough")
        asked.append(batch[0]["text"])
        return answer(batch)

    asked: list[str] = []
    expected = Interrupted if error is KeyboardInterrupt else SystemBroken  # who fails again and again is broken
    with pytest.raises(expected) as caught:
        unswayed.check(stops, ROWS, "keyboard/adjacent", plan={"run": {"asking": {"batch_size": 1}}})
    partial: unswayed.Run = caught.value.partial  # type: ignore[attr-defined]
    answered = [
        output for _, clean, varied in partial.items() for output in (clean, *(o for _, o in varied)) if output.ok
    ]
    assert len(answered) >= 51
    results = unswayed.measure_run(partial)
    assert 20 <= results.clean.n < 40
    assert "the run was stopped" in repr(results)
    assert UnswayedError("nothing was answered").partial is None


def test_it_is_said_that_paid_answers_are_not_kept(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def system() -> CallableSystem:
        made = CallableSystem(answer, name="paid", identity="paid")
        made.prices = Prices(1.0, 1.0)
        return made

    unswayed.check(system(), ROWS[:5], "keyboard/adjacent", language="en")
    said = "unswayed: answers are in memory only. Set to= to a folder to keep them, so that nothing is paid twice."
    assert capfd.readouterr().err.splitlines().count(said) == 1
    unswayed.check(system(), ROWS[:5], "keyboard/adjacent", language="en", to=tmp_path / "run")
    assert "in memory" not in capfd.readouterr().err


def test_workers_get_a_suite_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        'def answer(batch):\n    return ["b" if "light" in x["text"] else "a" for x in batch]\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    two = unswayed.check("mine:answer", ROWS, "keyboard/adjacent", plan={"engine": {"workers": 2}})
    assert two.clean.value == 1.0
    assert two.run.path is None
