"""kill -9 at random moments loses nothing, and nothing that was stored is asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.resume import killed_runs


@pytest.mark.slow
def test_kills_lose_nothing_and_ask_nothing_twice(tmp_path: Path) -> None:
    facts = killed_runs(tmp_path, kills=20)
    assert facts.at_work >= 10, "the kills came while it was at work"
    assert facts.stored_and_asked_again == 0
    assert facts.equal
