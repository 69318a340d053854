"""Small suites to run systems on, and systems that worker processes can open."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from unswayed.base.values import Example, Variant
from unswayed.storage.suite import Manifest, Suite, write_suite

SYSTEMS = Path(__file__).with_name("systems_at_work.py")


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Suite]:
    """Makes a suite of `n` examples with two variants each; every third example repeats the text of the first."""

    def make_suite(n: int = 10, labels: list[str] | None = None, name: str = "suite", task: str = "classify") -> Suite:
        examples = [Example(i, f"e{i}", {"text": "same text" if i % 3 == 0 else f"text {i}"}, "a") for i in range(n)]
        variants = [
            Variant(e.row, e.id, d, "x/y", "x", "same", {"text": e.inputs["text"] + "!" * (d + 1)}, "a", "n")
            for e in examples
            for d in range(2)
        ]
        manifest = Manifest(task=task, language="en", labels=labels)
        return write_suite(tmp_path / name, manifest, lambda: examples, lambda: variants)

    return make_suite


@pytest.fixture
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that systems run in, with the module `at_work` of them."""
    shutil.copy(SYSTEMS, tmp_path / "at_work.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("at_work", None)
