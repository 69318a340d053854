"""Student's t against scipy."""

from __future__ import annotations

import pytest
from scipy import stats

from unswayed.stats import t_p_value, t_quantile

FREEDOM = [0.7, 1.0, 2.0, 3.4, 10.0, 99.5, 1000.0, 99_999.0, 1e6]


@pytest.mark.parametrize("df", FREEDOM)
def test_equals_scipy(df: float) -> None:
    for p in (0.01, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-7)
    for t in (0.0, 0.01, 0.3, -1.0, 2.0, 5.0):
        assert t_p_value(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-7)
    assert t_p_value(float("inf"), df) == 0
