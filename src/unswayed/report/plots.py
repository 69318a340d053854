"""Charts of results for notebooks: SVG that is shown where it is made, without another package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from markupsafe import Markup

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.text import title
from unswayed.base.values import Estimate
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.report import charts as draw
from unswayed.report.html import PLOTTED, heat_map, largest_first
from unswayed.storage.files import write_atomically

_WIDTH = 760  # of a saved picture, whose charts are as wide as their page
_MOST_K = 8  # points of the curve of the worst of k


class Plot:
    """A chart: shown by a notebook, saved by `save("drop.svg")`, and as text in `svg`."""

    def __init__(self, name: str, svg: Markup) -> None:
        self.name, self.svg = name, str(svg)

    def _repr_html_(self) -> str:
        # notebooks may be dark, and the chart's own letters are black
        style = f"background:#fff;color:#000;padding:.75rem;max-width:{_WIDTH}px;overflow-x:auto"
        return f'<figure style="{style}"><figcaption><b>{Markup.escape(self.name)}</b></figcaption>{self.svg}</figure>'

    def __repr__(self) -> str:
        return f"<Plot: {self.name}>"

    def save(self, path: str | Path) -> Path:
        """Writes the chart as an SVG file."""
        write_atomically(Path(path), self.svg.replace('width="100%"', f'width="{_WIDTH}"', 1).encode())
        return Path(path)


def plot(results: Results, kind: str = "forest") -> Plot:
    """The results as a picture, of the kinds that `Results.plot` lists."""
    if kind not in _KINDS:
        raise UnknownName("kind of plot", kind, _KINDS)
    return _KINDS[kind](results)


def _operators(results: Results) -> dict[str, draw.Shapes]:
    blocks = largest_first(results.sets.get("operator", {}))
    if not blocks:
        raise UsageError("There is nothing to plot: no operator has an answer.")
    return {name: one.estimates for name, one in list(blocks.items())[:PLOTTED]}


def _forest(results: Results) -> Plot:
    name = f"{title(results.score)} by {results.makers}"
    rows = [(one, {m: own[m] for m in draw.SERIES if m in own}) for one, own in _operators(results).items()]
    return Plot(f"{name}: ● clean, ■ average, ◆ worst", draw.forest(rows, name, title(results.score)))


def _heat(results: Results) -> Plot:
    _operators(results)
    chart = heat_map(results)
    assert chart is not None
    return Plot(chart.title, chart.svg)


def _worst(results: Results) -> Plot:
    """The expected lowest score of k tries, for each k that examples have variants for."""
    most = min(_MOST_K, max(1, round(sum(results.tries.values()))))
    plans = [{"measure": {"worst_of": k, "stored": False}} for k in range(1, most + 1)]
    worst = [measure_run(results.run, plan).worst for plan in plans]
    rows = [("clean", {"clean": results.clean})]
    rows += [(f"worst of {k}" if k > 1 else "average", {"worst": one}) for k, one in enumerate(worst, 1)]
    name = f"{title(results.score)} on the worst of k tries"
    return Plot(name, draw.forest(rows, name, title(results.score)))


def _people(results: Results) -> Plot:
    """The drop by person and by operator, on one scale."""
    own = _operators(results)
    people = [name for name in own if results.maker(name) != "operator"]
    if not people or len(people) == len(own):
        raise UsageError(
            "This plot sets people beside operators, so the suite must have variants by both. "
            "docs/howto.md shows how to import those of people."
        )
    rows: list[tuple[str, Estimate]] = [
        (f"{name} ({results.maker(name)})" if name in people else name, shapes["drop"]) for name, shapes in own.items()
    ]
    name = "Drop with people and with operators"
    return Plot(name, draw.differences(rows, name))


_KINDS: dict[str, Callable[[Results], Plot]] = {"forest": _forest, "heat": _heat, "worst": _worst, "people": _people}
