"""Small suites to run systems on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unfazed.core.suite import Manifest, Suite, write_suite
from unfazed.core.values import Example, Variant


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Suite]:
    """Makes a suite of `n` examples with two variants each; every third example repeats the text of the first."""

    def make_suite(n: int = 10, labels: list[str] | None = None, name: str = "suite") -> Suite:
        examples = [Example(i, f"e{i}", {"text": "same text" if i % 3 == 0 else f"text {i}"}, "a") for i in range(n)]
        variants = [
            Variant(e.row, e.id, d, "x/y", "x", "same", {"text": e.inputs["text"] + "!" * (d + 1)}, "a", "n")
            for e in examples
            for d in range(2)
        ]
        manifest = Manifest(task="classify", language="en", labels=labels)
        return write_suite(tmp_path / name, manifest, lambda: examples, lambda: variants)

    return make_suite
