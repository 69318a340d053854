"""Folders that may not be written to: every command says which, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest

from .conftest import COMMAND

COMMANDS = [
    "vary mine.jsonl --lang en --with keyboard/adjacent -o {there}/suite",
    "run suite --system my_module:predict -o {there}/run",
    "run suite --system my_module:predict -o {there}/begun",
    "report run -o {there}/report.html",
    "run suite --system my_module:predict -o {free}/run --junit {there}/junit.xml",
    "suite export suite -o {there}/suite.jsonl",
    "suite import suite.jsonl -o {there}/suite",
    "augment mine.jsonl --lang en --with keyboard/adjacent -o {there}/more.jsonl",
    "correct noisy.txt --with my_module:mend -o {there}/mended.txt",
    "train intent mine.jsonl -o {there}/model",
    "train corrector chinese.txt -o {there}/model",
    "subchar fold mine.jsonl -o {there}/folded.jsonl",
    "collect new {there}/study.toml",
    "collect new {there}/made.toml",
    "collect export study.toml -o {there}/answers.jsonl",
    "collect export study.toml -o {there}/answers.parquet",
    "collect backup study.toml -o {there}/backup.sqlite",
    "data pull snips --cache {there}/cache --mirror http://127.0.0.1:9",
    "survey export slu -o {there}/items.jsonl --per-operator 2 --controls 2",
    "demo -o {there}/demo",
]
FILES = {
    "mine.jsonl": "".join(f'{{"text": "number {i} of all", "label": "{"ab"[i % 2]}"}}\n' for i in range(20)),
    "slu.jsonl": "".join(f'{{"text": "to oslo {i}", "intent": "go", "slots": ["O", "B-c", "O"]}}\n' for i in range(20)),
    "my_module.py": (
        'def predict(batch):\n    return ["ab"["13579".find(i["text"].split()[1][-1:]) >= 0] for i in batch]\n\n\n'
        'def mend(batch):\n    return [i["text"] for i in batch]\n'
    ),
    "noisy.txt": "a\n",
    "chinese.txt": "一二三四\n五六七八\n",
    "items.jsonl": '{"text": "one"}\n',
    "study.toml": 'title = "t"\nkind = "retype"\ncontact = "me"\nconsent = "yes"\n[items]\npath = "items.jsonl"\n',
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything can be done, and a study file in a folder that will be read-only."""
    folder = tmp_path_factory.mktemp("free")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "there").mkdir()
    shutil.copy(folder / "study.toml", folder / "there" / "made.toml")
    shutil.copy(folder / "items.jsonl", folder / "there" / "items.jsonl")
    for command in (
        "vary mine.jsonl --lang en --with keyboard/adjacent -o suite",
        "vary slu.jsonl --lang en --with spoken/filler_end -o slu",
        "run suite --system my_module:predict -o run",
        "suite export suite -o suite.jsonl",
        "collect new study.toml",
    ):
        commands.unswayed(*command.split(), cwd=folder, check=True)
    shutil.copytree(folder / "run", folder / "there" / "begun")
    shutil.copytree(folder / "suite", folder / "there" / "kept")
    (folder / "there" / "begun" / "run.json").write_bytes(
        (folder / "run/run.json").read_bytes().replace(b"../", b"../../")
    )
    return folder


@pytest.fixture(scope="module")
def there(place: Path) -> Iterator[Path]:
    """Mounted read-only where we are root, whom permissions do not stop; without permission for others."""
    folder = place / "there"
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    for options in (["--bind"], ["-o", "remount,bind,ro"]):
        done = subprocess.run(["mount", *options, folder, folder], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_folder_is_named_and_nothing_is_left(place: Path, there: Path, command: str) -> None:
    before = sorted(file.name for file in there.iterdir())
    arguments = command.format(there=there, free=place).split()
    done = commands.unswayed(*arguments, cwd=place)
    assert done.returncode == 3, done.stderr
    assert str(there) in done.stderr
    assert any(told in done.stderr for told in ("Read-only", "denied", "readonly", "unable to open"))
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert sorted(file.name for file in there.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    [
        "measure run {there}/begun",
        "report {there}/begun -o report.html",
        "suite show {there}/kept",
        "suite export {there}/kept -o kept.jsonl",
        "run {there}/kept --system my_module:predict -o kept",
    ],
)
def test_what_is_read_only_can_be_read(place: Path, there: Path, command: str) -> None:
    arguments = command.format(there=there).split()
    done = commands.unswayed(*arguments, cwd=place)
    assert done.returncode == 0, done.stderr


def test_a_run_that_was_killed_is_not_read_by_halves(place: Path, there: Path) -> None:
    """What lies in SQLite's log would be passed over in silence."""
    begun = place / "there-too"
    shutil.copytree(place / "run", begun)
    (begun / "outputs.sqlite-wal").write_bytes(b"x" * 100)
    code = (
        "import sys, os; from unswayed.storage.answers import AnswerStore; from pathlib import Path; "
        "os.access = lambda *_: False; "
    )
    done = subprocess.run(
        [*COMMAND[:1], "-c", code + f"AnswerStore.reader(Path({str(begun)!r}))"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "was stopped while it wrote" in done.stderr
