"""A suite or run whose files were changed after they were written: every command, and Python, refuses it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import commands
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unswayed
from unswayed.base.errors import DataError, StoredFileError
from unswayed.base.ids import file_hash
from unswayed.measure import stored
from unswayed.measure.results import Results
from unswayed.storage import untrusted_files as outside
from unswayed.storage.suite import Suite
from unswayed.storage.suite_jsonl import export_suite, import_suite

from .conftest import make_place

FILES = ("examples.parquet", "variants.parquet")
COMMANDS = {
    "run": "run suite --system my_module:predict -o again",
    "resume": "run suite --system my_module:predict -o run",
    "report": "report run -o report.html",
    "measure run": "measure run run",
    "compare": "compare run other",
    "suite show": "suite show suite",
    "suite export": "suite export suite -o suite.jsonl",
    "export datasets": "export suite --as datasets -o exported",
    "export lm_eval": "export suite --as lm_eval -o exported",
    "vary": "vary mine.jsonl --with keyboard/adjacent --seed 7 -o suite",
    "survey": "survey export suite -o survey --per-operator 1",
    "paraphrase filter": "paraphrase filter suite -o filtered",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite and two runs on it, measured."""
    folder = tmp_path_factory.mktemp("tampered")
    make_place(folder)
    (folder / "mine.jsonl").write_text("\n".join((folder / "mine.jsonl").read_text().splitlines()[:20]) + "\n")
    commands.unswayed(*COMMANDS["vary"].split(), cwd=folder, check=True)
    for to in ("run", "other"):
        run = f"run suite --system my_module:predict -o {to} --bootstrap 50"
        commands.unswayed(*run.split(), cwd=folder, check=True)
    return folder


