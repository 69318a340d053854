"""Runs a command again and again from the same start, killed -9 at its first file operation, its second, and so on.

`python kill_steps.py FOLDER COMMAND…` prints, for each kill, what the folder held then, and what it held after the same
command was given again; last, what it holds where nobody kills it. The command runs in forks of one process, so that a
kill costs milliseconds. File operations are those that Python's audit events tell of before they happen.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import unswayed.collect.export
import unswayed.measure.gates
import unswayed.report.html
import unswayed.run.making  # noqa: F401  here, so that not every fork has to
from unswayed import cli

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "sqlite3.connect"}
Held = dict[str, str]  # path → hash of the content


def is_step(event: str, arguments: Sequence[Any]) -> bool:
    if event == "open":
        return isinstance(arguments[2], int) and bool(arguments[2] & WRITES) and arguments[0] != os.devnull
    return event in STEPS


def held(folder: Path) -> Held:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(content(file)).hexdigest() for file in files}


def content(file: Path) -> bytes:
    """The bytes of a file; of a whole database its rows, but for when copies of it were made."""
    if file.name == "made.sqlite":
        with (
            closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as database,
            suppress(sqlite3.Error),
        ):
            if database.execute("PRAGMA integrity_check").fetchone() == ("ok",):
                return "\n".join(line for line in database.iterdump() if '"copies" VALUES' not in line).encode()
    return file.read_bytes()


def run(folder: Path, command: list[str], kill_at: int = 0) -> int:
    """The exit code, or minus the signal, of the command in a fork that is killed at that step; never at 0."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    left = kill_at

    def watch(event: str, arguments: Sequence[Any]) -> None:
        nonlocal left
        if kill_at and is_step(event, arguments):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    sys.argv = ["unswayed", *command]
    code: object = 99
    try:
        cli.main()
    except SystemExit as end:
        code = end.code
    finally:
        os._exit(code if isinstance(code, int) else 98)


def main(folder: Path, command: list[str]) -> None:
    start = folder.with_name("start")
    shutil.copytree(folder, start)
    kills = []
    while True:
        shutil.rmtree(folder)
        shutil.copytree(start, folder)
        code = run(folder, command, len(kills) + 1)
        if code != -signal.SIGKILL:
            break
        then = held(folder)
        again = run(folder, command)
        kills.append({"then": then, "again": again, "after": held(folder)})
    print(json.dumps({"code": code, "start": held(start), "end": held(folder), "kills": kills}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
