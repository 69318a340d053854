"""A run's report as one HTML file without scripts or network, and all changed answers as JSON lines beside it.

The parts of a report are plain values, bounded in number and length, which the template lays out.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup
from rapidfuzz.distance import Levenshtein

from unswayed.base.registry import VERSION
from unswayed.base.text import (
    attribute,
    bounds,
    counted,
    interval,
    label,
    number,
    outside,
    percent,
    spelled,
    title,
    typeset,
)
from unswayed.base.values import Estimate, Json
from unswayed.measure.changes import Flip, FlipBlock
from unswayed.measure.gates import GateResult
from unswayed.measure.results import FOR_PROGRAMS, TO_100, Block, Results
from unswayed.measure.sentences import (
    DROP,
    FLIPS,
    GRADES,
    by_drop,
    next_step,
    notes,
    people,
    severity,
    slices,
    summary,
)
from unswayed.measure.validity import Reasons
from unswayed.report import charts as draw
from unswayed.report.again import commands
from unswayed.report.flips import KINDS, FlipSample, write_flips
from unswayed.report.tables import against_rows, chance, sampled_rows, shown_amount
from unswayed.run.plan import Plan, given_options
from unswayed.run.record import Run
from unswayed.storage.files import write_atomically
from unswayed.storage.suite import Suite
from unswayed.storage.suite_rows import pieces

REASON = 300  # characters by which reasons are told apart
OPEN = 3  # changed answers that are shown first, side by side; the rest is folded away


def write_report(
    run: Run | None, results: Results, path: str | Path, flips: Iterable[Flip] | None = None, *,
    gates: Iterable[GateResult] = (), provenance: Mapping[str, Json] | None = None, plan: Plan | None = None,
) -> Path:  # fmt: skip
    """Writes `path` and, beside it, `NAME.flips.jsonl` and the page to explore, `NAME.view.html`.

    Without `flips`, those of the run are read from it.

    Example: `unswayed.write_report(run, results, "report.html")`.

    `provenance` adds facts to those that the run knows, or goes before them. `plan` is what the results were measured
    by, if not by the run's own.
    """
    path, sample = Path(path), FlipSample()
    log = path.with_name(f"{path.stem}.flips.jsonl")
    view = path.with_name(f"{path.stem}.view.html") if run is not None and flips is None else None
    found: Iterable[FlipBlock] = map(FlipBlock.of, pieces(flips or ()))
    if run is not None and view is not None:
        from unswayed.report.view import flips_and_view  # which takes the templates from here

        found = flips_and_view(results, run, view)
    count = write_flips(found, log, sample)
    reasons = Reasons()  # why items have no answer; the run is read again only where some failed
    failed = results.validity.get("failed") or results.validity.get("unreadable")
    for _, clean, varied in run.items() if run is not None and failed else ():
        for output in (clean, *(output for _, output in varied)):
            if output.error is not None:
                reasons.add(output.error[:REASON])
    more, gates = dict(provenance or {}), list(gates)
    lines = more.pop("commands", None)
    if not isinstance(lines, list):
        judged = None if plan is None else {"measure": given_options(plan.measure), "gate": given_options(plan.gate)}
        lines = [] if run is None else commands(run, str(path), judged)
    page = template("report.html.jinja").render(
        css=own_file("report.css"),
        results=results,
        suite=results.suite if run is None else (run.suite.path or Path(results.suite)).name,
        headline=headline(results),
        verdict=summary(results, gates),
        next=next_step(results),
        notes=notes(results),
        scale=scale(results),
        strength=[] if run is None or flips is not None else strength(run.suite),
        gates=gates,
        tables=tables(results),
        tests=told_apart(results),
        map=heat_map(results),
        charts=charts(results),
        cards=sample.cards(),
        open=OPEN,
        kinds=[(KINDS[rank], sample.kinds[rank]) for rank in range(len(KINDS)) if sample.kinds[rank]],
        flips=count,
        operators_flipped=len(sample.counts),
        href=href(log.name),
        log=log.name,
        view=None if view is None else href(view.name),
        validity=validity(results.validity, reasons),
        facts=facts(run, results, more),
        commands=lines,
        prompts={} if run is None else run.manifest.prompts,
        signatures=[(measure, estimate.signature) for measure, estimate in results.whole.estimates.items()],
    )
    # A lone surrogate that got past the cleaning becomes a reference, which a browser shows as unknown.
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


ROWS = 60  # rows of one table
SLICES = 12
PLOTTED = 30
COLUMNS = 24  # of the heat map
_GRID = "Drop by operator and slice"
_FEW = 20  # examples, below which a slice is in the tables and not on the map
REASONS = 10

_HEADS = {
    "clean": "clean",
    "average": "average",
    "worst": "worst",
    "drop": "drop",
    "flips": "flips",
    "consistency": "consistent",
    "noticed": "controls noticed",
    "change": "change",
    "gained": "gained",
}


class Cell(NamedTuple):
    """A number and, in small, its interval and the bounds of what is missing."""

    value: str
    span: str = ""
    bounds: str = ""


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
    shown.append(("answers that change", results.flip_rate))
    return [(name, typeset(number(e.value)), interval(e)) for name, e in shown]


class ScaleStep(NamedTuple):
    """A grade with its limits in words; whether it is the run's, or one that is not excluded."""

    grade: str
    limits: str
    state: str


