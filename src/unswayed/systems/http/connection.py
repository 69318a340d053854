"""Where a server is, and one keep-alive connection to it."""

from __future__ import annotations

import os
import re
import select
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
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


# Whose key is in which variable, by the end of the host's name; a key goes to nobody else by default.
_KEYS = {
    "anthropic.com": "ANTHROPIC_API_KEY", "googleapis.com": "GEMINI_API_KEY", "azure.com": "AZURE_OPENAI_API_KEY",
    "azure-api.net": "AZURE_OPENAI_API_KEY", "mistral.ai": "MISTRAL_API_KEY", "openrouter.ai": "OPENROUTER_API_KEY",
    "groq.com": "GROQ_API_KEY", "deepseek.com": "DEEPSEEK_API_KEY", "together.xyz": "TOGETHER_API_KEY",
}  # fmt: skip
_AZURE = ("azure.com", "azure-api.net")


def is_azure(url: SplitResult) -> bool:
    """Does the server want its key in the header `api-key`, as Azure's do?"""
    host = url.hostname or ""
    return any(host.endswith(f".{end}") for end in _AZURE) or "/openai/deployments/" in url.path


def key_for(url: SplitResult, name: str | None, default: bool, insecure: bool = False) -> str | None:
    """The key in the environment under that name, or, by `default`, that of the host's owner, else OpenAI's, where it
    can't be read on the way."""
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
        own = next((key for end, key in _KEYS.items() if host == end or host.endswith(f".{end}")), KEY)
        name = own if os.environ.get(own) else None
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
    """What a server sent back; headers by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Unreachable(OSError):
    """The server can't be connected to."""


class CutShort(OSError):
    """The reply ended before it was complete; `began` says whether there was any."""

    def __init__(self, reason: str, began: bool = True) -> None:
        super().__init__(reason)
        self.began = began


_STATUS = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: [^\r\n]*)?\r?\n")
_MAX_HEAD = 64 << 10  # bytes of a status line with its headers
_AT_ONCE = 64 << 10  # bytes that are read from a socket in one call
_NO_BODY = (204, 304)


