"""Win rates and the sentences they need, against scipy."""

from __future__ import annotations

import json
import subprocess

import commands
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from unswayed.base.errors import UsageError
from unswayed.measure.comparison.paired import pairs_for_difference, pairs_for_wins, power_of_wins, win_rate
from unswayed.stats import binomial_tail, clopper_pearson


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.unswayed(*arguments)


@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.5, 0.1, 0.93]))
@settings(max_examples=100, deadline=None)
def test_tail_and_interval_equal_scipys(k: int, n: int, p: float) -> None:
    k = min(k, n)
    assert binomial_tail(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=1e-9, abs=1e-12)
    theirs = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(k, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_large_tail() -> None:
    assert binomial_tail(1_400, 2_616) == pytest.approx(stats.binom.sf(1_399, 2_616, 0.5), rel=1e-9)


def test_ties_decide() -> None:
    """60 wins, 10 ties, 45 losses: what a tie is changes the answer, so it is said."""
    gaps = np.array([1.0] * 60 + [0.0] * 10 + [-1.0] * 45)
    zero = np.zeros(len(gaps))
    loss, half, drop = (win_rate(gaps, zero, ties=ties) for ties in ("loss", "half", "drop"))
    assert (loss.wins, loss.ties, loss.losses) == (60, 10, 45)
    assert [w.share.value for w in (loss, half, drop)] == pytest.approx([60 / 115, 65 / 115, 60 / 105])
    assert loss.p == pytest.approx(0.35, abs=0.01)
    assert drop.p == pytest.approx(0.086, abs=0.001)
    assert "ties=half" in half.share.signature
    assert win_rate(gaps * 2, zero).share.signature != win_rate(gaps, zero).share.signature
    with pytest.raises(UsageError, match="'some'"):
        win_rate(gaps, zero, ties="some")  # type: ignore[arg-type]


def test_what_is_not_a_number_is_missing() -> None:
    found = win_rate(np.array([1.0, np.nan, 2.0]), np.array([0.0, 0.0, np.inf]))
    assert (found.share.n, found.share.missing, found.share.value) == (1, 2, 1.0)
    assert win_rate(np.array([np.nan]), np.array([0.0])).share.value is None


@pytest.mark.parametrize("share", [0.55, 0.6, 0.75])
def test_power(share: float) -> None:
    n = pairs_for_wins(share)
    least = int(stats.binom.isf(0.05, n, 0.5)) + 1
    assert power_of_wins(share, n) == pytest.approx(stats.binom.sf(least - 1, n, share))
    assert power_of_wins(share, n) >= 0.8
    assert power_of_wins(share, int(n * 0.7)) < 0.8


def test_power_of_means() -> None:
    n = pairs_for_difference(0.5, 4.0)
    z = stats.norm
    assert z.sf(z.isf(0.025) - 0.5 * np.sqrt(n) / 4) == pytest.approx(0.8, abs=0.001)


def test_command() -> None:
    done = command("measure", "power", "--wins", "0.55", "--format", "json")
    assert json.loads(done.stdout) == {"wins": pairs_for_wins(0.55)}
    assert command("measure", "power").returncode != 0
    assert command("measure", "power", "--wins", "0.4").returncode != 0
