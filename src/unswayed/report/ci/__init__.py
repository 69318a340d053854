"""What a code host needs: the files of a first check, and one comment on a pull request that is updated."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import islice
from math import ceil, inf, isfinite
from pathlib import Path
from string import Template
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from unswayed.base.errors import UnswayedError, UsageError, option
from unswayed.base.options import ReadOptions
from unswayed.base.project import DISTRIBUTION, REPOSITORY
from unswayed.base.registry import VERSION
from unswayed.base.task import task_named
from unswayed.base.text import subject
from unswayed.data import open_source
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Results
from unswayed.measure.sentences import DROP, FLIPS
from unswayed.run.record import Run
from unswayed.score import scorer_named
from unswayed.storage.files import write_atomically

_PLACE = files("unswayed.report.ci")
_LOOKED_AT = 200  # examples, for gold
_FILES = {
    "github": {".github/workflows/unswayed.yml": "workflow.yml"},
    "gitlab": {".gitlab-ci.yml": "gitlab.yml"},
    "none": {},
}


class Started(NamedTuple):
    """The files that were written, what was found in the data, and the gate of the plan."""

    files: list[Path]
    task: str
    language: str
    gate: str


def write_first_check(
    data: str | Path, system: str, folder: str | Path = ".", host: str = "github", overwrite: bool = False,
    lang: str = "", address: str = "", run: str | Path | None = None, input: Sequence[str] = (), gold: str = "",
) -> Started:  # fmt: skip
    """Writes a plan, a workflow and a test for data and a system of your own. Existing files are kept, and named.

    `address` is the git address that CI installs from; by default the project's. `run` is a first run of the plan,
    whose results set the limit of its gate; without one, the gate fails where a verdict would call it serious.
    `input` and `gold` name the columns, where they are not found.
    """
    place, source = Path(folder), Path(data)
    opened = open_source(source, ReadOptions(input=tuple(input), gold=gold or None), lang or None)
    kind, some = opened.kind, islice(opened.examples, _LOOKED_AT)
    scored = "match" if kind.compared else next(iter(task_named(kind.task).scores), None)
    low, high = scorer_named(scored).bounds if scored is not None else (0.0, inf)
    span = high - low
    by_flips = not isfinite(span) or all(example.gold is None for example in some)  # without a score, no drop is known
    if by_flips:
        span, measure, what, serious = 1.0, "flips", "the share of answers that may change on variants", FLIPS[1]
    else:
        what, measure, serious = f"how much {subject(scored or '')} may fall on variants", "drop", DROP[1] * span
    limit, minutes, took = serious, 30, 0
    if run is not None:
        results = measure_run(run)
        if results.task != kind.task:
            raise UsageError(f"{run} is of the task {results.task}, and {source} is for the task {kind.task}.")
        found = results.flip_rate if by_flips else results.drop
        if found.high is None or results.sanity:
            why = " ".join(results.sanity) or f"it has no interval of {measure}."
            raise UsageError(f"{run} can't set a limit: {why}")
        limit = max(ceil(100 * found.high / span) / 100, 0.01) * span  # what a run like this one stays below
        what += f"; the first run had {found.value:.3g} [{found.low:.3g}, {found.high:.3g}]"
        what += _found_in(results, measure)
        items = Run(run).items()
        seconds = sum(one.seconds for _, clean, varied in items for one in (clean, *(output for _, output in varied)))
        took = ceil(seconds / 60)
        minutes = max(10, 3 * took)
    named: dict[str, Any] = {"input": list(input), "gold": gold}
    named = {name: value for name, value in named.items() if value}
    key = "" if "://" not in system else _KEY[host]
    values = {
        "key": key,
        "minutes": str(minutes),
        "took": f"the first run took about {took}" if took else "later builds use stored answers again",
        "gate": f"max_{measure} = {limit:g}   # {what}",
        "worse": f"{'flips' if by_flips else 'worst'} = {0.02 * span:g}",
        "data": json.dumps(source.as_posix(), ensure_ascii=False)  # also on Windows, whose paths have backslashes
        + "".join(f"\n{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in named.items()),
        "task": json.dumps(kind.task),
        "language": json.dumps(kind.language),
        "system": json.dumps(system, ensure_ascii=False),
        "distribution": DISTRIBUTION,
        "repository": address or REPOSITORY,
        "tag": f"v{VERSION}",
    }
    wanted = {"unswayed.toml": "plan.toml", "tests/test_unswayed.py": "test.txt", **_FILES[host]}
    there = [name for name in wanted if (place / name).exists()]
    if there and not overwrite:
        raise UsageError(
            f"{', '.join(there)} is there already. Use {option('overwrite')} to replace it, or choose another folder."
        )
    for name, template in wanted.items():
        text = Template((_PLACE / template).read_text("utf-8")).substitute(values)
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place / name, text.encode())
    _ignore(place / ".gitignore")
    gate = values["gate"].partition(" #")[0].strip()
    return Started([place / name for name in wanted], kind.task, kind.language, gate)


# How the key of a system behind a URL gets to the job; without one, nothing is needed.
_KEY = {
    "github": "\n    env:\n      OPENAI_API_KEY: $${{ secrets.OPENAI_API_KEY }}   # a secret of the repository".replace(
        "$$", "$"
    ),
    "gitlab": "\n# Set the masked variable OPENAI_API_KEY as well.",
    "none": "",
}
_IGNORED = (".unswayed/", "run/")


def _ignore(file: Path) -> None:
    """Keeps runs, which may hold what users wrote, out of commits."""
    there = file.read_text("utf-8") if file.exists() else ""
    if more := [line for line in _IGNORED if line not in there.splitlines()]:
        start = there if not there or there.endswith("\n") else f"{there}\n"
        write_atomically(file, "".join([start, *(f"{line}\n" for line in more)]).encode())


def _found_in(results: Results, measure: str) -> str:
    """What a build of this size finds in four of five cases; nothing if that can't be told."""
    try:
        detectable = results.power().detectable
    except UnswayedError:
        return ""
    least = next((one.now for one in detectable if one.measure == measure and one.now is not None), None)
    return "" if least is None else f"; so many examples show {least:.3g} in 4 of 5 builds"