@pytest.fixture
def place(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def other_gold(suite: Path, name: str = "variants.parquet") -> None:
    """Every gold is another; the times of the file are as before."""
    file = suite / name
    before = file.stat()
    table = pq.read_table(file)
    at = table.schema.get_field_index("gold")
    golds = pa.array(['"another"'] * len(table), pa.large_string())
    pq.write_table(table.set_column(at, table.schema.field(at), golds), file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def new_hashes(suite: Path, **facts: object) -> None:
    """The manifest is made to fit the files, except for the content id."""
    manifest = json.loads((suite / "manifest.json").read_text())
    manifest |= {"hashes": {name: file_hash(suite / name) for name in FILES}, **facts}
    (suite / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", COMMANDS)
def test_other_gold_under_the_old_manifest_is_refused(place: Path, name: str) -> None:
    other_gold(place / "suite")
    before = sorted(file.name for file in place.iterdir() if file.name != "__pycache__")
    done = commands.unswayed(*COMMANDS[name].split(), cwd=place)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "variants.parquet: the file changed" in done.stderr
    assert not done.stdout
    assert sorted(file.name for file in place.iterdir() if file.name != "__pycache__") == before


def test_python_refuses_it_too(place: Path) -> None:
    suite, run = Suite(place / "suite"), unswayed.Run(place / "run")
    other_gold(place / "suite")
    uses: list[Callable[[], object]] = [
        lambda: Suite(place / "suite"),
        lambda: Suite.load(place / "suite"),
        lambda: unswayed.Run(place / "run"),
        lambda: unswayed.measure_run(unswayed.Run(place / "run")),
        # opened before the change
        suite.verify,
        suite.sources,
        lambda: list(suite),
        lambda: list(suite.groups()),
        lambda: suite.save(place / "copy"),
        lambda: unswayed.measure_run(run),
        lambda: unswayed.run_system(suite, lambda batch: ["a"] * len(batch), place / "new"),
    ]
    for use in uses:
        with pytest.raises(StoredFileError, match=r"variants\.parquet: the file changed"):
            use()


def test_a_change_while_the_file_is_read_is_noticed(place: Path) -> None:
    rows = Suite(place / "suite").variants()
    next(rows)
    (place / "suite/variants.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(StoredFileError, match=r"variants\.parquet"):
        list(rows)


def test_new_hashes_with_the_old_id_are_refused(place: Path) -> None:
    """The id is made from the content, so that a manifest can't lend it to another suite."""
    other_gold(place / "suite")
    new_hashes(place / "suite")
    with pytest.raises(StoredFileError, match=r"manifest\.json: its content id"):
        Suite(place / "suite")


def test_a_suite_with_its_own_id_is_another_one(place: Path) -> None:
    """Whoever changes files, hashes and id has made another suite; runs on the first one refuse it."""
    first = Suite(place / "suite").id
    export_suite(Suite(place / "suite"), place / "s.jsonl")
    lines = [json.loads(line) for line in (place / "s.jsonl").read_text().splitlines()]
    changed = [line | {"gold": "short"} if "example_id" in line else line for line in lines]
    (place / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
    import_suite(place / "s.jsonl", place / "suite", overwrite=True)
    assert Suite(place / "suite").id != first
    for name in ("report", "measure run", "compare", "resume"):
        done = commands.unswayed(*COMMANDS[name].split(), cwd=place)
        assert done.returncode in (3, 4), done.stdout
        assert "the suite changed after" in done.stderr or "on another suite" in done.stderr


@pytest.mark.parametrize(
    "facts",
    [
        {"hashes": {}},
        {"hashes": {"examples.parquet": "0"}},
        {"hashes": {"examples.parquet": "0", "variants.parquet": "0", "../../etc/passwd": "0"}},
        {"examples": 10**18},
        {"variants": -1},
        {"task": "text"},
        {"labels": ["long"]},
        {"set": {"selector": "my_module:predict"}},
        {"content": "0" * 32},
    ],
)
def test_a_manifest_must_be_of_its_files(place: Path, facts: dict[str, object]) -> None:
    manifest = json.loads((place / "suite/manifest.json").read_text())
    (place / "suite/manifest.json").write_text(json.dumps(manifest | facts))
    with pytest.raises(StoredFileError, match=r"manifest\.json"):
        Suite(place / "suite")


def test_a_run_is_copied_without_what_somebody_put_beside_it(place: Path) -> None:
    (place / "secret").write_text("mine")
    for folder in (place / "run", place / "suite"):
        (folder / "link").symlink_to(place / "secret")
        (folder / "notes.txt").write_text("not ours")
    copied = unswayed.Run(place / "run").save(place / "copy")
    there = {str(file.relative_to(copied.path)) for file in copied.path.rglob("*")}
    files = {"run.json", "plan.json", "outputs.sqlite", "results.json", "suite", "suite/manifest.json"}
    assert there - {"outputs.sqlite-wal", "outputs.sqlite-shm", "outputs.dependencies.json"} == files | {
        f"suite/{name}" for name in FILES
    }
    assert unswayed.measure_run(copied).clean == unswayed.measure_run(unswayed.Run(place / "run")).clean


def test_a_suite_names_no_code(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task of `module:Class` would be imported from the folder that one stands in."""
    (place / "evil.py").write_text(f"open({str(place / 'pwned')!r}, 'w')\nfrom unswayed.core import Task as T\n")
    monkeypatch.chdir(place)
    manifest = json.loads((place / "suite/manifest.json").read_text()) | {"task": "evil:T"}
    (place / "suite/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoredFileError, match="no task named 'evil:T'"):
        Suite(place / "suite")
    lines = [{"suite": {"task": "evil:T", "language": "en"}}, {"id": "1", "inputs": {"text": "a"}, "gold": "a"}]
    (place / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DataError, match="no task named 'evil:T'"):
        import_suite(place / "s.jsonl", place / "new")
    assert not (place / "pwned").exists()


def test_results_of_somebody_else_are_measured_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up numbers can't be signed with the user's own key; nor can made-up scores of answers."""
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "theirs"))
    outside.own_key.cache_clear()
    expected = unswayed.measure_run(unswayed.Run(place / "run"), {"measure": {"bootstrap": 50}})
    file = place / "run/results.json"
    kept = json.loads(file.read_text())
    for measured in kept["kept"]:
        measured["results"]["clean"]["value"] = 0.99
        decided = msgspec.convert(measured["decided"], stored.Decided)
        measured["id"] = stored._id(decided, msgspec.convert(measured["results"], Results))
    file.write_text(json.dumps(kept))
    assert (
        unswayed.measure_run(unswayed.Run(place / "run"), {"measure": {"bootstrap": 50}}).clean.value == 0.99
    )  # it is their own
    with closing(sqlite3.connect(place / "run/scores.sqlite")) as db:
        for row, keys, answers in db.execute("SELECT id, keys, answers FROM batches").fetchall():
            lies = [[1.0 - x for x in json.loads(line)[1:]] for line in answers.splitlines()]
            signed = [[stored._sum(keys[16 * at :][:16], lie), *lie] for at, lie in enumerate(lies)]
            lines = "".join(f"{json.dumps(lie)}\n" for lie in signed)
            db.execute("UPDATE batches SET answers = ? WHERE id = ?", (lines.encode(), row))
        db.commit()
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "mine"))
    outside.own_key.cache_clear()
    assert unswayed.measure_run(unswayed.Run(place / "run"), {"measure": {"bootstrap": 50}}).clean == expected.clean
    outside.own_key.cache_clear()
