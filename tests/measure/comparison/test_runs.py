"""Comparisons: exact where they can be, corrected, and plain about chance."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError
from unswayed.measure.comparison.outcome import Comparison
from unswayed.measure.comparison.runs import compare
from unswayed.measure.definitions import MEASURES
from unswayed.measure.measuring import measure_run
from unswayed.run.record import NOT_ASKED
from unswayed.stats import (
    Mean,
    Ratio,
    bonferroni,
    correct,
    count_rows,
    holm,
    mcnemar,
    mean_interval,
    swap,
)


def found(comparison, measure, set_="all"):
    return next(d for d in comparison.differences if (d.measure, d.set) == (measure, set_))


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_scipys_binomial_test(more, less):
    expected = stats.binomtest(more, more + less).pvalue if more + less else 1.0
    assert mcnemar(more, less) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("statistic", [Mean(), Ratio()])
@pytest.mark.parametrize("distinct", [True, False])
def test_swapping_is_the_exact_test_in_the_limit(statistic, distinct):
    """All 2^10 swaps of ten examples against random ones."""
    rng = np.random.default_rng(0)
    a = rng.random((10, 2)) if distinct else rng.integers(0, 2, (10, 2)).astype(float)
    b = a + (rng.random((10, 2)) if distinct else rng.integers(0, 2, (10, 2)))
    a, b = (x[:, :1] if isinstance(statistic, Mean) else x + np.array([0, 1]) for x in (a, b))

    def difference(a, b):
        return float((statistic(b.sum(0, keepdims=True), 10) - statistic(a.sum(0, keepdims=True), 10))[0])

    every = []
    for signs in itertools.product([True, False], repeat=10):
        keep = np.array(signs)[:, None]
        every.append(difference(np.where(keep, a, b), np.where(keep, b, a)))
    both, counts = count_rows(np.hstack([a, b]))
    drawn = swap(*np.hsplit(both, 2), counts, statistic, 20_000, 0)
    observed = abs(difference(a, b)) - 1e-12
    assert np.mean(np.abs(drawn) >= observed) == pytest.approx(np.mean(np.abs(every) >= observed), abs=0.01)
    assert np.std(drawn) == pytest.approx(np.std(every), rel=0.05)


def test_differences_are_of_what_both_answered(random_run):
    a, b = random_run(80, seed=1, right=0.5), random_run(80, seed=1, right=0.9, identity="b")
    compared = compare(a, b, plan={"measure": {"bootstrap": 500}})
    for d in compared.differences:
        assert d.difference == pytest.approx(d.b - d.a)
        assert d.low <= d.difference <= d.high
        assert 0 < d.p <= d.p_corrected <= 1
        assert d.shown == (d.p_corrected <= 0.05) == (d.low > 0 or d.high < 0)
    assert found(compared, "average").primary
    assert sum(d.primary for d in compared.differences) == 1
    assert found(compared, "average").difference > 0 > found(compared, "flips").difference
    sets = {d.set for d in compared.differences}
    operators = {"operator=keys/near", "operator=spoken/filler", "operator=meaning/not"}
    assert sets == {"all", *operators, "parity=0", "parity=1", "size=big", "size=small"}
    assert {d.measure for d in compared.differences if d.set == "all"} == set(MEASURES)
    assert {d.measure for d in compared.differences if d.set == "operator=meaning/not"} == {"noticed"}
    assert {d.measure for d in compared.differences if d.set == "operator=keys/near"} == {*MEASURES} - {
        "clean",
        "noticed",
    }


def test_without_failures_the_sides_are_the_runs_own(random_run):
    a, b = random_run(50, seed=1, fail=0, right=0.5), random_run(50, seed=1, fail=0, right=0.52, identity="b")
    compared = compare(a, b, plan={"measure": {"bootstrap": 100}})
    for run, side in ((a, "a"), (b, "b")):
        measured = measure_run(run, {"measure": {"bootstrap": 100}})
        for name in ("clean", "average", "worst", "flips"):
            assert getattr(found(compared, name), side) == pytest.approx(getattr(measured.whole, name).value)


def test_missing_is_left_out_on_both_sides(fake_run):
    failed = fake_run.FAILED
    a = fake_run([("x", "x", [("p", 0, "same", failed), ("p", 1, "same", "x")]), ("x", failed, [])])
    b = fake_run([("x", "x", [("p", 0, "same", "y"), ("p", 1, "same", "x")]), ("x", "x", [])])
    compared = compare(a, b, plan={"measure": {"bootstrap": 50}})
    assert (found(compared, "average").a, found(compared, "average").b) == (1.0, 1.0)
    assert found(compared, "average").missing == found(compared, "clean").missing == 1
    assert found(compared, "clean").n == 1


def test_a_clear_difference_and_one_that_may_be_chance(fake_run):
    def run(right, n=200):
        outputs = ["x" if i < right else "y" for i in range(n)]
        return fake_run([("x", o, [("p", 0, "same", o)]) for o in outputs])

    clear = compare(run(100), run(130))
    assert found(clear, "worst").sentence == (
        "Worst rises by 15.0 points [9.2, 22.5], from 0.500 to 0.650 (p < 0.001)."
    )
    assert found(clear, "worst").sentence in clear.changes
    assert clear.changes[0] == found(clear, "average").sentence
    lower = found(compare(run(130), run(100)), "worst")
    assert lower.sentence == "Worst falls by 15.0 points [9.2, 22.5], from 0.650 to 0.500 (p < 0.001)."
    chance = found(compare(run(100), run(101)), "average")
    assert chance.sentence.startswith("Average rises by 0.5 points [-1.1, 2.8], from 0.500 to 0.505, but that may be")
    same = compare(run(100), run(100))
    assert {d.p for d in same.differences} == {1.0}
    assert not same.changes
    assert found(same, "clean").sentence == "Clean stays at 0.500."
    assert same.identical
    assert same.sentences[:-1] == ["Identical: A and B gave the same answers."]
    other = compare(
        run(100),
        fake_run([("x", "x" if i < 100 else "z", [("p", 0, "same", "x" if i < 100 else "z")]) for i in range(200)]),
    )
    assert not other.identical  # as good, but wrong in another way


def test_a_run_that_is_lower_everywhere_is_not_called_more_fragile(fake_run):
    def run(right):
        outputs = ["x" if i < right else "y" for i in range(200)]
        return fake_run([("x", o, [("p", 0, "same", o)]) for o in outputs])

    compared = compare(run(180), run(120))
    assert compared.outcome() == (
        "Worse by 30.0 points [23.8, 36.8] on average, from 0.900 to 0.600 (p < 0.001); lower everywhere, not shown to "
        "be more fragile."
    )
    assert len(compared.sentences) == 4  # what is compared, and three that say how


def test_swapping_the_runs_swaps_the_sign(random_run):
    a, b = random_run(60, seed=1), random_run(60, seed=1, right=0.8, identity="b")
    one, other = (
        compare(a, b, plan={"measure": {"bootstrap": 400}}),
        compare(b, a, plan={"measure": {"bootstrap": 400}}),
    )
    for d, e in zip(one.differences, other.differences, strict=True):
        assert d.difference == pytest.approx(-e.difference)
        assert d.p == pytest.approx(e.p, abs=0.08)


def test_other_scores_and_texts_without_gold(random_run, fake_run):
    a, b = random_run(40, seed=1), random_run(40, seed=1, right=0.9, identity="b")
    macro = compare(a, b, scores=["macro_f1"], plan={"measure": {"bootstrap": 200}})
    assert macro.score == "macro_f1"
    assert found(macro, "average").difference > 0
    texts = [fake_run([(None, "x", [("p", 0, "same", o)])] * 5, task="text") for o in "xy"]
    only = compare(*texts, plan={"measure": {"bootstrap": 50}})
    assert [d.measure for d in only.differences] == ["flips", "consistency"]
    assert only.differences[0].difference == 1.0
    assert only.primary == "flips"


def test_different_suites_are_refused(fake_run):
    rows = [("x", "x", [("p", 0, "same", "x")])]
    with pytest.raises(UsageError, match="different suites"):
        compare(fake_run(rows), fake_run(rows, suite="s2"))


def test_nothing_in_common(fake_run):
    a = fake_run([("x", fake_run.FAILED, [("p", 0, "same", "x")])])
    b = fake_run([("x", "x", [("p", 0, "same", fake_run.FAILED)])])
    with pytest.raises(NothingEvaluated):
        compare(a, b)


def test_the_same_bytes_again_and_back_from_json(random_run):
    a, b = random_run(40, seed=1), random_run(40, seed=1, right=0.9, identity="b")
    one = msgspec.json.encode(compare(a, b, plan={"measure": {"bootstrap": 100}}))
    assert one == msgspec.json.encode(compare(a.shuffled(1), b.shuffled(2), plan={"measure": {"bootstrap": 100}}))
    assert isinstance(msgspec.json.decode(one, type=Comparison), Comparison)
    assert one != msgspec.json.encode(
        compare(a, b, plan={"measure": {"bootstrap": 100}, "compare": {"correction": "bonferroni"}})
    )


def test_holm_and_bonferroni_by_hand():
    p = [0.01, 0.04, 0.03, 0.005]
    assert bonferroni(p) == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert correct([0.02, None, 0.5], "holm") == pytest.approx([0.04, None, 0.5])
    assert correct(p, "none") == p
    with pytest.raises(UnknownName, match="holm"):
        correct(p, "hol")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_the_raw_and_bonferronis(p):
    for raw, one, other in zip(p, holm(p), bonferroni(p), strict=True):
        assert raw <= one <= other


def wrong_of(fake_run, **wrong):
    """Runs of 60 examples under ten operators; `wrong` has how many of the examples each operator makes wrong."""
    counts = {f"k/{i}": wrong.get(str(i), wrong.get("all", 0)) for i in range(10)}

    def row(i):
        varied = [(op, 0, "same", "y" if i < count else "x") for op, count in counts.items()]
        return "x", "x", varied, {"room": "hall" if i % 3 else "attic"}

    return fake_run([row(i) for i in range(60)])


def test_the_primary_measure_is_tested_by_itself(fake_run):
    a, b = wrong_of(fake_run), wrong_of(fake_run, **{"3": 9})
    compared = compare(a, b)
    average = found(compared, "average")
    assert compared.primary == "average"
    assert average.primary
    assert average.p == average.p_corrected
    assert (average.low, average.high) == pytest.approx(
        (mean_interval(np.repeat([0, -0.1], [51, 9]), (-1, 1), 0.95, "difference")[0], 0.0), abs=0.01
    )
    third = found(compared, "average", "operator=k/3")
    assert third.p < third.p_corrected
    assert third.low < mean_interval(np.repeat([0, -1], [51, 9]), (-1, 1), 0.95, "difference")[0]
    other = compare(a, b, primary="k/3:worst")
    assert other.primary == "k/3:worst"
    assert found(other, "worst", "operator=k/3").p_corrected == third.p
    assert found(other, "average").p < found(other, "average").p_corrected
    with pytest.raises(UnknownName, match="Did you mean 'worst'"):
        compare(a, b, primary="wrst")
    with pytest.raises(UnknownName, match="no operator or family named 'k/33'"):
        compare(a, b, primary="k/33:worst")
    with pytest.raises(UsageError, match="primary= must be one measure"):
        compare(a, b, primary="k/*:worst")


def test_max_t_lies_between_none_and_bonferroni(fake_run):
    a, b = wrong_of(fake_run, all=2), wrong_of(fake_run, **{"3": 9, "5": 6, "all": 2})
    p = {
        how: [d.p_corrected for d in compare(a, b, plan={"compare": {"correction": how}}).differences]
        for how in ("none", "max-t", "bonferroni")
    }
    assert all(x <= y <= z for x, y, z in zip(*p.values(), strict=True))
    assert sum(p["max-t"]) < sum(p["bonferroni"])  # measures of one operator say much the same


def test_slices_drop_and_consistency_are_compared(fake_run):
    compared = compare(wrong_of(fake_run), wrong_of(fake_run, **{"3": 9}))
    hall = found(compared, "drop", "room=hall")
    assert hall.difference == pytest.approx(6 / 40 / 10)
    assert found(compared, "consistency").difference == pytest.approx(-9 / 60)
    assert found(compared, "consistency", "room=attic").n == 20
    assert (
        compare(wrong_of(fake_run), wrong_of(fake_run), plan={"measure": {"groups": []}}).differences[-1].set
        == "operator=k/9"
    )


def test_several_runs_are_compared_with_the_first(fake_run):
    a, b, c = wrong_of(fake_run), wrong_of(fake_run, **{"3": 9}), wrong_of(fake_run, all=20)
    compared = compare(a, b, c, fail_if_worse={"average": 0.1})
    (other,) = compared.others
    alone = compare(a, b)
    assert [d.difference for d in compared.differences] == [d.difference for d in alone.differences]
    assert found(compared, "average").p == found(alone, "average").p < found(compared, "average").p_corrected
    assert found(other, "average").difference == pytest.approx(-1 / 3)
    assert (compared.gates[0].passed, other.gates[0].passed) == (True, False)
    assert not compared.passed
    assert compared.about.startswith("A is fake, B is fake, C is fake; accuracy. Average is tested by itself; ")
    assert any(sentence.startswith("C: Worse by 33.3 points [") for sentence in compared.sentences)
    assert {row["run"] for row in compared} == {"B", "C"}
    assert "run" not in next(iter(alone))
    assert msgspec.json.decode(msgspec.json.encode(compared), type=Comparison) == compared


def test_clusters_are_units(fake_run):
    """Twenty paragraphs of three examples that are right or wrong together are worth twenty examples."""

    def run(lost, times):
        rows = [("x", "x", [("p", 0, "same", "y" if i < lost else "x")], {"paragraph": str(i)}) for i in range(20)]
        return fake_run([row for row in rows for _ in range(times)])

    one = found(compare(run(0, 1), run(6, 1)), "average")
    three = found(compare(run(0, 3), run(6, 3), plan={"measure": {"cluster": "paragraph"}}), "average")
    assert three.p == pytest.approx(one.p)
    assert (three.low, three.high) == pytest.approx((one.low, one.high), rel=0.2)
    apart = found(compare(run(0, 3), run(6, 3)), "average")
    assert apart.low > three.low
    assert three.n == 60
    with pytest.raises(UsageError, match="no field 'chapter' to cluster by"):
        compare(run(0, 1), run(6, 1), plan={"measure": {"cluster": "chapter"}})


def test_results_are_compared_as_they_were_measured(fake_run):
    rows = [("x", "x", [("p", d, "same", "y" if (i + d) % 4 == 0 else "x") for d in range(4)], {"part": str(i // 4)})
            for i in range(24)]  # fmt: skip
    a, b = (measure_run(fake_run(rows), {"measure": {"worst_of": 2, "cluster": "part"}}) for _ in range(2))
    compared = compare(a, b)
    assert found(compared, "worst").a == pytest.approx(a.worst.value)
    assert not any(one.set.startswith("part=") for one in compared.differences)
    assert found(compare(a, b, plan={"measure": {"worst_of": 4}}), "worst").a < a.worst.value
    assert "worst of 2" in repr(a)


def test_lost_and_gained_answers(fake_run):
    a = fake_run([("x", "x", [("p", 0, "same", "x"), ("q", 0, "same", "y")]), ("x", "y", [("p", 0, "same", "x")])])
    b = fake_run([("x", "x", [("p", 0, "same", "z"), ("q", 0, "same", "x")]), ("x", "x", [("p", 0, "same", "x")])])
    compared = compare(a, b, plan={"measure": {"sanity": False}})
    assert msgspec.to_builtins(compared.answers) == {
        "clean": {"lost": 0, "gained": 1, "right": 1, "wrong": 0},
        "variants": {"lost": 1, "gained": 1, "right": 1, "wrong": 0},
        "operator=p": {"lost": 1, "gained": 0, "right": 1, "wrong": 0},
        "operator=q": {"lost": 0, "gained": 1, "right": 0, "wrong": 0},
    }
    changed = [(c.change, c.example, c.operator, c.answer_a, c.answer_b, c.gold) for c in compared.iter_flips()]
    assert changed == [
        ("lost", "e0", "p", "x", "z", "x"),
        ("gained", "e0", "q", "y", "x", "x"),
        ("gained", "e1", "", "y", "x", "x"),
    ]
    assert list(compared.flips()["text"]) == ["p 0 0", "q 0 0", "text 1"]
    assert "Of the answers to variants, 1 is lost (right in A, wrong in B) and 1 is gained." in compared.sentences[1]
    with pytest.raises(UsageError, match="does not know its runs"):
        msgspec.json.decode(msgspec.json.encode(compared), type=Comparison).flips()


def test_runs_that_were_not_finished_are_compared_on_what_both_have(fake_run):
    """What was not asked is no failure; what failed is one, and fails a gate."""
    rest = [("x", NOT_ASKED, [("p", 0, "same", NOT_ASKED)])] * 30
    rows = [("x", "x", [("p", 0, "same", "x")])] * 300
    a, b = fake_run(rows + rest), fake_run(rest + rows)
    compared = compare(a, b, fail_if_worse="worst:0.02")
    assert found(compared, "worst").n == 270
    assert compared.exit_code == 0
    broken = fake_run([("x", "x", [("p", 0, "same", fake_run.FAILED)])] * 30 + rows)
    failed = compare(fake_run(rows + rows[:30]), broken, fail_if_worse="worst:0.02")
    assert failed.exit_code == 3
    assert failed.failed == {"a": 0, "b": 30}
    assert "30 of 660 items failed" in failed.remarks[-1]
    assert compare(
        fake_run(rows + rows[:30]), broken, fail_if_worse="worst:0.02", plan={"compare": {"allow_missing": 0.1}}
    ).passed


def test_a_broken_set_up_passes_no_gate(fake_run):
    a, b = (fake_run([(gold, "z", [("p", 0, "same", "z")]) for gold in ("x", "y") * 30]) for _ in range(2))
    compared = compare(a, b, fail_if_worse="worst:0.3")
    assert compared.exit_code == 5
    assert [s[:2] for s in compared.sanity] == ["A:", "B:"]
    assert compared.remarks[0].startswith("Nothing was concluded")
    assert compare(a, b, fail_if_worse="worst:0.3", plan={"measure": {"sanity": False}}).passed