def scale(results: Results) -> list[ScaleStep]:
    """The grades that a run can have, and of what they are; none if this run has none."""
    if (found := severity(results)) is None:
        return []
    top = 100.0 if results.score in TO_100 else 1.0
    unit = "" if top == 100.0 else " points"
    falls = [number(100.0 * limit, 0) + unit for limit in DROP]
    changes = [percent(limit) for limit in FLIPS]
    limits = [f"falls by under {falls[0]}", f"by {falls[0].removesuffix(unit)} to {falls[1]}", f"by {falls[1]} or more"]
    if not by_drop(results):
        shares = [f"under {changes[0]} of answers change", f"{changes[0]} to {changes[1]}", f"{changes[1]} or more"]
        limits = [f"{share}, score {fall}" for share, fall in zip(shares, limits, strict=True)]
    states = ["is" if g == found.grade else "near" if g in found.not_excluded else "" for g in GRADES]
    return [ScaleStep(*step) for step in zip(GRADES, limits, states, strict=True)]


_SAMPLED_EXAMPLES = 200
_BY_LETTER = ("keyboard", "surface")  # families that change letters; others change words


def strength(suite: Suite) -> list[tuple[str, str]]:
    """How strong each operator's noise is, in the first examples: `1 letter in 14`, `1 word in 6`."""
    changed: dict[str, list[int]] = {}
    for example, variants in islice(suite.groups(), _SAMPLED_EXAMPLES):
        for variant in variants:
            seen = changed.setdefault(variant.source, [0, 0, variant.family in _BY_LETTER])
            for name, after in variant.inputs.items():
                before = example.inputs.get(name, "")
                if before == after and len(variant.inputs) > 1:  # inputs that operators leave alone, such as contexts
                    continue
                one, other = (before, after) if seen[2] else (before.split(), after.split())
                seen[0] += Levenshtein.distance(one, other)
                seen[1] += len(one)
    found = []
    for source, (edits, length, letters) in sorted(changed.items()):
        what = "letter" if letters else "word"
        each = f"1 {what} in {max(1, round(length / edits)):,}" if edits else "nothing"
        found.append((source, each))
    return found


def _cell(value: object) -> Cell:
    if not isinstance(value, Estimate):
        return Cell(typeset(number(value)) if value is None or isinstance(value, float) else str(value))
    span = interval(value) if value.value is not None else ""
    return Cell(typeset(number(value.value)), span, typeset(bounds(value)))


_SAMPLED = {
    "people": "For these people, and for people like these",
    "spread": "Scores over prompts: quantiles, if each prompt were asked with every example",
    "repeats": "Against the system's own disagreement",
    "requests": "What the server's answers took",
}


