"""The pages for the people of a study, in the order in which they come to them: from arrival to the completion code."""

from __future__ import annotations

import asyncio
import time
from tempfile import TemporaryFile
from typing import Annotated, Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unswayed.base.errors import UsageError
from unswayed.base.ids import decode
from unswayed.base.values import Json
from unswayed.collect.answers import Receipt, keep_draft, take_answer
from unswayed.collect.assign import (
    AlreadyAnswered,
    Lease,
    NotAllowed,
    NotYours,
    Person,
    TooMuch,
    next_items,
    person_of,
    skip,
)
from unswayed.collect.backends import Transaction
from unswayed.collect.journey import (
    PREVIEW,
    ArrivedBefore,
    agree,
    arrive,
    end,
    ending,
    feedback_for,
    instructed,
    qualifies,
    step_of,
    tell,
    was_told,
)
from unswayed.collect.kinds.read_aloud import (
    MAX_AUDIO,
    BadAudio,
    audio_file,
    checked,
    discard_others,
    keep,
)
from unswayed.collect.people import hashed, note
from unswayed.collect.site import Site, TooLarge, body_of, parts_of, refuse_zero, signed
from unswayed.collect.status import FULL_DISK, free_bytes, own_progress
from unswayed.collect.study import said
from unswayed.collect.words import languages

MAX_ANSWER = 2 << 20  # bytes, the log of keys included
MAX_EVENTS = 50_000
MAX_TOGETHER = 20  # answers of one page
SKIPS = ("unclear", "harmful", "technical", "other")
PAGES = {"consent": "/consent", "questions": "/questions", "instructions": "/instructions"}
Comment = Annotated[str, msgspec.Meta(max_length=2000)]


class Sent(msgspec.Struct, forbid_unknown_fields=True):
    """What the page sends: an answer, and those to the other items on it."""

    item: str
    answer: dict[str, Json]
    log: list[dict[str, Json]] = []
    more: Annotated[dict[str, dict[str, Json]], msgspec.Meta(max_length=MAX_TOGETHER)] = {}
    comment: Comment = ""
    attempt: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Draft(msgspec.Struct, forbid_unknown_fields=True):
    """A part of the log of an attempt under way."""

    item: str
    attempt: int
    begins: Annotated[int, msgspec.Meta(ge=0)]
    events: list[dict[str, Json]]


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
    response = site.to("/task")
    site.keep(response, "token", token)
    return response


async def join(site: Site, request: Request) -> Response:
    """Arrival by the open link, such as `/join?PROLIFIC_PID=…`."""
    if not site.study.arrive.open:
        raise HTTPException(404, "need_link")
    given = dict(request.query_params)
    if given.get(PREVIEW[0]) == PREVIEW[1]:
        return site.page(request, "preview", consent=_said(site, request, site.study.consent))
    if not site.arrivals.allows(site.caller(request)):
        raise HTTPException(429, "too_fast")
    try:
        token = await site.write(lambda tx: arrive(tx, site.study, given, time.time()))
    except UsageError as error:
        raise HTTPException(403 if isinstance(error, ArrivedBefore) else 400, str(error)) from error
    response = site.to("/task")
    site.keep(response, "token", token)
    return response


def _said(site: Site, request: Request, text: Any) -> str:
    return said(text, site.language(request), site.study.language)


