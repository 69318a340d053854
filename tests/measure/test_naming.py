"""No untested superlative: what is named is told from the rest, its interval holds, and equivalence is shown or not."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import numpy as np
import pytest

import unswayed
from unswayed.base.errors import UsageError
from unswayed.measure import naming
from unswayed.measure.measuring import measure_run
from unswayed.measure.sentences import plain, verdict
from unswayed.stats import Numbers
from unswayed.stats.multiple_comparisons import compare_groups, compare_paired_sets


def drops(rng, n, rate):
    """Two variants of an example that is answered rightly in 90%."""
    clean = rng.random(n) < 0.9
    right = np.where(clean[:, None], rng.random((n, 2)) >= rate, rng.random((n, 2)) < 0.2)
    return clean - right.mean(axis=1)


def above(found, alpha=0.05):
    return bool(((found.p <= alpha) & (found.value > found.rest)).any())


@pytest.mark.parametrize(("n", "groups", "rate"), [(50, 20, 0.1), (200, 5, 0.3)])
def test_no_slice_is_named_where_all_are_alike(n, groups, rate):
    rng, named = np.random.default_rng(5), 0
    for seed in range(60):
        code = rng.choice(groups, n, p=rng.dirichlet(np.ones(groups)))
        named += above(compare_groups(drops(rng, n, rate), np.ones(n), code, groups, 1.0, 0.95, seed))
    assert named <= 8  # 5% would be 3; without a correction it is half of them


def test_no_operator_is_named_where_all_are_alike():
    rng, named = np.random.default_rng(6), 0
    for seed in range(75):
        numbers = np.column_stack([drops(rng, 80, 0.15) for _ in range(6)])
        there = (rng.random(numbers.shape) < 0.8).astype(float)
        named += above(compare_paired_sets(numbers * there, there, 1.0, 0.95, seed))
    assert named <= 9


def test_the_one_that_is_hurt_is_named():
    rng, named = np.random.default_rng(7), 0
    for seed in range(20):
        code = rng.integers(0, 5, 300)
        numbers = np.where(code == 2, drops(rng, 300, 0.5), drops(rng, 300, 0.05))
        named += compare_groups(numbers, np.ones(300), code, 5, 1.0, 0.95, seed).most(0.05) == 2
    assert named >= 18


def rows(n, hurt):
    """Three operators, of which the first goes wrong for a share of the examples, and two slices of no difference."""
    made = []
    for i in range(n):
        gold = "ab"[i % 2]
        wrong = "ba"[i % 2]
        varied = [("o/one", 0, "same", wrong if (i * 7) % 100 < hurt else gold), ("o/two", 0, "same", gold),
                  ("o/three", 0, "same", wrong if i % 25 == 0 else gold)]  # fmt: skip
        made.append((gold, gold, varied, {"third": "xyz"[i % 3]}))
    return made


def test_results_name_the_operator_that_is_hurt_and_no_slice(fake_run):
    results = measure_run(fake_run(rows(200, 40)))
    named = results.naming.sets["operator"]
    assert {name: one.hurt for name, one in named.items()} == {"o/one": "most", "o/two": "", "o/three": ""}
    one = named["o/one"]
    assert one.drop == pytest.approx(results.by("operator")["o/one"].drop.value)
    assert one.low < results.by("operator")["o/one"].drop.low  # together is wider than each by itself
    assert one.low > 0
    assert one.rest == pytest.approx(0.02)
    assert one.p < 0.001
    assert not any(one.hurt for one in results.naming.sets["third"].values())
    assert "Affected most: operator o/one (drop 0.400)." in plain(verdict(results))
    assert results.naming.grid == {"o/one": ["third=x", "third=y", "third=z"]}


def test_where_nothing_differs_that_is_said(fake_run):
    said = plain(verdict(measure_run(fake_run(rows(60, 4)))))
    assert "No drop stands out among the operators and the slices." in said
    assert "Affected" not in said


def test_within_a_margin(fake_run):
    steady = measure_run(fake_run(rows(4000, 0)), {"measure": {"within": 0.02}})
    assert steady.within.whole.shown
    assert "robust within 2 points" in plain(verdict(steady))
    few = measure_run(fake_run(rows(60, 0)), {"measure": {"within": 0.02}})
    assert not few.within.whole.shown
    enough = few.within.whole.needed
    assert enough > 60
    assert measure_run(fake_run(rows(enough + enough % 2, 0)), {"measure": {"within": 0.02}}).within.whole.shown


def test_the_examples_that_are_needed_are_enough_in_clusters_too(fake_run):
    def within(n):
        made = [("ab"[i % 2], "ab"[i % 2], [("o", 0, "same", "ab"[i % 2])], {"part": str(i // 10)}) for i in range(n)]
        return measure_run(fake_run(made), {"measure": {"within": 0.05, "cluster": "part"}}).within.whole

    few = within(150)
    assert not few.shown
    assert few.needed > 250
    assert within(few.needed + 10).shown


def test_a_drop_near_the_margin(fake_run):
    few = measure_run(fake_run(rows(60, 0)), {"measure": {"within": 0.02}})
    said = plain(verdict(few))
    assert f"can't be shown to be within 2 points: more examples are needed (about {few.within.whole.needed:,})" in said
    worse = measure_run(fake_run(rows(400, 60)), {"measure": {"within": 0.02}})
    assert worse.within.whole.outside
    assert "not robust within 2 points" in plain(verdict(worse))
    assert worse.within.operators["o/two"].low > worse.within.operators["o/two"].high - 0.1
    assert measure_run(fake_run(rows(60, 0))).within is None


def test_what_is_missing_may_lie_outside_the_margin(fake_run):
    """Half of the varied inputs fail: the drop may be anything up to a half."""
    failed = [("ab"[i % 2], "ab"[i % 2], [("o", 0, "same", fake_run.FAILED if i % 4 < 2 else "ab"[i % 2])])
              for i in range(4000)]  # fmt: skip
    left = measure_run(fake_run(failed), {"measure": {"within": 0.02}})
    assert "On the inputs that were answered, the system is robust within 2 points" in plain(verdict(left))
    bounds = measure_run(fake_run(failed), {"measure": {"within": 0.02, "missing": "bounds"}})
    assert not bounds.within.whole.shown
    assert bounds.within.whole.high == pytest.approx(0.5, abs=0.05)
    assert "robust" not in plain(verdict(bounds))


def test_equivalence_is_seldom_claimed_at_the_margin(fake_run):
    """The true drop is the margin: a claim is false."""
    rng, claims = np.random.default_rng(9), 0
    for _ in range(80):
        wrong = rng.random(150) < 0.1
        made = [("ab"[i % 2], "ab"[i % 2], [("o", 0, "same", "ab"[(i + w) % 2])]) for i, w in enumerate(wrong)]
        claims += measure_run(fake_run(made), {"measure": {"within": 0.1}}).within.whole.shown
    assert claims <= 10  # 5% would be 4


def test_at_the_command_line(tmp_path: Path) -> None:
    data = [{"text": f"turn the {'light' if i % 2 else 'song'} on at {i}", "label": "lights" if i % 2 else "music",
             "room": "hall" if i % 3 else "bath"} for i in range(60)]  # fmt: skip
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    (tmp_path / "clf.py").write_text(
        "def predict(batch): return ['lights' if 'light' in x['text'] else 'music' for x in batch]\n"
    )
    operators = ("--with", "keyboard/adjacent", "--with", "spoken/filler_end")
    made = ("vary", "mine.jsonl", "--group", "room", *operators, "--draws", "2", "-o", "suite/")
    assert commands.unswayed(*made, cwd=tmp_path).returncode == 0
    asked = ("run", "suite/", "--system", "clf:predict", "-o", "run/", "--within", "0.02")
    done = commands.unswayed(*asked, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["naming"]["sets"]) == {"operator", "family", "room"}
    assert found["within"]["margin"] == 0.02
    shown = commands.unswayed(*asked, cwd=tmp_path).stdout
    assert "within 2 points" in shown
    assert "drop (all together)" in shown
    commands.unswayed("report", "run/", "-o", "report.html", "--within", "0.02", cwd=tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "Can the operators be told apart?" in page
    assert "also after correction for the number of cells" in page
    done = commands.unswayed("measure", "run", "run/", "--within", "0", cwd=tmp_path)
    assert done.returncode == 4
    assert "--within must be a number above 0" in done.stderr
    with pytest.raises(UsageError, match="must be a number above 0"):
        unswayed.check(
            lambda batch: ["lights"] * len(batch),
            str(tmp_path / "mine.jsonl"),
            "spoken/filler_end",
            plan={"measure": {"within": -1}},
        )


def test_the_score_and_the_flips_weigh_alike(fake_run):
    """One variant of one example goes wrong, ten of another do not: half of the score, and half of the answers."""
    rows = [("a", "a", [("p", 0, "same", "b")]), ("a", "a", [("p", draw, "same", "a") for draw in range(10)])]
    results = measure_run(fake_run(rows))
    assert results.average.value == results.flip_rate.value == 0.5
    assert "from 1.000 to 0.500" in plain(verdict(results))
    assert "of answers change" in plain(verdict(results))


@pytest.mark.parametrize("holes", [False, True])
def test_sets_of_the_same_units_are_told_apart_column_by_column_as_all_together(monkeypatch, holes):
    """Where an operator has no variant of some example, the sets' units differ, and the general way is gone anyway."""
    rng = np.random.default_rng(9)
    sets = {}
    for name, rate in (("a", 0.1), ("b", 0.4), ("c", 0.1)):
        ids = np.arange(200)[rng.random(200) < 0.9] if holes else np.arange(200)
        sets[name] = ids, Numbers(drops(rng, len(ids), rate), np.full(len(ids), 2.0), np.ones(len(ids)))
    assert (naming._shared(list(sets), sets.__getitem__) is None) == holes
    quick = naming._told("operator", list(sets), sets.__getitem__, 1.0, 0.95, 0)
    monkeypatch.setattr(naming, "_shared", lambda *_: None)
    plain_way = naming._told("operator", list(sets), sets.__getitem__, 1.0, 0.95, 0)
    for one, other in zip(vars(quick).values(), vars(plain_way).values(), strict=True):
        np.testing.assert_array_equal(one, other)
