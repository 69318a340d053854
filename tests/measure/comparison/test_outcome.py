"""A new run may be at most so much worse: what passes, what fails, what is unclear, and that better never fails."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import UnknownName, UsageError
from unswayed.measure.comparison.contrasts import Contrast
from unswayed.measure.comparison.outcome import check_margin, margins_of
from unswayed.measure.comparison.runs import compare
from unswayed.measure.gates import ALL
from unswayed.measure.spill import Spill
from unswayed.run.plan import plan_of
from unswayed.stats import Mean, Observations, mean_interval


def run(fake_run, n, wrong):
    rows = [("x", "x", [("k/a", 0, "same", "y" if i < wrong else "x"), ("k/b", 0, "same", "x")],
             {"domain": "home" if i % 2 else "work"}) for i in range(n)]  # fmt: skip
    return fake_run(rows)


def gate(fake_run, n, wrong, text="worst:0.05", on="at-worst"):
    plan = {"compare": {"on": on}}
    (found,) = compare(run(fake_run, n, 0), run(fake_run, n, wrong), fail_if_worse=[text], plan=plan).gates
    return found


def test_not_worse_is_passed_only_if_it_is_shown(fake_run):
    """Of 200 examples two, twenty and eight are lost: not worse, worse, and neither, by more than five points."""
    passed, worse, unclear = (gate(fake_run, 200, wrong) for wrong in (2, 20, 8))
    assert (passed.status, worse.status, unclear.status) == ("passed", "worse", "unclear")
    assert (passed.passed, worse.passed, unclear.passed) == (True, False, False)
    for found, wrong in ((passed, 2), (worse, 20), (unclear, 8)):
        lost = np.repeat([-1, 0], [wrong, 200 - wrong])
        low, high = mean_interval(lost, (-1, 1), 0.95, "difference")
        assert (found.low, found.high) == pytest.approx((low, min(high, 0.0)))  # A is right throughout
        assert found.bound == found.low
    assert passed.low >= -0.05 > worse.high
    assert passed.sentence.startswith("worst: B is not worse than A by more than 0.05 (difference -0.010, -0.0")
    assert worse.sentence.endswith(": failed.")
    assert "unclear whether B is worse than A by more than 0.05" in unclear.sentence
    assert 'plan={"compare": {"on": "at-best"}} fails' in unclear.sentence


def test_the_figure_that_is_held_against_the_margin(fake_run):
    statuses = {on: gate(fake_run, 200, 8, on=on).status for on in ("at-worst", "value", "at-best")}
    assert statuses == {"at-worst": "unclear", "value": "passed", "at-best": "passed"}
    by_chance = gate(fake_run, 200, 12, on="value")
    assert (by_chance.status, by_chance.passed) == ("unclear", False)
    assert "but that may be chance" in by_chance.sentence
    assert gate(fake_run, 200, 20, on="at-best").status == "worse"


def test_too_few_examples_say_how_many_it_takes(fake_run):
    few = gate(fake_run, 30, 0, "worst:0.02")
    assert few.status == "unclear"
    needed = int(re.search(r"At least ([\d,]+) examples", few.sentence)[1].replace(",", ""))
    low = [mean_interval(np.zeros(n), (-1, 1), 0.95, "difference")[0] for n in (needed - 1, needed)]
    assert low[0] < -0.02 <= low[1]
    assert gate(fake_run, needed, 0, "worst:0.02").passed


def test_sets_and_measures_that_should_be_low(fake_run):
    asked = ["k/a:worst:0.02", "k/*:average:0.5", "domain=home:drop:0.1", "flips:0.01", "domain=*:flips=0.2"]
    compared = compare(run(fake_run, 200, 0), run(fake_run, 200, 20), fail_if_worse=asked)
    assert [(g.name, g.set, g.passed) for g in compared.gates] == [
        ("k/a:worst", "operator=k/a", False),
        ("k/a:average", "operator=k/a", True),
        ("k/b:average", "operator=k/b", True),
        ("domain=home:drop", "domain=home", True),
        ("flips", "all", False),
        ("domain=home:flips", "domain=home", True),
        ("domain=work:flips", "domain=work", True),
    ]
    assert compared.gates[4].bound == compared.gates[4].high > 0.05
    assert not compared.passed
    assert compared.exit_code == 1


def test_every_measure_knows_which_way_is_worse(fake_run):
    """A run that loses answers is worse on all that it touches, and the other way round on none."""
    a, b = run(fake_run, 200, 0), run(fake_run, 200, 80)
    margins = dict.fromkeys(("average", "worst", "cvar", "drop", "flips", "consistency"), 0.05)
    assert {g.status for g in compare(a, b, fail_if_worse=margins).gates} == {"worse"}
    assert {g.status for g in compare(b, a, fail_if_worse=margins).gates} == {"passed"}


def test_one_operator_can_be_named(fake_run):
    rows = [("x", "x", [("k/a", 0, "same", "x")])] * 300
    compared = compare(fake_run(rows), fake_run(rows), fail_if_worse={"k/a:worst": 0.02, "k:worst": 0.02})
    assert [g.passed for g in compared.gates] == [True, True]
    assert {d.set for d in compared.differences} == {"all"}


@pytest.mark.parametrize(
    ("given_", "error", "said"),
    [
        ("wrst:0.02", UnknownName, "Did you mean 'worst'"),
        ("worst", UsageError, "Write [SET:]MEASURE:MARGIN, such as worst:0.02"),
        ("worst:-0.02", UsageError, "must not be negative"),
        ("worst:few", UsageError, "The limit of 'worst' must be a number, not 'few'"),
        ("k/aa:worst:0.1", UnknownName, "no operator or family named 'k/aa'. Did you mean 'k/a'"),
        ("domain=hom:worst:0.1", UnknownName, "no value of the slice 'domain' named 'hom'. Did you mean 'home'"),
    ],
)
def test_wrong_margins_say_what_is_wrong(fake_run, given_, error, said):
    with pytest.raises(error, match=re.escape(said)):
        compare(run(fake_run, 10, 0), run(fake_run, 10, 0), fail_if_worse=given_)


def test_without_gold_there_is_no_score_to_gate(fake_run):
    texts = [fake_run([(None, "x", [("p", 0, "same", "x")])] * 30, task="text") for _ in range(2)]
    with pytest.raises(UsageError, match="worst can't be compared: the data has no gold"):
        compare(*texts, fail_if_worse={"worst": 0.1}, plan={"measure": {"sanity": False}})


def contrast_of(a, b):
    nothing = np.zeros(len(a), dtype=np.int64)
    one, other = (Observations(np.arange(len(a)), np.array(x, float)[:, None], Mean(), nothing) for x in (a, b))
    found = Contrast("worst", ALL, one, Spill(), clustered=False)
    found.add(one, other, None)
    return found


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, 1 / 3, 0.5, 1.0])] * 2), min_size=2, max_size=40),
    st.integers(0, 39),
    st.floats(0, 0.4),
    st.sampled_from(["at-worst", "value", "at-best"]),
)
def test_a_better_answer_never_fails_a_gate_that_passed(answers, at, margin, on):
    a, b = map(list, zip(*answers, strict=True))
    better = list(b)
    better[at % len(b)] = 1.0
    before, after = (check_margin(margin, contrast_of(a, new), 0.95, on) for new in (b, better))
    assert after.passed or not before.passed


def test_margins_take_texts_and_mappings():
    def margins(given):
        return margins_of(plan_of(None, fail_if_worse=given).compare.fail_if_worse)

    assert margins(["a:b:worst:0.1"]) == margins({"a:b:worst": 0.1})
    assert margins("worst:0.1")[0].set == "all"
    assert margins(None) == []


@pytest.mark.parametrize("score", ["accuracy", "macro_f1"])
@pytest.mark.parametrize("cluster", [None, "pair"])
def test_the_first_word_never_contradicts_the_primary_test(random_run, fake_run, score, cluster):
    """Runs that differ a little, by examples and in clusters of two, by a mean and by a score of the whole set."""
    rng, said = np.random.default_rng(6), set()
    for _ in range(12):
        right = rng.random((60, 4)) < rng.choice([0.8, 0.9])
        other = np.where(rng.random((60, 4)) < 0.7, right, rng.random((60, 4)) < rng.choice([0.4, 0.8, 1.0]))

        def made(table):
            rows = [
                ("xy"[i % 2], "xy"[i % 2] if row[0] else "z",
                 [("k/a", d, "same", "xy"[i % 2] if ok else "z") for d, ok in enumerate(row[1:])],
                 {"pair": str(i // 2)})
                for i, row in enumerate(table.tolist())
            ]  # fmt: skip
            return fake_run(rows)

        found = compare(made(right), made(other), scores=score, plan={"measure": {"cluster": cluster, "sanity": False}})
        (primary,) = (d for d in found.differences if d.primary)
        word = found.outcome().partition(":")[0].partition(",")[0].rstrip(".")
        said.add(word)
        if word in ("Better", "Worse"):
            assert primary.shown
            assert (primary.difference > 0) == (word == "Better")
        assert primary.shown == (primary.p_corrected < 0.05) == (not primary.low <= 0 <= primary.high)
    assert len(said) > 1
