"""A run's report as one HTML file without scripts or network, and all changed answers as JSON lines beside it."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from unswayed.base.registry import VERSION
from unswayed.base.text import attribute, number, outside, spelled, title, typeset
from unswayed.base.values import Json
from unswayed.measure.changes import Flip, FlipBlock
from unswayed.measure.gates import GateResult
from unswayed.measure.results import MEASURES, Results
from unswayed.measure.sentences import verdict
from unswayed.measure.validity import Reasons
from unswayed.report import sections
from unswayed.report.again import commands
from unswayed.report.flip_lines import blocks_of_flips, write_flips
from unswayed.report.flips import KINDS, FlipSample
from unswayed.report.tables import shown_amount
from unswayed.run.plan import kept
from unswayed.storage.files import write_atomically

if TYPE_CHECKING:
    from unswayed.run.plan import Plan
    from unswayed.run.record import Run
    from unswayed.storage.suite import Manifest

REASON = 300  # characters by which reasons are told apart
OPEN = 8  # flips shown before the rest is folded away


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
    path = Path(path)
    sample = FlipSample()
    log = path.with_name(f"{path.stem}.flips.jsonl")
    view = path.with_name(f"{path.stem}.view.html") if run is not None and flips is None else None
    count = write_flips(_flips_of(run, results, view) if flips is None else blocks_of_flips(flips), log, sample)
    if plan is not None and run is not None:
        judged = {"measure": kept(plan.measure), "gate": kept(plan.gate)}
        provenance = {"commands": commands(run, str(path), judged), **(provenance or {})}
    page = render_page(run, results, sample, gates=list(gates), more=provenance, name=str(path), link=(log.name, count),
                       view=view)  # fmt: skip
    # A lone surrogate that got past the cleaning becomes a reference, which a browser shows as unknown.
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


def _flips_of(run: Run | None, results: Results, view: Path | None) -> Iterable[FlipBlock]:
    """The run's changed answers, right or wrong by the report's main score; `view` becomes the page of them."""
    if run is None or view is None:
        return ()
    from unswayed.report.view import flips_and_view

    return flips_and_view(results, run, view)


def _failures(run: Run | None, results: Results) -> Counter[str]:
    """Why items have no answer, and how many for each reason. Reads the run again only where some failed."""
    reasons = Reasons()
    if run is None or not (results.validity.get("failed") or results.validity.get("unreadable")):
        return reasons
    for _, clean, varied in run.items():
        for output in (clean, *(output for _, output in varied)):
            if output.error is not None:
                reasons.add(output.error[:REASON])
    return reasons


def render_page(
    run: Run | None, results: Results, sample: FlipSample, *, gates: list[GateResult],
    more: Mapping[str, Json] | None, name: str, link: tuple[str, int], view: Path | None = None,
) -> str:  # fmt: skip
    """The page's text. `link` is the file of all flips and how many it holds, `view` the page to explore them in."""
    cards = sample.cards()
    given = (more or {}).get("commands")
    return template("report.html.jinja").render(
        css=style(),
        results=results,
        suite=results.suite if run is None else Path(run.suite.path).name,
        headline=sections.headline(results),
        verdict=verdict(results, gates),
        gates=gates,
        tables=sections.tables(results),
        charts=sections.charts(results),
        cards=cards,
        open=OPEN,
        kinds=[(KINDS[rank], sample.kinds[rank]) for rank in range(len(KINDS)) if sample.kinds[rank]],
        flips=link[1],
        operators_flipped=len(sample.counts),
        href=href(link[0]),
        log=link[0],
        view=None if view is None else href(view.name),
        validity=sections.validity(results.validity, _failures(run, results)),
        facts=facts(run, results, more),
        commands=given if isinstance(given, list) else [] if run is None else commands(run, name),
        prompts={} if run is None else run.manifest.prompts,
        signatures=signatures(results),
    )


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
def style() -> Markup:
    return Markup((files("unswayed.report") / "report.css").read_text("utf-8"))  # noqa: S704  our own file


def facts(run: Run | None, results: Results, more: Mapping[str, Json] | None = None) -> dict[str, str]:
    """Names and values in the order to show them; `more` adds to them and goes before them."""
    found: dict[str, Json] = {"date": _today(), "task": results.task}
    found |= {"system": results.system, "suite": results.suite}
    if run is not None:
        found |= {"system identity": run.identity, "suite folder": str(run.suite.path), "run folder": str(run.path)}
        found |= {f"{name} (sampling)": value for name, value in run.manifest.settings.items()}
        found |= {name: shown_amount(value) for name, value in run.used().items()}
        found |= _suite(run.suite.manifest)
    found |= {"main score": results.score}
    found |= {"versions": f"unswayed {VERSION}, Python {platform.python_version()}, NumPy {np.__version__}"}
    found |= {"machine": f"{platform.system()} {platform.machine()}"}
    given = {key: value for key, value in (more or {}).items() if key != "commands"}
    return {str(key): spelled(value) for key, value in (found | given).items()}


def _today() -> str:
    """The time of the report, or the time in `SOURCE_DATE_EPOCH`, with which a page is the same byte for byte."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def _suite(manifest: Manifest) -> dict[str, Json]:
    operators = [
        f"{op.get('name')} v{op.get('version')}" + (f" ({spelled(op['params'])})" if op.get("params") else "")
        for op in manifest.operators
    ]
    found: dict[str, Json] = {
        "suite made by": f"unswayed {manifest.unswayed}",
        "suite content": manifest.content,
        "suite plan": manifest.plan,
        "language": manifest.language,
        "seed": manifest.seed,
        "draws": manifest.draws,
        "operators": ", ".join(operators),
        "labels": ", ".join(manifest.labels or ()),
    }
    found |= {f"sha256 of {name}": value for name, value in manifest.hashes.items()}
    return {key: value for key, value in found.items() if value not in (None, "")}


def signatures(results: Results) -> list[tuple[str, str]]:
    """Each overall measure with the signature that changes whenever anything that decides it does."""
    found = [(name, getattr(results.whole, name)) for name in MEASURES]
    return [(name, estimate.signature) for name, estimate in found if estimate is not None]
