"""What docs/reliability.md promises about files from others is held by tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reliability.md"
FILES = ("test_tampered.py", "test_hostile_store.py", "test_hostile_artefacts.py", "test_stopped.py")


def test_every_promise_names_a_test_that_exists() -> None:
    section = PAGE.read_text("utf-8").partition("## Files from others")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "what you open" not in line]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (HERE / file).read_text("utf-8"), f"{file} has no {test}"
    assert all(file in section for file in FILES)
