"""A small crowd while the server is killed and PostgreSQL crashes: nothing is lost, nothing is over k."""

from __future__ import annotations

import pytest

from benchmarks._crowd import run
from benchmarks._postgres import programs


@pytest.mark.slow
@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_small_crowd(tmp_path):
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    outcome = run(tmp_path, people=20, seconds=15, kills=2, pause=0.5)
    assert (outcome.kills, outcome.crashes) == (2, 2)
    assert (outcome.lost, outcome.over) == (0, 0)
    assert outcome.served == 20, "everybody gets through"
    assert outcome.retries > 0