class Connection:
    """One keep-alive connection with a total deadline and a size limit.

    Redirects are not followed, so headers go to the one host that was named. The connection is to the server, or to
    the proxy that the environment names. HTTP/1.1 is spoken here and not by http.client, which reads headers as it
    reads e-mail: of 0.32 CPU ms that a request took, 0.17 were spent there.
    """

    def __init__(self, url: SplitResult, limits: Limits, headers: Mapping[str, str]) -> None:
        self._limits = limits
        self._socket: Any = None
        self._patience = 0.0  # what the socket waits for the next bytes, as it is set now
        self._interrupted = False
        self._left = b""  # what was read after the last reply
        host, port = url.hostname or "", url.port
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        named = getproxies_environment().get(url.scheme)
        proxy: SplitResult | None = None
        if named and host not in LOOPBACK and not proxy_bypass(host):  # no proxy can reach this machine's own loopback
            proxy = urlsplit(named if "://" in named else f"http://{named}")
            if proxy.scheme != "http" or not proxy.hostname:
                raise UsageError(
                    f"The environment's proxy for {url.scheme} must be http://HOST:PORT; {proxy.scheme}:// is not."
                )
        secure = url.scheme == "https"
        self._near = (host, port or (443 if secure else 80))
        self._host, self._tls = host, ssl.create_default_context() if secure else None
        self._tunnel = b""  # what opens a way through the proxy
        sent = {"Host": url.netloc, **headers}
        if proxy is not None:
            pair = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}"
            basic = {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"} if proxy.username else {}
            if secure:
                there = f"{f'[{host}]' if ':' in host else host}:{self._near[1]}"
                self._tunnel = _head(f"CONNECT {there}", {"Host": there, **basic}) + b"\r\n"
            else:
                target, sent = f"http://{url.netloc}{target}", {**sent, **basic}
            self._near = (proxy.hostname or "", proxy.port or 80)
        self._request = _head(f"POST {target}", sent)

    def exchange(self, content: bytes) -> Reply:
        """Posts and returns the reply, whole. Where this raises, the connection is closed and may be used again."""
        deadline = time.monotonic() + self._limits.total
        try:
            # A server that hung up while the connection was idle is found out before a request is lost on it.
            if self._socket is None or self._left or _is_readable(self._socket):
                self.close()
                self._connect(deadline)
            if self._interrupted:
                raise OSError("interrupted")
            self._wait_until(deadline)
            self._socket.sendall(b"%bContent-Length: %d\r\n\r\n%b" % (self._request, len(content), content))
            status, headers, stays = self._read_head(deadline)
            while 100 <= status < 200:  # nothing but a notice that the reply is to come
                status, headers, stays = self._read_head(deadline)
            if status in _NO_BODY:
                read = b""
            elif "chunked" in headers.get("transfer-encoding", "").lower():
                read = self._read_chunks(deadline)
            elif "content-length" in headers:
                read = self._read_length(headers["content-length"], deadline)
            else:
                read, stays = self._read_rest(deadline), False
        except BaseException:
            self.close()
            raise
        if not stays:
            self.close()
        return Reply(status, headers, read)

    def close(self) -> None:
        opened, self._socket, self._left = self._socket, None, b""
        if opened is not None:
            opened.close()

    def interrupt(self) -> None:
        """Makes a request that another thread is waiting in fail at once, or as soon as it is connected."""
        self._interrupted = True
        opened = self._socket
        if opened is not None:
            with suppress(OSError):  # it may have ended by itself
                opened.shutdown(socket.SHUT_RDWR)

    def _connect(self, deadline: float) -> None:
        self._patience = min(self._limits.connect, self._limits.total)
        try:
            made: Any = socket.create_connection(self._near, self._patience)
            self._socket = made  # so that it can be interrupted
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tunnel:
                made.sendall(self._tunnel)
                status, _, _ = self._read_head(deadline)
                if status != 200:
                    raise OSError(f"the proxy answered {status}")
            if self._tls is not None:
                self._socket = made = self._tls.wrap_socket(made, server_hostname=self._host)
        except OSError as error:
            self.close()
            slow = isinstance(error, TimeoutError)
            reason = "no connection in time" if slow else str(getattr(error, "strerror", None) or error)
            raise Unreachable(reason) from error

    def _wait_until(self, deadline: float) -> None:
        """Bounds the next wait. A server may send a byte a minute for ever, and every byte would start a plain time
        limit anew, so each wait ends at the deadline at the latest."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        patience = min(left, self._limits.read)
        if patience != self._patience:  # a system call
            self._socket.settimeout(patience)
            self._patience = patience

    def _more(self, deadline: float) -> bytes:
        """The next bytes; none at the end."""
        self._wait_until(deadline)
        return self._socket.recv(_AT_ONCE)  # type: ignore[no-any-return]

    def _read_head(self, deadline: float) -> tuple[int, dict[str, str], bool]:
        """The status and the headers, and whether the connection stays open after the reply."""
        read = self._left
        while (end := _END_OF_HEAD.search(read)) is None:
            if len(read) > _MAX_HEAD:
                raise OSError("the headers are too long")
            if not (more := self._more(deadline)):
                raise CutShort("the server hung up", began=bool(read))
            read += more
        first = _STATUS.match(read)
        if first is None:
            raise OSError("what came is not HTTP")
        headers: dict[str, str] = {}
        for line in read[first.end() : end.start()].decode("latin-1").splitlines():
            name, colon, value = line.partition(":")
            if colon:
                headers.setdefault(name.strip().lower(), value.strip())
        self._left = read[end.end() :]
        said = headers.get("connection", "").lower()
        return int(first[2]), headers, "close" not in said if first[1] == b"1" else "keep-alive" in said

    def _read_length(self, told: str, deadline: float) -> bytes:
        if not told.isdecimal():
            raise OSError(f"the answer's length is {told!r:.40}")
        length = int(told[:20])
        if length > self._limits.largest:
            raise OSError(f"the answer has {length:,} bytes; {self._limits.largest:,} are allowed")
        parts, got = [self._left], len(self._left)
        while got < length:
            if not (more := self._more(deadline)):
                raise CutShort(f"the answer was cut off {length - got:,} bytes before its end")
            parts.append(more)
            got += len(more)
        whole = b"".join(parts)
        self._left = whole[length:]
        return whole[:length]

    def _read_rest(self, deadline: float) -> bytes:
        parts, got = [self._left], len(self._left)
        self._check_size(got)
        while more := self._more(deadline):
            parts.append(more)
            got += len(more)
            self._check_size(got)
        return b"".join(parts)

    def _read_chunks(self, deadline: float) -> bytes:
        """The body in chunks, each after its size in hexadecimal; then trailers, which nobody wants."""
        read, parts, got = self._left, list[bytes](), 0

        def until(size: int, line: bool = False) -> None:
            nonlocal read
            while (b"\n" not in read) if line else len(read) < size:
                if line and len(read) > _MAX_HEAD:
                    raise OSError("the size of a chunk is too long")
                if not (more := self._more(deadline)):
                    raise CutShort("the answer was cut off before its end")
                read += more

        while True:
            until(0, line=True)
            line, _, read = read.partition(b"\n")
            size = line.partition(b";")[0].strip()
            if not _HEX.fullmatch(size):
                raise OSError(f"the size of a chunk is {size[:40]!r}")
            length = int(size, 16)
            got += length
            self._check_size(got)
            if length == 0:
                break
            until(length + 2)
            parts.append(read[:length])
            read = read[length:].removeprefix(b"\r").removeprefix(b"\n")
        while True:
            until(0, line=True)
            line, _, read = read.partition(b"\n")
            if not line.strip():
                break
        self._left = read
        return b"".join(parts)

    def _check_size(self, size: int) -> None:
        if size > self._limits.largest:
            raise OSError(f"the answer has more than {self._limits.largest:,} bytes")


_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_HEX = re.compile(rb"[0-9a-fA-F]{1,15}")


def _head(what: str, headers: Mapping[str, str]) -> bytes:
    """The beginning of a request, to which more headers may be added."""
    lines = [f"{what} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1")


def _is_readable(opened: Any) -> bool:
    """Has the server hung up, or said something that was not asked for?"""
    if not hasattr(select, "poll"):  # on Windows
        return bool(select.select([opened], [], [], 0)[0])
    waiting = select.poll()
    waiting.register(opened, select.POLLIN)
    return bool(waiting.poll(0))
