"""One comment on a pull request of GitHub, or a merge request of GitLab: written once, then updated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from unswayed.base.errors import UnswayedError, UsageError

_LONGEST = 60_000  # characters of a comment; GitHub takes 65,536
_PAGE = 100
_TIMEOUT = 30.0


class CommentFailed(UnswayedError):
    """The code host did not take the comment."""


class _Host(NamedTuple):
    """Where the comments of a request are, how a client is known there, and how a comment is changed."""

    comments: str
    comment: str
    headers: dict[str, str]
    change: str


def write_comment(
    text: str, name: str = "unswayed", link: str = "", environment: Mapping[str, str] | None = None
) -> str:
    """Writes the comment of this name, or updates it if it is there. Returns "written", "updated" or "unchanged".

    Example: `write_comment(Path("compare.md").read_text(), link="https://…")`.

    The request and the token come from the variables that GitHub Actions and GitLab CI set.
    """
    host = _host(os.environ if environment is None else environment)
    mark = f"<!-- unswayed: {name.replace('--', '—')} -->"
    body = _body(text, mark, link)
    known = next((one for one in _comments(host) if str(one.get("body", "")).startswith(mark)), None)
    if known is None:
        _ask(host, "POST", host.comments, {"body": body})
        return "written"
    if known["body"] == body:
        return "unchanged"
    _ask(host, host.change, host.comment.format(id=int(known["id"])), {"body": body})
    return "updated"


def _body(text: str, mark: str, link: str) -> str:
    more = f"\n\n[All changed answers]({link})" if link else ""
    room = _LONGEST - len(mark) - len(more)
    if len(text) > room:
        text = text[:room].rsplit("\n", 1)[0] + "\n\n… the rest is on the page."
    return f"{mark}\n{text}{more}"


def _comments(host: _Host) -> Iterator[dict[str, Any]]:
    page = 1
    while found := _ask(host, "GET", f"{host.comments}?per_page={_PAGE}&page={page}"):
        yield from found
        page += 1
        if len(found) < _PAGE:
            return


def _host(given: Mapping[str, str]) -> _Host:
    if given.get("GITLAB_CI"):
        return _gitlab(given)
    return _github(given)


def _github(given: Mapping[str, str]) -> _Host:
    token, repository = _needed(given, "GITHUB_TOKEN"), _needed(given, "GITHUB_REPOSITORY")
    api = given.get("GITHUB_API_URL") or "https://api.github.com"
    base = f"{api}/repos/{quote(repository)}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return _Host(f"{base}/{_pull_request(given)}/comments", f"{base}/comments/{{id}}", headers, "PATCH")


def _pull_request(given: Mapping[str, str]) -> int:
    """The number of the pull request in the event that started the workflow."""
    try:
        event = json.loads(Path(_needed(given, "GITHUB_EVENT_PATH")).read_text("utf-8"))
        return int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            "This workflow was not started by a pull request, so there is nothing to comment on. Run `unswayed "
            "comment` only if github.event_name is pull_request."
        ) from error


def _gitlab(given: Mapping[str, str]) -> _Host:
    token, project = _needed(given, "UNSWAYED_TOKEN"), _needed(given, "CI_PROJECT_ID")
    api, request = _needed(given, "CI_API_V4_URL"), _needed(given, "CI_MERGE_REQUEST_IID")
    notes = f"{api}/projects/{quote(project, safe='')}/merge_requests/{quote(request, safe='')}/notes"
    return _Host(notes, f"{notes}/{{id}}", {"PRIVATE-TOKEN": token}, "PUT")


def _needed(given: Mapping[str, str], name: str) -> str:
    if not given.get(name):
        raise UsageError(
            f"The environment variable {name} is not set. `unswayed comment` runs in GitHub Actions or GitLab CI."
        )
    return given[name]


def _ask(host: _Host, method: str, address: str, body: Mapping[str, str] | None = None) -> Any:
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise UsageError(f"{parts.scheme}://{parts.hostname} is not https. A token is sent over https only.")
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {**host.headers, "Content-Type": "application/json"}, method=method)  # noqa: S310
    try:
        with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310  checked above
            return json.load(answer)
    except HTTPError as error:
        hint = (
            " The token may not write comments: set permissions: pull-requests: write."
            if error.code in (401, 403)
            else ""
        )
        raise CommentFailed(f"{method} {address}: the server answered {error.code} {error.reason}.{hint}") from error
    except (URLError, TimeoutError, ValueError) as error:
        raise CommentFailed(f"{method} {address}: {getattr(error, 'reason', error)}.") from error
