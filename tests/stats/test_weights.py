"""Counts of a bootstrap sample, also in the rare case that a redrawn sample is too large again."""

from __future__ import annotations

import numpy as np

from unswayed.stats import resample as weights


def test_a_sample_that_is_too_large_twice_is_drawn_a_third_time(monkeypatch):
    sums = iter([50, 60, 20])  # of 30: too many, too many again, fewer
    monkeypatch.setattr(weights, "_poisson", lambda rng, rate, samples, n: spread(next(sums), n))
    counts = weights.draw_counts(np.random.Generator(np.random.PCG64(0)), 1, 30)
    assert counts.sum() == 30


def spread(total, n):
    return np.bincount(np.arange(total) % n, minlength=n).astype(np.uint8)[None, :]
