"""A check of a pull request: the plan is run, compared with the main branch's run, written as pages, and commented."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from unswayed.api import carry_out
from unswayed.measure import compare
from unswayed.report.ci import write_comment
from unswayed.report.html import write_report
from unswayed.report.junit import write_comparison_junit, write_junit
from unswayed.report.tables import escaped, gates_first, render
from unswayed.report.view import write_comparison
from unswayed.run.plan import Plan
from unswayed.run.record import Run

BASELINE = "main"  # the folder of the run that others are compared with


class Checked(NamedTuple):
    """What a check found: the text of the comment, the pages, what became of the comment, and the exit code."""

    text: str
    pages: list[Path]
    comment: str
    exit_code: int


def check_pull_request(
    plan: Plan, folder: Path, name: str = "unswayed", keep: bool = False, comment: bool = True
) -> Checked:
    """Runs the plan in `folder`/run and compares it with `folder`/main, if that is there. `keep` makes it the new main.

    `name` tells the comments of several plans apart. A comparison with another suite is left out, and the comment says
    so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    verdict = carry_out(plan, folder / "run")
    run = verdict.results.run
    assert isinstance(run, Run)
    pages = [write_report(run, verdict.results, folder / "report.html", gates=verdict.gates, plan=plan)]
    write_junit(folder / "run.xml", verdict.results, verdict.gates)
    text, code = gates_first(render(verdict.results, "md"), verdict.gates), verdict.exit_code
    base = folder / BASELINE
    if (base / "run.json").is_file() and not keep:
        compared = "The data or the operators changed, so there is no comparison with the main branch."
        if Run(base).suite.id == run.suite.id:
            found = compare(base, run, plan=plan)
            pages.append(write_comparison(found, folder / "compare.html"))
            write_comparison_junit(folder / "compare.xml", found)
            changes = [escaped(sentence) for sentence in found.changes] or ["No difference is more than chance."]
            said = "\n".join(f"- {sentence}" for sentence in [found.outcome(), *changes])
            gates = [gate for _, one in found.lettered() for gate in one.gates]
            whole = _folded("All differences", render(found, "md"))
            compared = f"{gates_first(said, gates)}\n\n{escaped(found.sentences[0])}\n\n{whole}"
            code = found.exit_code or code
        text = f"{compared}\n\n{_folded('This branch by itself', text)}"
    if keep:
        shutil.rmtree(base, ignore_errors=True)
        run.save(base)
    given, page = os.environ, ""  # the page of this build, which has the artifacts
    parts = [given.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    if given.get("GITLAB_CI"):
        page = f"{given['CI_JOB_URL']}/artifacts/browse" if given.get("CI_JOB_URL") else ""
    elif all(parts):
        page = f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}"
    asked_for = given.get("GITHUB_EVENT_NAME") == "pull_request" or bool(given.get("CI_MERGE_REQUEST_IID"))
    said = write_comment(text, name, page) if comment and asked_for else ""
    return Checked(text, pages, said, code)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
