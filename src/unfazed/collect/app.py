"""The pages for the people of a study: invitation, consent, task, answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs

import jinja2
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from unfazed.collect.assign import (
    AlreadyAnswered,
    NotAllowed,
    NotYours,
    Person,
    Receipt,
    next_item,
    person_of,
    take_answer,
)
from unfazed.collect.audio import MAX_AUDIO, BadAudio, audio_file, checked, enter, keep
from unfazed.collect.people import consent, fact, hashed, note
from unfazed.collect.security import Limit, SafeHeaders, TooLarge, body_of, is_signed, same_site, signed
from unfazed.collect.status import own_progress
from unfazed.collect.store import Store, Transaction
from unfazed.collect.study import Study
from unfazed.collect.words import LANGUAGES, words
from unfazed.core.json import decode
from unfazed.core.values import Json

HERE = Path(__file__).parent
MAX_ANSWER = 2 << 20  # bytes, the log of keys included
MAX_FORM = 16 << 10
MAX_EVENTS = 50_000
T = TypeVar("T")


class Said(msgspec.Struct, forbid_unknown_fields=True):
    """What the page sends."""

    item: str
    answer: dict[str, Json]
    log: list[dict[str, Json]] = []


class Site:
    """One study being served. `secure` is true behind TLS, where cookies may not travel without it."""

    def __init__(self, study: Study, store: Store, secure: bool = False) -> None:
        self.study, self.store, self.secure = study, store, secure
        self.kind = study.make_kind()
        self.secret = store.read(lambda tx: fact(tx, "secret"))
        self.people = Limit(a_second=20, burst=60)
        self.strangers = Limit(a_second=5, burst=30)
        loader = jinja2.FileSystemLoader(HERE / "pages")
        self.pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)

    async def write(self, job: Callable[[Transaction], T]) -> T:
        return await asyncio.wrap_future(self.store.submit(job))

    async def read(self, job: Callable[[Transaction], T]) -> T:
        return await asyncio.to_thread(self.store.read, job)

    def page(self, request: Request, name: str, status: int = 200, **given: Any) -> HTMLResponse:
        language = self.language(request)
        given = {"study": self.study, "words": words(language), "language": language, "languages": LANGUAGES, **given}
        return HTMLResponse(self.pages.get_template(f"{name}.html").render(given), status)

    def language(self, request: Request) -> str:
        chosen = request.cookies.get("language", self.study.language)
        return chosen if chosen in LANGUAGES else self.study.language

    def problem(self, request: Request, status: int, what: str) -> Response:
        said = words(self.language(request)).get(what, what)
        if request.headers.get("accept", "").startswith("application/json"):
            return JSONResponse({"error": said}, status)
        return self.page(request, "message", status, heading="error", message=said, again=False)

    def keep(self, response: Response, name: str, value: str, strict: bool = False, seconds: int = 90 * 86400) -> None:
        site: Any = "strict" if strict else "lax"
        response.set_cookie(name, value, seconds, httponly=True, secure=self.secure, samesite=site)

    def caller(self, request: Request) -> str:
        return request.client.host if request.client else ""

    async def person(self, request: Request) -> tuple[str, Person]:
        """The hash of the caller's token and who they are; others are sent away."""
        token = request.cookies.get("token", "")
        key = hashed(token)
        if not token or not self.people.allows(key):
            raise HTTPException(429 if token else 403, "too_fast" if token else "need_link")
        found = await self.read(lambda tx: person_of(tx, key))
        if found is None:
            raise HTTPException(403 if self.strangers.allows(self.caller(request)) else 429, "need_link")
        return key, found

    def check_csrf(self, request: Request, key: str, given: str) -> None:
        if not same_site(request) or not is_signed(self.secret, key, given):
            raise HTTPException(403, "need_link")


Handler = Callable[[Request], Awaitable[Response]]


