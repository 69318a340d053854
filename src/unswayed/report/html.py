"""A run's report as one HTML file without scripts or network, and all changed answers as JSON lines beside it."""

from __future__ import annotations

import os
import platform
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
from unswayed.measure.results import Results
from unswayed.measure.sentences import verdict
from unswayed.measure.validity import Reasons
from unswayed.report import sections
from unswayed.report.again import commands
from unswayed.report.flips import KINDS, FlipSample, write_flips
from unswayed.report.tables import shown_amount
from unswayed.run.plan import given_options
from unswayed.storage.files import write_atomically
from unswayed.storage.suite_rows import pieces

if TYPE_CHECKING:
    from unswayed.run.plan import Plan
    from unswayed.run.record import Run

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
        headline=sections.headline(results),
        verdict=verdict(results, gates),
        gates=gates,
        tables=sections.tables(results),
        charts=sections.charts(results),
        cards=sample.cards(),
        open=OPEN,
        kinds=[(KINDS[rank], sample.kinds[rank]) for rank in range(len(KINDS)) if sample.kinds[rank]],
        flips=count,
        operators_flipped=len(sample.counts),
        href=href(log.name),
        log=log.name,
        view=None if view is None else href(view.name),
        validity=sections.validity(results.validity, reasons),
        facts=facts(run, results, more),
        commands=lines,
        prompts={} if run is None else run.manifest.prompts,
        signatures=[(measure, estimate.signature) for measure, estimate in results.whole.estimates.items()],
    )
    # A lone surrogate that got past the cleaning becomes a reference, which a browser shows as unknown.
    write_atomically(path, page.encode("utf-8", "xmlcharrefreplace"))
    return path


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
