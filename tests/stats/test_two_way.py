"""A table of rows and columns of which few cells were seen: what is estimated of the rest, against a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from unswayed.stats.resample import Array
from unswayed.stats.two_way import SeenCells, normal_cdf, normal_quantile, row_means

ENDS = (0.05, 0.5, 0.95)


def table(seed: int, binary: bool, rows: int = 40, columns: int = 60) -> Array:
    """Scores of rows that differ and columns that differ more."""
    rng = np.random.Generator(np.random.PCG64(seed))
    level = 0.5 + 0.5 * rng.standard_normal((rows, 1)) + rng.standard_normal(columns)
    noisy: Array = level + rng.standard_normal((rows, columns))
    return (noisy > 0).astype(np.float64) if binary else noisy


def some(whole: Array, seed: int, share: float = 0.1) -> SeenCells:
    rng = np.random.Generator(np.random.PCG64(seed + 1000))
    seen = rng.random(whole.shape) < share
    seen[-1] = True
    row, column = np.nonzero(seen)
    return SeenCells(row, column, whole[seen], (whole.shape[0], whole.shape[1]))


def test_a_whole_table_needs_no_estimate() -> None:
    whole = table(0, True)
    row, column = np.nonzero(np.ones_like(whole))
    found = row_means(SeenCells(row, column, whole.ravel(), (40, 60)))
    assert found == pytest.approx(whole.mean(axis=1)[None, :])


@pytest.mark.parametrize("binary", [True, False])
def test_quantiles_from_a_tenth_of_the_cells(binary: bool) -> None:
    covered, errors, plain = [], [], []
    for seed in range(5):
        whole = table(seed, binary)
        cells = some(whole, seed)
        drawn = np.quantile(row_means(cells, seed)[:, :-1], ENDS, axis=1)
        true = np.quantile(whole[:-1].mean(axis=1), ENDS)
        low, high = np.quantile(drawn, (0.025, 0.975), axis=1)
        covered += list((low <= true) & (true <= high))
        errors += list(np.abs(np.median(drawn, axis=1) - true))
        own = np.bincount(cells.row, weights=cells.value) / np.maximum(np.bincount(cells.row), 1)
        plain += list(np.abs(np.quantile(own[:-1], ENDS) - true))
    assert np.mean(covered) >= 0.8
    assert np.mean(errors) < 0.5 * np.mean(plain), "the means of the cells that were seen vary far more"


def test_answers_that_are_all_alike_and_a_seed() -> None:
    cells = some(np.ones((40, 60)), 0)
    found = row_means(cells, 3)
    assert found[:, -1] == pytest.approx(1.0)
    assert np.quantile(found, 0.975) == pytest.approx(1.0)
    assert found.mean() > 0.97
    assert np.array_equal(found, row_means(cells, 3))
    assert not np.array_equal(found, row_means(cells, 4))


def test_the_normal_distribution_is_scipys() -> None:
    x = np.linspace(-30, 8, 5001)
    assert normal_cdf(x) == pytest.approx(ndtr(x), rel=3e-7)
    share = np.concatenate([10.0 ** -np.linspace(0.31, 200, 2001), 1 - 10.0 ** -np.linspace(0.31, 14, 501)])
    assert normal_quantile(share) == pytest.approx(ndtri(share), abs=3e-6)
