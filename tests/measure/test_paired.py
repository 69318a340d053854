"""Win rates and the sentences they need against scipy; the mixed-effects regression against lme4 and statsmodels."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from pathlib import Path

import commands
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.measure import paired
from unswayed.measure.paired import (
    Mixed,
    complete_effects,
    mixed_effects,
    pairs_for_difference,
    pairs_for_wins,
    power_of_difference,
    power_of_wins,
    win_rate,
)
from unswayed.stats import binomial_tail, clopper_pearson


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.unswayed(*arguments)


@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.5, 0.1, 0.93]))
@settings(max_examples=100, deadline=None)
def test_tail_and_interval_equal_scipys(k: int, n: int, p: float) -> None:
    k = min(k, n)
    assert binomial_tail(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=1e-9, abs=1e-12)
    theirs = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(k, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_large_tail() -> None:
    assert binomial_tail(1_400, 2_616) == pytest.approx(stats.binom.sf(1_399, 2_616, 0.5), rel=1e-9)


def test_ties_decide() -> None:
    """60 wins, 10 ties, 45 losses: what a tie is changes the answer, so it is said."""
    gaps = np.array([1.0] * 60 + [0.0] * 10 + [-1.0] * 45)
    zero = np.zeros(len(gaps))
    loss, half, drop = (win_rate(gaps, zero, ties=ties) for ties in ("loss", "half", "drop"))
    assert (loss.wins, loss.ties, loss.losses) == (60, 10, 45)
    assert [w.share.value for w in (loss, half, drop)] == pytest.approx([60 / 115, 65 / 115, 60 / 105])
    assert loss.p == pytest.approx(0.35, abs=0.01)
    assert drop.p == pytest.approx(0.086, abs=0.001)
    assert "ties=half" in half.share.signature
    assert win_rate(gaps * 2, zero).share.signature != win_rate(gaps, zero).share.signature
    with pytest.raises(UsageError, match="'some'"):
        win_rate(gaps, zero, ties="some")  # type: ignore[arg-type]


def test_what_is_not_a_number_is_missing() -> None:
    found = win_rate(np.array([1.0, np.nan, 2.0]), np.array([0.0, 0.0, np.inf]))
    assert (found.share.n, found.share.missing, found.share.value) == (1, 2, 1.0)
    assert win_rate(np.array([np.nan]), np.array([0.0])).share.value is None


@pytest.mark.parametrize("share", [0.55, 0.6, 0.75])
def test_power(share: float) -> None:
    n = pairs_for_wins(share)
    least = int(stats.binom.isf(0.05, n, 0.5)) + 1
    assert power_of_wins(share, n) == pytest.approx(stats.binom.sf(least - 1, n, share))
    assert power_of_wins(share, n) >= 0.8
    assert power_of_wins(share, int(n * 0.7)) < 0.8


@pytest.mark.parametrize(("difference", "sd"), [(0.5, 4.0), (0.5, 0.5), (0.2, 0.1), (-0.05, 0.4)])
def test_power_of_means(difference: float, sd: float) -> None:
    """By scipy's noncentral t: with few pairs, the normal distribution asks for too few."""
    n = pairs_for_difference(difference, sd)

    def power(n: int) -> float:
        most, effect = stats.t.isf(0.025, n - 1), abs(difference) / sd * np.sqrt(n)
        return float(stats.nct.sf(most, n - 1, effect) + stats.nct.cdf(-most, n - 1, effect))

    assert power_of_difference(difference, sd, n) == pytest.approx(power(n), abs=1e-4)
    assert power(n) >= 0.8 - 1e-4
    assert power(n - 1) < 0.8 + 1e-4


def test_command_of_power() -> None:
    done = command("measure", "power", "--wins", "0.55", "--format", "json")
    assert json.loads(done.stdout) == {"wins": pairs_for_wins(0.55)}
    assert command("measure", "power").returncode != 0
    assert command("measure", "power", "--wins", "0.4").returncode != 0


R_SCRIPT = """
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
m <- lmer(score ~ condition + (1 | id), d, REML = TRUE,
          control = lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-14, ftol_abs = 1e-14)))
v <- as.data.frame(VarCorr(m))$vcov
cat(sprintf("%.12e", c(fixef(m), sqrt(diag(as.matrix(vcov(m)))), v)))
"""


def table(
    n: int, k: int = 3, holes: float = 0.0, spread: float = 1.0, seed: int = 0
) -> tuple[list[str], list[str], list[float]]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, spread, n)[:, None] + np.arange(k) * 0.3 + rng.normal(0, 0.7, (n, k))
    kept = rng.random((n, k)) >= holes
    places = [(i, j) for i in range(n) for j in range(k) if kept[i, j]]
    names = ["dialect", "mt", "perturb", "z"]
    return [f"e{i}" for i, _ in places], [names[j] for _, j in places], [float(scores[i, j]) for i, j in places]


