"""Gates: which figure is held against the limit, and that nothing measured never passes."""

from __future__ import annotations

import re

import msgspec
import pytest

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.values import Estimate
from unswayed.measure import gates
from unswayed.measure.gates import check_gates
from unswayed.measure.measuring import measure_run
from unswayed.run.plan import plan_of


def gates_of(fail_under=None, **wanted):
    """The gates of a plan that says so, with texts as at the command line."""
    return gates.gates_of(plan_of(None, {"gate": {"fail_under": fail_under, **wanted}}).gate)


@pytest.fixture(scope="module")
def results(fake_run):
    rows = [("a", "a", [("p", 0, "same", "a" if i % 5 else "b")]) for i in range(50)]
    return measure_run(fake_run(rows), {"measure": {"bootstrap": 500}})


def one(results, **wanted):
    (result,) = check_gates(results, gates_of(**wanted))
    return result


def test_scores_must_not_fall_under(results):
    passed = one(results, fail_under=["worst=0.80"])
    assert (passed.name, passed.bound, passed.limit, passed.passed) == ("worst", pytest.approx(0.8), 0.8, True)
    assert passed.sentence == "Gate passed: worst is 0.800; the lower limit is 0.8."
    assert not one(results, fail_under={"worst": 0.81}).passed


def test_drops_and_flips_must_not_exceed(results):
    assert one(results, max_drop=0.2).passed
    assert not one(results, max_drop=0.19).passed
    assert one(results, max_flips=0.2).passed
    assert not one(results, max_flips=0.1).passed


def test_ci_lower_takes_the_unfavourable_end(results):
    assert one(results, fail_under=["worst=0.8"], on="at-worst").bound == results.worst.low
    assert one(results, max_drop=0.2, on="at-worst").bound == results.drop.high
    assert one(results, max_flips=0.2, on="at-best").bound == results.flip_rate.low
    assert not one(results, max_flips=0.2, on="at-worst").passed
    assert one(results, max_flips=0.2, on="at-best").passed
    assert "at the upper end of its interval; the upper limit" in one(results, max_flips=0.2, on="at-worst").sentence


def test_a_figure_just_past_the_limit_is_shown_as_such(results):
    close = msgspec.structs.replace(results, worst=Estimate(0.5999, 0.5, 0.7, 9, 0, ""))
    assert one(close, fail_under=["worst=0.60"]).sentence == "Gate failed: worst is 0.5999; the lower limit is 0.6."


def test_nothing_measured_fails(results):
    nothing = one(results, fail_under=["noticed=0.5"])
    assert (nothing.bound, nothing.passed) == (None, False)
    assert "nothing was measured" in nothing.sentence


def test_rounding_does_not_fail_a_gate(results):
    drop = Estimate(0.9 - 0.8, 0.0, 0.2, 9, 0, "")
    assert one(msgspec.structs.replace(results, drop=drop), max_drop=0.1).passed


@pytest.mark.parametrize("text", ["wurst=0.5", "signature=0.5"])
def test_unknown_names(text):
    with pytest.raises(UnknownName):
        gates_of([text])
    with pytest.raises(UsageError, match="must be value, at-worst or at-best, not 'ci-low'"):
        gates_of([], on="ci-low")


@pytest.mark.parametrize("text", ["worst", "worst=", "worst=high", "worst=nan", "drop=0.1"])
def test_bad_limits(text):
    with pytest.raises(UsageError):
        gates_of([text])


def test_the_nearest_name_is_offered():
    with pytest.raises(UnknownName, match="Did you mean 'worst'"):
        gates_of(["wrst=0.5"])


@pytest.fixture(scope="module")
def cut(fake_run):
    """Right but for keyboard/typist at home; families and slices with awkward names."""
    rows = []
    for i in range(40):
        at_home = i % 2 == 0
        groups = {"domain": "home" if at_home else "work", "a:b": "x=y:z"}
        typed = "b" if at_home and i % 4 == 0 else "a"
        rows.append(("a", "a", [("keyboard/typist", 0, "same", typed), ("keyboard/far", 0, "same", "a"),
                                ("spoken/um", 0, "same", "a")], groups))  # fmt: skip
    return measure_run(fake_run(rows))


def test_gates_by_operator_family_and_slice(cut):
    wanted = gates_of(
        ["keyboard/typist:average=0.75", "spoken:average=1", "domain=home:worst=0.6", "a:b=x=y:z:clean=1"],
        max_drop=["0.1", "domain=work:0", "keyboard/typist:0.2"],
        max_flips={"all": 0.1, "domain=home": 0.1},
    )
    found = check_gates(cut, wanted)
    assert [(g.name, g.passed) for g in found] == [
        ("keyboard/typist:average", True),
        ("spoken:average", True),
        ("domain=home:worst", False),
        ("a:b=x=y:z:clean", True),
        ("drop", True),
        ("domain=work:drop", True),
        ("keyboard/typist:drop", False),
        ("flips", True),
        ("domain=home:flips", False),
    ]
    assert found[2].bound == cut.sets["domain"]["home"].worst.value == 0.5
    assert found[2].sentence == "Gate failed: worst on domain=home is 0.500; the lower limit is 0.6."
    upper = one(cut, max_drop="keyboard/typist:0.2", on="at-worst")
    assert upper.bound == cut.sets["operator"]["keyboard/typist"].drop.high


