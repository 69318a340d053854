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
from unswayed.collect.study import PeopleStudy, read_study

try:
    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    from unswayed.collect.app import make_app
    from unswayed.collect.site import Site
except ImportError as error:
    raise MissingExtra("`unswayed collect serve`", "collect") from error

HEADER_SECONDS = 15.0  # from the connection, or the last answer, until a request's headers are there
IDLE_SECONDS = 30.0  # between two pieces of a request's body
BODY_SECONDS = 900.0  # for a whole body: 40 MB at 50 kB a second
_LOG = logging.getLogger("unswayed.collect")
_LAST_SECONDS = 5  # for requests under way when the server is stopped
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]*")
_BASE = re.compile("(/[A-Za-z0-9_.-]+)*")


class Patient(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # one of two classes, by what is installed
    """Drops a connection whose request does not come: `HEADER_SECONDS` for headers, `IDLE_SECONDS` within a body."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._waiting = self._heard = self.loop.time()
        self._look = self.loop.call_later(HEADER_SECONDS, self._drop)

    def data_received(self, data: bytes) -> None:
        self._heard = self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        self._waiting = self._heard = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
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


def serve(
    studies: dict[str, PeopleStudy], host: str = "127.0.0.1", port: int = 8000, certificate: str | None = None,
    key: str | None = None, trusted: Sequence[str] = (),
) -> None:  # fmt: skip
    """Serves until it is interrupted. `trusted`: the addresses of the proxies in front of it, which do TLS."""
    if (certificate is None) != (key is None):
        raise UsageError(f"{option('certificate')} and {option('key')} go together.")
    proxies = networks(trusted)
    if host not in _LOOPBACK and not certificate and not proxies:
        raise UsageError(
            f"{host} can be reached from other machines, so people's answers would travel unprotected. Use "
            f"{option('certificate')} and {option('key')}, or {option('trusted-proxy')} if a proxy in front does TLS."
        )
    secure: dict[str, Any] = {"ssl_certfile": certificate, "ssl_keyfile": key}
    with ExitStack() as stack:
        sites = []
        for base, study in studies.items():
            database = stack.enter_context(open_database(study.place))
            finish(study, database)
            if facts_of(database.read(lambda tx, study=study: applied(tx, study))) != facts_of(study):  # type: ignore[misc]
                _LOG.warning("%s differs from what was applied. Run: unswayed collect apply %s", study.file, study.file)
            sites.append(Site(study, database, secure=bool(certificate or proxies), base=base))
        config = uvicorn.Config(
            make_app(*sites), host=host, port=port, http=Patient, log_level="warning", access_log=False,
            server_header=False, proxy_headers=bool(proxies), forwarded_allow_ips=proxies, ws="none",
            h11_max_incomplete_event_size=64 << 10, timeout_graceful_shutdown=_LAST_SECONDS, **secure,
        )  # fmt: skip
        uvicorn.Server(config).run()
