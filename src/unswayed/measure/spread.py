"""The spread of scores over prompts, also where each example was asked with few of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
import numpy as np

from unswayed.base.text import number, percent
from unswayed.base.values import Estimate
from unswayed.measure.run_table import RunTable
from unswayed.run.block import Block
from unswayed.score import Scorer
from unswayed.stats import Array
from unswayed.stats.two_way import SeenCells, row_means

_EQUAL = 1e-9  # scores of prompts that differ by less are the same
OVER = "these prompts and these examples"


class PromptScore(msgspec.Struct, frozen=True):
    """One prompt: its draw, what was changed, how many examples were asked with it, and its score on all of them."""

    draw: int
    prompt: str
    asked: int
    score: float
    low: float
    high: float


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How scores differ between the prompts of one operator, if each were asked with every example.

    `quantiles` are of the prompts' scores; `range` is from the 5% to the 95% quantile, and `by_chance` what that would
    be if all prompts were equally good. `own` is the score of the prompt that was not varied, and `beaten` the share
    of prompts with a lower one. `asked` is the share of prompts and examples that were asked; the rest is estimated.
    """

    prompts: int
    examples: int
    asked: float
    quantiles: dict[str, Estimate]
    range: Estimate
    by_chance: float
    own: Estimate
    beaten: Estimate
    scores: list[PromptScore]

    def row(self, operator: str) -> dict[str, object]:
        """The quantiles side by side."""
        exact = self.own.low == self.own.high
        own = self.own.value if exact else self.own
        first = {"prompts of": operator, "prompts": self.prompts, "asked": percent(self.asked)}
        return {**first, **self.quantiles, "your prompt": own}

    def sentence(self, operator: str) -> str:
        low, *_, high = self.quantiles.values()
        if all(abs(one.score - (self.own.value or 0.0)) < _EQUAL for one in self.scores):
            same = number(self.own.value, 2)
            return f"All {self.prompts} prompts of {operator} have the same score as your prompt: {same}."
        chance = f"if all were equally good, chance would give a range of {number(self.by_chance, 2)}"
        return (
            f"Over {self.prompts} prompts of {operator}, the score ranges from {_shown(low)} to {_shown(high)} "
            f"(5% and 95% quantile; {chance}). Your prompt has {number(self.own.value, 2)}: "
            f"better than {percent(self.beaten.value)} of them."
        )


def _shown(e: Estimate) -> str:
    return f"{number(e.value, 2)} [{number(e.low, 2)}, {number(e.high, 2)}]"


VERSION = 1  # of the model; part of every signature
FAMILY = "prompt"
_MIN_PROMPTS = 5  # prompts that have quantiles
_MAX_CELLS = 1 << 18  # cells of the table that is estimated; of more examples, as many as fit are chosen at random
_QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}
_NORMAL_RANGE = 3.29  # from the 5% to the 95% quantile, in standard deviations


class PromptNotes:
    """What each draw of an operator on prompts changed, as the first variant says that passes by."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, int], str] = {}

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            if any(kind.family == FAMILY for kind in block.kinds):
                for number, note in zip(block.kind.tolist(), block.notes, strict=True):
                    kind = block.kinds[number]
                    if kind.family == FAMILY:
                        self.of.setdefault((kind.source, kind.draw), note)
            yield block


def measure_spread(
    table: RunTable, scorer: Scorer | None, notes: PromptNotes, level: float, seed: int, sign: Callable[[str, str], str]
) -> dict[str, Spread]:
    """The spread of each operator on prompts with at least five draws; nothing for a score that is no mean of items."""
    if scorer is None or not scorer.linear:
        return {}
    found: dict[str, Spread] = {}
    ends = [(1 - level) / 2, (1 + level) / 2]
    for operator in sorted({name for _, name, _, family in table.kinds if family == FAMILY}):
        signature = f"spread:{VERSION}|{sign('average', f'operator={operator}').partition('|')[2]}|seed={seed}"
        grid = _Grid(table, operator, scorer.name, seed)
        prompts, (_, columns) = len(grid.draws), grid.cells.shape
        if prompts < _MIN_PROMPTS:
            continue
        means = row_means(grid.cells, seed)
        varied, own = means[:, :-1], means[:, -1]
        quantiles = np.quantile(varied, list(_QUANTILES.values()), axis=1)
        below = (varied < own[:, None]).mean(axis=1) + (varied == own[:, None]).mean(axis=1) / 2
        measured = {**dict(zip(_QUANTILES, quantiles, strict=True)), "range": quantiles[-1] - quantiles[0]}
        shown: dict[str, Estimate] = {}
        for name, drawn in {**measured, "own": own, "beaten": below}.items():
            low, high = np.quantile(drawn, ends).tolist()
            signed = f"measure={name} of {signature}"
            middle = float(np.median(drawn))
            shown[name] = Estimate(middle, low, high, columns, grid.missing, signed, over=OVER)
        # the range that equally good prompts have: by chance alone, an example's answers differ between them
        cells = grid.cells
        many = np.bincount(cells.column, minlength=columns)
        mean = np.bincount(cells.column, weights=cells.value, minlength=columns) / np.maximum(many, 1)
        squares = np.bincount(cells.column, weights=(cells.value - mean[cells.column]) ** 2, minlength=columns)
        freedom = many.sum() - (many > 0).sum()
        asked = np.bincount(grid.cells.row, minlength=prompts + 1)[:-1]
        sides = np.median(varied, axis=0), *np.quantile(varied, ends, axis=0)
        scores = [
            PromptScore(draw, notes.of.get((operator, draw), ""), int(asked[i]), *(float(side[i]) for side in sides))
            for i, draw in enumerate(grid.draws.tolist())
        ]
        found[operator] = Spread(
            prompts=prompts,
            examples=columns,
            asked=float(asked.sum()) / (prompts * columns),
            quantiles={name: shown[name] for name in _QUANTILES},
            range=shown["range"],
            by_chance=_NORMAL_RANGE * float((squares.sum() / max(freedom, 1) / columns) ** 0.5),
            own=shown["own"],
            beaten=shown["beaten"],
            scores=sorted(scores, key=lambda one: (-one.score, one.draw)),
        )
    return found


class _Grid:
    """The scores of an operator's prompts; the last row is of the prompt that was not varied."""

    def __init__(self, table: RunTable, operator: str, score: str, seed: int) -> None:
        examples, draws, values, clean = [], [], [], []
        for part in table.parts():
            scored, at = part.scored[score], part.operators.index(operator)
            known = (part.operator == at) & ~np.isnan(scored.varied)
            examples.append(part.example[known] + part.first)
            draws.append(part.draw[known])
            values.append(scored.varied[known])
            clean.append(scored.clean)
        self.draws, row = np.unique(np.concatenate(draws), return_inverse=True)
        columns, column = np.unique(np.concatenate(examples), return_inverse=True)
        self.missing = table.sources()[operator] - len(row)
        own: Array = np.concatenate(clean)[columns]
        there = np.flatnonzero(~np.isnan(own))
        row = np.append(row, np.full(len(there), len(self.draws)))
        column, value = np.append(column, there), np.append(np.concatenate(values), own[there])
        many, rows = len(columns), len(self.draws) + 1
        most = max(_MAX_CELLS // rows, 1)
        if many > most:
            rng = np.random.Generator(np.random.PCG64(seed))
            place = np.full(many, -1)
            place[np.sort(rng.choice(many, most, replace=False))] = np.arange(most)
            kept = place[column] >= 0
            row, column, value, many = row[kept], place[column[kept]], value[kept], most
        self.cells = SeenCells(row, column, value, (rows, many))
