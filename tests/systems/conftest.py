"""Little programs to be asked, written to files so that they run as any user's would."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unswayed.systems.process import ProcessSystem

HEAD = """
import json, os, sys, time
def answer(request, **with_): print(json.dumps({"id": request["id"], **with_}), flush=True)
def text(request): return request["inputs"]["text"]
def requests():
    for line in sys.stdin: yield json.loads(line)
"""

Program = Callable[..., ProcessSystem]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A process system of a Python program; all are closed after the test."""
    made: list[ProcessSystem] = []

    def make(body: str, **options: Any) -> ProcessSystem:
        file = tmp_path / f"program{len(made)}.py"
        file.write_text(HEAD + body)
        system = ProcessSystem([sys.executable, str(file)], **options)
        made.append(system)
        return system

    yield make
    for system in made:
        system.close()
