"""What a run says in words: the grade is that of its intervals, and every sentence that of its numbers."""

from __future__ import annotations

import msgspec
import pytest

from unswayed.base.values import Estimate
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.measure.sentences import GRADES, by_drop, next_step, plain, severity, slices, verdict


def share(value: float, low: float, high: float, **more) -> Estimate:
    return Estimate(value, low, high, 100, more.pop("missing", 0), "", **more)


@pytest.fixture(scope="module")
def results(random_run) -> Results:
    return msgspec.structs.replace(measure_run(random_run(60)), sanity=[])


def made(results: Results, **figures) -> Results:
    return msgspec.structs.replace(results, **figures)


@pytest.mark.parametrize(
    ("flips", "drop", "grades"),
    [
        (share(0.01, 0.005, 0.015), share(0.0, -0.005, 0.005), ("minor",)),
        (share(0.05, 0.03, 0.07), share(0.0, -0.005, 0.005), ("moderate",)),
        (share(0.2, 0.15, 0.25), share(0.0, -0.005, 0.005), ("serious",)),
        (share(0.01, 0.005, 0.015), share(0.2, 0.1, 0.3), ("serious",)),  # the worse of both
        (share(0.08, 0.04, 0.12), share(0.0, -0.005, 0.005), ("moderate",)),  # a whole standard error away
        (share(0.095, 0.055, 0.135), share(0.0, -0.005, 0.005), ("moderate", "serious")),
        (share(0.05, 0.0, 0.28), share(0.0, -0.005, 0.005), ("moderate", "serious")),
        (share(0.025, 0.0, 0.06), share(0.0, -0.005, 0.005), ("moderate", "minor")),
        (
            share(0.01, 0.0, 0.015, missing=9, bounds=(0.0, 0.2)),
            share(0.0, 0.0, 0.005),
            ("minor", "moderate", "serious"),
        ),
        (share(0.02, 0.02, 0.02), share(0.0, 0.0, 0.0), ("moderate",)),  # a limit belongs to the worse side
    ],
)
def test_a_grade_is_that_of_the_estimates_and_names_what_is_near(results, flips, drop, grades) -> None:
    found = severity(made(results, flip_rate=flips, drop=drop))
    assert (found.grade, *found.not_excluded) == grades
    text = plain(verdict(made(results, flip_rate=flips, drop=drop)))
    assert grades[0] in text.lower().partition(":")[0]
    assert ("not excluded" in text) == (len(grades) > 1)
    assert ("more examples would settle it" in text) == (len(grades) == 2)
    assert {*grades} <= {*GRADES}


def test_about_as_many_more_examples_settle_it(results) -> None:
    """At 8%, two points below serious, half a standard error is four points: four times the examples halve that."""
    found = severity(made(results, flip_rate=share(0.08, -0.0768, 0.2368), drop=share(0.0, 0.0, 0.0)))
    assert found.more == pytest.approx(300, abs=10)


def test_a_broken_set_up_has_no_grade_and_says_so_first(results) -> None:
    broken = made(results, sanity=["Every answer is the same."])
    assert severity(broken) is None
    said = plain(verdict(broken))
    assert said.startswith("The set-up looks broken, so the numbers mean nothing. Every answer is the same.")


def test_scores_to_a_hundred_have_limits_to_a_hundred(results) -> None:
    drop = share(0.5, 0.4, 0.6)
    few = made(results, flip_rate=share(0.0, 0.0, 0.0), drop=drop)
    assert severity(few).grade == "serious"
    assert severity(made(few, score="bleu", task="translate")).grade == "minor"


def test_where_answers_may_be_worded_otherwise_the_drop_decides(results) -> None:
    often = made(results, flip_rate=share(0.9, 0.85, 0.95), drop=share(0.0, 0.0, 0.001))
    assert severity(often).grade == "serious"
    reworded = made(often, task="translate")
    assert by_drop(reworded)
    assert severity(reworded).grade == "minor"
    assert not by_drop(made(reworded, compared={"equivalent": "lower"}))


def test_the_fall_is_called_chance_only_if_its_interval_has_zero(results) -> None:
    whole = made(results, average=share(0.8, 0.7, 0.9), clean=share(0.9, 0.8, 1.0), validity={})
    level = made(whole, drop=share(0.01, -0.02, 0.04), flip_rate=share(0.01, 0.0, 0.02))
    assert plain(verdict(level)).startswith("May be chance, moderate if not: accuracy falls by 1.0 point [−2.0, 4.0] ")
    # a system that repeats itself changes answers, whatever becomes of its score
    often = made(level, flip_rate=share(0.2, 0.15, 0.25))
    assert plain(verdict(often)).startswith("May be chance for the score, serious for the answers: ")
    fall = plain(verdict(made(whole, drop=share(0.1, 0.05, 0.15, p=0.0004))))
    assert fall.startswith("More than chance (p < 0.001), serious: accuracy falls by 10.0 points [5.0, 15.0] ")
    rise = plain(verdict(made(whole, drop=share(-0.1, -0.15, -0.05))))
    assert "accuracy rises by 10.0 points [5.0, 15.0] " in rise
    assert "No fall, minor: accuracy stays at 0.800" in plain(
        verdict(made(whole, drop=share(0.0, -0.01, 0.01), flip_rate=share(0.0, 0.0, 0.01)))
    )


@pytest.mark.parametrize(
    ("figures", "step"),
    [
        ({"drop": share(0.01, -0.02, 0.04)}, "about 800 more examples would settle whether it is chance"),
        ({"drop": share(0.1, 0.05, 0.15)}, "train with such texts (unswayed augment --with "),
        ({"drop": share(0.0, -0.001, 0.001), "flip_rate": share(0.01, 0.0, 0.012)}, "keep it so with a gate in CI"),
        ({"drop": share(0.0, -0.001, 0.001), "flip_rate": share(0.31, 0.21, 0.43)}, "read the changed answers"),
        ({"average": share(0.7, 0.6, 0.8, missing=3)}, "rerun the command"),
        ({"sanity": ["Every answer is the same."]}, None),
    ],
)
def test_the_next_step_follows_from_what_was_found(results, figures, step) -> None:
    whole = made(results, average=share(0.8, 0.7, 0.9), clean=share(0.9, 0.8, 1.0))
    found = next_step(made(whole, **figures))
    assert (found is None) if step is None else step in found.striptags()


def test_missing_outputs_are_said_with_what_they_could_change(results) -> None:
    holes = made(results, average=share(0.7, 0.6, 0.8, missing=12, bounds=(0.5, 0.9)))
    text = plain(verdict(holes))
    assert ": on the inputs that were answered" in text
    assert "12 varied inputs failed and are left out: with them it would lie between 0.500 and 0.900." in text
    assert "falls by" not in text


def test_words_from_outside_are_escaped(fake_run) -> None:
    evil = "<script>alert(1)</script>"
    rows = [("x", "x", [("p", n, "same", "x") for n in range(2)], {evil: evil})] * 40
    rows += [("x", "x", [("p", n, "same", "y") for n in range(2)], {evil: "fine"})] * 40
    found = msgspec.structs.replace(measure_run(fake_run(rows)), sanity=[evil])
    assert evil not in " ".join(map(str, verdict(found)))
    assert set(slices(found)) == {evil}
