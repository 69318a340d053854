"""The owner's pages, to look at: progress, people, answers with replay and recordings, items, the audit log."""

from __future__ import annotations

import asyncio
import secrets
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from unswayed.collect import owner
from unswayed.collect.backends import Transaction
from unswayed.collect.export import answers_of
from unswayed.collect.kinds import TaskKind
from unswayed.collect.kinds.read_aloud import audio_file
from unswayed.collect.people import note, pseudonyms
from unswayed.collect.records import Filter, answers_listed, decisions, item_records, people_records
from unswayed.collect.site import Site, is_signed, same_site, signed
from unswayed.collect.status import LOW_DISK, coverage, flags, free_bytes, progress, record, throughput
from unswayed.collect.study import PeopleStudy
from unswayed.collect.words import console_words

COOKIE, BROWSER = "owner", "browser"
FRESH, KNOWN = 600, 90 * 86_400  # seconds that a browser's name holds: of one that opened the page, and of the owner's
MAX_FORM = 4096  # bytes
SHOWN = 100  # rows in a list


async def session_of(site: Site, request: Request) -> str:
    """The owner's session; others are sent away."""
    session = request.cookies.get(COOKIE, "")
    if not await site.read(lambda tx: owner.is_open(tx, session)):
        raise HTTPException(403, "need_link")
    return session


def page(site: Site, request: Request, here: str, session: str = "", status: int = 200, **context: Any) -> Response:
    """One of the owner's pages. `here` is its name in the menu, `session` what its forms are for."""
    name = context.pop("template", here)
    csrf = signed(site.secret, session) if session else ""
    say = console_words(site.language(request))
    known = {
        "say": say, "csrf": csrf, "here": here, "paused": site.paused and bool(session),
        "disk": free_bytes(site.study) // 1_000_000 if session and free_bytes(site.study) < LOW_DISK else None,
    }  # fmt: skip
    return site.page(request, f"owner/{name}", status, **(known | context))


async def login_page(site: Site, request: Request) -> Response:
    response, caller = page(site, request, "login", wrong=False), site.caller(request)
    if _guesser(site, request) == caller and site.browsers.allows(caller):
        _name_browser(site, response, FRESH)
    return response


def _guesser(site: Site, request: Request) -> str:
    """Whom failed log-ins slow: the browser that opened the page, or an address whose browsers have no name.

    So nobody else at that address waits for a guesser, and a browser that has logged in before never does. An address
    gets few names, which are soon void, so that a guesser can't collect them.
    """
    until, _, rest = request.cookies.get(BROWSER, "").partition(".")
    name, _, seal = rest.partition(".")
    valid = is_signed(site.secret, f"{BROWSER} {until}.{name}", seal) and time.time() < float(until)
    return name if valid else site.caller(request)


def _name_browser(site: Site, response: Response, seconds: int) -> None:
    named = f"{time.time() + seconds:.0f}.{secrets.token_hex(8)}"
    site.keep(response, BROWSER, f"{named}.{signed(site.secret, f'{BROWSER} {named}')}", strict=True, seconds=seconds)


async def login(site: Site, request: Request) -> Response:
    if not same_site(request) or not site.logins.allows(_guesser(site, request)):
        raise HTTPException(429, "too_fast")
    form = await site.form(request, MAX_FORM)
    stored = await site.read(owner.stored_password)
    right = await asyncio.to_thread(owner.is_password, stored, form.get("password", ""))
    await site.write(lambda tx: note(tx, "owner", "login" if right else "login refused", site.caller(request)))
    if not right:
        return page(site, request, "login", status=403, wrong=True)
    response = site.to("/admin")
    session = await site.write(owner.open_session)
    site.keep(response, COOKIE, session, strict=True, seconds=owner.HOURS * 3600)
    _name_browser(site, response, KNOWN)
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
    facts = await site.read(lambda tx: _overview(tx, site.study))
    return page(site, request, "progress", session, **facts)


