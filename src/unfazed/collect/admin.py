"""The owner's pages: progress, throughput, coverage, flags, each person's record, and replay of how an answer came."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from unfazed.collect import owner
from unfazed.collect.database import Transaction
from unfazed.collect.kinds import Kind
from unfazed.collect.kinds.read_aloud import audio_file
from unfazed.collect.people import exclude, note
from unfazed.collect.site import Site, same_site, signed
from unfazed.collect.status import coverage, flags, progress, record, throughput
from unfazed.core.errors import UsageError

COOKIE = "owner"
MAX_FORM = 4096  # bytes
SHOWN = 100  # answers in a list


async def session_of(site: Site, request: Request) -> str:
    """The owner's session; others are sent away."""
    session = request.cookies.get(COOKIE, "")
    if not await site.read(lambda tx: owner.is_open(tx, session)):
        raise HTTPException(403, "need_link")
    return session


async def login_page(site: Site, request: Request) -> Response:
    return site.page(request, "login", wrong=False)


async def login(site: Site, request: Request) -> Response:
    if not same_site(request) or not site.logins.allows(site.caller(request)):
        raise HTTPException(429, "too_fast")
    form = await site.form(request, MAX_FORM)
    stored = await site.read(owner.stored_password)
    right = await asyncio.to_thread(owner.is_password, stored, form.get("password", ""))
    await site.write(lambda tx: note(tx, "owner", "login" if right else "login refused", site.caller(request)))
    if not right:
        return site.page(request, "login", 403, wrong=True)
    response = site.to("/admin")
    session = await site.write(owner.open_session)
    site.keep(response, COOKIE, session, strict=True, seconds=owner.HOURS * 3600)
    return response


async def logout(site: Site, request: Request) -> Response:
    session = request.cookies.get(COOKIE, "")
    if not same_site(request):
        raise HTTPException(403, "need_link")
    await site.write(lambda tx: owner.close_session(tx, session))
    response = site.to("/admin/login")
    site.drop(response, COOKIE)
    return response


async def overview(site: Site, request: Request) -> Response:
    session = request.cookies.get(COOKIE, "")
    if not await site.read(lambda tx: owner.is_open(tx, session)):
        return site.to("/admin/login")
    facts = await site.read(_overview)
    return site.page(request, "admin", csrf=signed(site.secret, session), **facts)


async def show_answer(site: Site, request: Request) -> Response:
    await session_of(site, request)
    person, item = request.query_params.get("person", ""), request.query_params.get("item", "")
    facts = await site.read(lambda tx: _answer(tx, site.kind, person, item))
    if facts is None:
        raise HTTPException(404, "not_found")
    return site.page(request, "answer", **facts)


async def recording(site: Site, request: Request) -> Response:
    await session_of(site, request)
    name = request.path_params["name"]
    if not await site.read(lambda tx: tx.rows("SELECT 1 FROM audio WHERE name = ?", name)):
        raise HTTPException(404, "not_found")
    return FileResponse(audio_file(site.study, name), media_type="audio/wav")


async def leave_out(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    form = await site.form(request, MAX_FORM)
    site.check_csrf(request, session, form.get("csrf", ""))
    person, reason = form.get("person", ""), form.get("reason", "").strip()[:500]
    if reason:
        try:
            await site.write(lambda tx: exclude(tx, person, reason))
        except UsageError as error:
            raise HTTPException(404, str(error)) from error
    return site.to("/admin")


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
