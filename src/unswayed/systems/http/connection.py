"""Where a server is, and one keep-alive connection to it."""

from __future__ import annotations

import io
import os
import re
import selectors
import socket
import ssl
import time
from base64 import b64encode
from contextlib import suppress
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from unswayed.base.errors import UsageError, option
from unswayed.base.secrets import has_secret, masked

KEY = "OPENAI_API_KEY"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def checked_url(url: str) -> SplitResult:
    """The URL in parts, fit to be asked; what could go elsewhere than it seems to is refused."""
    if any(c <= " " or c == "\x7f" for c in url):
        raise UsageError("The URL has a space or a control character in it.")
    try:
        parts = urlsplit(url)
        _ = parts.port
        host = parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode()
    except (ValueError, UnicodeError) as error:
        raise UsageError(f"{masked(url)!r} is not a URL: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"A server's URL begins with http://HOST or https://HOST; {parts.scheme}://{host} does not.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "A URL with a user or a password in it would be stored with the run; put a key in the environment."
        )
    shown = f"[{host}]" if ":" in host else host
    netloc = shown if parts.port is None else f"{shown}:{parts.port}"
    path, query = (quote(text, safe="/%:@!$&'()*+,;=~?") for text in (parts.path, parts.query))
    return SplitResult(parts.scheme, netloc, path, query, "")


def key_for(url: SplitResult, name: str | None, default: bool, insecure: bool = False) -> str | None:
    """The key in the environment under that name, or, by `default`, OpenAI's where it can't be read on the way."""
    host = url.hostname or ""
    try:  # is the server on this machine, so that nobody reads what is sent to it?
        here = ip_address(host).is_loopback
    except ValueError:
        here = host in LOOPBACK
    safe = url.scheme == "https" or here
    if (name is not None or has_secret(url)) and not safe and not insecure:
        raise UsageError(
            f"{url.scheme}://{url.netloc} is neither https nor on this machine, so others could read the key. "
            f"Use https, or, if the network between is yours alone, {option('insecure')}"
            f"{'' if option('insecure').startswith('-') else 'True'}."
        )
    if name is None and default and safe:
        name = KEY if os.environ.get(KEY) else None
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(f"The environment has no {name}. Set it to the server's key, then rerun.")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise UsageError(f"The key in {name} has a character that no key has, such as a space or a line's end.")
    return key


class Limits(NamedTuple):
    """Seconds to connect, to wait for the next bytes, and for a request in all; bytes that an answer may have."""

    connect: float
    read: float
    total: float
    largest: int


class Reply(NamedTuple):
    """What a server sent back."""

    status: int
    headers: Message
    content: bytes


class Unreachable(OSError):
    """The server can't be connected to."""


class Connection:
    """One keep-alive connection with a total deadline and a size limit.

    Redirects are not followed, so headers go to the one host that was named. The connection is to the server, or to
    the proxy that the environment names.
    """

    def __init__(self, url: SplitResult, limits: Limits) -> None:
        self._limits = limits
        self._socket: _TimedSocket | None = None
        self._interrupted = False
        host, port = url.hostname or "", url.port
        self._target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        self._more: dict[str, str] = {}  # headers for a proxy
        named = getproxies_environment().get(url.scheme)
        proxy: SplitResult | None = None
        if named and host not in LOOPBACK and not proxy_bypass(host):  # no proxy can reach this machine's own loopback
            proxy = urlsplit(named if "://" in named else f"http://{named}")
            if proxy.scheme != "http" or not proxy.hostname:
                raise UsageError(
                    f"The environment's proxy for {url.scheme} must be http://HOST:PORT; {proxy.scheme}:// is not."
                )
        near = (host, port) if proxy is None else (proxy.hostname or "", proxy.port or 80)
        secure = url.scheme == "https"
        self._http = HTTPSConnection(*near, context=ssl.create_default_context()) if secure else HTTPConnection(*near)
        if proxy is None:
            return
        headers = {}
        if proxy.username:
            pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
            headers = {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        if secure:
            self._http.set_tunnel(host, port or 443, headers)
        else:
            self._target, self._more = f"http://{url.netloc}{self._target}", headers

    def exchange(self, content: bytes, headers: dict[str, str]) -> Reply:
        """Posts and returns the reply, whole. Where this raises, the connection is closed and may be used again."""
        deadline, largest = time.monotonic() + self._limits.total, self._limits.largest
        try:
            # A server that hung up while the connection was idle is found out before a request is lost on it.
            if self._socket is None or self._socket.was_dropped():
                self.close()
                self._http.timeout = min(self._limits.connect, self._limits.total)
                try:
                    self._http.connect()
                except (OSError, HTTPException) as error:
                    self._http.close()
                    slow = isinstance(error, TimeoutError)
                    reason = "no connection in time" if slow else str(getattr(error, "strerror", None) or error)
                    raise Unreachable(reason) from error
                self._socket = self._http.sock = _TimedSocket(self._http.sock, self._limits.read)
            if self._interrupted:
                raise OSError("interrupted")
            self._socket.deadline = deadline
            self._http.request("POST", self._target, content, {**self._more, **headers})
            response = self._http.getresponse()
            if (response.length or 0) > largest:
                raise OSError(f"the answer has {response.length:,} bytes; {largest:,} are allowed")
            # One byte more than is allowed tells an answer that is too long, without reading the rest of it.
            read = response.read(largest + 1)
            if len(read) > largest:
                raise OSError(f"the answer has more than {largest:,} bytes")
            if response.length:  # http.client says so only where everything is read in one go
                raise OSError(f"the answer was cut off {response.length:,} bytes before its end")
            response.close()
        except BaseException:
            self.close()
            raise
        if response.will_close:
            self.close()
        return Reply(response.status, response.headers, read)

    def close(self) -> None:
        opened, self._socket = self._socket, None
        if opened is not None:
            opened.raw.close()
            self._http.close()

    def interrupt(self) -> None:
        """Makes a request that another thread is waiting in fail at once, or as soon as it is connected."""
        self._interrupted = True
        opened = self._socket
        if opened is not None:
            with suppress(OSError):  # it may have ended by itself
                opened.raw.shutdown(socket.SHUT_RDWR)


class _TimedSocket(io.RawIOBase):
    """What http.client needs of a socket. Every wait ends at the deadline, however little each of them brings."""

    def __init__(self, raw: Any, patience: float) -> None:
        self.raw, self.patience = raw, patience
        self.deadline = 0.0

    def timed(self) -> Any:
        """The socket, with as much time as is left."""
        # A server may send a byte a minute for ever, and every byte would start a plain time limit anew. So each wait
        # gets what is left until the deadline.
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self.raw.settimeout(min(left, self.patience))
        return self.raw

    def sendall(self, content: bytes) -> None:
        self.timed().sendall(content)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return int(self.timed().recv_into(buffer))

    def close(self) -> None:
        """http.client closes before it reads a last answer; the connection closes the socket itself."""

    def was_dropped(self) -> bool:
        """Has the server hung up, or said something that was not asked for?"""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.raw, selectors.EVENT_READ)
            return bool(waiting.select(0))
