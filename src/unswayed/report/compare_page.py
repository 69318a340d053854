"""The comparison of runs as one HTML file without scripts: differences, gates, and lost and gained answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from unswayed.base.text import ANSWER, figure, outside
from unswayed.measure.comparison.outcome import Comparison
from unswayed.report import charts as draw
from unswayed.report.html import href, own_file, template
from unswayed.report.sections import Cell, ReportTable
from unswayed.report.tables import chance
from unswayed.report.view import write_view
from unswayed.run.record import Run
from unswayed.storage.files import write_atomically

_SHOWN = 25  # answers of each kind
_LOOKED = 20_000  # answers that are looked through for them
_ROWS = 60
_FIRST = ("average", "worst", "flips")


class _Part(NamedTuple):
    """One run beside the baseline."""

    letter: str
    name: Markup
    sentences: list[str]
    gates: Sequence[object]
    chart: Markup
    table: ReportTable
    lost: list[dict[str, Markup]]
    gained: list[dict[str, Markup]]


def write_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Writes a comparison as a page; if it knows its runs, also `NAME.view.html`, the page to explore them in.

    Example: `unswayed.write_comparison(unswayed.compare("before/", "after/"), "compare.html")`.
    """
    path, runs = Path(path), [run for run in comparison.runs or () if isinstance(run, Run)]
    view = path.with_name(f"{path.stem}.view.html") if len(runs) == 2 else None
    if view is not None:
        write_view(runs, view)
    compared = comparison.lettered()
    page = template("compare.html.jinja").render(
        css=own_file("report.css"),
        comparison=comparison,
        head=comparison.sentences[0],
        verdict=_verdict(comparison),
        broken=[sign for _, one in compared for sign in one.sanity],
        warnings=list(dict.fromkeys(text for _, one in compared for text in one.warnings)),
        gates=[gate for _, one in compared for gate in one.gates],
        parts=[_part(letter, one) for letter, one in compared],
        view=None if view is None else href(view.name),
    )
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


def _verdict(comparison: Comparison) -> list[str]:
    """What users get, then the differences over all variants that are more than chance."""
    said = []
    for letter, one in comparison.lettered():
        overall = [d for d in one.differences if d.set == "all" and d.shown and d.measure in _FIRST]
        named = [d.sentence for d in sorted(overall, key=lambda d: _FIRST.index(d.measure))]
        own = [one.outcome(letter), *(named or ["No difference over all variants is more than chance."])]
        said += [f"{letter}: {sentence}" for sentence in own] if comparison.others else own
    return said


def _part(letter: str, one: Comparison) -> _Part:
    shown = sorted(one.differences, key=lambda d: (d.set != "all", not d.shown, d.set, d.measure))
    overall = [d for d in shown if d.set == "all" or d.measure == (one.primary or "average")][:_ROWS]
    plotted = [(f"{d.measure}, {d.set}", d.estimate) for d in overall if d.difference is not None]
    rows = []
    for d in shown[:_ROWS]:
        name = outside(f"{d.measure}, {d.set}")
        sides = ["–" if side is None else f"{side:.3f}" for side in (d.a, d.b)]
        cells = [*sides, figure(d.estimate), chance(d.p_corrected), f"{d.n:,}"]
        rows.append((Markup("<strong>{}</strong>").format(name) if d.shown else name, list(map(Cell, cells))))
    heads = [Markup(head) for head in ("A", letter, f"{letter} − A", "corrected p", "examples")]  # noqa: S704
    caption = Markup("Differences; those in bold are more than chance")
    table = ReportTable(caption, heads, rows, max(0, len(shown) - _ROWS))
    found: dict[str, list[dict[str, Markup]]] = {"lost": [], "gained": []}  # some, if the runs are known
    for c in islice(one.iter_flips(), _LOOKED) if one.runs is not None else ():
        if len(found[c.change]) < _SHOWN:
            where = f"{c.operator}, draw {c.draw}" if c.operator else "clean input"
            card = {"text": c.text, "a": c.answer_a, "b": c.answer_b, "gold": c.gold, "where": where}
            card["example"] = c.example
            found[c.change].append({name: outside(text, ANSWER) for name, text in card.items()})
    sentences, chart = [d.sentence for d in overall if d.set == "all"], draw.differences(plotted, f"{letter} minus A")
    return _Part(letter, outside(one.b), sentences, one.gates, chart, table, found["lost"], found["gained"])
