"""The site of a study, or of several: every page by its path, and what is said where something goes wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from unswayed.base.errors import MissingExtra

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response
    from starlette.routing import BaseRoute, Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp

    from unswayed.collect import admin, console, visits
    from unswayed.collect.site import RouteTable, SafeHeaders, Site, TooLarge, routes
except ImportError as error:
    raise MissingExtra("`unswayed collect serve`", "collect") from error

STATIC = Path(__file__).parent / "static"

OWNER: RouteTable = (
    ("GET", "/admin/login", admin.login_page),
    ("POST", "/admin/login", admin.login),
    ("POST", "/admin/logout", admin.logout),
    ("GET", "/admin", admin.overview),
    ("GET", "/admin/people", admin.people),
    ("GET", "/admin/person", admin.person),
    ("GET", "/admin/answers", admin.answers),
    ("GET", "/admin/answers.jsonl", admin.download),
    ("GET", "/admin/answer", admin.show_answer),
    ("GET", "/admin/audio/{name}", admin.recording),
    ("GET", "/admin/items", admin.items),
    ("GET", "/admin/item", admin.item),
    ("GET", "/admin/audit", admin.audit),
    ("GET", "/admin/settings", console.settings),
    ("POST", "/admin/invite", console.invite_person),
    ("POST", "/admin/link", console.new_link),
    ("POST", "/admin/exclude", console.leave_out),
    ("POST", "/admin/include", console.take_back),
    ("POST", "/admin/pause", console.pause),
    ("POST", "/admin/quotas", console.quotas),
    ("POST", "/admin/items", console.add_items),
    ("POST", "/admin/password", console.password),
    ("POST", "/admin/decide", console.adjudicate),
)
ROUTES: RouteTable = (
    ("GET", "/", visits.front),
    ("GET", "/i/{token}", visits.invitation),
    ("GET", "/join", visits.join),
    ("GET", "/consent", visits.ask_consent),
    ("POST", "/consent", visits.give_consent),
    ("GET", "/questions", visits.ask_questions),
    ("POST", "/questions", visits.take_questions),
    ("GET", "/instructions", visits.show_instructions),
    ("POST", "/instructions", visits.read_instructions),
    ("GET", "/task", visits.task),
    ("POST", "/feedback", visits.after_feedback),
    ("POST", "/draft", visits.draft),
    ("POST", "/answer", visits.answer),
    ("POST", "/skip", visits.pass_over),
    ("POST", "/audio", visits.audio),
    ("GET", "/language/{code}", visits.language),
    *OWNER,
)


def make_app(*sites: Site) -> ASGIApp:
    """All studies, each under its own path. Every error is a page, or JSON for the page's own script, never a trace."""
    if [site.base for site in sites] == [""]:
        return _study_app(sites[0])
    longest_first = sorted(sites, key=lambda site: -len(site.base))
    mounted: list[BaseRoute] = []
    for site in longest_first:
        front = partial(_to_front, site.base)
        mounted += [Route(site.base, front), Mount(site.base, app=_study_app(site))]
    app = Starlette(routes=mounted)
    app.router.redirect_slashes = False
    return SafeHeaders(app)


def _to_front(base: str, request: Request) -> Response:
    return RedirectResponse(f"{base}/", 307)


def _study_app(site: Site) -> ASGIApp:
    async def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, TooLarge):
            return site.problem(request, 413, "too_large")
        status = error.status_code if isinstance(error, HTTPException) else 500
        what = error.detail if isinstance(error, HTTPException) else "error"
        trimmed = "/" + request.url.path.strip("/")
        if status == 404 and request.method == "GET" and request.url.path != trimmed:
            return RedirectResponse(trimmed, 307)
        return site.problem(request, status, "not_found" if status in (404, 405) and what != "need_link" else what)

    handlers: Any = {HTTPException: failed, TooLarge: failed, Exception: failed}
    static = Mount("/static", StaticFiles(directory=STATIC))
    app = Starlette(routes=[*routes(site, ROUTES), static], exception_handlers=handlers)
    app.router.redirect_slashes = False  # it would lead to whatever host the caller names
    return SafeHeaders(app, site.study.arrive.frames)
