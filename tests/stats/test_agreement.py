"""Agreement against published examples, scikit-learn and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, rater_agreement

# Krippendorff's own example: four observers, twelve units, some missing.
OBSERVERS = (
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
)
RATINGS = {
    str(unit): {str(who): row[unit] for who, row in enumerate(OBSERVERS) if row[unit] is not None} for unit in range(12)
}


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("interval", 0.849)])
def test_krippendorffs_example(level, value):
    found = krippendorff_alpha(RATINGS, level)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.low < found.value < found.high
    assert (found.n, found.missing) == (11, 1)


answers = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=2, max_size=30)


@settings(deadline=None)  # the first example imports scikit-learn and statsmodels
@given(answers)
def test_kappas_are_the_others_kappas(units):
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa as theirs

    one, other = [u[0] for u in units], [u[1] for u in units]
    ours = cohen_kappa(one, other)
    if ours is None:
        assert set(one) == set(other)
        assert len(set(one)) == 1
    else:
        assert ours == pytest.approx(cohen_kappa_score(one, other))
    ours = fleiss_kappa(units)
    if ours is not None:
        numbers = np.array([["abc".index(v) for v in unit] for unit in units])
        assert ours == pytest.approx(theirs(aggregate_raters(numbers)[0]))
    else:
        assert len({v for unit in units for v in unit}) == 1


@settings(deadline=None)
@given(answers)
def test_alpha_is_close_to_fleiss_and_knows_no_names(units):
    ratings = {str(n): dict(enumerate(unit)) for n, unit in enumerate(units)}
    renamed = {str(n): {who: {"a": "z", "b": "y", "c": "x"}[v] for who, v in enumerate(u)} for n, u in enumerate(units)}
    found = krippendorff_alpha(ratings, bootstrap=20)
    other = krippendorff_alpha(renamed, bootstrap=20)
    assert (found.value, found.low, found.high) == (other.value, other.low, other.high)
    assert found.signature != other.signature
    fleiss = fleiss_kappa(units)
    if fleiss is None:
        assert found.value is None
    else:  # alpha corrects kappa for the number of values, N: (1 − α) = (1 − κ)(1 − 1/N)
        assert 1 - found.value == pytest.approx((1 - fleiss) * (1 - 1 / (3 * len(units))))


def test_where_there_is_nothing_to_compare():
    assert krippendorff_alpha({}).value is None
    assert krippendorff_alpha({"i": {"a": 1}}).value is None
    assert rater_agreement({"i": {"a": "x", "b": "x"}}).cohen is None
    assert fleiss_kappa([["a", "b"], ["a"]]) is None


def test_a_signature_tells_apart_whatever_decides_alpha():
    item = next(iter(RATINGS))
    other_answer = {**RATINGS, item: {**RATINGS[item], "0": 5}}
    other_item = {("another" if name == item else name): given for name, given in RATINGS.items()}
    fewer = {name: given for name, given in RATINGS.items() if name != item}
    found = [
        krippendorff_alpha(RATINGS),
        krippendorff_alpha(other_answer),
        krippendorff_alpha(other_item),
        krippendorff_alpha(fewer),
        krippendorff_alpha(RATINGS, "interval"),
        krippendorff_alpha(RATINGS, bootstrap=500),
        krippendorff_alpha(RATINGS, seed=1),
        krippendorff_alpha(RATINGS, confidence=0.9),
    ]
    assert len({estimate.signature for estimate in found}) == len(found)
    shuffled = {name: dict(reversed(given.items())) for name, given in reversed(RATINGS.items())}
    assert krippendorff_alpha(shuffled).signature == found[0].signature
    assert "|unswayed=" in found[0].signature


def test_full_agreement_of_few_items_is_not_certain():
    found = krippendorff_alpha({str(n): {"a": n % 2, "b": n % 2} for n in range(10)})
    assert found.value == found.high == 1
    assert found.low < 0.9


@pytest.mark.parametrize(("rare", "error"), [(0.1, 0.1), (0.1, 0.4), (0.5, 0.2)])
def test_the_interval_covers_with_few_items_and_rare_answers(rare: float, error: float) -> None:
    """Two people err independently, so alpha is the chance that neither does. A percentile bootstrap covers 66–81%."""
    rng, inside, known = np.random.default_rng(7), 0, 0
    for _ in range(150):
        true, other = rng.random(20) < rare, rng.random((20, 2)) < rare
        said = np.where(rng.random((20, 2)) < error, other, true[:, None])
        found = krippendorff_alpha(
            {str(i): {"a": bool(a), "b": bool(b)} for i, (a, b) in enumerate(said)}, bootstrap=400
        )
        if found.value is not None:
            known += 1
            inside += found.low <= (1 - error) ** 2 <= found.high
    assert inside / known >= 0.88
