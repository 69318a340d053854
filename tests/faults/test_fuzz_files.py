"""Everything else that is read, given files that were valid once: it reads them or says what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .mutate import fuzz, mutated
from .test_fuzz_corpora import put, tried
from .valid_files import FILES


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused_by_name(tmp_path: Path, name: str) -> None:
    kind = FILES[name](tmp_path)
    put(tmp_path, kind)
    kind.read(tmp_path)

    @fuzz(40)
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        file = data.draw(st.sampled_from(sorted(kind.files)))
        tried(tmp_path, kind, file, data.draw(mutated(kind.files[file])))

    attack()
