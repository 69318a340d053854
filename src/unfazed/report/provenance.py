"""Where a report's numbers come from: suite, system, versions, and the commands that make them again."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from unfazed.core.values import Json
from unfazed.core.version import VERSION
from unfazed.measure.results import Results
from unfazed.report.text import label, spelled

if TYPE_CHECKING:
    from unfazed.core.suite import Manifest
    from unfazed.run.record import Run

FACT = 400  # characters of a fact that are shown

Facts = dict[str, str]


def facts(run: Run | None, results: Results, more: Mapping[str, Json] | None = None) -> Facts:
    """Names and values in the order to show them; `more` adds to them and goes before them."""
    found: dict[str, Json] = {"date": _today(), "task": results.task}
    found |= {"system": results.system, "suite": results.suite}
    if run is not None:
        found |= {"system identity": run.identity, "suite folder": str(run.suite.path), "run folder": str(run.path)}
        found |= {name: shown_amount(value) for name, value in run.used().items()}
        found |= _suite(run.suite.manifest)
    found |= {"main score": results.score}
    found |= {"versions": f"unfazed {VERSION}, Python {platform.python_version()}, NumPy {np.__version__}"}
    found |= {"machine": f"{platform.system()} {platform.machine()}"}
    given = {key: value for key, value in (more or {}).items() if key != "commands"}
    return {str(key): spelled(value) for key, value in (found | given).items()}


def _today() -> str:
    """The time of the report, or the time in `SOURCE_DATE_EPOCH`, with which a page is the same byte for byte."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def shown_amount(value: float) -> str:
    """A count with its thousands, or a cost."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _suite(manifest: Manifest) -> dict[str, Json]:
    operators = [
        f"{op.get('name')} v{op.get('version')}" + (f" ({spelled(op['params'])})" if op.get("params") else "")
        for op in manifest.operators
    ]
    found: dict[str, Json] = {
        "suite made by": f"unfazed {manifest.unfazed}",
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


def commands(run: Run | None, path: str) -> list[str]:
    """What to type to make the report again. The data's own place is not in a suite, so that is left to fill in."""
    if run is None:
        return []
    manifest, quoted = run.suite.manifest, [shlex.quote(label(x, 200)) for x in (run.suite.path, run.path, path)]
    suite, folder, report = quoted
    task, language = shlex.quote(label(manifest.task)), shlex.quote(label(manifest.language))
    lines = []
    if manifest.operators and manifest.seed is not None:
        chosen = " ".join(f"--with {shlex.quote(label(op.get('name'), 200))}" for op in manifest.operators)
        lines.append(
            f"unfazed vary DATA --task {task} --lang {language} {chosen} "
            f"--draws {manifest.draws} --seed {manifest.seed} -o {suite}"
        )
    lines.append(f"unfazed run {suite} --system {shlex.quote(label(run.system, 200))} -o {folder}")
    lines.append(f"unfazed report {folder} -o {report}")
    return lines


def signatures(results: Results) -> list[tuple[str, str]]:
    """Each overall measure with the signature that changes whenever anything that decides it does."""
    measures = ("clean", "average", "worst", "drop", "flips", "consistency", "noticed")
    found = [(name, getattr(results, name)) for name in measures]
    return [(name, estimate.signature) for name, estimate in found if estimate is not None]
