"""The parts of a report as plain values, bounded in number and length, for the template to lay out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from unswayed.base.text import NONE, bounds, interval, label, number, outside, percent, spelled, title, typeset
from unswayed.base.values import Estimate, Json
from unswayed.measure.results import Block, Named, Results
from unswayed.measure.sentences import slices
from unswayed.report import charts as draw

ROWS = 60  # rows of one table
SLICES = 12
PLOTTED = 30
COLUMNS = 24  # of the heat map
REASONS = 10

_HEADS = {
    "clean": "clean",
    "average": "average",
    "worst": "worst",
    "drop": "drop",
    "flips": "flips",
    "consistency": "consistent",
    "noticed": "controls noticed",
    "altered": "altered",
}


class Cell(NamedTuple):
    """A number and, in small, its interval."""

    value: str
    span: str = ""


class ReportTable(NamedTuple):
    """A table with a caption, the names of its columns, and its rows: a name each and its cells."""

    caption: Markup
    heads: list[Markup]
    rows: list[tuple[Markup, list[Cell]]]
    left_out: int = 0


class Chart(NamedTuple):
    """A picture, what it is called, how to read it, and its data."""

    id: str
    title: str
    reading: str
    svg: Markup
    data: ReportTable
    legend: bool = False


def headline(results: Results) -> list[tuple[str, str, str]]:
    """The figures to see first: what, how much, and its interval."""
    shown = [
        ("clean inputs", results.clean),
        ("average of variants", results.average),
        (results.head("worst") if results.worst_of > 1 else "worst of variants", results.worst),
    ]
    figures = [(name, typeset(number(e.value)), interval(e)) for name, e in shown]
    flips = results.flip_rate
    span = f"{percent(flips.low)} to {percent(flips.high)}" if flips.low is not None else ""
    return [*figures, ("answers that change", percent(flips.value), span)]


def _cell(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(NONE)
    spans = (interval(estimate) if estimate.value is not None else "", typeset(bounds(estimate)))
    return Cell(typeset(number(estimate.value)), " ".join(span for span in spans if span))


def tables(results: Results) -> list[ReportTable]:
    """Overall and by operator, by family, by each slice, and the other scores."""
    blocks = {"": results.whole, **by_drop(results.sets.get("operator", {}))}
    made = [_blocks(Markup("Overall and by operator, larger drops first"), blocks, results, results.tries)]
    if results.sets.get("family"):
        made.append(_blocks(Markup("By family of operators"), results.sets["family"], results))
    for name, values in list(slices(results).items())[:SLICES]:
        made.append(_blocks(Markup("By slice: {}").format(outside(name)), values, results))
    for kind, named in list(results.naming.sets.items())[:SLICES] if results.naming else ():
        made.append(_apart(kind, named))
    if results.scores:
        made.append(_scores(results))
    if results.repeats:
        made.insert(1, _sampled("Against the system's own disagreement", results.repeats.rows(results.flip_rate)))
    if results.requests:
        slower = results.requests.slower
        more = "" if slower is None else f"; varied ones take {_longer(slower)} on average"
        made.append(_sampled(f"What the server's answers took{more}", results.requests.rows()))
    if results.spread:
        rows = [spread.row(operator) for operator, spread in results.spread.items()]
        made.insert(1, _sampled("Scores over prompts: quantiles, if each prompt were asked with every example", rows))
    if results.people and (rows := results.people.rows()):
        made.insert(1, _sampled("For these people, and for people like these", rows))
    return made


def _longer(slower: Estimate) -> str:
    span = "" if slower.low is None else f" [{number(slower.low)}, {number(slower.high)}]"
    return f"{number(slower.value)} seconds{span} longer"


def _apart(kind: str, named: Mapping[str, Named]) -> ReportTable:
    """The sets of a kind side by side: what may be said of each."""
    what = "operators" if kind == "operator" else "families" if kind == "family" else f"slices of {label(kind, 40)}"
    rows = []
    for name, one in sorted(named.items(), key=lambda entry: (-(entry[1].drop or 0.0), entry[0]))[:ROWS]:
        span = f"{number(one.low)} to {number(one.high)}" if one.low is not None else ""
        hurt = {"most": "affected most", "more": "more than the rest"}.get(one.hurt, "")
        p = "<0.001" if one.p < 0.001 else number(one.p)
        means = (Cell(typeset(number(mean))) for mean in (one.shrunk, one.rest))
        cells = [Cell(typeset(number(one.drop)), typeset(span)), *means, Cell(p), Cell(hurt)]
        rows.append((outside(name), cells))
    heads = [Markup(head) for head in ("drop", "shrunk drop", "drop of the rest", "corrected p", "")]  # noqa: S704
    caption = Markup("Can the {} be told apart? Intervals hold for all of them together").format(what)
    return ReportTable(caption, heads, rows, max(0, len(named) - ROWS))


def _sampled(caption: str, rows: Sequence[Mapping[str, object]]) -> ReportTable:
    first, *heads = dict.fromkeys(name for row in rows for name in row)
    cells = [[_any_cell(row.get(name)) for name in heads] for row in rows]
    named = [outside(str(row[first])) for row in rows]
    shown = list(zip(named, cells, strict=True))
    return ReportTable(Markup("{}").format(caption), [outside(head) for head in heads], shown)


def _any_cell(value: object) -> Cell:
    if value is None or isinstance(value, Estimate):
        return _cell(value)
    return Cell(typeset(number(value)) if isinstance(value, float) else str(value))


def by_drop(blocks: Mapping[str, Block]) -> dict[str, Block]:
    """The blocks with the largest drop first; those without one last."""
    return dict(sorted(blocks.items(), key=lambda entry: (-_size(entry[1].drop), entry[0])))


def _size(estimate: Estimate) -> float:
    return float("-inf") if estimate.value is None else estimate.value


def _blocks(
    caption: Markup, blocks: Mapping[str, Block], results: Results, tries: Mapping[str, float] | None = None
) -> ReportTable:
    used = [m for m in _HEADS if any(getattr(block, m) is not None for block in blocks.values())]
    missing = any(block.average.missing for block in blocks.values())
    heads = [*(Markup("{}").format(_head(measure, results)) for measure in used), Markup("examples")]
    rows = []
    for name, block in list(blocks.items())[:ROWS]:
        cells = [
            *(_cell(getattr(block, measure)) for measure in used),
            Cell(f"{max(block.average.n, block.flips.n):,}"),
        ]
        if tries:
            cells.append(Cell(f"{tries[name]:.1f}" if name in tries else ""))
        if missing:
            cells.append(Cell(f"{block.average.missing:,}"))
        rows.append((outside(name) if name else Markup("<strong>all variants</strong>"), cells))
    if tries:
        heads.append(Markup("distinct tries"))
    if missing:
        heads.append(Markup("missing"))
    return ReportTable(caption, heads, rows, max(0, len(blocks) - ROWS))


def _head(measure: str, results: Results) -> str:
    return results.head(measure) if measure == "worst" else _HEADS.get(measure, measure)


def _scores(results: Results) -> ReportTable:
    scores = results.scores
    measures = list(dict.fromkeys(measure for estimates in scores.values() for measure in estimates))[:8]
    rows = [
        (outside(title(score)), [_cell(estimates.get(measure)) for measure in measures])
        for score, estimates in list(scores.items())[:ROWS]
    ]
    heads = [outside(_head(measure, results)) for measure in measures]
    return ReportTable(Markup("Other scores"), heads, rows, max(0, len(scores) - ROWS))


def charts(results: Results) -> list[Chart]:
    operators = dict(list(by_drop(results.sets.get("operator", {})).items())[:PLOTTED])
    made = []
    if operators:
        made = [_forest(operators, results.score), _bars(operators)]
    if any(results.grid.values()):
        made.append(_heat(results))
    return made


def _forest(operators: Mapping[str, Block], score: str) -> Chart:
    name = f"{title(label(score))} by operator"
    rows = [(op, {m: getattr(block, m) for m in draw.SERIES}) for op, block in operators.items()]
    data = [(outside(op), [_cell(estimate) for estimate in shapes.values()]) for op, shapes in rows]
    return Chart(
        "forest",
        name,
        "A mark is the measured score; the line through it is its interval. Right is better. The further a square "
        "or a diamond lies left of its circle, the more that operator hurts.",
        draw.forest(rows, name, title(score)),
        ReportTable(Markup("{}, in numbers").format(name), [Markup(m) for m in draw.SERIES], data),  # noqa: S704
        legend=True,
    )


def _bars(operators: Mapping[str, Block]) -> Chart:
    ordered = sorted(operators.items(), key=lambda entry: (-_size(entry[1].flips), entry[0]))
    rows = [(op, block.flips) for op, block in ordered]
    name = "Answers that change, by operator"
    return Chart(
        "flips-by-operator",
        name,
        "The share of variants whose answer differs from the answer to the original, right or wrong. Shorter is "
        "steadier; the whisker is the interval.",
        draw.bars(rows, name),
        ReportTable(
            Markup("{}, in numbers").format(name),
            [Markup("flips")],
            [(outside(op), [_cell(estimate)]) for op, estimate in rows],
        ),
    )


def _heat(results: Results) -> Chart:
    grid, columns, left_out = _worst_part(results.grid)
    name = "Drop by operator and slice"
    data = [(outside(op), [_cell(cells.get(column)) for column in columns]) for op, cells in grid.items()]
    return Chart(
        "heat-map",
        name,
        "Brown cells lose, blue cells gain, and the darker the more. A bold number is surely not zero, also after "
        "correction for the number of cells; a plain one may be chance; a dash was not measured.",
        draw.heat_map(grid, columns, name, results.naming.grid if results.naming else None),
        ReportTable(Markup("{}, in numbers").format(name), [outside(c) for c in columns], data, left_out),
    )


Grid = Mapping[str, Mapping[str, Estimate]]


def _worst_part(grid: Grid) -> tuple[Grid, list[str], int]:
    """The grid with at most so many rows and columns; where some must go, those with the largest drops stay."""
    columns = list(dict.fromkeys(column for cells in grid.values() for column in cells))
    lost = max(0, len(columns) - COLUMNS) + max(0, len(grid) - PLOTTED)
    tops = {c: max(_size(cells[c]) for cells in grid.values() if c in cells) for c in columns}
    keep = set(sorted(columns, key=lambda c: -tops[c])[:COLUMNS])
    rows = sorted(grid, key=lambda op: (-max(map(_size, grid[op].values()), default=0.0), op))[:PLOTTED]
    return {op: grid[op] for op in rows}, [c for c in columns if c in keep], lost


class ShownValidity(NamedTuple):
    """What was in the data: counts, why items failed and how often each, and warnings."""

    counts: list[tuple[str, str]]
    reasons: list[tuple[str, int]]
    more_reasons: int
    warnings: list[str]


_NAMES = {
    "operators": "variants by",
    "unchanged": "nothing to change by",
    "not_asked": "not asked yet",
    "same_as_original": "variants that equal their example",
    "unseen_labels": "labels that no gold has",
}


def validity(found: Mapping[str, Json], failures: Mapping[str, int]) -> ShownValidity:
    """Everything that the measures say of the data, with the reasons that failed items gave."""
    counts: list[tuple[str, str]] = []
    for key, value in found.items():
        name = _NAMES.get(key, key.replace("_", " "))
        if isinstance(value, Mapping):
            counts += [(f"{name}: {part}", _amount(entry)) for part, entry in value.items() if entry]
        elif key != "warnings":
            counts.append((name, _amount(value)))
    reasons = sorted(failures.items(), key=lambda entry: (-entry[1], entry[0]))
    warnings = [spelled(warning) for warning in found.get("warnings", ())]
    return ShownValidity(counts[:ROWS], reasons[:REASONS], max(0, len(reasons) - REASONS), warnings[:ROWS])


def _amount(value: Json) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else spelled(value)
