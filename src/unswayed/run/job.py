"""What a run is to do, checked, and the manifest that says what it did."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from unswayed.base.errors import UsageError, option
from unswayed.base.options import Asking
from unswayed.base.registry import VERSION
from unswayed.base.secrets import without_known
from unswayed.run.order import seed_of
from unswayed.run.record import PROMPT_FILE, Run, RunManifest
from unswayed.run.spending import Purse, Spending
from unswayed.storage.answers import Place
from unswayed.storage.files import write_inside
from unswayed.storage.suite import Suite
from unswayed.systems.system import System


class Until(NamedTuple):
    """Rules by which a run ends early, as texts, and whether they all hold for a run as it is now."""

    rules: tuple[str, ...]
    hold: Callable[[Run], bool]


class Job(NamedTuple):
    """What is to be done, whoever answers."""

    suite: Suite
    place: Place  # a folder, or memory
    asking: Asking
    limit: int | None
    fresh: bool
    until: Until | None
    repeats: int
    spending: Spending
    name: str | None = None


def check_repeats(repeats: int, system: System) -> None:
    if repeats and system.deterministic:
        raise UsageError(
            f"{system.name} is declared deterministic: it gives the same answer to the same input. "
            f"Leave out {option('repeats')}, or declare it otherwise."
        )


def write_manifest(job: Job, system: System, asked: int | None, purse: Purse, over: bool) -> RunManifest:
    suite, folder = job.suite, job.place
    shown = ""
    if isinstance(folder, Path):
        place = Path(suite.on_disk().name).resolve()
        try:
            shown = os.path.relpath(place, folder.resolve())
        except ValueError:  # another drive
            shown = str(place)
    manifest = RunManifest(
        unswayed=VERSION,
        suite=shown,
        suite_id=suite.id,
        system=job.name or system.name,
        identity=system.identity,
        order=seed_of(suite),
        limit=job.limit,
        asked=asked,
        stop_when=list(job.until.rules) if job.until else [],
        repeats=job.repeats,
        budget=purse.limit,
        stopped="budget" if over else "",
        prices=purse.prices,
        judge_prices=purse.judge_prices,
        settings=system.settings(),
        prompts={name: without_known(text) for name, text in system.prompts.items()},
    )
    if not isinstance(folder, Path):
        return manifest
    if "prompt" in manifest.prompts:  # also as a file, with which the run can be made again
        write_inside(folder / PROMPT_FILE, f"{manifest.prompts['prompt']}\n".encode("utf-8", "surrogatepass"))
    write_inside(folder / "run.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return manifest
