"""The owner's pages: progress, throughput, coverage, flags, each person's record, and replay of how an answer came."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from unfazed.collect.assign import exclude
from unfazed.collect.audio import audio_file
from unfazed.collect.kind import Kind
from unfazed.collect.people import fact, is_password, note
from unfazed.collect.security import ADMIN_HOURS, Limit, admin_session, body_of, is_admin, is_signed, same_site, signed
from unfazed.collect.status import coverage, flags, progress, record, throughput
from unfazed.collect.store import Transaction
from unfazed.core.errors import UsageError

COOKIE = "owner"
SHOWN = 100  # answers in a list


def admin_routes(site: Any) -> list[Route]:
    """`site` is the app's Site."""
    logins = Limit(a_second=0.2, burst=5)

    def session_of(request: Request) -> str:
        session = request.cookies.get(COOKIE, "")
        if not is_admin(site.secret, session):
            raise HTTPException(403, "need_link")
        return session

    async def login_page(request: Request) -> Response:
        return site.page(request, "login", wrong=False)  # type: ignore[no-any-return]

    async def login(request: Request) -> Response:
        if not same_site(request) or not logins.allows(site.caller(request)):
            raise HTTPException(429, "too_fast")
        form = parse_qs((await body_of(request, 4096)).decode("utf-8", "replace"))
        stored = await site.read(lambda tx: fact(tx, "admin"))
        right = await asyncio.to_thread(is_password, stored, form.get("password", [""])[0])
        await site.write(lambda tx: note(tx, "owner", "login" if right else "login refused", site.caller(request)))
        if not right:
            return site.page(request, "login", 403, wrong=True)  # type: ignore[no-any-return]
        response = RedirectResponse("/admin", 303)
        site.keep(response, COOKIE, admin_session(site.secret), strict=True, seconds=ADMIN_HOURS * 3600)
        return response

    async def logout(request: Request) -> Response:
        response = RedirectResponse("/admin/login", 303)
        response.delete_cookie(COOKIE)
        return response

    async def overview(request: Request) -> Response:
        if not is_admin(site.secret, request.cookies.get(COOKIE, "")):
            return RedirectResponse("/admin/login", 303)
        session = session_of(request)
        facts = await site.read(_overview)
        return site.page(request, "admin", csrf=signed(site.secret, session), **facts)  # type: ignore[no-any-return]

    async def one_answer(request: Request) -> Response:
        session_of(request)
        person, item = request.query_params.get("person", ""), request.query_params.get("item", "")
        found = await site.read(lambda tx: _answer(tx, site.kind, person, item))
        if found is None:
            raise HTTPException(404, "not_found")
        return site.page(request, "answer", **found)  # type: ignore[no-any-return]

    async def recording(request: Request) -> Response:
        session_of(request)
        name = request.path_params["name"]
        if not await site.read(lambda tx: tx.rows("SELECT 1 FROM audio WHERE name = ?", name)):
            raise HTTPException(404, "not_found")
        return FileResponse(audio_file(site.study, name), media_type="audio/wav")

    async def leave_out(request: Request) -> Response:
        session = session_of(request)
        form = parse_qs((await body_of(request, 4096)).decode("utf-8", "replace"))
        if not same_site(request) or not is_signed(site.secret, session, form.get("csrf", [""])[0]):
            raise HTTPException(403, "need_link")
        person, reason = form.get("person", [""])[0], form.get("reason", [""])[0].strip()[:500]
        if reason:
            try:
                await site.write(lambda tx: _exclude(tx, person, reason))
            except UsageError as error:
                raise HTTPException(404, str(error)) from error
        return RedirectResponse("/admin", 303)

    return [
        Route("/admin/login", login_page),
        Route("/admin/login", login, methods=["POST"]),
        Route("/admin/logout", logout, methods=["POST"]),
        Route("/admin", overview),
        Route("/admin/answer", one_answer),
        Route("/admin/audio/{name}", recording),
        Route("/admin/exclude", leave_out, methods=["POST"]),
    ]


def _exclude(tx: Transaction, person: str, reason: str) -> None:
    exclude(tx, person, reason)
    note(tx, "owner", "excluded", person)


def _overview(tx: Transaction) -> dict[str, Any]:
    latest = "SELECT person, item, received, flags, live FROM work WHERE state = 'answered' "
    return {
        "progress": progress(tx),
        "coverage": coverage(tx),
        "flags": flags(tx),
        "people": record(tx),
        "hours": throughput(tx),
        "latest": tx.rows(f"{latest} ORDER BY received DESC LIMIT {SHOWN}"),
        "flagged": tx.rows(f"{latest} AND flags <> '' ORDER BY received DESC LIMIT {SHOWN}"),
        "audit": tx.rows("SELECT at, who, what, more FROM audit ORDER BY at DESC LIMIT 20"),
    }


def _answer(tx: Transaction, kind: Kind, person: str, item: str) -> dict[str, Any] | None:
    sql = (
        "SELECT w.content, w.flags, w.live, w.correct, w.taken, w.received, w.shown, i.content "
        "FROM work w JOIN items i ON i.id = w.item WHERE w.person = ? AND w.item = ? AND w.state = 'answered'"
    )
    rows = tx.rows(sql, person, item)
    if not rows:
        return None
    said, flagged, live, correct, taken, received, shown, content = rows[0]
    heard = tx.rows(
        "SELECT recogniser, text FROM heard h JOIN audio a ON a.name = h.name WHERE person = ? AND item = ?",
        person,
        item,
    )
    log = tx.rows("SELECT events FROM logs WHERE person = ? AND item = ?", person, item)
    asked, events = msgspec.json.decode(content), msgspec.json.decode(log[0][0]) if log else []
    return {
        "person": person, "item": item, "asked": asked, "said": msgspec.json.decode(said),
        "flagged": flagged.split("\n") if flagged else [], "live": live, "correct": correct,
        "seconds": received - taken, "shown": msgspec.json.decode(shown),
        "log": events,
        "heard": heard,
        "errors": kind.details(asked, events),
    }  # fmt: skip
