"""A study being served: pages and their words, headers, tokens against forged requests, limits, the owner's session."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unswayed.base.text import visible
from unswayed.collect.applied import applied, revision_number
from unswayed.collect.assign import Person, person_of
from unswayed.collect.backends import Transaction
from unswayed.collect.database import Database
from unswayed.collect.owner import is_paused
from unswayed.collect.people import fact, hashed
from unswayed.collect.study import PeopleStudy
from unswayed.collect.words import languages, words

PAGES = Path(__file__).parent / "pages"
T = TypeVar("T")

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "media-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",  # invitations hold a token
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
MAX_FORM = 16 << 10  # bytes
REFRESH = 1.0  # seconds after which a change of the owner's is seen
PAUSED = "/task"  # the page that gives out items
DRAINED = 64 << 20  # bytes of a body that are read before it is refused
_PEOPLE = 10_000  # callers that a limit remembers


class TooLarge(Exception):
    pass


class SafeHeaders:
    """Puts the headers above on every answer, also on errors. `frames`: hosts that may show the pages in a frame."""

    def __init__(self, app: ASGIApp, frames: Sequence[str] = ()) -> None:
        self.app = app
        own = HEADERS | {"content-security-policy": CSP.replace("ancestors 'none'", f"ancestors {' '.join(frames)}")}
        self._headers = [(name.encode(), value.encode()) for name, value in (own if frames else HEADERS).items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in self._headers if h[0] not in given)]
            await send(message)

        await self.app(scope, receive, sending)


async def body_of(request: Request, most: int) -> bytes:
    """The body, of which no more than `most` bytes are kept."""
    parts = [part async for part in parts_of(request, most)]
    return b"".join(parts)


async def parts_of(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body piece by piece; raises TooLarge beyond `most` bytes.

    A body that is a little too large is read to its end all the same: a proxy that can't send all of it does not pass
    on the answer.
    """
    declared = request.headers.get("content-length", "")
    size, too_large = 0, declared.isdigit() and int(declared) > most
    if too_large and int(declared) > DRAINED:
        raise TooLarge
    async for part in request.stream():
        size += len(part)
        too_large = too_large or size > most
        if size > DRAINED:
            break
        if not too_large:
            yield part
    if too_large:
        raise TooLarge


def refuse_zero(*texts: str) -> None:
    """No browser sends the character zero, and PostgreSQL can't look for it."""
    if any("\0" in text for text in texts):
        raise HTTPException(400, "not_found")


def _spelled_out(value: Any) -> Any:
    """Texts on the owner's pages: characters that reorder or hide others are shown by name. What is markup stays."""
    return visible(value) if type(value) is str else value


class Limit:
    """So many requests a second for each caller, with a burst; callers not seen for long are forgotten."""

    def __init__(self, a_second: float, burst: float) -> None:
        self.a_second, self.burst = a_second, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, caller: str, now: float | None = None) -> bool:
        now = time.monotonic() if now is None else now
        left, then = self._left.pop(caller, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.a_second)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, now)
        if len(self._left) > _PEOPLE:
            self._left.popitem(last=False)
        return allowed


