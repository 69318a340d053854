"""A check of a pull request: the plan is run, compared with the main branch's run, written as pages, and commented."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from unswayed.api import carry_out
from unswayed.base.errors import NothingEvaluated, StoredFileError, option
from unswayed.base.secrets import masked
from unswayed.base.text import label
from unswayed.measure import compare
from unswayed.report.ci import write_comment
from unswayed.report.html import write_report
from unswayed.report.junit import write_comparison_junit, write_junit
from unswayed.report.tables import escaped, gates_first, render
from unswayed.report.view import write_comparison
from unswayed.run.plan import Plan
from unswayed.run.record import Run
from unswayed.run.shared_rows import on_shared_rows

BASELINE = "main"  # the folder of the run that others are compared with
NO_COMPARISON = "No comparison was made: "
_LOST, _LOOKED, _TEXT = 3, 20_000, 120  # lost answers in a comment, looked for in so many, and their length
_GATES = ("gate", "compare", "measure")  # the plan's sections that decide whether a build passes


class Checked(NamedTuple):
    """What a check found: the text of the comment, the pages, what became of the comment, and the exit code."""

    text: str
    pages: list[Path]
    comment: str
    exit_code: int


def check_pull_request(
    plan: Plan, folder: Path, name: str = "unswayed", keep: bool = False, comment: bool = True, *,
    baseline_from: str = "", pinned: str = "", allow_no_baseline: bool = False,
) -> Checked:  # fmt: skip
    """Runs the plan in `folder`/run and compares it with `folder`/main. `keep` makes it the new main instead.

    `name` is the plan's file, and tells the comments of several plans apart. `baseline_from` is a commit, whose plan is
    run and takes the place of `folder`/main. `pinned` is the folder of a run, or a commit, that the run is compared
    with as well. The exit code is 5 if a comparison can't be made. `allow_no_baseline` accepts that for a run that is
    missing or shares no rows, but not for one that is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("compare*"):  # of an earlier check, whose comparison would be taken for this one's
        file.unlink()
    began = monotonic()
    verdict = carry_out(plan, folder / "run")
    run = verdict.results.run
    assert isinstance(run, Run)
    pages = [write_report(run, verdict.results, folder / "report.html", gates=verdict.gates, plan=plan)]
    write_junit(folder / "run.xml", verdict.results, verdict.gates, monotonic() - began)
    alone = gates_first(render(verdict.results, "md"), verdict.gates)
    compared = _Compared([], [], pages, [verdict.exit_code])
    base = folder / BASELINE
    if not keep:
        _compare(compared, run, plan, name, base, baseline_from, "compare", allow_no_baseline)
    if pinned:
        has_folder = (Path(pinned) / "run.json").exists()
        place, commit = (Path(pinned), "") if has_folder else (folder, pinned)
        _compare(compared, run, plan, name, place, commit, "compare-pinned", allow_no_baseline)
    parts = [*compared.first, *compared.rest]
    text = "\n\n".join([*parts, _folded("This branch by itself", alone)] if parts else [alone])
    if keep:
        shutil.rmtree(base, ignore_errors=True)
        run.save(base)
    given, page = os.environ, ""  # the page of this build, which has the artifacts
    where = [given.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    if given.get("GITLAB_CI"):
        page = f"{given['CI_JOB_URL']}/artifacts/browse" if given.get("CI_JOB_URL") else ""
    elif all(where):
        page = f"{where[0]}/{where[1]}/actions/runs/{where[2]}"
    asked_for = given.get("GITHUB_EVENT_NAME") == "pull_request" or bool(given.get("CI_MERGE_REQUEST_IID"))
    text = masked(text)
    said = write_comment(text, name, page) if comment and asked_for else ""
    return Checked(text, pages, said, max(compared.codes))  # 5 and 3, for what is not known, before 1


class _Compared(NamedTuple):
    """What comparisons add to a comment: what must be read first, and the rest; pages, and exit codes."""

    first: list[str]
    rest: list[str]
    pages: list[Path]
    codes: list[int]


def _compare(
    to: _Compared, run: Run, plan: Plan, name: str, base: Path, commit: str, page: str, allow_missing: bool
) -> None:
    """Compares a run with the one in folder `base`, or with that of a commit, whose runs are beside `run`."""
    assert run.path is not None
    folder, pinned = run.path.parent, page != "compare"
    which = "the pinned run" if pinned else "the main branch's run"
    try:
        if commit:
            from unswayed.integrations.baseline import run_of_commit

            base = run_of_commit(commit, name, folder)
        if not os.path.lexists(base / "run.json"):
            more = f"The build of the main branch keeps one, with {option('baseline', 'keep')}. "
            more += f"{option('baseline-from', value='REF')} runs a commit instead. "
            more += f"{option('allow-no-baseline')} accepts that there is none, as in the first build."
            raise NothingEvaluated(f"there is no run in {base}. {more}")
        before = Run(base)
        shared = on_shared_rows(before, run)
        found = compare(shared.a, shared.b, plan=plan)
    except NothingEvaluated as error:
        accepted = f" {option('allow-no-baseline')} accepts that." if allow_missing else ""
        to.first.append(f"{NO_COMPARISON}{which}: {escaped(str(error))}{accepted}")
        to.codes.append(0 if allow_missing else NothingEvaluated.exit_code)
        return
    except (StoredFileError, OSError) as error:
        fix = f"Delete {base}, and make the run again"
        to.first.append(f"{NO_COMPARISON}{which} can't be read. {escaped(f'{error} {fix}.')}")
        to.codes.append(NothingEvaluated.exit_code)
        return
    if not pinned and (changed := _changed_gates(before.plan, run.plan)):
        to.first.append(f"⚠️ This pull request changes its own gates: {escaped('; '.join(changed))}.")
    to.pages.append(write_comparison(found, folder / f"{page}.html"))
    write_comparison_junit(folder / f"{page}.xml", found)
    to.codes.append(found.exit_code)
    gates = [gate for _, one in found.lettered() for gate in one.gates]
    head = [f"Compared with the pinned run, {escaped(commit or before.name)}:"] if pinned else []
    said = " ".join(escaped(sentence) for sentence in [found.outcome(), *found.lost_and_gained()])
    lost = [one for one in islice(found.iter_flips(), _LOOKED) if one.change == "lost"][:_LOST]
    answers = [
        f"- {escaped(label(one.text, _TEXT))}: {escaped(label(one.answer_a, _TEXT))} → "
        f"**{escaped(label(one.answer_b, _TEXT))}** (gold {escaped(label(one.gold, _TEXT))})"
        for one in lost
    ]
    shown = f"Lost answers, for example:\n\n{chr(10).join(answers)}" if answers else ""
    table = [
        "\n".join(f"- {escaped(sentence)}" for sentence in found.changes),
        escaped(shared.sentence),
        escaped(found.about),
        render(found, "md"),
    ]
    every = [gates_first(said, gates), shown, _folded("All differences", "\n\n".join(filter(None, table)))]
    to.rest.extend(filter(None, [*head, *every]))


def _changed_gates(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """How the options differ that decide whether a build passes: `gate.max_drop from 0.1 to 0.5`."""

    def flat(plan: Mapping[str, Any]) -> dict[str, str]:
        options: dict[str, Any] = {f"{s}.{key}": value for s in _GATES for key, value in plan.get(s, {}).items()}
        tables = {name: value for name, value in options.items() if isinstance(value, dict)}
        options = {name: value for name, value in options.items() if name not in tables}
        options |= {f"{name}.{key}": item for name, value in tables.items() for key, item in value.items()}
        return {name: json.dumps(value, ensure_ascii=False) for name, value in options.items()}

    was, now = flat(before), flat(after)
    names = [name for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
    return [f"{name} from {was.get(name, 'its default')} to {now.get(name, 'its default')}" for name in names]


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
