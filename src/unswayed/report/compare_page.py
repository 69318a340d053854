"""The comparison of runs as one HTML file without scripts: differences, gates, and lost and gained answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from unswayed.base.text import ANSWER, figure, outside
from unswayed.measure.changes import Changed
from unswayed.measure.comparison.outcome import Comparison, Difference
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
    path = Path(path)
    view = path.with_name(f"{path.stem}.view.html")
    runs = comparison.runs
    if runs is not None and all(isinstance(run, Run) for run in runs):
        write_view([run for run in runs if isinstance(run, Run)], view)
    else:
        view = None  # type: ignore[assignment]
    page = template("compare.html.jinja").render(
        css=own_file("report.css"),
        comparison=comparison,
        head=comparison.sentences[0],
        verdict=_verdict(comparison),
        broken=[sign for _, one in comparison.lettered() for sign in one.sanity],
        warnings=list(dict.fromkeys(text for _, one in comparison.lettered() for text in one.warnings)),
        gates=[gate for _, one in comparison.lettered() for gate in one.gates],
        parts=[_part(letter, one) for letter, one in comparison.lettered()],
        view=None if view is None else href(view.name),
    )
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


def _verdict(comparison: Comparison) -> list[str]:
    """What users get, then the differences over all variants that are more than chance."""
    said = []
    for letter, one in comparison.lettered():
        overall = [d for d in one.differences if d.set == "all" and d.shown and d.measure in _FIRST]
        named = sorted(overall, key=lambda d: _FIRST.index(d.measure))
        own = [
            one.outcome(letter),
            *([d.sentence for d in named] or ["No difference over all variants is more than chance."]),
        ]
        said += [f"{letter}: {sentence}" for sentence in own] if comparison.others else own
    return said


def _part(letter: str, one: Comparison) -> _Part:
    shown = sorted(one.differences, key=lambda d: (d.set != "all", not d.shown, d.set, d.measure))
    overall = [d for d in shown if d.set == "all" or d.measure == (one.primary or "average")][:_ROWS]
    lost, gained = _answers(one)
    return _Part(letter, outside(one.b), [d.sentence for d in overall if d.set == "all"], one.gates,
                 _chart(overall, letter), _table(shown, letter), lost, gained)  # fmt: skip


def _chart(differences: Sequence[Difference], letter: str) -> Markup:
    rows = [(f"{d.measure}, {d.set}", d.estimate) for d in differences if d.difference is not None]
    return draw.differences(rows, f"{letter} minus A")


def _table(differences: Sequence[Difference], letter: str) -> ReportTable:
    rows = []
    for d in differences[:_ROWS]:
        name = (
            Markup("<strong>{}</strong>").format(outside(f"{d.measure}, {d.set}"))
            if d.shown
            else outside(f"{d.measure}, {d.set}")
        )
        cells = [figure(d.estimate), chance(d.p_corrected), f"{d.n:,}"]
        sides = [Cell("–" if side is None else f"{side:.3f}") for side in (d.a, d.b)]
        rows.append((name, [*sides, *map(Cell, cells)]))
    heads = [Markup(head) for head in ("A", letter, f"{letter} − A", "corrected p", "examples")]  # noqa: S704
    caption = Markup("Differences; those in bold are more than chance")
    return ReportTable(caption, heads, rows, max(0, len(differences) - _ROWS))


def _answers(one: Comparison) -> tuple[list[dict[str, Markup]], list[dict[str, Markup]]]:
    """Some of the answers that were lost, and some that were gained; none where the runs are not known."""
    found: dict[str, list[dict[str, Markup]]] = {"lost": [], "gained": []}
    if one.runs is not None:
        for changed in islice(one.iter_flips(), _LOOKED):
            if len(found[changed.change]) < _SHOWN:
                found[changed.change].append(_card(changed))
    return found["lost"], found["gained"]


def _card(changed: Changed) -> dict[str, Markup]:
    texts = {"text": changed.text, "a": changed.answer_a, "b": changed.answer_b, "gold": changed.gold}
    where = f"{changed.operator}, draw {changed.draw}" if changed.operator else "clean input"
    return {name: outside(text, ANSWER) for name, text in {**texts, "where": where, "example": changed.example}.items()}
