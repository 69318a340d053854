"""Changed predictions against plain counting and scipy."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest

from unswayed.base.errors import UsageError
from unswayed.papers.parte.changed import Judged, changed_predictions, contrasts
from unswayed.stats import Resampling

QUICK = Resampling(bootstrap=200)
labels = st.sampled_from(["yes", "no", None])
judged = st.builds(
    lambda example, side, gold, before, after: Judged(str(example), {"side": side, "gold": gold}, gold, before, after),
    st.integers(0, 6),
    st.sampled_from(["premise", "both"]),
    st.sampled_from(["yes", "no"]),
    labels,
    labels,
)


def share(told: list[bool | None]) -> float | None:
    known = [answer for answer in told if answer is not None]
    return sum(known) / len(known) if known else None


@given(st.lists(judged, min_size=1, max_size=30))
@settings(deadline=None)
def test_shares_are_what_counting_gives(pairs: list[Judged]) -> None:
    found = changed_predictions(pairs, "x", QUICK)
    both = [p for p in pairs if p.before is not None and p.after is not None]
    assert found.changed.value == pytest.approx(share([p.before != p.after for p in both]))
    assert (found.changed.n, found.changed.missing) == (len(both), len(pairs) - len(both))
    assert found.changed.examples == len({p.example for p in both})
    assert found.accuracy_original.value == pytest.approx(share([p.right_before for p in pairs]))
    assert found.accuracy_paraphrased.value == pytest.approx(share([p.right_after for p in pairs]))
    for key in ("side", "gold"):
        for value, inside in found.by[key].items():
            assert inside.value == pytest.approx(share([p.changed for p in pairs if p.slices[key] == value]))
    cells = Counter((p.before == p.gold, p.after == p.gold) for p in both)
    counted = [round((s.value or 0) * s.n) for s in found.confusion.values()]
    assert counted == [cells[cell] for cell in ((True, True), (True, False), (False, True), (False, False))]
    if found.changed.low is not None:
        assert found.changed.low <= found.changed.value <= found.changed.high


def pairs_of(answers: str) -> list[Judged]:
    """An original with two variants for each two letters: c changed, s the same."""
    return [Judged(str(i // 2), {}, "yes", "yes", "no" if a == "c" else "yes") for i, a in enumerate(answers)]


def test_mcnemar_is_scipys_and_all_are_corrected() -> None:
    models = {"a": pairs_of("c" * 12 + "s" * 28), "b": pairs_of("s" * 10 + "c" * 3 + "s" * 27)}
    found = contrasts(models, QUICK)
    between = next(c for c in found if c.measure == "changed")
    assert (between.value_a, between.value_b) == (12 / 40, 3 / 40)
    assert between.mcnemar == pytest.approx(binomtest(1, 11).pvalue)
    assert between.low < between.difference < between.high < 0
    alone = next(c for c in found if c.measure == "accuracy" and c.a == "a")
    assert alone.mcnemar == pytest.approx(binomtest(0, 12).pvalue)
    smallest = min(found, key=lambda c: c.mcnemar)
    assert smallest.mcnemar_corrected == pytest.approx(len(found) * smallest.mcnemar)
    assert all(c.mcnemar <= c.mcnemar_corrected and c.randomisation <= c.randomisation_corrected for c in found)


def test_variants_of_one_original_are_no_independent_proof() -> None:
    """Forty changes in two originals are far from certain, whatever McNemar's test says of forty pairs."""
    many = [Judged(str(i % 2), {}, "yes", "yes", "no") for i in range(40)]
    same = [Judged(str(i % 2), {}, "yes", "yes", "yes") for i in range(40)]
    found = next(c for c in contrasts({"a": same, "b": many}, QUICK) if c.measure == "changed")
    assert found.mcnemar < 1e-9
    assert found.randomisation > 0.1


def test_other_pairs_are_not_compared() -> None:
    with pytest.raises(UsageError, match="did not answer the same pairs"):
        contrasts({"a": pairs_of("cs"), "b": pairs_of("cscs")}, QUICK)


def test_nothing_answered_is_not_zero() -> None:
    found = changed_predictions([Judged("1", {"side": "both"}, "yes", None, "no")], "x", QUICK)
    assert found.changed.value is None
    assert found.changed.missing == 1
    assert found.accuracy_paraphrased.value == 0
