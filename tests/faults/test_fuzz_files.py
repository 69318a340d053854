"""Everything else that is read, given files that were valid once: it reads them or says what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_fuzz_corpora import attack
from .valid_files import FILES


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused_by_name(tmp_path: Path, name: str) -> None:
    attack(tmp_path, FILES[name](tmp_path), 40)
