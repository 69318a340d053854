"""What the owner does from the pages: invite, issue a link, exclude, pause, set quotas, add items, decide."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from unswayed.base.errors import DataError, UsageError
from unswayed.collect import owner
from unswayed.collect.admin import COOKIE, MAX_FORM, moment, page, session_of, show_person
from unswayed.collect.backends import Transaction
from unswayed.collect.people import exclude, include, invite, note, reissue
from unswayed.collect.records import decide
from unswayed.collect.revisions import add_lines, set_rules
from unswayed.collect.site import Site

MAX_LINES = 4 << 20  # bytes of items added at once
LEAST_PASSWORD = 12


async def _form(site: Site, request: Request, most: int = MAX_FORM) -> tuple[str, dict[str, str]]:
    """The owner's session and form, which comes from one of our pages."""
    session = await session_of(site, request)
    form = await site.form(request, most)
    site.check_csrf(request, session, form.get("csrf", ""))
    return session, form


async def _do(site: Site, job: Callable[[Transaction], Any]) -> Any:
    """Changes something; what can't be done is told as it would be at the command line."""
    try:
        done = await site.write(job)
    except (UsageError, DataError) as error:
        raise HTTPException(422, str(error)) from error
    site.look()
    return done


async def invite_person(site: Site, request: Request) -> Response:
    session, form = await _form(site, request)
    name = form.get("person", "").strip()
    token = await _do(site, lambda tx: invite(tx, site.study, name, form.get("stratum", "")))
    return await show_person(site, request, session, name, site.link(request, f"/i/{token}"))


async def new_link(site: Site, request: Request) -> Response:
    session, form = await _form(site, request)
    name = form.get("person", "")
    token = await _do(site, lambda tx: reissue(tx, name))
    return await show_person(site, request, session, name, site.link(request, f"/i/{token}"))


async def leave_out(site: Site, request: Request) -> Response:
    session, form = await _form(site, request)
    name, reason = form.get("person", ""), form.get("reason", "").strip()[:500]
    if reason:
        await _do(site, lambda tx: exclude(tx, name, reason))
    return await show_person(site, request, session, name)


async def take_back(site: Site, request: Request) -> Response:
    session, form = await _form(site, request)
    name = form.get("person", "")
    await _do(site, lambda tx: include(tx, site.study, name))
    return await show_person(site, request, session, name)


async def settings(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    kept = await site.read(lambda tx: tx.rows("SELECT number, at FROM revisions ORDER BY number DESC"))
    return page(site, request, "settings", session, revisions=[(number, moment(at)) for number, at in kept])


async def pause(site: Site, request: Request) -> Response:
    _, form = await _form(site, request)
    await _do(site, lambda tx: owner.pause(tx, form.get("paused") == "yes"))
    return site.to("/admin/settings")


async def quotas(site: Site, request: Request) -> Response:
    _, form = await _form(site, request)
    try:
        given = {name: int(value) for name, value in form.items() if name != "csrf" and value.strip()}
    except ValueError as error:
        raise HTTPException(422, "error") from error
    quota = {name: given[f"quota {name}"] for name in site.study.assign.strata if f"quota {name}" in given}
    each = given.get("per_person")
    await _do(site, lambda tx: set_rules(tx, site.study, quota=quota, per_person=each))
    return site.to("/admin/settings")


async def add_items(site: Site, request: Request) -> Response:
    _, form = await _form(site, request, MAX_LINES)
    await _do(site, lambda tx: add_lines(tx, site.study, form.get("lines", ""), time.time()))
    return site.to("/admin/settings")


async def password(site: Site, request: Request) -> Response:
    """A new password ends all sessions but this one."""
    session, form = await _form(site, request)
    if not site.logins.allows(session):
        raise HTTPException(429, "too_fast")
    stored = await site.read(owner.stored_password)
    right = await asyncio.to_thread(owner.is_password, stored, form.get("password", ""))
    if not right or len(form.get("new", "")) < LEAST_PASSWORD:
        raise HTTPException(403, "error")

    def job(tx: Transaction) -> str:
        owner.set_password(tx, form["new"])
        note(tx, "owner", "changed the password")
        return owner.open_session(tx)

    session = await _do(site, job)
    response = site.to("/admin/settings")
    site.keep(response, COOKIE, session, strict=True, seconds=owner.HOURS * 3600)
    return response


async def adjudicate(site: Site, request: Request) -> Response:
    _, form = await _form(site, request)
    item, person = form.get("item", ""), form.get("person", "")

    def job(tx: Transaction) -> None:
        decide(tx, item, person, form.get("reason", "").strip()[:500], time.time())
        note(tx, "owner", "decided", item)

    await _do(site, job)
    return site.to("/admin/items")
