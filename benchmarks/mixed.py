"""The mixed-effects regression beside R's lme4 and statsmodels, on the same scores in one run."""

from __future__ import annotations

import csv
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from unfazed.measure.mixed import complete_effects, mixed_effects

SIZES = (1_252, 100_000)
NAMES = ["dialect", "mt", "perturb"]
STATSMODELS_MOST = 10_000  # examples; it takes minutes above
R_SCRIPT = """
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
t <- system.time(m <- lmer(score ~ condition + (1 | id), d))
cat(t[["elapsed"]], fixef(m), sqrt(diag(as.matrix(vcov(m)))))
"""


def best(work: Callable[[], object], rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def lme4(path: Path) -> tuple[float, list[float]] | None:
    if not shutil.which("Rscript"):
        return None
    done = subprocess.run(["Rscript", "-e", R_SCRIPT, str(path)], capture_output=True, text=True)
    numbers = [float(number) for number in done.stdout.split()]
    return (numbers[0], numbers[1:]) if numbers else None


def statsmodels(scores: np.ndarray) -> float | None:
    if len(scores) > STATSMODELS_MOST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.regression.mixed_linear_model import MixedLM

        n, k = scores.shape
        design = np.tile(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]), (n, 1))
        model = MixedLM(scores.ravel(), design, groups=np.repeat(np.arange(n), k))
        return best(lambda: model.fit(reml=True), 1)


def main() -> None:
    print("Seconds to fit score ~ condition + (1 | example) with three conditions; ratios to ours, complete table.\n")
    print("| examples | ours | ours from a long table | ours with holes | lme4 | statsmodels | greatest difference |")
    print("|---|---|---|---|---|---|---|")
    for n in SIZES:
        rng = np.random.default_rng(n)
        scores = rng.normal(size=n)[:, None] + np.arange(3) * 0.1 + rng.normal(0, 0.7, (n, 3))
        long = [(f"e{i}", NAMES[j], float(scores[i, j])) for i in range(n) for j in range(3)]
        columns = [list(column) for column in zip(*long, strict=True)]
        holed = [list(column) for column in zip(*(row for i, row in enumerate(long) if i % 7), strict=True)]
        ours = best(lambda scores=scores: complete_effects(scores, NAMES))  # type: ignore[misc]
        from_long = best(lambda columns=columns: mixed_effects(*columns), 2)  # type: ignore[misc]
        with_holes = best(lambda holed=holed: mixed_effects(*holed), 2)  # type: ignore[misc]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scores.csv")
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([("id", "condition", "score"), *long])
            theirs = lme4(path)
        found = complete_effects(scores, NAMES)
        both = [found.intercept, *found.coefficients.values()]
        mine = [c.value for c in both] + [c.se for c in both]
        gap = max(abs(a - b) for a, b in zip(mine, theirs[1], strict=True)) if theirs else None
        slow = statsmodels(scores)
        cells = (
            f"{n:,}",
            f"{ours:.4f}",
            f"{from_long:.3f}",
            f"{with_holes:.3f}",
            f"{theirs[0]:.2f} ({theirs[0] / ours:,.0f}×)" if theirs else "R is not here",
            f"{slow:.2f} ({slow / ours:,.0f}×)" if slow else "left out",
            f"{gap:.1e}" if gap is not None else "",
        )
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