def test_a_star_is_a_gate_for_each(cut):
    names = [
        g.name for g in check_gates(cut, gates_of(["keyboard/*:worst=0", "family=*:clean=0"], max_drop="domain=*:1"))
    ]
    assert names == ["keyboard/far:worst", "keyboard/typist:worst", "keyboard:clean", "spoken:clean",
                     "domain=home:drop", "domain=work:drop"]  # fmt: skip
    assert len(check_gates(cut, gates_of(["*:worst=0"]))) == 3


def test_the_kind_tells_equal_names_apart(results):
    """The only operator has the name of its family."""
    names = [g.name for g in check_gates(results, gates_of(["p:worst=0", "operator=p:worst=0", "family=p:worst=0"]))]
    assert names == ["p:worst"] * 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keyboard/typst:worst=0.5", "no operator or family named 'keyboard/typst'. Did you mean 'keyboard/typist'"),
        ("domian=home:worst=0.5", "no slice named 'domian'. Did you mean 'domain'"),
        ("domain=hom:worst=0.5", "no value of the slice 'domain' named 'hom'. Did you mean 'home'"),
        ("operator=keyboard:worst=0.5", "no operator named 'keyboard'"),
        ("speech/*:worst=0.5", "no operator or family named 'speech/*'"),
        ("keyboard/typist:wrst=0.5", "no measure to gate on named 'wrst'. Did you mean 'worst'"),
        ("keyboard/typist:drop=0.5", 'use plan={"gate": {"max_drop": …}} instead'),
        ("keyboard/typist:worst=high", "The limit of 'keyboard/typist:worst' must be a number, not 'high'"),
        ("worst", "Write [SET:]MEASURE=LIMIT, such as worst=0.60"),
    ],
)
def test_wrong_gates_say_what_is_wrong(cut, text, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        check_gates(cut, gates_of([text]))


def test_a_set_of_the_suite_that_was_not_measured_fails(cut):
    known = {"operator": ["keyboard/never"], "family": ["keyboard"]}
    (never,) = check_gates(cut, gates_of(["keyboard/never:worst=0"]), known)
    assert (never.bound, never.passed) == (None, False)


@pytest.mark.parametrize("n", [10, 30, 100])
@pytest.mark.parametrize("wrong", [1, 2, 5])
def test_the_perfect_system_passes_what_a_worse_one_passes(fake_run, n, wrong):
    """Near perfection an interval must not be kinder to a system with wrong variants."""

    def made(wrong):
        answers = [["b" if i < wrong and draw == 0 else "a" for draw in range(3)] for i in range(n)]
        return measure_run(fake_run([("a", "a", [("k/p", d, "same", o) for d, o in enumerate(a)]) for a in answers]))

    perfect, worse = made(0), made(wrong)
    limits = [i / 200 for i in range(100, 201)]
    for on in ("at-worst", "value", "at-best"):
        asked = [gate for limit in limits for gate in gates_of(
            {"worst": limit, "average": limit, "cvar": limit, "consistency": limit, "k/p:worst": limit},
            max_drop=1 - limit, max_flips=1 - limit, on=on)]  # fmt: skip
        for best, other in zip(check_gates(perfect, asked), check_gates(worse, asked), strict=True):
            assert best.passed or not other.passed, (best, other)


def _of_slices(fake_run, wrong):
    """Slices of 25 examples with three variants each; the first `wrong` answers of a slice are lost."""
    rows = [
        ("a", "a", [("k/p", d, "same", "b" if i * 3 + d < many else "a") for d in range(3)], {"s": name})
        for name, many in wrong.items() for i in range(25)
    ]  # fmt: skip
    return measure_run(fake_run(rows), {"measure": {"sanity": False}})


def test_a_wildcard_gate_is_one_family(fake_run):
    """One slice of ten is beyond the limit by chance, or by far."""
    healthy = {str(i): (2, 6, 3, 9, 4)[i % 5] for i in range(10)}
    by_chance = check_gates(_of_slices(fake_run, healthy), gates_of(max_drop="s=*:0.1"))
    assert {gate.status for gate in by_chance} == {"passed", "unclear"}
    assert all(gate.passed for gate in by_chance)
    unclear = next(gate for gate in by_chance if gate.status == "unclear")
    assert "Among 10 sets that may be chance, so it passes" in unclear.sentence
    (alone,) = check_gates(_of_slices(fake_run, healthy), gates_of(max_drop="s=3:0.1"))
    assert (alone.passed, alone.status) == (False, "failed")
    lost = check_gates(_of_slices(fake_run, healthy | {"7": 25}), gates_of(max_drop="s=*:0.1"))
    assert [gate.name for gate in lost if not gate.passed] == ["s=7:drop"]
    every = check_gates(_of_slices(fake_run, dict.fromkeys(healthy, 15)), gates_of(max_drop="s=*:0.1"))
    assert not any(gate.passed for gate in every)


@pytest.mark.parametrize(("old", "new"), [("ci-lower", "at-worst"), ("ci-upper", "at-best")])
def test_the_old_names_of_the_ends_are_refused_with_the_new_ones(old, new):
    with pytest.raises(UsageError, match=f"must be value, at-worst or at-best, not '{old}'"):
        gates_of(max_drop=0.2, on=old)
    assert gates_of(max_drop=0.2, on=new)[0].on == new