def numbers(found: Mixed) -> list[float]:
    both = [found.intercept, *found.coefficients.values()]
    return [
        *(c.value for c in both),
        *(c.pooled_se for c in both),
        found.variance["example"],
        found.variance["residual"],
    ]


def write(path: Path, rows: tuple[list[str], list[str], list[float]]) -> Path:
    lines = [f"{example},{condition},{score!r}" for example, condition, score in zip(*rows, strict=True)]
    path.write_text("\n".join(["id,condition,score", *lines]) + "\n")
    return path


@pytest.mark.skipif(not shutil.which("Rscript"), reason="needs R with lme4 (Debian: r-cran-lme4)")
@pytest.mark.parametrize(("n", "k", "holes"), [(200, 3, 0.0), (60, 2, 0.0), (300, 3, 0.25), (150, 4, 0.1)])
def test_equals_lme4(tmp_path: Path, n: int, k: int, holes: float) -> None:
    rows = table(n, k, holes, seed=n)
    (tmp_path / "fit.R").write_text(R_SCRIPT)
    done = subprocess.run(
        ["Rscript", tmp_path / "fit.R", write(tmp_path / "scores.csv", rows)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = [float(number) for number in done.stdout.split()]
    assert numbers(mixed_effects(*rows)) == pytest.approx(theirs, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_equals_statsmodels(holes: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.regression.mixed_linear_model import MixedLM
    examples, conditions, scores = rows = table(120, 3, holes, seed=3)
    names = sorted(set(conditions))
    design = np.array([[1.0, *(c == name for name in names[1:])] for c in conditions])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = MixedLM(np.array(scores), design, groups=np.array(examples)).fit(reml=True, method=["bfgs", "cg"])
    ours = mixed_effects(*rows)
    both = [ours.intercept, *ours.coefficients.values()]
    assert [c.value for c in both] == pytest.approx(theirs.fe_params, abs=1e-6)
    assert ours.variance["residual"] == pytest.approx(theirs.scale, abs=1e-6)
    assert ours.variance["example"] == pytest.approx(theirs.cov_re[0, 0], abs=1e-5)
    if not holes:  # with holes its errors also count the variances' own, which lme4's, like ours, do not
        assert [c.pooled_se for c in both] == pytest.approx(theirs.bse_fe, abs=1e-6)


def test_the_search_finds_the_closed_form() -> None:
    """A score given twice is no complete table; both ways must agree where only that tells them apart."""
    examples, conditions, scores = table(80, 3)
    closed = mixed_effects(examples, conditions, scores)
    _, example = np.unique(examples, return_inverse=True)
    _, condition = np.unique(conditions, return_inverse=True)
    fit = paired._reml(np.ones((80, 3)), condition, example, np.array(scores))
    assert fit.within == pytest.approx(closed.variance["residual"], rel=1e-7)
    assert fit.between == pytest.approx(closed.variance["example"], rel=1e-6)
    assert np.sqrt(fit.covariance[0, 0]) == pytest.approx(closed.intercept.pooled_se, rel=1e-7)


def test_examples_that_do_not_differ() -> None:
    """Less variance between examples than chance gives: the variance of examples is zero, as lme4 has it."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 3))
    scores -= scores.mean(axis=1, keepdims=True) * 0.999
    found = complete_effects(scores, ["a", "b", "c"])
    assert found.variance["example"] == 0
    pooled = ((scores - scores.mean(axis=0)) ** 2).sum() / (150 - 3)
    assert found.variance["residual"] == pytest.approx(pooled)
    assert found.coefficients["b"].pooled_se == pytest.approx(np.sqrt(2 * pooled / 50))


@given(st.integers(2, 30), st.integers(2, 4), st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_differences_are_paired_means(n: int, k: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(n, k))
    found = complete_effects(scores, list("abcd"[:k]))
    for j, name in enumerate("abcd"[1:k], 1):
        theirs = stats.ttest_rel(scores[:, j], scores[:, 0])
        interval = theirs.confidence_interval(0.95)
        ours = found.coefficients[name]
        assert ours.value == pytest.approx((scores[:, j] - scores[:, 0]).mean())
        assert (ours.p, ours.df) == (pytest.approx(theirs.pvalue), n - 1)
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))


def test_with_holes_the_error_is_the_jackknifes() -> None:
    """Without REML's shrinkage (examples that do not differ) means are plain, and leaving out can be done by hand."""
    rng = np.random.default_rng(5)
    kept = rng.random((30, 3)) >= 0.2
    scores = rng.normal(size=(30, 3)) * [1, 1, 5]
    example, condition = np.nonzero(kept)
    fit = paired._Fit(np.array([scores[kept[:, j], j].mean() for j in range(3)]), np.eye(3), 0.0, 1.0)
    error, df = paired._leaving_out(fit, kept.astype(float), condition, example, scores[kept])(np.array([-1.0, 0, 1]))

    def difference(rows: np.ndarray) -> float:
        return float(scores[rows & kept[:, 2], 2].mean() - scores[rows & kept[:, 0], 0].mean())

    without = np.array([difference(np.arange(30) != i) for i in range(30)])
    assert error == pytest.approx(np.sqrt(29 / 30 * ((without - difference(np.ones(30, bool))) ** 2).sum()), rel=1e-6)
    assert df < kept[:, 2].sum()


@pytest.mark.parametrize(("holes", "times"), [(0.0, 1500), (0.2, 150)])
def test_false_positives_with_unequal_variances(holes: float, times: int) -> None:
    """Standard deviations 1, 1, 5 and no difference: a pooled error rejects the one never, the other in 10%."""
    rng = np.random.default_rng(11)
    found, family = np.zeros(2), 0
    for _ in range(times):
        scores = rng.normal(size=(30, 1)) + rng.normal(size=(30, 3)) * [1, 1, 5]
        rows = [(i, j) for i in range(30) for j in range(3) if rng.random() >= holes]
        fit = (
            mixed_effects([str(i) for i, _ in rows], ["abc"[j] for _, j in rows], [scores[i, j] for i, j in rows])
            if holes
            else complete_effects(scores, "abc")
        )
        found += [fit.coefficients[name].p < 0.05 for name in "bc"]
        family += min(fit.coefficients[name].p_holm for name in "bc") < 0.05
    slack = 3 * np.sqrt(0.05 * 0.95 / times)
    assert (abs(found / times - 0.05) < slack).all()
    assert family / times < 0.05 + slack


def test_a_condition_of_one_example_has_no_error() -> None:
    ids, conditions = list("aabbccdd"), ["x", "y"] * 3 + ["x", "z"]
    found = mixed_effects(ids, conditions, [1.0, 2.5, 2.0, 3.1, 4.0, 5.3, 1.0, 7.0])
    assert found.coefficients["z"].se is None
    assert found.coefficients["z"].p_holm is None
    assert found.coefficients["z"].pooled_se > 0
    assert found.coefficients["y"].p is not None


def test_another_reference() -> None:
    rows = table(40)
    first, other = mixed_effects(*rows), mixed_effects(*rows, reference="mt")
    assert other.coefficients["dialect"].value == pytest.approx(-first.coefficients["mt"].value)
    with pytest.raises(UsageError, match="no condition 'nothing'"):
        mixed_effects(*rows, reference="nothing")


def test_what_can_not_be_fitted() -> None:
    with pytest.raises(NothingEvaluated, match="compares conditions"):
        mixed_effects(["a", "b"], ["x", "x"], [1.0, 2.0])
    with pytest.raises(NothingEvaluated, match="single score"):
        mixed_effects(["a", "b", "c", "d"], ["x", "y", "x", "y"], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(NothingEvaluated, match="two examples"):
        mixed_effects(["a", "a"], ["x", "y"], [1.0, 2.0])


def test_command(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", table(30))
    ask = ["measure", "mixed", str(path), "--example", "id", "--condition", "condition", "--score", "score"]
    done = command(*ask, "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["reference"] == "dialect"
    assert set(found["coefficients"]) == {"mt", "perturb"}
    assert {"value", "se", "low", "high", "p"} <= set(found["coefficients"]["mt"])
    assert set(found["variance"]) == {"example", "residual"}


def test_holes_are_counted_and_bad_cells_named(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,condition,score\n" + "".join(f"{i},{c},{i % 7 + len(c)}.5\n" for i in range(20) for c in "ab"))
    with path.open("a") as file:
        file.write("20,a,nan\n20,b,1\n21,a,\n21,b,3\n")
    done = command("measure", "mixed", str(path), "--format", "json")
    assert (json.loads(done.stdout)["missing"], json.loads(done.stdout)["incomplete"]) == (2, 2)
    assert "2 scores" in done.stderr
    with path.open("a") as file:
        file.write("22,a,much\n")
    done = command("measure", "mixed", str(path))
    assert done.returncode != 0
    assert "'much' is not a number" in done.stderr
    assert ":46" in done.stderr
    done = command("measure", "mixed", str(path), "--score", "scor")
    assert "Did you mean 'score'?" in done.stderr


def test_a_signature_tells_apart_whatever_decides_the_regression() -> None:
    examples, conditions, scores = table(80, 3)
    found = [
        mixed_effects(examples, conditions, scores),
        mixed_effects(examples, conditions, scores, level=0.9),
        mixed_effects(examples, conditions, scores, reference=sorted(set(conditions))[-1]),
        mixed_effects(examples, conditions, [scores[0] + 1, *scores[1:]]),
        mixed_effects(examples[1:], conditions[1:], scores[1:]),
    ]
    assert len({fit.signature for fit in found}) == len(found)
