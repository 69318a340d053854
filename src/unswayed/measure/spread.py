"""The spread of scores over prompts, also where each example was asked with few of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import NormalDist

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
OVER = "these prompts and examples like these"


class PromptScore(msgspec.Struct, frozen=True):
    """One prompt: its draw, what was changed, how many examples were asked with it, and its score on all of them."""

    draw: int
    prompt: str
    asked: int
    score: float
    low: float
    high: float


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How scores differ between the prompts of one operator, on examples like these.

    `quantiles` are of the prompts' scores; `range` is from the 5% to the 95% quantile, and `by_chance` what that would
    be on these examples if all prompts were equally good; `p` is the p-value of that. `own` is the score of the prompt
    that was not varied, and `beaten` the share of prompts with a lower one. `asked` is the share of prompts and
    examples that were asked; the rest is estimated.
    """

    prompts: int
    examples: int
    asked: float
    quantiles: dict[str, Estimate]
    range: Estimate
    by_chance: float
    p: float
    own: Estimate
    beaten: Estimate
    scores: list[PromptScore]

    def row(self, operator: str) -> dict[str, object]:
        """The quantiles side by side."""
        first = {"prompts of": operator, "prompts": self.prompts, "asked": percent(self.asked)}
        return {**first, **self.quantiles, "your prompt": self.own, "better than": self.beaten}

    def sentence(self, operator: str) -> str:
        low, *_, high = self.quantiles.values()
        if all(abs(one.score - (self.own.value or 0.0)) < _EQUAL for one in self.scores):
            same = number(self.own.value, 2)
            return f"All {self.prompts} prompts of {operator} have the same score as your prompt: {same}."
        shown = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        may = "" if self.p <= _SURE else ", so this may be chance"
        equal = f"equally good prompts would have a range of {number(self.by_chance, 2)}{may}; {shown}"
        better = f"{percent(self.beaten.value)} [{percent(self.beaten.low)}, {percent(self.beaten.high)}]"
        return (
            f"Over {self.prompts} prompts of {operator}, the score ranges from {_shown(low)} to {_shown(high)} "
            f"(5% and 95% quantile; {equal}). Your prompt has {_shown(self.own)}: better than {better} of them."
        )


def _shown(e: Estimate) -> str:
    return f"{number(e.value, 2)} [{number(e.low, 2)}, {number(e.high, 2)}]"


