"""Traffic that a server must bear: floods of headers, slow connections, large uploads; also behind proxies."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STUDY = """title = "Traffic"
kind = "{kind}"
contact = "x@example.org"
consent = "x"
[items]
path = "items.jsonl"
[assign]
k = 1
shuffle = false
[options]
{options}
"""
OPTIONS = {"choice": 'question = "Which?"\nanswers = ["keyboard", "speech"]', "read_aloud": "max_seconds = 300"}
DEPLOY = Path(__file__).parents[1] / "deploy"


def resident_megabytes(process: int) -> float:
    """The memory that a process has now."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(port: int) -> None:
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)


def write_study(folder: Path, kind: str = "choice", items: int = 10) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_text("".join(f'{{"id": "i{n}", "text": "text {n}"}}\n' for n in range(items)))
    (folder / "study.toml").write_text(STUDY.format(kind=kind, options=OPTIONS[kind]))
    return folder / "study.toml"


def serve(place: Path, port: int, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "unswayed", "collect", "serve", str(place), "--port", str(port), *options]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


@contextmanager
def started(folder: Path, kind: str = "choice") -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A study that is served, and has answered a few requests; its process and port."""
    from unswayed.collect.items import make_study
    from unswayed.collect.study import read_study

    file = write_study(folder / "served", kind)
    make_study(read_study(file))[0].close()
    port = free_port()
    process = serve(file, port)
    try:
        wait_for(port)
        for _ in range(20):
            ask(port, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        yield process, port
    finally:
        process.kill()
        process.wait()


def ask(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(request)
        return connection.recv(65536)


def flood_headers(port: int, size: int, context: ssl.SSLContext | None = None) -> int:
    """Sends so many bytes of short headers, over a new connection when one is closed; returns how many were sent."""
    sent, block = 0, b"a:b\r\n" * 20_000
    while sent < size:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 30) as plain:
            connection = context.wrap_socket(plain, server_hostname="localhost") if context else plain
            connection.sendall(b"GET / HTTP/1.1\r\n")
            while sent < size:
                sent += connection.send(block)
    return sent
