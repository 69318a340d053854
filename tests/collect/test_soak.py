"""A study that is served for long: the server's memory stays as it is."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks._soak import soak


@pytest.mark.parametrize(
    ("sessions", "looks"),
    [
        pytest.param(300, [100, 300], marks=pytest.mark.slow),
        pytest.param(10_000, [1_000, 10_000], marks=[pytest.mark.long, pytest.mark.slow]),
    ],
)
def test_memory_stays_flat(tmp_path, sessions, looks):
    early, late = asyncio.run(soak(tmp_path, sessions, looks))
    assert late < early * 1.2