VERSION = 2  # of the model; part of every signature
FAMILY = "prompt"
_MIN_PROMPTS = 5  # prompts that have quantiles
_MAX_CELLS = 1 << 18  # cells of the table that is estimated; of more examples, as many as fit are chosen at random
_QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}
_SURE = 0.05  # p-value up to which prompts are said to differ
_TIMES = 800  # draws for an interval if every prompt was asked with every example
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
        cells = grid.cells
        asked = row_means(cells, seed)
        # what a prompt is worth beyond its level and the example's, and what examples differ by
        level_of = np.median(asked, axis=0)
        many = np.bincount(cells.column, minlength=columns)
        left = cells.value - level_of[cells.row]
        difficulty = np.bincount(cells.column, weights=left, minlength=columns) / np.maximum(many, 1)
        chance = float(((left - difficulty[cells.column]) ** 2).sum()) / max(len(left) - columns - prompts, 1)
        means = _on_like_examples(asked, chance / columns, float(np.var(difficulty)) / columns, columns, seed)
        varied, own = means[:, :-1], means[:, -1]
        quantiles = np.quantile(varied, list(_QUANTILES.values()), axis=1)
        below = (varied < own[:, None]).mean(axis=1) + (varied == own[:, None]).mean(axis=1) / 2
        measured = {**dict(zip(_QUANTILES, quantiles, strict=True)), "range": quantiles[-1] - quantiles[0]}
        shown: dict[str, Estimate] = {}
        for name, drawn in {**measured, "own": own, "beaten": below}.items():
            # Few prompts show little of the shape of their spread, which is taken as normal. So their quantiles have
            # intervals of half the error: at 95%, those of simulated prompts covered 85% to 98% without that.
            wanted = [ends[0] / 2, 1 - ends[0] / 2] if name in measured else ends
            low, high = np.quantile(drawn, wanted).tolist()
            signed = f"measure={name} of {signature}"
            middle: float | None = float(np.median(drawn))
            if name == "beaten" and not np.ptp(level_of) > _EQUAL:
                middle = low = high = (
                    None  # all prompts have the same score: yours is better than none and worse than none
                )
            shown[name] = Estimate(middle, low, high, columns, grid.missing, signed, over=OVER)
        # Equally good prompts: by chance alone, an example's answers differ between them. By the F test of prompts
        # within examples, whose tail comes from the normal distribution (Paulson).
        of_prompts = cells.row < prompts
        row, column, value = cells.row[of_prompts], cells.column[of_prompts], cells.value[of_prompts]
        many = np.bincount(column, minlength=columns)
        off = value - (np.bincount(column, weights=value, minlength=columns) / np.maximum(many, 1))[column]
        freedom = float(max(len(value) - int(np.count_nonzero(many)), 1))
        varies = float((off**2).sum()) / freedom
        shares = np.bincount(row, weights=1 - 1 / many[column], minlength=prompts)
        sums = np.bincount(row, weights=off, minlength=prompts)
        above = max(prompts - 1, 1)
        ratio = float((sums[shares > 0] ** 2 / shares[shares > 0]).sum()) * (1 - 1 / prompts) / above
        f, least, most = ratio / varies if varies > 0 else 0.0, 2 / (9 * above), 2 / (9 * freedom)
        z = ((1 - most) * f ** (1 / 3) - (1 - least)) / (most * f ** (2 / 3) + least) ** 0.5
        count = np.bincount(row, minlength=prompts)
        sides = np.median(varied, axis=0), *np.quantile(varied, ends, axis=0)
        scores = [
            PromptScore(draw, notes.of.get((operator, draw), ""), int(count[i]), *(float(side[i]) for side in sides))
            for i, draw in enumerate(grid.draws.tolist())
        ]
        found[operator] = Spread(
            prompts=prompts,
            examples=columns,
            asked=float(count.sum()) / (prompts * columns),
            quantiles={name: shown[name] for name in _QUANTILES},
            range=shown["range"],
            by_chance=_NORMAL_RANGE * (varies / columns) ** 0.5,
            p=NormalDist().cdf(-z),
            own=shown["own"],
            beaten=shown["beaten"],
            scores=sorted(scores, key=lambda one: (-one.score, one.draw)),
        )
    return found


def _on_like_examples(asked: Array, chance: float, examples: float, columns: int, seed: int) -> Array:
    """Draws of what the prompts would score on examples like these, from draws of their scores on these examples.

    Other examples move all prompts together (`examples` is the variance of that), and each by itself (`chance`). Scores
    on these examples differ more than prompts do, by chance, so that each draw takes them towards their mean, by as
    much as their variance says. The last prompt, one's own, is not one of the others and stays where it is.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    asked = np.repeat(asked, _TIMES, axis=0) if len(asked) == 1 else asked
    times, prompts = len(asked), asked.shape[1] - 1
    shift = rng.standard_normal((times, 1)) * examples**0.5
    own = asked[:, -1:] + shift + rng.standard_normal((times, 1)) * chance**0.5
    varied, freedom = asked[:, :-1], max((prompts - 1) * (columns - 1), 1)
    middle = varied.mean(axis=1, keepdims=True)
    seen = varied.var(axis=1, ddof=1, keepdims=True) * (prompts - 1) / rng.chisquare(prompts - 1, (times, 1))
    noise = chance * freedom / rng.chisquare(freedom, (times, 1))
    kept = np.clip(1 - noise / np.maximum(seen, 1e-300), 0.0, 1.0)
    drawn = rng.standard_normal(varied.shape) * np.sqrt(kept * noise)
    found: Array = np.hstack([middle + kept * (varied - middle) + drawn + shift, own])
    return np.clip(found, asked.min(initial=0.0), max(float(asked.max()), 1.0))


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
