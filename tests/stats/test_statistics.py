"""Statistics of sums: means, ratios, and the difference of two."""

from __future__ import annotations

import numpy as np

from unswayed.stats import Mean, Paired, Ratio, ratio
from unswayed.stats.statistics import Observations, Statistic

SUMS = np.array([[3.0, 4.0, 1.0, 5.0], [2.0, 0.0, 6.0, 3.0]])


def test_a_mean_a_ratio_and_nothing_by_nothing() -> None:
    assert Mean()(SUMS, 6).tolist() == [0.5, 1 / 3]
    found = Ratio()(SUMS[:, :2], 6)
    assert found[0] == 0.75
    assert np.isnan(found[1])
    assert np.isnan(ratio(np.ones(2), np.array([0.0, 4.0]))).tolist() == [True, False]


def test_a_paired_statistic_is_the_right_less_the_left() -> None:
    found = Paired(Ratio())(SUMS[:1], 6)
    assert found.tolist() == [1 / 5 - 3 / 4]
    assert np.array_equal(Paired(Mean()).columns(SUMS), SUMS)

    class Doubled(Mean):
        def columns(self, distinct):
            return 2 * distinct

    assert np.array_equal(Paired(Doubled()).columns(SUMS), 2 * SUMS)


def test_ids_tell_statistics_apart() -> None:
    assert len({Mean().id, Ratio().id, Paired(Mean()).id, Paired(Ratio()).id}) == 4
    assert np.array_equal(Statistic().columns(SUMS), SUMS)


def test_observations_are_of_a_share_from_zero_to_one() -> None:
    column = Observations(np.arange(1), np.ones((1, 1)), Mean(), np.zeros(1, dtype=np.int64))
    assert (column.span, column.kind) == ((0.0, 1.0), "share")
