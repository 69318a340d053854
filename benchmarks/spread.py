"""The spread over prompts from 5% of the calls: errors of its quantiles and coverage of their intervals.

Tables of right and wrong answers are simulated, or are a small chat model's (tools/make_prompt_grid.py). Each time,
`prompt/format`'s design chooses the cells that are asked, and the quantiles of the whole table are the truth. Beside
it stand the means of the cells that were asked, and a Rasch model fitted by logistic regression, as in PromptEval.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from benchmarks._measure import ROOT, Row, show
from unswayed.stats.two_way import SeenCells, row_means

SHARE = 0.05
QUANTILES = {"5%": 0.05, "50%": 0.5, "95%": 0.95}
PROMPTS, EXAMPLES = 100, 100
GRID = ROOT / "benchmarks" / "prompt_grid.json"
Array = npt.NDArray[np.float64]
Rng = np.random.Generator


def _answers(logits: Array, rng: Rng) -> Array:
    return (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.float64)


def _world(rng: Rng, prompts: Array) -> Array:
    """Examples that differ a lot in how hard they are, under prompts with these levels."""
    return _answers(1 + prompts[:, None] + 2 * rng.standard_normal(EXAMPLES), rng)


def _interacting(rng: Rng) -> Array:
    """What a prompt does depends on the kind of the example too."""
    kinds = rng.standard_normal((PROMPTS + 1, 1)) * rng.standard_normal(EXAMPLES)
    return _answers(1 + 0.4 * rng.standard_normal((PROMPTS + 1, 1)) + 2 * rng.standard_normal(EXAMPLES) + kinds, rng)


N = PROMPTS + 1  # with the prompt that is not varied
WORLDS: dict[str, Callable[[Rng], Array]] = {
    "prompts that differ": lambda rng: _world(rng, 0.5 * rng.standard_normal(N)),
    "prompts that are equally good": lambda rng: _world(rng, np.zeros(N)),
    "a few prompts far off": lambda rng: _world(rng, 0.3 * rng.standard_t(2, N)),
    "two kinds of prompts": lambda rng: _world(rng, -1.2 * (rng.random(N) < 0.3)),
    "prompts that suit some examples": _interacting,
}


def asked(whole: Array, share: float, rng: Rng) -> SeenCells:
    """The cells that `share` leaves: each example with one of each so many prompts, and with the last, one's own."""
    prompts, examples = whole.shape[0] - 1, whole.shape[1]
    every = max(1, round(1 / share))
    seen = np.zeros(whole.shape, dtype=np.bool_)
    seen[-1] = True
    for start in range(0, prompts, every):
        chosen = start + rng.integers(0, every, examples)
        inside = chosen < prompts
        seen[chosen[inside], np.flatnonzero(inside)] = True
    row, column = np.nonzero(seen)
    return SeenCells(row, column, whole[seen], (whole.shape[0], examples))


def rasch(cells: SeenCells) -> Array:
    """Each row's mean by a logistic regression on rows and columns; cells that were asked stay."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    rows, columns = cells.shape

    def features(row: npt.NDArray[np.int64], column: npt.NDArray[np.int64]) -> csr_matrix:
        at = np.arange(len(row))
        places = np.concatenate([row, rows + column])
        return csr_matrix((np.ones(2 * len(row)), (np.concatenate([at, at]), places)), shape=(len(row), rows + columns))

    model = LogisticRegression(max_iter=1000).fit(features(cells.row, cells.column), cells.value)
    row, column = (grid.ravel() for grid in np.indices(cells.shape))
    table = model.predict_proba(features(row, column))[:, 1].reshape(cells.shape)
    table[cells.row, cells.column] = cells.value
    means: Array = table[:-1].mean(axis=1)
    return means


def errors(wholes: Iterator[Array], share: float = SHARE) -> dict[str, Array]:
    """For each table and quantile: our error, those of the two others, and whether the interval covers."""
    found: dict[str, list[Array]] = {"ours": [], "means": [], "Rasch": [], "covered": []}
    at = list(QUANTILES.values())
    for number, whole in enumerate(wholes):
        rng = np.random.Generator(np.random.PCG64((7, number)))
        cells = asked(whole, share, rng)
        true = np.quantile(whole[:-1].mean(axis=1), at)
        drawn = np.quantile(row_means(cells, number)[:, :-1], at, axis=1)
        low, high = np.quantile(drawn, (0.025, 0.975), axis=1)
        many = np.bincount(cells.row, minlength=whole.shape[0])[:-1]
        plain = np.bincount(cells.row, weights=cells.value)[:-1][many > 0] / many[many > 0]
        found["ours"].append(np.abs(np.median(drawn, axis=1) - true))
        found["means"].append(np.abs(np.quantile(plain, at) - true))
        found["Rasch"].append(np.abs(np.quantile(rasch(cells), at) - true))
        found["covered"].append((low <= true + 1e-9) & (true <= high + 1e-9))
    return {name: np.array(values) for name, values in found.items()}


def _rows(name: str, what: str, wholes: Iterator[Array], times: int) -> Iterator[Row]:
    found = errors(wholes)
    for i, quantile in enumerate(QUANTILES):
        for peer in ("means", "Rasch"):
            ours, theirs = (100 * float(found[key][:, i].mean()) for key in ("ours", peer))
            named = {"means": "means of the answers", "Rasch": "Rasch model, as PromptEval"}[peer]
            yield Row(
                name=f"{name}: {quantile}, {peer}", what=f"{what}: error of the {quantile} quantile",
                unit="points", ours=ours, peer=named, theirs=theirs, more=False,
            )  # fmt: skip
    covered = 100 * float(found["covered"].mean())
    chance = 300 * (0.05 * 0.95 / (times * len(QUANTILES))) ** 0.5
    yield Row(
        name=f"{name}: coverage", what=f"{what}: 95% intervals that cover", unit="%", ours=covered, asked=95,
        by_chance=chance,
    )  # fmt: skip


def _section(times: int) -> Iterator[Row]:
    size = f"{PROMPTS} prompts × {EXAMPLES} examples, 5% asked"
    for name, world in WORLDS.items():
        rngs = (np.random.Generator(np.random.PCG64((3, seed))) for seed in range(times))
        yield from _rows(name, f"{name}, {size}", (world(rng) for rng in rngs), times)
    if GRID.exists():
        stored = json.loads(GRID.read_text(encoding="utf-8"))
        grid = np.array([list(map(float, row)) for row in (*stored["prompts"], stored["own"])])
        what = f"SmolLM2, {grid.shape[0] - 1} prompts × {grid.shape[1]} examples, 5% asked"
        yield from _rows("SmolLM2", what, (grid for _ in range(times)), times)


def rows() -> Iterator[Row]:
    yield from _section(30)


def long_rows() -> Iterator[Row]:
    yield from _section(200)


def main() -> None:
    show("spread", rows())


if __name__ == "__main__":
    main()
