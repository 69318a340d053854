"""Commands in processes of their own, a small disk, and a suite and a run to do harm to."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import commands
import pytest

COMMAND = [sys.executable, "-m", "unswayed"]
MODULE = """
def predict(batch):
    with open({log!r}, "a") as log:
        log.writelines(inputs["text"] + "\\n" for inputs in batch)
    return ["long" if len(inputs["text"]) > 30 else "short" for inputs in batch]
"""


def _loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults_collect", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


collecting = _loaded(Path(__file__).parents[1] / "collect" / "conftest.py")  # studies, and a PostgreSQL of our own
database, postgres = collecting.database, collecting.postgres
Done = subprocess.CompletedProcess[str]
Unswayed = Callable[..., Done]


def make_place(folder: Path) -> None:
    """300 labelled texts and a system that notes what it is asked."""
    rows = "".join(f'{{"text": "number {i} {"and more " * (i % 7)}", "label": "long"}}\n' for i in range(300))
    (folder / "mine.jsonl").write_text(rows)
    (folder / "my_module.py").write_text(MODULE.format(log=str(folder / "asked.log")))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_place(tmp_path)
    return tmp_path


@pytest.fixture
def unswayed(place: Path) -> Unswayed:
    def run(*arguments: str | Path, env: dict[str, str] | None = None) -> Done:
        return commands.unswayed(*arguments, cwd=place, env=env)

    return run


@pytest.fixture
def small_disk(place: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk of a given size in the folder."""
    disk = place / "disk"
    disk.mkdir()
    mounted = False

    def mount(size: str) -> Path:
        nonlocal mounted
        if os.geteuid() != 0 or not shutil.which("mount"):
            pytest.skip("a full disk can only be tried by root, who may mount a small one")
        options = f"size={size}" if not mounted else f"remount,size={size}"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", str(disk)], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
        mounted = True
        return disk

    yield mount
    if mounted:
        subprocess.run(["umount", str(disk)], check=True)
