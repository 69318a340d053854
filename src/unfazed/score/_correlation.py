"""Pearson's and Kendall's correlations."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

_BLOCK = 2_000_000  # comparisons made at once


def pearson(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float | None:
    """None where either does not vary."""
    if len(x) < 2:
        return None
    x, y = x - x.mean(), y - y.mean()
    size = sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size else None


def kendall(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float | None:
    """Kendall's tau-b, by comparing all pairs in blocks; None where either does not vary."""
    n = len(x)
    agree = tied_x = tied_y = 0
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        later = np.arange(n)[None, :] > np.arange(n)[rows, None]
        dx, dy = np.sign(x[rows, None] - x[None, :]), np.sign(y[rows, None] - y[None, :])
        agree += int((dx * dy)[later].sum())
        tied_x += int((dx[later] == 0).sum())
        tied_y += int((dy[later] == 0).sum())
    pairs = n * (n - 1) // 2
    size = sqrt((pairs - tied_x) * (pairs - tied_y))
    return agree / size if size else None
