"""Weights of an example's variants by rank: the expected worst of k of them, and the mean of the lowest 1/k."""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np

from unswayed.stats import Array


@lru_cache(maxsize=64)
def worst_weights(most: int, k: int) -> Array:
    """In row d the chance of each of d variants, the lowest first, to be the lowest of k drawn without replacement.

    Of fewer than k variants all are drawn.
    """
    out: Array = np.zeros((most + 1, max(most, 1)))
    for d in range(1, most + 1):
        drawn = min(k, d)
        out[d, :d] = [comb(d - 1 - rank, drawn - 1) / comb(d, drawn) for rank in range(d)]
    return out


@lru_cache(maxsize=64)
def cvar_weights(most: int, k: int) -> Array:
    """In row d the weights of d variants, the lowest first, in the mean of their lowest 1/k; at least one counts."""
    out: Array = np.zeros((most + 1, max(most, 1)))
    for d in range(1, most + 1):
        size = max(d / k, 1.0)
        out[d, :d] = np.clip(size - np.arange(d), 0, 1) / size
    return out
