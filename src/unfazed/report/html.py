"""A run's report as one HTML file without scripts or network, and all changed answers as JSON lines beside it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from unfazed.core.files import write_atomically
from unfazed.core.values import Json
from unfazed.measure.results import Results
from unfazed.measure.validity import Reasons
from unfazed.report import figures, provenance, sections
from unfazed.report.flips import KINDS, Flip, Sample, write_flips
from unfazed.report.text import attribute, outside
from unfazed.report.verdict import Gate, verdict

if TYPE_CHECKING:
    from unfazed.run.record import Run

REASON = 300  # characters by which reasons are told apart
OPEN = 8  # flips shown before the rest is folded away


def write_report(
    run: Run | None,
    results: Results,
    path: str | Path,
    flips: Iterable[Flip] | None = None,
    *,
    gates: Iterable[Gate] = (),
    provenance: Mapping[str, Json] | None = None,
) -> Path:
    """Writes `path` and, beside it, `NAME.flips.jsonl`. Without `flips`, those of the run are read from it.

    `provenance` adds facts to those that the run knows, or goes before them.
    """
    path = Path(path)
    sample = Sample()
    log = path.with_name(f"{path.stem}.flips.jsonl")
    count = write_flips(_flips_of(run, results.score) if flips is None else flips, log, sample)
    page = render_page(run, results, sample, gates=list(gates), more=provenance, name=str(path), link=(log.name, count))
    # A lone surrogate that got past the cleaning becomes a reference, which a browser shows as unknown.
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


def _flips_of(run: Run | None, score: str) -> Iterable[Flip]:
    """The run's changed answers, right or wrong by the report's main score."""
    if run is None:
        return ()
    from unfazed.measure.measuring import flips
    from unfazed.score import scorers

    return flips(run, score if score in scorers else None)


def _failures(run: Run | None, results: Results) -> Counter[str]:
    """Why items have no answer, and how many for each reason. Reads the run again only where some failed."""
    reasons = Reasons()
    if run is None or not results.validity.get("failed"):
        return reasons
    for _, clean, varied in run.items():
        for output in (clean, *(output for _, output in varied)):
            if output.error is not None:
                reasons.add(output.error[:REASON])
    return reasons


def render_page(
    run: Run | None,
    results: Results,
    sample: Sample,
    *,
    gates: list[Gate],
    more: Mapping[str, Json] | None,
    name: str,
    link: tuple[str, int],
) -> str:
    """The page's text. `link` is the file of all flips and how many it holds."""
    draws = run.suite.manifest.draws if run is not None else (more or {}).get("draws")
    cards = sample.cards()
    given = (more or {}).get("commands")
    return template("report.html.jinja").render(
        css=style(),
        results=results,
        suite=results.suite if run is None else Path(run.suite.path).name,
        headline=sections.headline(results),
        verdict=verdict(results, draws if isinstance(draws, int) else None, gates),
        gates=gates,
        tables=sections.tables(results),
        charts=sections.charts(results),
        cards=cards,
        open=OPEN,
        kinds=[(KINDS[rank], sample.kinds[rank]) for rank in range(len(KINDS)) if sample.kinds[rank]],
        flips=link[1],
        operators_flipped=len(sample.counts),
        href="./" + quote(os.fsencode(link[0])),
        log=link[0],
        validity=sections.validity(results.validity, _failures(run, results)),
        facts=provenance.facts(run, results, more),
        commands=given if isinstance(given, list) else provenance.commands(run, name),
        signatures=provenance.signatures(results),
    )


@cache
def template(name: str) -> Template:
    """A page's template, in which all that is filled in is escaped."""
    place = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(place),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., object]] = {
        "outside": outside,
        "attribute": attribute,
        "number": lambda value: figures.typeset(figures.number(value)),
        "heading": figures.title,
    }
    environment.filters.update(filters)
    return environment.get_template(name)


@cache
def style() -> Markup:
    return Markup((Path(__file__).parent / "report.css").read_text("utf-8"))  # noqa: S704  our own file