def signed(secret: str, what: str) -> str:
    return hmac.new(bytes.fromhex(secret), what.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def is_signed(secret: str, what: str, given: str) -> bool:
    return hmac.compare_digest(signed(secret, what).encode(), given.encode("utf-8", "surrogatepass"))


def same_site(request: Request) -> bool:
    """Browsers say where a request comes from; one from another site is forged."""
    return request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")


class Site:
    """One study being served. `secure` is true behind TLS, where cookies may not travel without it.

    `base` is the path that all of its pages and cookies are under, such as `/c/typing`; nothing: the whole server.
    `urls` are the addresses that people can use; without any, links are paths.
    """

    def __init__(
        self, study: PeopleStudy, database: Database, secure: bool = False, base: str = "", urls: Sequence[str] = ()
    ) -> None:
        self.database, self.secure, self.base, self.urls = database, secure, base, urls
        self.secret = database.read(lambda tx: fact(tx, "secret"))
        self._file = study
        self._looked = 0.0
        self._take(*database.read(self._now))
        self.people = Limit(a_second=20, burst=60)
        self.strangers = Limit(a_second=5, burst=30)
        self.arrivals = Limit(a_second=5, burst=300)  # a whole class may come from one address
        self.logins = Limit(a_second=0.2, burst=5)  # of a browser
        self.browsers = Limit(a_second=1 / 30, burst=10)  # that an address may have for logging in
        loader, strict = jinja2.FileSystemLoader(PAGES), jinja2.StrictUndefined
        self.pages = jinja2.Environment(loader=loader, autoescape=True, undefined=strict)
        self.owner_pages = jinja2.Environment(loader=loader, autoescape=True, undefined=strict, finalize=_spelled_out)

    def _now(self, tx: Transaction) -> tuple[int, PeopleStudy, bool]:
        return revision_number(tx), applied(tx, self._file), is_paused(tx)

    def _take(self, number: int, study: PeopleStudy, paused: bool) -> None:
        self.revision, self.study, self.paused = number, study, paused
        self.kind = study.make_kind()

    def look(self) -> None:
        """The next request takes up what was just changed."""
        self._looked = 0.0

    async def refresh(self) -> None:
        """Takes up what the owner changed, at most once a second."""
        if time.monotonic() - self._looked < REFRESH:
            return
        self._looked = time.monotonic()
        number, study, paused = await self.read(self._now)
        if (number, paused) != (self.revision, self.paused):
            self._take(number, study, paused)

    async def write(self, job: Callable[[Transaction], T]) -> T:
        return await asyncio.wrap_future(self.database.submit(job))

    async def read(self, job: Callable[[Transaction], T]) -> T:
        return await asyncio.to_thread(self.database.read, job)

    def page(self, request: Request, name: str, status: int = 200, **context: Any) -> HTMLResponse:
        language = self.language(request)
        known = {
            "study": self.study, "words": words(language), "language": language, "languages": languages(),
            "base": self.base,
        }  # fmt: skip
        pages = self.owner_pages if name.startswith("owner/") else self.pages
        return HTMLResponse(pages.get_template(f"{name}.html").render(known | context), status)

    def language(self, request: Request) -> str:
        chosen = request.cookies.get("language", self.study.language)
        return chosen if chosen in languages() else self.study.language

    def problem(self, request: Request, status: int, what: str) -> Response:
        if request.headers.get("accept", "").startswith("application/json"):
            return JSONResponse({"error": self.phrase(request, what)}, status)
        return self.message(request, "error", what, status)

    def message(self, request: Request, heading: str, what: str, status: int = 200, again: bool = False) -> Response:
        """A page that only says something; `again` adds a link to look for more work."""
        said = self.phrase(request, what)
        return self.page(request, "message", status, heading=heading, message=said, again=again)

    def phrase(self, request: Request, name: str) -> str:
        return words(self.language(request)).get(name, name)

    def keep(self, response: Response, name: str, value: str, strict: bool = False, seconds: int = 90 * 86400) -> None:
        framed = bool(self.study.arrive.frames) and not strict  # inside another host's page
        site: Any = "strict" if strict else "none" if framed else "lax"
        place, secure = self.base or "/", self.secure or framed
        response.set_cookie(name, value, seconds, path=place, httponly=True, secure=secure, samesite=site)

    def drop(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path=self.base or "/", httponly=True, secure=self.secure)

    def to(self, place: str) -> RedirectResponse:
        """Sends the browser on to another page of this study."""
        return RedirectResponse(self.base + place, 303)

    def link(self, request: Request, place: str) -> str:
        """The address of a page, for other people. The caller's `Host` only chooses among the configured addresses."""
        host = request.headers.get("host", "")
        own = next((url for url in self.urls if url.partition("://")[2] == host), next(iter(self.urls), ""))
        return f"{own}{self.base}{place}"

    def caller(self, request: Request) -> str:
        return request.client.host if request.client else ""

    async def person(self, request: Request) -> tuple[str, Person]:
        """The hash of the caller's token and who they are; others are sent away."""
        token = request.cookies.get("token", "")
        key = hashed(token)
        if not token or not self.people.allows(key):
            raise HTTPException(429 if token else 403, "too_fast" if token else "need_link")
        person = await self.read(lambda tx: person_of(tx, key))
        if person is None:
            raise HTTPException(403 if self.strangers.allows(self.caller(request)) else 429, "need_link")
        return key, person

    async def form(self, request: Request, most: int = MAX_FORM) -> dict[str, str]:
        """The first value of each field of a form."""
        sent = parse_qs((await body_of(request, most)).decode("utf-8", "replace"))
        found = {name: values[0] for name, values in sent.items()}
        refuse_zero(*found, *found.values())
        return found

    def check_csrf(self, request: Request, key: str, given: str) -> None:
        if not same_site(request) or not is_signed(self.secret, key, given):
            raise HTTPException(403, "need_link")


Handler = Callable[[Site, Request], Awaitable[Response]]
RouteTable = Sequence[tuple[str, str, Handler]]


def routes(site: Site, table: RouteTable) -> list[Route]:
    """A table of (method, path, handler) for one site."""
    return [Route(path, partial(_handled, site, handler, path), methods=[method]) for method, path, handler in table]


async def _handled(site: Site, handler: Handler, path: str, request: Request) -> Response:
    refuse_zero(*request.path_params.values(), *request.query_params.values())
    await site.refresh()
    if site.paused and path == PAUSED:
        return site.message(request, "done", "paused", again=True)
    return await handler(site, request)