def tables(results: Results) -> list[ReportTable]:
    """Overall and by operator, for people like these, by family, by each slice, and the other scores."""
    blocks = {"": results.whole, **largest_first(results.sets.get("operator", {}))}
    overall = Markup("Overall and by {}, larger drops first").format(results.makers)
    made = [_blocks(overall, blocks, results, results.tries)]
    if results.against and (compared := against_rows(results)):
        own, *columns = compared[0]
        against = [(outside(str(row[own])), [_cell(row[column]) for column in columns]) for row in compared]
        heading = Markup("Each {} against {}").format(results.makers, outside(results.against.reference))
        made.append(ReportTable(heading, [outside(column) for column in columns], against))
    if results.scores_by:  # of rankings, what a query's noise does to each of their scores
        beside_main = next(iter(results.scores_by.values()))
        names = [name.removesuffix(":drop") for name in beside_main if name.endswith(":drop")]
        heads = [outside(title(name)) + part for name in (results.score, *names) for part in ("", ", drop")]
        ranked = []
        for operator, block in largest_first(results.sets["operator"]).items():
            beside = results.scores_by.get(operator, {})
            own_scores = (beside.get(f"{name}:{measure}") for name in names for measure in ("average", "drop"))
            ranked.append((outside(operator), [_cell(one) for one in (block.average, block.drop, *own_scores)]))
        made.append(ReportTable(Markup("Rankings by {}").format(results.makers), heads, ranked[:ROWS]))
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
    if results.combined:
        heads = [Markup(head) for head in ("measure", "together", "sum of the parts", "difference", "examples")]  # noqa: S704
        rows_of_both = [
            (outside(name), [Cell(measure), _cell(one.value), _cell(sum(one.parts.values())), _cell(one.beyond),
                             Cell(f"{one.beyond.n:,}")])
            for name, effects in results.combined.items()
            for measure, one in effects.items()
        ]  # fmt: skip
        made.append(ReportTable(Markup("Combinations: more than the sum of their parts?"), heads, rows_of_both[:ROWS]))
    requests = sampled.pop("requests", None)
    made += sampled.values()
    if results.sets.get("family"):
        of = " of operators" if results.makers == "operator" else ""
        made.append(_blocks(Markup("By family{}").format(of), results.sets["family"], results))
    for name, values in list(slices(results).items())[:SLICES]:
        made.append(_blocks(Markup("By slice: {}").format(outside(name)), values, results))
    if scores := results.scores:
        every = dict.fromkeys(measure for estimates in scores.values() for measure in estimates)
        measures = [measure for measure in every if measure not in FOR_PROGRAMS]
        heads = [outside(_head(measure, results)) for measure in measures]
        others = [(outside(title(score)), [_cell(own.get(m)) for m in measures]) for score, own in scores.items()]
        made.append(ReportTable(Markup("Other scores"), heads, others[:ROWS], max(0, len(scores) - ROWS)))
    return [*made, requests] if requests else made


def told_apart(results: Results) -> list[ReportTable]:
    """What may be said of operators, families and slices beside the rest of their kind."""
    made = []
    for kind, named in list(results.naming.sets.items())[:SLICES] if results.naming else ():
        # the sets of a kind side by side: what may be said of each
        what = {"operator": people(results.makers), "family": "families"}.get(kind, f"slices of {label(kind, 40)}")
        named_rows = []
        for name, one in sorted(named.items(), key=lambda entry: (-(entry[1].drop or 0.0), entry[0]))[:ROWS]:
            span = f"{number(one.low)} to {number(one.high)}" if one.low is not None else ""
            hurt = {"most": "affected most", "more": "more than the rest"}.get(one.hurt, "")
            parts = [Cell(typeset(number(one.drop)), typeset(span)), *map(_cell, (one.shrunk, one.rest))]
            named_rows.append((outside(name), [*parts, Cell(chance(one.p)), Cell(hurt)]))
        heads = [Markup(head) for head in ("drop", "shrunk drop", "drop of the rest", "corrected p", "")]  # noqa: S704
        caption = Markup("Can the {} be told apart? Intervals hold for all of them together").format(what)
        made.append(ReportTable(caption, heads, named_rows, max(0, len(named) - ROWS)))
    return made


def largest_first(blocks: Mapping[str, Block]) -> dict[str, Block]:
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


_ALL = "all"
_READINGS = {
    "forest": "A mark is the measured score; the line through it is its interval. Right is better. The further a "
    "square or a diamond lies left of its circle, the more that operator hurts.",
    "flips-by-operator": "The share of variants whose answer differs from the answer to the original, right or wrong. "
    "Shorter is steadier; the whisker is the interval.",
    "heat-map": "Brown cells lose, blue cells gain, and the darker the more. A bold number is surely not zero, also "
    "after correction for the number of cells; a plain one may be chance; a dash was not measured.",
}


def charts(results: Results) -> list[Chart]:
    """Scores and changed answers by operator."""
    operators = dict(list(largest_first(results.sets.get("operator", {})).items())[:PLOTTED])
    made = []

    def add(id: str, name: str, svg: Markup, heads: list[Markup], found: dict[str, list[Cell]], left: int = 0) -> None:
        rows = [(outside(operator), cells) for operator, cells in found.items()]
        table = ReportTable(Markup("{}, in numbers").format(name), heads, rows, left)
        made.append(Chart(id, name, _READINGS[id], svg, table, legend=id == "forest"))

    if operators:
        name = f"{title(label(results.score))} by {results.makers}"
        shapes = {op: {m: getattr(block, m) for m in draw.SERIES} for op, block in operators.items()}
        marks = {op: [_cell(estimate) for estimate in own.values()] for op, own in shapes.items()}
        svg = draw.forest(list(shapes.items()), name, title(results.score))
        add("forest", name, svg, [Markup(m) for m in draw.SERIES], marks)  # noqa: S704
        flips = {op: block.flips for op, block in operators.items()}
        flips = dict(sorted(flips.items(), key=lambda entry: (-_size(entry[1]), entry[0])))
        name = f"Answers that change, by {results.makers}"
        shares = {op: [_cell(share)] for op, share in flips.items()}
        add("flips-by-operator", name, draw.bars(list(flips.items()), name), [Markup("flips")], shares)
    return made