async def ask_consent(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    if step_of(person, site.study) != "consent":
        return site.to("/task")
    text = _said(site, request, site.study.consent)
    return site.page(request, "consent", csrf=signed(site.secret, key), consent=text, kind=site.kind)


async def give_consent(site: Site, request: Request) -> Response:
    key, _, form = await _form(site, request)
    if "agree" not in form:
        return site.to("/consent")
    await site.write(lambda tx: agree(tx, site.study, present(tx, key), site.language(request), time.time()))
    return site.to("/task")


def present(tx: Transaction, key: str) -> Person:
    """The person, inside the transaction that writes about them: they may have been forgotten since they asked."""
    person = person_of(tx, key)
    if person is None:
        raise HTTPException(403, "need_link")
    return person


async def _form(site: Site, request: Request) -> tuple[str, Person, dict[str, str]]:
    """A form that the person sent from a page of ours."""
    key, person = await site.person(request)
    form = await site.form(request)
    site.check_csrf(request, key, form.get("csrf", ""))
    return key, person, form


async def ask_questions(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    if step_of(person, site.study) != "questions":
        return site.to("/task")
    return _questions(site, request, key, {}, ())


def _questions(site: Site, request: Request, key: str, given: dict[str, str], wrong: Any) -> Response:
    language, default = site.language(request), site.study.language
    return site.page(
        request, "questions", 422 if wrong else 200, csrf=signed(site.secret, key), given=given, wrong=wrong,
        say=lambda text: said(text, language, default), label=lambda q, value: q.label(value, language, default),
    )  # fmt: skip


async def take_questions(site: Site, request: Request) -> Response:
    key, person, form = await _form(site, request)
    if step_of(person, site.study) != "questions":
        return site.to("/task")
    wrong = await site.write(lambda tx: tell(tx, site.study, present(tx, key), form, time.time()))
    return _questions(site, request, key, form, wrong) if wrong else site.to("/task")


async def show_instructions(site: Site, request: Request) -> Response:
    key, person = await site.person(request)
    if step_of(person, site.study) != "instructions":
        return site.to("/task")
    text = _said(site, request, site.study.instructions)
    return site.page(request, "instructions", csrf=signed(site.secret, key), instructions=text)


async def read_instructions(site: Site, request: Request) -> Response:
    key, _, _ = await _form(site, request)
    await site.write(lambda tx: instructed(tx, present(tx, key), time.time()))
    return site.to("/task")


async def task(site: Site, request: Request) -> Response:
    """The page that the person is at: their next items, or what comes before or after them."""
    key, person = await site.person(request)
    step = step_of(person, site.study)
    if step in PAGES:
        return site.to(PAGES[step])
    if step == "excluded":
        return site.message(request, "done", "excluded")
    if step != "tasks":
        return await _end(site, request, key, person, step)
    leases, own, told, qualified = await site.write(lambda tx: _next(tx, site, key))
    csrf = signed(site.secret, key)
    if told is not None:
        why = _said(site, request, told.feedback)
        return site.page(request, "feedback", told=told, why=why, csrf=csrf)
    if not qualified:
        return await _end(site, request, key, person, "unqualified")
    if not leases:
        return await _end(site, request, key, person, "done")
    shown = [(lease, site.kind.item(lease.content)) for lease in leases]
    return site.page(
        request, "task", kind=site.kind, lease=leases[0], item=shown[0][1], page=shown, own=own, csrf=csrf,
        box=hashed(key)[:12], skips=SKIPS, instructions=_said(site, request, site.study.instructions),
        verdict=[site.phrase(request, _flag(name)) for name in leases[0].verdict],
    )  # fmt: skip


def _flag(name: str) -> str:
    """The phrase that tells a person of a flag."""
    known = {"log is longer than the time that passed": "log differs from text"}
    return "flag_" + known.get(name, name).replace(" ", "_")


def _next(tx: Transaction, site: Site, key: str) -> tuple[list[Lease], dict[str, Any], Any, bool]:
    person = present(tx, key)
    told = feedback_for(tx, person)
    qualified = qualifies(tx, site.study, person)
    leases = next_items(tx, person, site.study.assign, site.kind, time.time()) if told is None and qualified else []
    return leases, own_progress(tx, person.id, site.study.assign.per_person), told, qualified


async def _end(site: Site, request: Request, key: str, person: Person, how: Any) -> Response:
    """The last page, with the code if the study gives one. Whoever did nothing has finished nothing."""
    language = site.language(request)

    def job(tx: Transaction) -> Any:
        end(tx, present(tx, key).id, how)
        return ending(tx, site.study, person, how, language)

    found = None
    if how != "done" or (person.answered and site.study.completion is not None):
        found = await site.write(job)
    if found is None:
        return site.message(request, *_LAST[how], again=how == "done")
    return site.page(request, "completion", heading=_LAST[how][0] if how != "done" else "finished",
                     more=_LAST[how][1] if how != "done" else "finished_more", ending=found)  # fmt: skip


_LAST = {
    "done": ("done", "done_more"),
    "screened": ("screened", "screened_more"),
    "unqualified": ("unqualified", "unqualified_more"),
}


async def after_feedback(site: Site, request: Request) -> Response:
    _, person, form = await _form(site, request)
    await site.write(lambda tx: was_told(tx, person, form.get("item", "")))
    return site.to("/task")


async def answer(site: Site, request: Request) -> Response:
    key = _caller(site, request)
    try:
        sent = decode(await body_of(request, MAX_ANSWER), Sent)
        refuse_zero(sent.item, *sent.more)
        if len(sent.log) > MAX_EVENTS:
            raise TooLarge
        receipt, unused = await site.write(lambda tx: _answer(tx, site, key, sent))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return JSONResponse({"error": site.phrase(request, "not_an_answer"), "detail": str(error)}, 422)
    except NotAllowed as error:
        item = sent.item[:200]
        await site.write(lambda tx: note(tx, _name(tx, key), "refused", item))
        return _refused(site, request, error)
    for take in unused:
        audio_file(site.study, take).unlink(missing_ok=True)
    return JSONResponse(receipt._asdict())


def _caller(site: Site, request: Request) -> str:
    """The hash of the token of whoever sends something by script."""
    key = hashed(request.cookies.get("token", ""))
    if not site.people.allows(key):
        raise HTTPException(429, "too_fast")
    site.check_csrf(request, key, request.headers.get("x-csrf", ""))
    return key


def _answer(tx: Transaction, site: Site, key: str, sent: Sent) -> tuple[Receipt, list[str]]:
    """All answers of a page, or none of them; and the takes that are not wanted any more."""
    person = _at_work(tx, site, key)
    rules, now = site.study.assign, time.time()
    receipts = [
        take_answer(tx, person, item, given, sent.log, rules, site.kind, now, sent.comment, sent.attempt)
        for item, given in {sent.item: sent.answer, **sent.more}.items()
    ]
    if site.kind.uploads and not audio_file(site.study, str(sent.answer["audio"])).exists():
        raise msgspec.ValidationError("you have no recording with this name")
    flags = list(dict.fromkeys(flag for receipt in receipts for flag in receipt.flags))
    counted, fresh = all(receipt.counted for receipt in receipts), all(receipt.fresh for receipt in receipts)
    unused = discard_others(tx, person.id, sent.item, str(sent.answer["audio"]), rules) if site.kind.uploads else []
    return Receipt(counted, flags, fresh, any(receipt.again for receipt in receipts)), unused


def _at_work(tx: Transaction, site: Site, key: str) -> Person:
    person = person_of(tx, key)
    if person is None or step_of(person, site.study) not in ("tasks", "excluded"):
        raise NotYours("This item was not given to you.")
    return person


def _refused(site: Site, request: Request, error: NotAllowed) -> Response:
    found: dict[type[NotAllowed], tuple[str, int]] = {
        AlreadyAnswered: ("answered_before", 409),
        TooMuch: ("too_much", 422),
    }
    phrase, status = found.get(type(error), ("not_yours", 403))
    return JSONResponse({"error": site.phrase(request, phrase), "detail": str(error)}, status)


def _name(tx: Transaction, key: str) -> str:
    person = person_of(tx, key)
    return person.id if person else "somebody unknown"


async def draft(site: Site, request: Request) -> Response:
    key = _caller(site, request)
    try:
        sent = decode(await body_of(request, MAX_ANSWER), Draft)
        refuse_zero(sent.item)
        kept = await site.write(
            lambda tx: keep_draft(
                tx, _at_work(tx, site, key), sent.item, sent.attempt, sent.begins, sent.events, site.study.assign
            )
        )
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return JSONResponse({"error": site.phrase(request, "not_an_answer"), "detail": str(error)}, 422)
    except NotAllowed as error:
        return _refused(site, request, error)
    return JSONResponse({"kept": kept})


async def pass_over(site: Site, request: Request) -> Response:
    key, _, form = await _form(site, request)
    reason = form.get("reason", "")
    if reason in SKIPS:
        item, comment = form.get("item", ""), form.get("comment", "").strip()[:2000]
        try:
            await site.write(lambda tx: skip(tx, _at_work(tx, site, key), item, reason, comment, time.time()))
        except NotAllowed as error:
            raise HTTPException(403, "not_yours") from error
    return site.to("/task")


async def audio(site: Site, request: Request) -> Response:
    """A take, by the id that the page gave it; the same one again is no second."""
    key, person = await site.person(request)
    site.check_csrf(request, key, request.headers.get("x-csrf", ""))
    if not site.kind.uploads or step_of(person, site.study) == "consent":
        raise HTTPException(404, "not_found")
    item, take = request.query_params.get("item", ""), request.query_params.get("take", "")
    if free_bytes(site.study) < FULL_DISK:
        return JSONResponse({"error": site.phrase(request, "no_room")}, 507)
    try:
        with TemporaryFile() as file:  # several people's large recordings together are too large for memory
            async for part in parts_of(request, MAX_AUDIO):
                file.write(part)
            file.seek(0)
            recording = await asyncio.to_thread(checked, file, site.kind.options)
        await asyncio.to_thread(keep, site.study, site.database, person, item, take, recording)
    except BadAudio as error:
        return JSONResponse({"error": site.phrase(request, str(error))}, 422)
    except (NotYours, TooMuch) as error:
        return _refused(site, request, error)
    return JSONResponse({"audio": take, "seconds": recording.seconds, "level": recording.level})


async def language(site: Site, request: Request) -> Response:
    chosen = request.path_params["code"]
    response = site.to("/task" if "token" in request.cookies else "/")
    if chosen in languages():
        site.keep(response, "language", chosen)
    return response
