"""The server: one study, or a folder of them under one address; slow and idle connections are dropped."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from unswayed.base.errors import DataError, MissingExtra, UsageError, option
from unswayed.collect.applied import applied, facts_of
from unswayed.collect.database import open_database
from unswayed.collect.forgetting import finish
from unswayed.collect.status import disk_warning
from unswayed.collect.study import PeopleStudy, read_study

try:
    import uvicorn
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    from unswayed.collect.app import make_app
    from unswayed.collect.site import Site
except ImportError as error:
    raise MissingExtra("`unswayed collect serve`", "collect") from error

HEADER_SECONDS = 15.0  # from the connection, or the last answer, until a request's headers are there
IDLE_SECONDS = 30.0  # between two pieces of a request's body
BODY_SECONDS = 900.0  # for a whole body: 40 MB at 50 kB a second
HEADER_BYTES = 64 << 10  # of a request, with its address
MOST_HELD = 4 << 20  # bytes of memory for headers of all requests under way, apart from `_EVERYBODY`'s
_EVERYBODY = 16 << 10  # bytes of memory that each request has: a browser's headers take a third of it
_HEADER_COST = 130  # bytes that Python needs for a header apart from its text
_PIECE = 16 << 10  # bytes given to the parser at once
_CHUNK = 64  # bytes around a piece of a body that comes in chunks
_PIPELINED = 16  # requests that wait for the one before them
_LOG = logging.getLogger("unswayed.collect")
_REQUESTS = logging.getLogger("uvicorn.error.requests")  # no line for each request that can't be read
_REQUESTS.setLevel(logging.ERROR)
_LAST_SECONDS = 5  # for requests under way when the server is stopped
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_URL = re.compile(r"https?://(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?")
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]*")
_BASE = re.compile("(/[A-Za-z0-9_.-]+)*")


class HeadersTooLarge(Exception):
    pass


class Patient(HttpToolsProtocol):
    """Drops a connection whose request does not come: `HEADER_SECONDS` for headers, `IDLE_SECONDS` within a body.

    httptools has no limits of its own, so bytes are counted here: those that are headers when they are complete, and
    before that all that is not body. What many connections hold together is bounded too.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.logger = _REQUESTS
        self._waiting = self._heard = self.loop.time()
        self._look = self.loop.call_later(HEADER_SECONDS, self._drop)
        self._header_bytes = self._other_bytes = self._held = 0

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        for at in range(0, len(data), _PIECE):
            piece = data[at : at + _PIECE]
            self._other_bytes += len(piece)  # until the parser says what of it is body
            super().data_received(piece)
            if self.transport.is_closing():
                return
            if self._other_bytes > HEADER_BYTES + _PIECE or len(self.pipeline) > _PIPELINED:
                self.send_400_response("")
                return

    def on_message_begin(self) -> None:
        self._let_go()
        self._header_bytes = self._other_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._other_bytes = max(0, self._other_bytes - len(body) - _CHUNK)
        super().on_body(body)

    def _count(self, size: int) -> None:
        """Counts a header; raises where there are too many, here or in all connections together."""
        self._header_bytes += size
        self._held += size + _HEADER_COST
        held = self.server_state.__dict__
        if self._held > _EVERYBODY:
            held["headers"] = held.get("headers", 0) + min(size + _HEADER_COST, self._held - _EVERYBODY)
        if self._header_bytes > HEADER_BYTES or held.get("headers", 0) > MOST_HELD:
            raise HeadersTooLarge

    def _let_go(self) -> None:
        """What the last request held is free."""
        self.server_state.__dict__["headers"] = self.server_state.__dict__.get("headers", 0) - max(
            0, self._held - _EVERYBODY
        )
        self._held = 0

    def send_400_response(self, msg: str) -> None:
        """uvicorn's answer to what its parser refuses, with the status that fits where there was too much."""
        large = self._other_bytes > HEADER_BYTES or self._header_bytes > HEADER_BYTES or not msg
        status = "431 Request Header Fields Too Large" if large else "400 Bad Request"
        self.transport.write(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        self.transport.close()

    def on_response_complete(self) -> None:
        self._waiting = self._heard = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        self._let_go()
        super().connection_lost(exc)

    def _drop(self) -> None:
        now, cycle = self.loop.time(), self.cycle
        if cycle is None or cycle.response_complete:
            left = HEADER_SECONDS - (now - self._waiting)
        elif cycle.more_body:
            left = min(IDLE_SECONDS - (now - self._heard), BODY_SECONDS - (now - self._waiting))
        else:  # it is our turn
            left = IDLE_SECONDS
        if left <= 0:
            self.transport.abort()
        else:
            self._look = self.loop.call_later(left, self._drop)


def studies_at(place: Path, base: str = "") -> dict[str, PeopleStudy]:
    """The studies to serve by their paths: one file, or all of a folder (`NAME.toml`, `NAME/study.toml`)."""
    base = base.rstrip("/")
    if not _BASE.fullmatch(base):
        raise UsageError(f"{option('base-path')} {base} is not a path such as /c: use letters, digits, - and _.")
    if not place.is_dir():
        return {base: read_study(place)}
    files = {file.stem: file for file in sorted(place.glob("*.toml"))}
    files |= {file.parent.name: file for file in sorted(place.glob("*/study.toml"))}
    if not files:
        raise DataError("there is no study in this folder: no NAME.toml and no NAME/study.toml", place)
    for name, file in files.items():
        if not _NAME.fullmatch(name):
            raise DataError(f"{name!r} can't be a path: use letters, digits, - and _", file)
    return {f"{base}/{name}": read_study(file) for name, file in files.items()}


def networks(trusted: Sequence[str]) -> list[str]:
    """The addresses of proxies, checked."""
    for network in trusted:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise UsageError(
                f"{option('trusted-proxy')} {network}: {error}. It takes 127.0.0.1 or 10.0.0.0/8."
            ) from error
    return list(trusted)


def addresses(urls: Sequence[str]) -> list[str]:
    """The addresses that people can use, checked."""
    for url in urls:
        if not _URL.fullmatch(url):
            raise UsageError(f"{option('url')} {url!r} is not an address such as https://study.example.org.")
    return [url.rstrip("/") for url in urls]


def serve(
    studies: dict[str, PeopleStudy], host: str = "127.0.0.1", port: int = 8000, certificate: str | None = None,
    key: str | None = None, trusted: Sequence[str] = (), urls: Sequence[str] = (),
) -> None:  # fmt: skip
    """Serves until it is interrupted. `trusted`: the addresses of the proxies in front of it, which do TLS; `urls`:
    the addresses that people can use, for links."""
    if (certificate is None) != (key is None):
        raise UsageError(f"{option('certificate')} and {option('key')} go together.")
    proxies = networks(trusted)
    shown = f"[{host}]" if ":" in host else host
    names = [f"{name}:{port}" for name in ((shown, "127.0.0.1", "localhost") if host in _LOOPBACK else (shown,))]
    if host not in _LOOPBACK and not certificate and not proxies:
        raise UsageError(
            f"{host} can be reached from other machines, so people's answers would travel unprotected. Use "
            f"{option('certificate')} and {option('key')}, or {option('trusted-proxy')} if a proxy in front does TLS."
        )
    public = addresses(urls) or ([] if proxies else [f"http{'s' if certificate else ''}://{name}" for name in names])
    secure: dict[str, Any] = {"ssl_certfile": certificate, "ssl_keyfile": key}
    with ExitStack() as stack:
        sites = []
        for base, study in studies.items():
            database = stack.enter_context(open_database(study.place))
            finish(study, database)
            if facts_of(database.read(lambda tx, study=study: applied(tx, study))) != facts_of(study):  # type: ignore[misc]
                _LOG.warning("%s differs from what was applied. Run: unswayed collect apply %s", study.file, study.file)
            if low := disk_warning(study):
                _LOG.warning("%s", low)
            sites.append(Site(study, database, secure=bool(certificate or proxies), base=base, urls=public))
        config = uvicorn.Config(
            make_app(*sites), host=host, port=port, http=Patient, log_level="warning", access_log=False,
            server_header=False, proxy_headers=bool(proxies), forwarded_allow_ips=proxies, ws="none",
            timeout_graceful_shutdown=_LAST_SECONDS, **secure,
        )  # fmt: skip
        uvicorn.Server(config).run()
