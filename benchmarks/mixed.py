"""The mixed-effects regression beside R's lme4 and statsmodels, on the same scores in one run."""

from __future__ import annotations

import csv
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import Row, in_turns, run, show
from unswayed.measure.paired import complete_effects, mixed_effects

SIZES = (1_252, 100_000)
NAMES = ["dialect", "mt", "perturb"]
STATSMODELS_MOST = 10_000  # examples; it takes minutes above
R_SCRIPT = """
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
t <- system.time(m <- lmer(score ~ condition + (1 | id), d))
cat(t[["user.self"]] + t[["sys.self"]], fixef(m), sqrt(diag(as.matrix(vcov(m)))))
"""


def lme4(path: Path) -> tuple[float, list[float]] | None:
    """CPU seconds of the fit, and coefficients with their standard errors."""
    if not shutil.which("Rscript"):
        return None
    numbers = [float(number) for number in run(["Rscript", "-e", R_SCRIPT, path]).stdout.split()]
    return numbers[0], numbers[1:]


def statsmodels(scores: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.regression.mixed_linear_model import MixedLM

        n, k = scores.shape
        design = np.tile(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]), (n, 1))
        model = MixedLM(scores.ravel(), design, groups=np.repeat(np.arange(n), k))
        return in_turns({"fit": lambda: model.fit(reml=True)}, 1)["fit"]


def rows() -> Iterator[Row]:
    for n in SIZES:
        rng = np.random.default_rng(n)
        scores = rng.normal(size=n)[:, None] + np.arange(3) * 0.1 + rng.normal(0, 0.7, (n, 3))
        yield from beside_others(scores)


def beside_others(scores: np.ndarray) -> Iterator[Row]:
    n = len(scores)
    long = [(f"e{i}", NAMES[j], float(scores[i, j])) for i in range(n) for j in range(3)]
    columns = [list(column) for column in zip(*long, strict=True)]
    holed = [list(column) for column in zip(*(row for i, row in enumerate(long) if i % 7), strict=True)]
    taken = in_turns(
        {
            "complete": lambda: complete_effects(scores, NAMES),
            "long": lambda: mixed_effects(*columns),
            "holes": lambda: mixed_effects(*holed),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.csv")
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("id", "condition", "score"), *long])
        theirs = lme4(path)
    what = f"mixed-effects regression of {n:,} examples × 3 conditions"
    note = f"{taken['long']:.3f} s from a long table, {taken['holes']:.3f} s with holes"
    gap = f"; estimates and errors differ by {_gap(scores, theirs[1]):.0e} at most" if theirs else "; R is not here"
    ours: dict[str, Any] = {"unit": "CPU s", "ours": taken["complete"], "more": False}
    asked = 0.1 if n == max(SIZES) else None
    yield Row(
        name=f"{n:,}: lme4",
        what=what,
        peer="R's lme4",
        theirs=theirs and theirs[0],
        asked=asked,
        note=note + gap,
        **ours,
    )
    if n <= STATSMODELS_MOST:
        yield Row(name=f"{n:,}: statsmodels", what=what, peer="statsmodels MixedLM", theirs=statsmodels(scores), **ours)


def _gap(scores: np.ndarray, theirs: list[float]) -> float:
    """The greatest difference between our estimates and errors and lme4's."""
    found = complete_effects(scores, NAMES)
    both = [found.intercept, *found.coefficients.values()]
    mine = [c.value for c in both] + [c.pooled_se for c in both]
    return max(abs(a - b) for a, b in zip(mine, theirs, strict=True))


def main() -> None:
    show("mixed", rows())


if __name__ == "__main__":
    main()
