"""Shares of operators against counting."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unswayed.papers.nature.tables import shares
from unswayed.run.making import make_suite
from unswayed.stats import Resampling


def test_shares_are_those_counted(tmp_path: Path) -> None:
    said = [{"text": f"play song number {i}", "label": "play"} for i in range(40)]
    suite = make_suite(
        said,
        ["spoken/filler_end", "spoken/filler_begin"],
        to=tmp_path / "s",
        draws=3,
        language="en",
        plan={"vary": {"set": "random"}},
    )
    counted = Counter(variant.source for variant in suite.variants())
    found = shares(suite, ["spoken/filler_begin", "spoken/filler_end", "spoken/speako"], Resampling(bootstrap=500))
    for name, estimate in found.items():
        assert estimate.value == pytest.approx(counted[name] / 120)
        assert estimate.n == 40
        assert estimate.low is not None
        assert estimate.low <= counted[name] / 120 <= (estimate.high or 0)
    assert found["spoken/speako"].high == pytest.approx(1 - 0.025 ** (1 / 40))