_LONGEST = 60_000  # characters of a comment; GitHub takes 65,536
_PAGE = 100
_TIMEOUT = 30.0


class CommentFailed(UnswayedError):
    """The code host did not take the comment."""


class _Host(NamedTuple):
    """Where the comments of a request are, how a client is known there, and how a comment is changed."""

    comments: str
    comment: str
    user: str
    author: str  # the field of a comment
    headers: dict[str, str]
    change: str


def write_comment(
    text: str, name: str = "unswayed", link: str = "", environment: Mapping[str, str] | None = None
) -> str:
    """Writes the comment of this name, or updates it if it is there. Returns "written", "updated" or "unchanged".

    Example: `write_comment(Path("compare.md").read_text(), link="https://…")`.

    The request and the token come from the variables that GitHub Actions and GitLab CI set. A comment of somebody else
    that begins with our mark stays as it is.
    """
    host = _host_in(os.environ if environment is None else environment)
    mark, more = f"<!-- unswayed: {name.replace('--', '—')} -->", f"\n\n[All changed answers]({link})" if link else ""
    room = _LONGEST - len(mark) - len(more)
    if len(text) > room:
        text = text[:room].rsplit("\n", 1)[0] + "\n\n… the rest is on the page."
    body, page, ours = f"{mark}\n{text}{more}", 1, _is_by_us(host)
    while found := _send(host, "GET", f"{host.comments}?per_page={_PAGE}&page={page}"):
        for one in found:
            if str(one.get("body", "")).startswith(mark) and ours(one.get(host.author) or {}):
                if one["body"] == body:
                    return "unchanged"
                _send(host, host.change, host.comment.format(id=int(one["id"])), {"body": body})
                return "updated"
        if len(found) < _PAGE:
            break
        page += 1
    _send(host, "POST", host.comments, {"body": body})
    return "written"


def _is_by_us(host: _Host) -> Callable[[Mapping[str, Any]], bool]:
    """Tells our own comments by their author. The token of a job in GitHub Actions may not ask who it is, but is a
    bot's; people can't have accounts of that type."""
    try:
        own = _send(host, "GET", host.user)["id"]
    except CommentFailed:
        return lambda author: author.get("type") == "Bot"
    return lambda author: author.get("id") == own


def _host_in(given: Mapping[str, str]) -> _Host:
    """The host of the job that has these variables."""

    def needed(name: str) -> str:
        if not given.get(name):
            raise UsageError(
                f"The environment variable {name} is not set. Comments are written in GitHub Actions and GitLab CI."
            )
        return given[name]

    if given.get("GITLAB_CI"):
        token, project = needed("UNSWAYED_TOKEN"), needed("CI_PROJECT_ID")
        api, request = needed("CI_API_V4_URL"), needed("CI_MERGE_REQUEST_IID")
        notes = f"{api}/projects/{quote(project, safe='')}/merge_requests/{quote(request, safe='')}/notes"
        return _Host(notes, f"{notes}/{{id}}", f"{api}/user", "author", {"PRIVATE-TOKEN": token}, "PUT")
    token, repository = needed("GITHUB_TOKEN"), needed("GITHUB_REPOSITORY")
    api = given.get("GITHUB_API_URL") or "https://api.github.com"
    base = f"{api}/repos/{quote(repository)}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    try:  # the event that started the workflow
        event = json.loads(Path(needed("GITHUB_EVENT_PATH")).read_text("utf-8"))
        number = int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            "This workflow was not started by a pull request, so there is nothing to comment on. Use "
            f"{option('no-comment', 'comment', 'False')} unless github.event_name is pull_request."
        ) from error
    return _Host(f"{base}/{number}/comments", f"{base}/comments/{{id}}", f"{api}/user", "user", headers, "PATCH")


def _send(host: _Host, method: str, address: str, body: Mapping[str, str] | None = None) -> Any:
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise UsageError(f"{parts.scheme}://{parts.hostname} is not https. A token is sent over https only.")
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {**host.headers, "Content-Type": "application/json"}, method=method)  # noqa: S310
    try:
        with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310  checked above
            return json.load(answer)
    except HTTPError as error:
        hint = " The token may not write comments: set permissions: pull-requests: write."
        hint = hint if error.code in (401, 403) else ""
        raise CommentFailed(f"{method} {address}: the server answered {error.code} {error.reason}.{hint}") from error
    except (URLError, TimeoutError, ValueError) as error:
        raise CommentFailed(f"{method} {address}: {getattr(error, 'reason', error)}.") from error
