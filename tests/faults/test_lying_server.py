"""A server that lies in every way that HTTP allows and some that it does not: an answer, or a reason, and soon."""

from __future__ import annotations

import gzip
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given

from unswayed.base.errors import SystemBroken
from unswayed.systems.http.client import Client, HttpSettings, Malformed, Unanswered

from .mutate import fuzz, mutated

QUICK = HttpSettings(backoff=0, connect_timeout=1, read_timeout=1, total_timeout=2, largest=1 << 20)
PATIENT = HttpSettings(backoff=0, largest=1 << 20)  # where an answer comes, however busy the machine is
OK = b"HTTP/1.1 200 OK\r\n"
HEAD = OK + b"Content-Length: %d\r\n\r\n"
BOMB = gzip.compress(b" " * 50_000_000 + b'{"value": 1}')
Said = bytes | Callable[[], Iterator[bytes]]


def whole(body: bytes, *headers: bytes) -> bytes:
    return OK + b"".join(header + b"\r\n" for header in headers) + b"Content-Length: %d\r\n\r\n" % len(body) + body


class Liar:
    """Reads a request, says what it is told to, request by request, and then hangs up or goes on for ever."""

    def __init__(self, *said: Said) -> None:
        self.said = list(said)
        self.heads: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(line,), daemon=True).start()

    def _talk(self, line: socket.socket) -> None:
        with line, suppress(OSError):
            while self.said:
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = line.recv(65536)
                    if not piece:
                        return
                    head += piece
                self.heads.append(head)
                said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
                for piece in [said] if isinstance(said, bytes) else said():
                    line.sendall(piece)
                if not isinstance(said, bytes) or b"{" not in said or b"hang up" in said:
                    return

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def liar() -> Iterator[Callable[..., Liar]]:
    made: list[Liar] = []

    def make(*said: Said) -> Liar:
        made.append(Liar(*said))
        return made[-1]

    yield make
    for server in made:
        server.close()


def value(answer: Any) -> Any:
    if not isinstance(answer, dict) or "value" not in answer:
        raise Malformed("no value")
    return answer["value"]


def ask(url: str, settings: HttpSettings = QUICK, times: int = 1, key: str | None = None) -> list[Any]:
    client = Client(url, key, settings, retries=0)
    try:
        return [client.post({"q": n}, value) for n in range(times)]
    finally:
        client.close()


def endless(start: bytes, piece: bytes) -> Callable[[], Iterator[bytes]]:
    def said() -> Iterator[bytes]:
        yield start
        yield from repeat(piece * (65536 // len(piece)))

    return said


LIES: dict[str, Said] = {
    "less than it says, and hangs up": HEAD % 500 + b'{"value": 1} hang up',
    "less than it says, and waits": HEAD % 500 + b'{"value": 1}',
    "cut by what it says": HEAD % 5 + b'{"value": 1}',
    "a negative length": OK + b'Content-Length: -5\r\n\r\nhang up',
    "a length that is no number": OK + b'Content-Length: many\r\n\r\nhang up',
    "100 MB, it says": HEAD % 100_000_000 + b"{",
    "100 MB, unannounced": endless(OK + b"\r\n", b"x"),
    "chunks without end": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b"x" * 4096 + b"\r\n"),
    "a chunk without end": endless(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"x"),
    "a chunk of less than nothing": OK + b'Transfer-Encoding: chunked\r\n\r\n-5\r\n{"value": 1}\r\n0\r\n\r\nhang up',
    "trailers without end": endless(OK + b'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n', b"X: y\r\n"),
    "headers without end": endless(OK, b"X: y\r\n"),
    "a header without end": endless(OK + b"X: ", b"y"),
    "a status line without end": endless(b"HTTP/1.1 200 ", b"y"),
    "continue, continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "early hints for ever": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
    "packed, and large when unpacked": whole(BOMB, b"Content-Encoding: gzip"),
    "another encoding": whole('{"value": 1}'.encode("utf-16"), b"Content-Type: application/json; charset=utf-16"),
    "a page": whole(b"<html>{}</html>", b"Content-Type: text/html"),
    "HTTP/0.9": b'{"value": 1}\r\nhang up',
    "HTTP/9.9": b'HTTP/9.9 200 OK\r\nContent-Length: 1\r\n\r\n{hang up',
    "no status": b"HTTP/1.1\r\n\r\nhang up",
    "status 0": b"HTTP/1.1 000 Nothing\r\nContent-Length: 2\r\n\r\n{}",
    "status 99999": b"HTTP/1.1 99999 Much\r\n\r\nhang up",
    "another protocol": b"220 mail.example.org ESMTP\r\nhang up",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03hang up",
    "NUL": b"\0" * 1000,
    "brackets": whole(b"[" * 1_000_000),
    "objects": whole(b'{"value":' * 100_000),
    "half a character": whole(b'{"value": "\\ud800"}'),
    "not UTF-8": whole(b'{"value": "\xff"}'),
    "nothing": whole(b""),
    "a number without end": whole(b'{"value": ' + b"9" * 500_000 + b"}"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_no_answer_and_costs_little(liar: Callable[..., Liar], name: str) -> None:
    told = liar(LIES[name])
    tracemalloc.start()
    try:
        with pytest.raises(Unanswered):
            ask(told.url)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000, "bytes"
    finally:
        tracemalloc.stop()


def test_what_comes_after_an_answer_is_not_the_next_ones(liar: Callable[..., Liar]) -> None:
    """A second answer sent along would otherwise be taken for that to the next request."""
    forged = whole(b'{"value": 1}') + whole(b'{"value": "forged"}')
    assert ask(liar(forged, whole(b'{"value": 2}')).url, PATIENT, times=2) == [1, 2]


def test_lies_that_do_no_harm(liar: Callable[..., Liar]) -> None:
    for said in (
        whole(b'{"value": 0, "value": 7}'),  # the last counts, as everywhere
        whole(b'{"value": 7}', b"Content-Type: text/html; charset=utf-16"),  # JSON is UTF-8
        whole(b'{"value": 7}', b"X: \xff", b"Content-Encoding: gzip"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + whole(b'{"value": 7}'),
    ):
        assert ask(liar(said).url, PATIENT) == [7]


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://elsewhere.invalid/", "//[", "\t", ""])
def test_no_redirect_is_followed_and_the_key_stays(liar: Callable[..., Liar], to: str) -> None:
    server = liar(b"HTTP/1.1 307 Go\r\nLocation: " + to.encode() + b"\r\nContent-Length: 2\r\n\r\n{}")
    with pytest.raises(SystemBroken, match="redirects to"):
        ask(server.url, PATIENT, key="sesame")
    assert len(server.heads) == 1


def test_a_server_that_does_not_shake_hands(liar: Callable[..., Liar]) -> None:
    """TLS is asked for, and nothing, or something else, comes."""
    silent = socket.create_server(("127.0.0.1", 0))
    try:
        for url in (liar(b"HTTP/1.1 400 No\r\n\r\n").url, f"http://127.0.0.1:{silent.getsockname()[1]}/"):
            with pytest.raises(Unanswered, match="can't be reached"):
                ask(url.replace("http:", "https:"))
    finally:
        silent.close()


CHUNKS = b'8\r\n{"value"\r\n4\r\n: 7}\r\n0\r\n\r\n'
VALID = OK + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS


def test_damaged_answers(liar: Callable[..., Liar]) -> None:
    server = liar(b"")

    @fuzz(60)
    @given(mutated(VALID))
    def attack(content: bytes) -> None:
        server.said = [lambda: iter([content])]
        with suppress(Unanswered, SystemBroken):
            ask(server.url)

    attack()
