"""The normal distribution against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from unswayed.stats.normal import normal_cdf, normal_quantile


def test_the_normal_distribution_is_scipys() -> None:
    x = np.linspace(-30, 8, 5001)
    assert normal_cdf(x) == pytest.approx(ndtr(x), rel=3e-7)
    share = np.concatenate([10.0 ** -np.linspace(0.31, 200, 2001), 1 - 10.0 ** -np.linspace(0.31, 14, 501)])
    assert normal_quantile(share) == pytest.approx(ndtri(share), abs=3e-6)