def heat_map(results: Results) -> Chart | None:
    """The drop by operator, over all examples and in each slice that has enough of them."""
    overall = {name: block.drop for name, block in results.sets.get("operator", {}).items()}
    if not overall:
        return None
    # so many rows and columns at most; where some must go, those with the largest drops stay
    whole = {name: {_ALL: drop, **results.grid.get(name, {})} for name, drop in overall.items()}
    columns = list(dict.fromkeys(column for cells in results.grid.values() for column in cells))
    known = [c for c in columns if max(cells[c].n for cells in whole.values() if c in cells) >= _FEW]
    tops = {c: max(_size(cells[c]) for cells in whole.values() if c in cells) for c in known}
    keep = {_ALL, *sorted(known, key=lambda c: -tops[c])[:COLUMNS]}
    shown = [c for c in (_ALL, *columns) if c in keep]
    rows = sorted(whole, key=lambda op: (-_size(overall[op]), op))[:PLOTTED]
    grid = {op: whole[op] for op in rows}
    sure = {op: list(columns) for op, columns in results.naming.grid.items()} if results.naming else {}
    for op, one in (results.naming.sets.get("operator", {}) if results.naming else {}).items():
        if one.low is not None and one.low > 0:
            sure.setdefault(op, []).append(_ALL)
    svg = draw.heat_map(grid, shown, _GRID, sure)
    drops = [(outside(op), [_cell(cells.get(column)) for column in shown]) for op, cells in grid.items()]
    left_out = max(0, len(known) - COLUMNS) + max(0, len(whole) - PLOTTED)
    table = ReportTable(Markup("{}, in numbers").format(_GRID), [outside(c) for c in shown], drops, left_out)
    reading = _READINGS["heat-map"]
    if few := len(columns) - len(known):
        reading += f" {counted(few, 'slice')} with fewer than {_FEW} examples {'is' if few == 1 else 'are'} left out."
    return Chart("heat-map", _GRID, reading, svg, table)


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


def href(name: str) -> str:
    """The address of a file beside the page."""
    return "./" + quote(os.fsencode(name))


@cache
def template(name: str) -> Template:
    """A page's template, in which all that is filled in is escaped."""
    environment = Environment(
        loader=FunctionLoader(lambda name: (files("unswayed.report") / name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., object]] = {
        "outside": outside,
        "attribute": attribute,
        "number": lambda value: typeset(number(value)),
        "heading": title,
    }
    environment.filters.update(filters)
    return environment.get_template(name)


@cache
def own_file(name: str) -> Markup:
    """A style or a script of the pages."""
    return Markup((files("unswayed.report") / name).read_text("utf-8"))  # noqa: S704  our own file


def facts(run: Run | None, results: Results, more: Mapping[str, Json] | None = None) -> dict[str, str]:
    """Names and values in the order to show them; `more` adds to them and goes before them."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")  # with which a page is the same byte for byte
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    found: dict[str, Json] = {"date": moment.strftime("%Y-%m-%d %H:%M UTC"), "task": results.task}
    found |= {"system": results.system, "suite": results.suite}
    if run is not None:
        suite = run.suite.manifest
        found |= {"system identity": run.identity, "suite folder": run.suite.name, "run folder": run.name}
        found |= {f"{name} (sampling)": value for name, value in run.manifest.settings.items()}
        found |= {name: shown_amount(value) for name, value in run.used().items()}
        operators = [
            f"{op.get('name')} v{op.get('version')}" + (f" ({spelled(op['params'])})" if op.get("params") else "")
            for op in suite.operators
        ]
        about = {
            "suite made by": f"unswayed {suite.unswayed}",
            "suite content": suite.content,
            "suite plan": suite.plan,
            "language": suite.language,
            "seed": suite.seed,
            "draws": suite.draws,
            "operators": ", ".join(operators),
            "labels": ", ".join(suite.labels or ()),
            **{f"sha256 of {name}": value for name, value in suite.hashes.items()},
        }
        found |= {key: value for key, value in about.items() if value not in (None, "")}
    found |= {"main score": results.score}
    found |= {"versions": f"unswayed {VERSION}, Python {platform.python_version()}, NumPy {np.__version__}"}
    found |= {"machine": f"{platform.system()} {platform.machine()}"}
    return {str(key): spelled(value) for key, value in (found | dict(more or {})).items()}