def routes(site: Site) -> list[Route | Mount]:
    async def front(request: Request) -> Response:
        if "token" in request.cookies:
            return RedirectResponse("/task", 303)
        return site.page(request, "message", heading="before", message=words(site.language(request))["need_link"],
                         again=False)  # fmt: skip

    async def invitation(request: Request) -> Response:
        token = request.path_params["token"]
        if not site.strangers.allows(site.caller(request)):
            raise HTTPException(429, "too_fast")
        if await site.read(lambda tx: person_of(tx, hashed(token))) is None:
            raise HTTPException(404, "need_link")
        response = RedirectResponse("/consent", 303)
        site.keep(response, "token", token)
        return response

    async def ask_consent(request: Request) -> Response:
        key, person = await site.person(request)
        if person.consented:
            return RedirectResponse("/task", 303)
        about = site.kind.about.get("zh" if site.language(request) == "zh" else "en")
        return site.page(request, "consent", csrf=signed(site.secret, key), about=about, kind=site.kind)

    async def give_consent(request: Request) -> Response:
        key, person = await site.person(request)
        form = parse_qs((await body_of(request, MAX_FORM)).decode("utf-8", "replace"))
        site.check_csrf(request, key, form.get("csrf", [""])[0])
        if "agree" not in form:
            return RedirectResponse("/consent", 303)
        asked = {name for name, _ in site.kind.about.values()}
        facts = {name: form[name][0][:200] for name in sorted(asked) if name in form}
        await site.write(lambda tx: consent(tx, person.id, facts, time.time()))
        return RedirectResponse("/task", 303)

    async def task(request: Request) -> Response:
        key, person = await site.person(request)
        if not person.consented:
            return RedirectResponse("/consent", 303)
        if person.excluded is not None:
            return site.page(request, "message", heading="done", message=words(site.language(request))["excluded"],
                             again=False)  # fmt: skip
        lease, own = await site.write(lambda tx: _next(tx, site, key))
        if lease is None:
            return site.page(request, "message", heading="done", message=words(site.language(request))["done_more"],
                             again=True)  # fmt: skip
        item = site.kind.item(lease.content)
        return site.page(request, "task", kind=site.kind, lease=lease, item=item, own=own,
                         csrf=signed(site.secret, key), about=None, box=hashed(key)[:12])  # fmt: skip

    async def answer(request: Request) -> Response:
        key = hashed(request.cookies.get("token", ""))
        if not site.people.allows(key):
            raise HTTPException(429, "too_fast")
        site.check_csrf(request, key, request.headers.get("x-csrf", ""))
        try:
            said = decode(await body_of(request, MAX_ANSWER), Said)
            if len(said.log) > MAX_EVENTS:
                raise TooLarge
            receipt = await site.write(lambda tx: _answer(tx, site, key, said))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return JSONResponse({"error": str(error)}, 422)
        except NotAllowed as error:
            item = said.item[:200]
            await site.write(lambda tx: note(tx, _name(tx, key), "refused", item))
            return JSONResponse({"error": str(error)}, 409 if isinstance(error, AlreadyAnswered) else 403)
        return JSONResponse({"counted": receipt.counted, "flags": receipt.flags, "fresh": receipt.fresh})

    async def audio(request: Request) -> Response:
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
            return JSONResponse({"error": words(site.language(request))[str(error)]}, 422)
        except NotYours as error:
            return JSONResponse({"error": str(error)}, 403)
        for old in older:
            audio_file(site.study, old).unlink(missing_ok=True)
        return JSONResponse({"audio": name, "seconds": recording.seconds, "level": recording.level})

    async def language(request: Request) -> Response:
        chosen = request.path_params["code"]
        response = RedirectResponse("/task" if "token" in request.cookies else "/", 303)
        if chosen in LANGUAGES:
            site.keep(response, "language", chosen)
        return response

    return [
        Route("/", front),
        Route("/i/{token}", invitation),
        Route("/consent", ask_consent),
        Route("/consent", give_consent, methods=["POST"]),
        Route("/task", task),
        Route("/answer", answer, methods=["POST"]),
        Route("/audio", audio, methods=["POST"]),
        Route("/language/{code}", language),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]


def _next(tx: Transaction, site: Site, key: str) -> tuple[Any, dict[str, Any]]:
    person = person_of(tx, key)
    if person is None:
        raise HTTPException(403, "need_link")
    lease = next_item(tx, person, site.study.assign, site.kind, time.time())
    return lease, own_progress(tx, person.id, site.study.assign.per_person)


def _answer(tx: Transaction, site: Site, key: str, said: Said) -> Receipt:
    person = person_of(tx, key)
    if person is None or not person.consented:
        raise NotYours("This item was not given to you.")
    return take_answer(tx, person, said.item, said.answer, said.log, site.study.assign, site.kind, time.time())


def _name(tx: Transaction, key: str) -> str:
    person = person_of(tx, key)
    return person.id if person else "somebody unknown"


def make_app(site: Site) -> ASGIApp:
    """The whole site. Every error is a page, or JSON for the page's own script, and never a trace."""
    from unfazed.collect.admin import admin_routes

    async def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, TooLarge):
            return site.problem(request, 413, "error")
        status = error.status_code if isinstance(error, HTTPException) else 500
        what = error.detail if isinstance(error, HTTPException) else "error"
        return site.problem(request, status, "not_found" if status in (404, 405) and what != "need_link" else what)

    handlers: Any = {HTTPException: failed, TooLarge: failed, Exception: failed}
    made = [*routes(site), *admin_routes(site)]
    return SafeHeaders(Starlette(routes=made, exception_handlers=handlers))