async def people(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    rows = await site.read(lambda tx: people_records(tx, site.study))
    return page(site, request, "people", session, people=rows)


async def person(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    return await show_person(site, request, session, request.query_params.get("person", ""))


async def show_person(site: Site, request: Request, session: str, name: str, link: str = "") -> Response:
    """A person's record; with a `link` if they were just given one."""
    rows = await site.read(lambda tx: people_records(tx, site.study))
    found = next((row for row in rows if row["person"] == name), None)
    if found is None:
        raise HTTPException(404, "not_found")
    _, answers = await site.read(lambda tx: _listed(tx, Filter(person=name), 0))
    return page(site, request, "people", session, template="person", person=found, rows=answers, link=link)


async def answers(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    wanted, first = _filter(request), _first(request)
    total, rows = await site.read(lambda tx: _listed(tx, wanted, first))
    known = await site.read(flags)
    query = urlencode({name: value for name, value in msgspec.structs.asdict(wanted).items() if value})
    return page(
        site, request, "answers", session, wanted=wanted, rows=rows, total=total, first=first, count=SHOWN,
        flags=list(known), query=query,
    )  # fmt: skip


async def download(site: Site, request: Request) -> Response:
    """The answers that a list shows, as `unswayed collect export` writes them: with pseudonyms."""
    await session_of(site, request)
    wanted = _filter(request)

    def lines() -> bytes:
        shown, called = site.database.read(lambda tx: (answers_listed(tx, wanted, 0, 1 << 30)[1], pseudonyms(tx)))
        chosen = {(person, item) for person, item, *_ in shown}
        rows = [row for row in answers_of(site.study, site.database, names=True) if (row.person, row.item) in chosen]
        named = (msgspec.structs.replace(row, person=called(row.person)) for row in rows)
        return b"".join(msgspec.json.encode(row) + b"\n" for row in named)

    chosen_by = {**msgspec.structs.asdict(wanted), "person": wanted.person and "…"}  # `forget` need not search it
    more = urlencode({name: value for name, value in chosen_by.items() if value})[:200]
    await site.write(lambda tx: note(tx, "owner", "downloaded", more))
    content = await asyncio.to_thread(lines)
    headers = {"content-disposition": 'attachment; filename="answers.jsonl"'}
    return Response(content, media_type="application/x-ndjson", headers=headers)


async def show_answer(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    who, item = request.query_params.get("person", ""), request.query_params.get("item", "")
    facts = await site.read(lambda tx: _answer(tx, site.kind, who, item))
    if facts is None:
        raise HTTPException(404, "not_found")
    return page(site, request, "answers", session, template="answer", **facts)


async def recording(site: Site, request: Request) -> Response:
    await session_of(site, request)
    name = request.path_params["name"]
    if not await site.read(lambda tx: tx.rows("SELECT 1 FROM audio WHERE name = ?", name)):
        raise HTTPException(404, "not_found")
    return FileResponse(audio_file(site.study, name), media_type="audio/wav")


async def items(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    rows, first = await site.read(lambda tx: item_records(tx, site.study)), _first(request)
    shown = rows[first : first + SHOWN]
    return page(site, request, "items", session, rows=shown, total=len(rows), first=first, count=SHOWN)


async def item(site: Site, request: Request) -> Response:
    session = await session_of(site, request)
    name = request.query_params.get("item", "")
    content = await site.read(lambda tx: tx.rows("SELECT content FROM items WHERE id = ?", name))
    if not content:
        raise HTTPException(404, "not_found")
    _, rows = await site.read(lambda tx: _listed(tx, Filter(item=name), 0))
    decision = (await site.read(decisions)).get(name)
    asked = msgspec.json.decode(content[0][0])
    return page(site, request, "items", session, template="item", item=name, asked=asked, rows=rows, decision=decision)


async def audit(site: Site, request: Request) -> Response:
    session, first = await session_of(site, request), _first(request)
    sql = "SELECT at, who, what, more FROM audit ORDER BY at DESC LIMIT ? OFFSET ?"
    found = await site.read(lambda tx: tx.rows(sql, SHOWN, first))
    ((total,),) = await site.read(lambda tx: tx.rows("SELECT count(*) FROM audit"))
    rows = [{"when": moment(at), "who": who, "said": what, "more": more} for at, who, what, more in found]
    return page(site, request, "audit", session, rows=rows, total=total, first=first, count=SHOWN)


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _filter(request: Request) -> Filter:
    given = {name: request.query_params.get(name, "") for name in Filter.__struct_fields__}
    return Filter(**given)


def _first(request: Request) -> int:
    given = request.query_params.get("first", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def _listed(tx: Transaction, wanted: Filter, first: int) -> tuple[int, list[tuple[Any, ...]]]:
    total, rows = answers_listed(tx, wanted, first, SHOWN)
    return total, [(*row[:5], msgspec.json.decode(row[5])) for row in rows]


def _overview(tx: Transaction, study: PeopleStudy) -> dict[str, Any]:
    return {
        "progress": progress(tx),
        "coverage": coverage(tx),
        "flags": flags(tx),
        "people": record(tx, study),
        "hours": throughput(tx),
        "latest": _listed(tx, Filter(), 0)[1],
    }


def _answer(tx: Transaction, kind: TaskKind, person: str, item: str) -> dict[str, Any] | None:
    sql = (
        "SELECT w.content, w.flags, w.live, w.correct, w.taken, w.received, w.shown, i.content "
        "FROM work w JOIN items i ON i.id = w.item WHERE w.person = ? AND w.item = ? AND w.content IS NOT NULL"
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
