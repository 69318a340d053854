"""Headers, tokens against forged requests, limits on rate and size, and the owner's session."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from hashlib import sha256

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
ADMIN_HOURS = 12
_PEOPLE = 10_000  # callers that a limit remembers


class TooLarge(Exception):
    pass


class SafeHeaders:
    """Puts the headers above on every answer, also on errors."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in self._headers if h[0] not in given)]
            await send(message)

        await self.app(scope, receive, sending)


async def body_of(request: Request, most: int) -> bytes:
    """The body, read no further than `most` bytes."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise TooLarge
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


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


def admin_session(secret: str, now: float | None = None) -> str:
    until = str(int((time.time() if now is None else now) + ADMIN_HOURS * 3600))
    return f"{until}.{signed(secret, 'admin ' + until)}"


def is_admin(secret: str, session: str, now: float | None = None) -> bool:
    until, _, signature = session.partition(".")
    alive = until.isdigit() and len(until) < 12 and int(until) > (time.time() if now is None else now)
    return alive and is_signed(secret, "admin " + until, signature)
