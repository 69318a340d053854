"""A disk without a byte left: every command that writes says so, with the path, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import commands
import pytest

from .test_read_only import COMMANDS, place  # noqa: F401  a fixture

LEFT_OUT = ("data pull", "begun", "answers.jsonl")  # which writes no byte where there is no answer
WRITING = [command for command in COMMANDS if not any(part in command for part in LEFT_OUT)]


@pytest.fixture(scope="module")
def full(place: Path) -> Iterator[Path]:  # noqa: F811
    """A small disk with a study on it, filled to the last byte."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    folder = place / "full"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    shutil.copy(place / "study.toml", folder / "made.toml")
    shutil.copy(place / "items.jsonl", folder)
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 1024)
    yield folder
    subprocess.run(["umount", folder], check=True)


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and file.stat().st_size)


@pytest.mark.parametrize("command", WRITING)
def test_a_full_disk_is_told_and_nothing_is_left(place: Path, full: Path, command: str) -> None:  # noqa: F811
    before = files(full)
    arguments = command.format(there=full, free=place).split()
    done = commands.unswayed(*arguments, cwd=place)
    assert done.returncode == 3, done.stderr
    assert str(full) in done.stderr
    assert any(told in done.stderr for told in ("No space left", "disk is full", "disk I/O error", "unable to open"))
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert files(full) == before
