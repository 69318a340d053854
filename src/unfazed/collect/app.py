"""The pages for the people of a study: invitation, consent, task, answer."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec

from unfazed.collect.assign import (
    AlreadyAnswered,
    Lease,
    NotAllowed,
    NotYours,
    Receipt,
    next_item,
    person_of,
    take_answer,
)
from unfazed.collect.database import Transaction
from unfazed.collect.kinds.read_aloud import MAX_AUDIO, BadAudio, audio_file, checked, enter, keep
from unfazed.collect.people import consent, hashed, note
from unfazed.collect.status import own_progress
from unfazed.collect.words import languages
from unfazed.core.errors import MissingExtra
from unfazed.core.json import decode
from unfazed.core.values import Json

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp

    from unfazed.collect import admin
    from unfazed.collect.site import RouteTable, SafeHeaders, Site, TooLarge, body_of, routes, signed
except ImportError as error:
    raise MissingExtra("`unfazed collect serve`", "collect") from error

STATIC = Path(__file__).parent / "static"
MAX_ANSWER = 2 << 20  # bytes, the log of keys included
MAX_EVENTS = 50_000


class Sent(msgspec.Struct, forbid_unknown_fields=True):
    """What the page sends."""

    item: str
    answer: dict[str, Json]
    log: list[dict[str, Json]] = []


async def front(site: Site, request: Request) -> Response:
    if "token" in request.cookies:
        return site.to("/task")
    return site.message(request, "before", "need_link")


async def invitation(site: Site, request: Request) -> Response:
    token = request.path_params["token"]
    if not site.people.allows(hashed(token)):
        raise HTTPException(429, "too_fast")
    if await site.read(lambda tx: person_of(tx, hashed(token))) is None:
        raise HTTPException(404 if site.strangers.allows(site.caller(request)) else 429, "need_link")
    response = site.to("/consent")
    site.keep(response, "token", token)
    return response


async def ask_consent(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    if person.consented:
        return site.to("/task")
    about = site.kind.about
    question = about and (about.zh if site.language(request) == "zh" else about.en)
    return site.page(request, "consent", csrf=signed(site.secret, key), about=about, question=question, kind=site.kind)


async def give_consent(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    form = await site.form(request)
    site.check_csrf(request, key, form.get("csrf", ""))
    if "agree" not in form:
        return site.to("/consent")
    about = site.kind.about
    facts = {about.name: form[about.name][:200]} if about and about.name in form else {}
    await site.write(lambda tx: consent(tx, person.id, facts, time.time()))
    return site.to("/task")


async def task(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    if not person.consented:
        return site.to("/consent")
    if person.excluded is not None:
        return site.message(request, "done", "excluded")
    lease, own = await site.write(lambda tx: _next(tx, site, key))
    if lease is None:
        return site.message(request, "done", "done_more", again=True)
    item = site.kind.item(lease.content)
    return site.page(request, "task", kind=site.kind, lease=lease, item=item, own=own,
                     csrf=signed(site.secret, key), about=None, box=hashed(key)[:12])  # fmt: skip


def _next(tx: Transaction, site: Site, key: str) -> tuple[Lease | None, dict[str, Any]]:
    person = person_of(tx, key)
    if person is None:
        raise HTTPException(403, "need_link")
    lease = next_item(tx, person, site.study.assign, site.kind, time.time())
    return lease, own_progress(tx, person.id, site.study.assign.per_person)


async def answer(site: Site, request: Request) -> Response:
    key = hashed(request.cookies.get("token", ""))
    if not site.people.allows(key):
        raise HTTPException(429, "too_fast")
    site.check_csrf(request, key, request.headers.get("x-csrf", ""))
    try:
        sent = decode(await body_of(request, MAX_ANSWER), Sent)
        if len(sent.log) > MAX_EVENTS:
            raise TooLarge
        receipt = await site.write(lambda tx: _answer(tx, site, key, sent))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return JSONResponse({"error": site.phrase(request, "not_an_answer"), "detail": str(error)}, 422)
    except NotAllowed as error:
        item = sent.item[:200]
        await site.write(lambda tx: note(tx, _name(tx, key), "refused", item))
        return _refused(site, request, error)
    return JSONResponse({"counted": receipt.counted, "flags": receipt.flags, "fresh": receipt.fresh})


def _answer(tx: Transaction, site: Site, key: str, sent: Sent) -> Receipt:
    person = person_of(tx, key)
    if person is None or not person.consented:
        raise NotYours("This item was not given to you.")
    return take_answer(tx, person, sent.item, sent.answer, sent.log, site.study.assign, site.kind, time.time())


def _refused(site: Site, request: Request, error: NotAllowed) -> Response:
    before = isinstance(error, AlreadyAnswered)
    said = site.phrase(request, "answered_before" if before else "not_yours")
    return JSONResponse({"error": said, "detail": str(error)}, 409 if before else 403)


def _name(tx: Transaction, key: str) -> str:
    person = person_of(tx, key)
    return person.id if person else "somebody unknown"


async def audio(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    site.check_csrf(request, key, request.headers.get("x-csrf", ""))
    if not site.kind.uploads or not person.consented:
        raise HTTPException(404, "not_found")
    item = request.query_params.get("item", "")
    content = await body_of(request, MAX_AUDIO)
    try:
        recording = await asyncio.to_thread(checked, content, site.kind.options)
        name = await asyncio.to_thread(keep, site.study, recording)
        try:
            older = await site.write(lambda tx: enter(tx, person, item, name, recording))
        except NotYours:
            audio_file(site.study, name).unlink()
            raise
    except BadAudio as error:
        return JSONResponse({"error": site.phrase(request, str(error))}, 422)
    except NotYours as error:
        return _refused(site, request, error)
    for old in older:
        audio_file(site.study, old).unlink(missing_ok=True)
    return JSONResponse({"audio": name, "seconds": recording.seconds, "level": recording.level})


async def language(site: Site, request: Request) -> Response:
    chosen = request.path_params["code"]
    response = site.to("/task" if "token" in request.cookies else "/")
    if chosen in languages():
        site.keep(response, "language", chosen)
    return response


ROUTES: RouteTable = (
    ("GET", "/", front),
    ("GET", "/i/{token}", invitation),
    ("GET", "/consent", ask_consent),
    ("POST", "/consent", give_consent),
    ("GET", "/task", task),
    ("POST", "/answer", answer),
    ("POST", "/audio", audio),
    ("GET", "/language/{code}", language),
    ("GET", "/admin/login", admin.login_page),
    ("POST", "/admin/login", admin.login),
    ("POST", "/admin/logout", admin.logout),
    ("GET", "/admin", admin.overview),
    ("GET", "/admin/answer", admin.show_answer),
    ("GET", "/admin/audio/{name}", admin.recording),
    ("POST", "/admin/exclude", admin.leave_out),
)


def make_app(*sites: Site) -> ASGIApp:
    """All studies, each under its own path. Every error is a page, or JSON for the page's own script, never a trace."""
    if [site.base for site in sites] == [""]:
        return SafeHeaders(_study_app(sites[0]))
    longest_first = sorted(sites, key=lambda site: -len(site.base))
    mounted = [Mount(site.base, app=_study_app(site)) for site in longest_first]
    return SafeHeaders(Starlette(routes=mounted))


def _study_app(site: Site) -> Starlette:
    async def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, TooLarge):
            return site.problem(request, 413, "too_large")
        status = error.status_code if isinstance(error, HTTPException) else 500
        what = error.detail if isinstance(error, HTTPException) else "error"
        return site.problem(request, status, "not_found" if status in (404, 405) and what != "need_link" else what)

    handlers: Any = {HTTPException: failed, TooLarge: failed, Exception: failed}
    static = Mount("/static", StaticFiles(directory=STATIC))
    return Starlette(routes=[*routes(site, ROUTES), static], exception_handlers=handlers)
