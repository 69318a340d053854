"""The parts of a report as plain values, bounded in number and length, for the template to lay out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from unswayed.base.text import bounds, interval, label, number, outside, percent, spelled, title, typeset
from unswayed.base.values import Estimate, Json
from unswayed.measure.results import Block, Results
from unswayed.measure.sentences import slices
from unswayed.report import charts as draw
from unswayed.report.tables import chance, sampled_rows

ROWS = 60  # rows of one table
SLICES = 12
PLOTTED = 30
COLUMNS = 24  # of the heat map
_GRID = "Drop by operator and slice"
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


def _cell(value: object) -> Cell:
    if not isinstance(value, Estimate):
        return Cell(typeset(number(value)) if value is None or isinstance(value, float) else str(value))
    spans = (interval(value) if value.value is not None else "", typeset(bounds(value)))
    return Cell(typeset(number(value.value)), " ".join(span for span in spans if span))


_SAMPLED = {
    "people": "For these people, and for people like these",
    "spread": "Scores over prompts: quantiles, if each prompt were asked with every example",
    "repeats": "Against the system's own disagreement",
    "requests": "What the server's answers took",
}


def tables(results: Results) -> list[ReportTable]:
    """Overall and by operator, for people like these, by family, by each slice, and the other scores."""
    blocks = {"": results.whole, **by_drop(results.sets.get("operator", {}))}
    made = [_blocks(Markup("Overall and by operator, larger drops first"), blocks, results, results.tries)]
    rows, captions = sampled_rows(results), dict(_SAMPLED)
    if results.requests and (slower := results.requests.slower) is not None:
        span = "" if slower.low is None else f" [{number(slower.low)}, {number(slower.high)}]"
        captions["requests"] += f"; varied ones take {number(slower.value)} seconds{span} longer on average"
    sampled = {}
    for what, caption in captions.items():
        if found := rows.get(what):
            first, *names = dict.fromkeys(name for row in found for name in row)
            cells = [(outside(str(row[first])), [_cell(row.get(name)) for name in names]) for row in found]
            sampled[what] = ReportTable(Markup("{}").format(caption), [outside(name) for name in names], cells)
    requests = sampled.pop("requests", None)
    made += sampled.values()
    if results.sets.get("family"):
        made.append(_blocks(Markup("By family of operators"), results.sets["family"], results))
    for name, values in list(slices(results).items())[:SLICES]:
        made.append(_blocks(Markup("By slice: {}").format(outside(name)), values, results))
    for kind, named in list(results.naming.sets.items())[:SLICES] if results.naming else ():
        # the sets of a kind side by side: what may be said of each
        what = "operators" if kind == "operator" else "families" if kind == "family" else f"slices of {label(kind, 40)}"
        named_rows = []
        for name, one in sorted(named.items(), key=lambda entry: (-(entry[1].drop or 0.0), entry[0]))[:ROWS]:
            span = f"{number(one.low)} to {number(one.high)}" if one.low is not None else ""
            hurt = {"most": "affected most", "more": "more than the rest"}.get(one.hurt, "")
            parts = [Cell(typeset(number(one.drop)), typeset(span)), *map(_cell, (one.shrunk, one.rest))]
            named_rows.append((outside(name), [*parts, Cell(chance(one.p)), Cell(hurt)]))
        heads = [Markup(head) for head in ("drop", "shrunk drop", "drop of the rest", "corrected p", "")]  # noqa: S704
        caption = Markup("Can the {} be told apart? Intervals hold for all of them together").format(what)
        made.append(ReportTable(caption, heads, named_rows, max(0, len(named) - ROWS)))
    if scores := results.scores:
        measures = list(dict.fromkeys(measure for estimates in scores.values() for measure in estimates))[:8]
        heads = [outside(_head(measure, results)) for measure in measures]
        others = [(outside(title(score)), [_cell(own.get(m)) for m in measures]) for score, own in scores.items()]
        made.append(ReportTable(Markup("Other scores"), heads, others[:ROWS], max(0, len(scores) - ROWS)))
    return [*made, requests] if requests else made


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
    rows = []
    for name, block in list(blocks.items())[:ROWS]:
        cells = [_cell(getattr(block, measure)) for measure in used]
        cells.append(Cell(f"{max(block.average.n, block.flips.n):,}"))
        if tries:
            cells.append(Cell(f"{tries[name]:.1f}" if name in tries else ""))
        if missing:
            cells.append(Cell(f"{block.average.missing:,}"))
        rows.append((outside(name) if name else Markup("<strong>all variants</strong>"), cells))
    more = ["examples", *(["distinct tries"] if tries else []), *(["missing"] if missing else [])]
    heads = [Markup("{}").format(head) for head in (*(_head(measure, results) for measure in used), *more)]
    return ReportTable(caption, heads, rows, max(0, len(blocks) - ROWS))


def _head(measure: str, results: Results) -> str:
    return results.head(measure) if measure == "worst" else _HEADS.get(measure, measure)


_READINGS = {
    "forest": "A mark is the measured score; the line through it is its interval. Right is better. The further a "
    "square or a diamond lies left of its circle, the more that operator hurts.",
    "flips-by-operator": "The share of variants whose answer differs from the answer to the original, right or wrong. "
    "Shorter is steadier; the whisker is the interval.",
    "heat-map": "Brown cells lose, blue cells gain, and the darker the more. A bold number is surely not zero, also "
    "after correction for the number of cells; a plain one may be chance; a dash was not measured.",
}


def charts(results: Results) -> list[Chart]:
    """Scores and changed answers by operator, and the drop by operator and slice."""
    operators = dict(list(by_drop(results.sets.get("operator", {})).items())[:PLOTTED])
    made = []

    def add(id: str, name: str, svg: Markup, heads: list[Markup], found: dict[str, list[Cell]], left: int = 0) -> None:
        rows = [(outside(operator), cells) for operator, cells in found.items()]
        table = ReportTable(Markup("{}, in numbers").format(name), heads, rows, left)
        made.append(Chart(id, name, _READINGS[id], svg, table, legend=id == "forest"))

    if operators:
        name = f"{title(label(results.score))} by operator"
        shapes = {op: {m: getattr(block, m) for m in draw.SERIES} for op, block in operators.items()}
        marks = {op: [_cell(estimate) for estimate in own.values()] for op, own in shapes.items()}
        svg = draw.forest(list(shapes.items()), name, title(results.score))
        add("forest", name, svg, [Markup(m) for m in draw.SERIES], marks)  # noqa: S704
        flips = {op: block.flips for op, block in operators.items()}
        flips = dict(sorted(flips.items(), key=lambda entry: (-_size(entry[1]), entry[0])))
        name = "Answers that change, by operator"
        shares = {op: [_cell(share)] for op, share in flips.items()}
        add("flips-by-operator", name, draw.bars(list(flips.items()), name), [Markup("flips")], shares)
    if any(results.grid.values()):
        # so many rows and columns at most; where some must go, those with the largest drops stay
        whole = results.grid
        columns = list(dict.fromkeys(column for cells in whole.values() for column in cells))
        left_out = max(0, len(columns) - COLUMNS) + max(0, len(whole) - PLOTTED)
        tops = {c: max(_size(cells[c]) for cells in whole.values() if c in cells) for c in columns}
        keep = set(sorted(columns, key=lambda c: -tops[c])[:COLUMNS])
        columns = [c for c in columns if c in keep]
        rows = sorted(whole, key=lambda op: (-max(map(_size, whole[op].values()), default=0.0), op))[:PLOTTED]
        grid = {op: whole[op] for op in rows}
        svg = draw.heat_map(grid, columns, _GRID, results.naming.grid if results.naming else None)
        drops = {op: [_cell(cells.get(column)) for column in columns] for op, cells in grid.items()}
        add("heat-map", _GRID, svg, [outside(c) for c in columns], drops, left_out)
    return made


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
    counts: list[tuple[str, Json]] = []
    for key, value in found.items():
        name = _NAMES.get(key, key.replace("_", " "))
        if isinstance(value, Mapping):
            counts += [(f"{name}: {part}", entry) for part, entry in value.items() if entry]
        elif key != "warnings":
            counts.append((name, value))
    shown = [(name, f"{value:,}" if type(value) is int else spelled(value)) for name, value in counts]
    reasons = sorted(failures.items(), key=lambda entry: (-entry[1], entry[0]))
    warnings = [spelled(warning) for warning in found.get("warnings", ())]
    return ShownValidity(shown[:ROWS], reasons[:REASONS], max(0, len(reasons) - REASONS), warnings[:ROWS])
