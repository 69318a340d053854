"""Runs that end early: rules such as drop±0.02, and intervals that hold whenever one stops."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist

import commands
import numpy as np
import pytest

import unswayed
from unswayed.base.errors import UnknownName, UsageError
from unswayed.measure.precision import stop_rules
from unswayed.stats import MeanKind, mean_interval
from unswayed.stats.intervals import anytime_deviate, anytime_level


@pytest.mark.parametrize(
    ("text", "measure", "within"),
    [("drop±0.02", "drop", 0.02), ("drop+-.02", "drop", 0.02), (" flips +/- 0.1 ", "flips", 0.1)],
)
def test_rules(text: str, measure: str, within: float) -> None:
    assert stop_rules([text])[0][:2] == (measure, within)


@pytest.mark.parametrize(
    "text", ["drop", "drop=0.02", "drop±", "drop±wide", "drop±0", "drop±-1", "drop±nan", "±0.02", ""]
)
def test_rules_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"stop_when= takes a measure and a width, such as drop±0\.02"):
        stop_rules([text])


def test_a_measure_that_there_is_none_of() -> None:
    with pytest.raises(UnknownName, match="no measure to stop on named 'drops'. Did you mean 'drop'"):
        stop_rules(["drops±0.02"])


def test_the_width_is_that_of_a_normal_mixture() -> None:
    """Against its definition: the mixture of likelihood ratios at the boundary is one over the error rate."""
    for n in (10, 400, 5000):
        tau = 8 / 1000  # the mixture's variance over that of one example
        z = anytime_deviate(n)
        ratio = np.exp(z**2 / 2 * n * tau / (1 + n * tau)) / np.sqrt(1 + n * tau)
        assert ratio == pytest.approx(20, rel=1e-4)
        assert NormalDist().inv_cdf((1 + anytime_level(n)) / 2) == pytest.approx(min(z, 8.0), rel=1e-2)


def test_few_examples_show_nothing() -> None:
    assert mean_interval(np.array([1.0, 0.0]), level=anytime_level(2)) == (0.0, 1.0)


@pytest.mark.parametrize(("rate", "kind"), [(0.3, "share"), (0.01, "difference")])
def test_whenever_one_looks_the_truth_is_missed_seldom(rate: float, kind: MeanKind) -> None:
    """Runs that are looked at again and again; fixed intervals miss at some look more often than one in twenty."""
    rng = np.random.default_rng(4)
    looks = [int(32 * 1.25**k) for k in range(17)]
    span = (-1.0, 1.0) if kind == "difference" else (0.0, 1.0)
    missed = fixed = 0
    for _ in range(120):
        values = (rng.random(looks[-1]) < rate).astype(float)

        def misses(n: int, level: float, values: np.ndarray = values) -> bool:
            low, high = mean_interval(values[:n], span, level, kind)
            return low is None or high is None or not low <= rate <= high

        missed += any(misses(n, anytime_level(n)) for n in looks)
        fixed += any(misses(n, 0.95) for n in looks)
    assert missed <= 0.05 * 120
    assert fixed > 0.05 * 120


def data(n: int) -> list[dict[str, str]]:
    names = ["odd" if i % 2 else "even" for i in range(n)]
    return [{"text": f"number {i} is {name}", "label": name} for i, name in enumerate(names)]


def predict(batch: list[dict[str, str]]) -> list[str]:
    return ["odd" if "odd" in inputs["text"] else "even" for inputs in batch]


def test_a_run_ends_early_and_says_so(tmp_path: Path) -> None:
    early = {"to": tmp_path / "run", "stop_when": "drop±0.1", "within": 0.05}
    found = unswayed.check(predict, data(1500), "spoken/filler_end", **early)
    assert found.within is not None
    assert found.within.whole.high == found.drop.high, "whenever the run stops"
    n = found.drop.n
    assert 32 <= n < 300
    assert found.drop.low is not None
    assert found.drop.high is not None
    assert 0 < (found.drop.high - found.drop.low) / 2 <= 0.1
    assert f"on {n} of 1,500 examples, a random sample: the run ended early, when drop±0.1 was reached." in repr(found)
    assert found.asked < 1000
    again = unswayed.check(predict, data(1500), "spoken/filler_end", to=tmp_path / "run", stop_when="drop±0.1")
    assert (again.asked, again.reused) == (0, pytest.approx(found.asked, abs=0))
    narrower = unswayed.check(predict, data(1500), "spoken/filler_end", to=tmp_path / "run", stop_when=["drop±0.04"])
    assert n < narrower.drop.n < 1500
    fixed = unswayed.measure_run(tmp_path / "run")
    assert fixed.drop == narrower.drop  # opened later, it is the same number
    whole = unswayed.check(predict, data(1500), "spoken/filler_end", to=tmp_path / "run")
    assert whole.drop.n == 1500
    assert "sample" not in whole.validity


def test_what_is_not_reached_is_said(tmp_path: Path) -> None:
    plan = unswayed.Plan(run=unswayed.SystemPlan(stop_when=("drop±0.001", "flips±0.5")))
    suite = unswayed.make_suite(data(60), "spoken/filler_end")
    verdict = unswayed.carry_out(plan, tmp_path / "run", system=predict, suite=suite)
    assert verdict.results.drop.n == 60
    assert verdict.exit_code == 0
    assert [w for w in verdict.warnings if "was not reached" in w] == [
        f"drop±0.001 was not reached: the interval of drop is ±{verdict.results.drop.high:.3g}."
    ]


def test_scores_of_whole_sets_are_refused() -> None:
    with pytest.raises(UsageError, match="needs a mean over examples, and macro_f1 is a score of the whole set"):
        unswayed.check(predict, data(60), "spoken/filler_end", scores="macro_f1", stop_when="drop±0.02")


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data(600)))
    (tmp_path / "clf.py").write_text(
        "def predict(batch): return ['odd' if 'odd' in inputs['text'] else 'even' for inputs in batch]\n"
    )
    commands.unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "-o", "suite/", cwd=tmp_path, check=True)
    run = ("run", "suite/", "--system", "clf:predict", "-o", "run/", "--format", "json", "--stop-when")
    done = json.loads(commands.unswayed(*run, "drop±0.02", cwd=tmp_path, check=True).stdout)
    assert done["validity"]["sample"]["why"] == "enough"
    assert done["validity"]["sample"]["examples"] == done["drop"]["n"] < 600
    bad = commands.unswayed(*run, "dorp±0.02", cwd=tmp_path)
    assert bad.returncode == 4
    assert "Did you mean 'drop'?" in bad.stderr
