"""Traffic that a server must bear: floods of headers, slow connections, large uploads; also behind proxies."""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

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
def started(folder: Path, kind: str = "choice", items: int = 10) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A study that is served, and has answered a few requests; its process and port."""
    from unswayed.collect.items import make_study
    from unswayed.collect.study import read_study

    file = write_study(folder / "served", kind, items)
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
        with suppress(OSError), closing(connected(port, context)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n")
            while sent < size:
                sent += connection.send(block)
    return sent


def connected(port: int, context: ssl.SSLContext | None = None) -> socket.socket:
    plain = socket.create_connection(("127.0.0.1", port), 60)
    return context.wrap_socket(plain, server_hostname="127.0.0.1") if context else plain


class Place(NamedTuple):
    """A study behind a proxy, or by itself."""

    server: list[subprocess.Popen[bytes]]  # the last is the one that runs
    port: int  # where people come in
    context: ssl.SSLContext | None
    base: str
    study: Path
    upstream: int

    def connect(self) -> http.client.HTTPConnection:
        if self.context is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context)

    def start(self) -> None:
        trusted = ("--trusted-proxy", "127.0.0.1") if self.context else ()
        self.server.append(serve(self.study.parent.parent, self.upstream, "--base-path", "/c", *trusted))
        wait_for(self.upstream)


def certificate(folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    chain, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", chain],
        check=True, capture_output=True,
    )  # fmt: skip
    return chain, key


def nginx(folder: Path, port: int, upstream: int) -> list[str]:
    """The command that starts nginx with `deploy/nginx.conf`, for another port, certificate and server."""
    chain, key = certificate(folder)
    site = (DEPLOY / "nginx.conf").read_text()
    site = site.replace("listen 443", f"listen 127.0.0.1:{port}").replace("127.0.0.1:8931", f"127.0.0.1:{upstream}")
    site = re.sub(r"ssl_certificate .*;", f"ssl_certificate {chain};", site)
    site = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", site)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off;\n{user}pid {folder}/pid;\nerror_log {folder}/errors;\nworker_processes 1;\n"
        f"events {{ worker_connections 2000; }}\nhttp {{\naccess_log {folder}/access;\n{paths}{site}\n}}\n"
    )
    return ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")]


def caddy(folder: Path, port: int, upstream: int) -> list[str]:
    """The command that starts Caddy with `deploy/Caddyfile`."""
    chain, key = certificate(folder)
    site = (DEPLOY / "Caddyfile").read_text()
    site = site.replace("{$SITE:localhost} {", f"https://127.0.0.1:{port} {{\n\ttls {chain} {key}")
    site = site.replace("{$UPSTREAM:127.0.0.1:8931}", f"127.0.0.1:{upstream}")
    site = site.replace("{\n\tservers", "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers", 1)
    (folder / "Caddyfile").write_text(site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


PROXIES = {"nginx": nginx, "caddy": caddy}


def program(proxy: str) -> str | None:
    """Where Debian has it; root's commands are not on everybody's path."""
    return shutil.which(proxy) or shutil.which(f"/usr/sbin/{proxy}")


@contextmanager
def behind(proxy: str, folder: Path, kind: str = "choice", items: int = 10) -> Iterator[Place]:
    """A study served behind a proxy, or by itself if the name is empty."""
    from unswayed.collect.items import make_study
    from unswayed.collect.study import read_study

    file = write_study(folder / "studies" / "served", kind, items)
    make_study(read_study(file))[0].close()
    upstream = free_port()
    place = Place([], upstream, None, "/c/served", file, upstream)
    front = None
    if proxy:
        port = free_port()
        found = program(proxy)
        assert found is not None, f"{proxy} is not installed"
        command = [found, *PROXIES[proxy](folder / proxy, port, upstream)[1:]]
        with (folder / f"{proxy}.log").open("w") as log:
            front = subprocess.Popen(command, stdout=log, stderr=log)
        context = ssl.create_default_context(cafile=str(folder / proxy / "cert.pem"))
        place = place._replace(port=port, context=context)
    try:
        place.start()
        wait_for(place.port)
        for _ in range(20):
            honest(place)
        yield place
    finally:
        place.server[-1].kill()
        place.server[-1].wait()
        if front is not None:
            front.terminate()
            front.wait(30)


def honest(place: Place) -> float:
    """Seconds until somebody has a page."""
    began, connection = time.monotonic(), place.connect()
    connection.request("GET", f"{place.base}/")
    reply = connection.getresponse()
    assert (reply.status, len(reply.read()) > 100) == (200, True), reply.status
    connection.close()
    return time.monotonic() - began


@contextmanager
def watched(place: Place) -> Iterator[list[float]]:
    """The megabytes that the server needs more while the block runs, at most: the list's only value at its end."""
    before, stop = resident_megabytes(place.server[-1].pid), threading.Event()
    most = [before]

    def look() -> None:
        while not stop.wait(0.02):
            most[0] = max(most[0], resident_megabytes(place.server[-1].pid))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        stop.set()
        thread.join()
        most[0] -= before


class Slow(NamedTuple):
    """`waits`: seconds that somebody else waited for a page, at most; `left`: connections that were still open."""

    waits: float
    megabytes: float
    left: int


def slow_loris(place: Place, connections: int, seconds: float) -> Slow:
    """Many connections that each send a header a second, for so long, while others ask for pages."""
    waits = []
    with watched(place) as grown:
        held = [connected(place.port, place.context) for _ in range(connections)]
        for one in held:
            one.sendall(f"GET {place.base}/ HTTP/1.1\r\nhost: x\r\n".encode())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for one in list(held):
                try:
                    one.sendall(b"a: b\r\n")
                except OSError:
                    held.remove(one)
                    one.close()
            waits.append(honest(place))
            time.sleep(1)
        for one in held:
            one.close()
    return Slow(max(waits), grown[0], len(held))


class Uploads(NamedTuple):
    """`kept`: uploads that were taken; `refused`: those too large, with 413."""

    kept: int
    refused: int
    megabytes: float
    seconds: float


def large_uploads(place: Place, people: int, megabytes: int) -> Uploads:
    """Recordings of this size from several people at once, and one that is too large."""
    from unswayed.collect.database import open_database
    from unswayed.collect.people import consent, hashed, invite
    from unswayed.collect.site import signed
    from unswayed.collect.study import read_study

    study = read_study(place.study)
    with open_database(study.place) as database:
        names = [f"p{n}" for n in range(people)]
        tokens = [database.write(lambda tx, name=name: invite(tx, study, name)) for name in names]
        for name in names:
            database.write(lambda tx, name=name: consent(tx, name, {"dialect": "x"}, 1.0))
        ((secret,),) = database.read(lambda tx: tx.rows("SELECT value FROM facts WHERE name = 'secret'"))
    sound = a_tone(megabytes << 20)
    statuses: list[int] = []

    def person(token: str, body: bytes) -> None:
        connection, cookie = place.connect(), {"cookie": f"token={token}"}
        connection.request("GET", f"{place.base}/task", headers=cookie)
        item = connection.getresponse().read().decode().partition('data-item="')[2].partition('"')[0]
        where = f"{place.base}/audio?item={item}&take={hashed(token)[:32]}"
        headers = {**cookie, "x-csrf": signed(secret, hashed(token)), "accept": "application/json"}
        connection.request("POST", where, body, headers)
        statuses.append(connection.getresponse().status)
        connection.close()

    began = time.monotonic()
    with watched(place) as grown, ThreadPoolExecutor(people) as pool:
        list(pool.map(lambda token: person(token, sound), tokens))
    seconds = time.monotonic() - began
    person(tokens[0], b"0" * (44 << 20))
    return Uploads(statuses.count(200), statuses.count(413), grown[0], seconds)


def a_tone(size: int) -> bytes:
    """A WAV file of about this size, in stereo at 48 kHz."""
    import numpy as np

    count = size // 4
    one = (9000 * np.sin(np.arange(count) / 20)).astype("<i2")
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes(np.repeat(one, 2).tobytes())
    return out.getvalue()


class Restarts(NamedTuple):
    """`errors`: replies such as 502 while the server was away, which the page's script tries again."""

    acknowledged: int
    lost: int
    errors: int
    away: float  # seconds, at most, in which nobody was answered


def restart_under_load(place: Place, people: int, restarts: int, pause: float = 1.0) -> Restarts:
    """Restarts the server with SIGTERM, as systemd and Docker do, while people answer."""
    from unswayed.collect.database import open_database
    from unswayed.collect.people import consent, hashed, invite
    from unswayed.collect.site import signed
    from unswayed.collect.study import read_study

    study = read_study(place.study)
    with open_database(study.place) as database:
        names = [f"p{n}" for n in range(people)]
        tokens = {name: database.write(lambda tx, name=name: invite(tx, study, name)) for name in names}
        for name in names:
            database.write(lambda tx, name=name: consent(tx, name, {}, 1.0))
        ((secret,),) = database.read(lambda tx: tx.rows("SELECT value FROM facts WHERE name = 'secret'"))
    said: dict[tuple[str, str], float] = {}
    errors, stop = [0], threading.Event()

    def person(name: str) -> None:
        cookie = {"cookie": f"token={tokens[name]}"}
        headers = {**cookie, "x-csrf": signed(secret, hashed(tokens[name]))}
        connection = place.connect()
        while not stop.is_set():
            try:
                connection.request("GET", f"{place.base}/task", headers=cookie)
                reply = connection.getresponse()
                item = reply.read().decode().partition('data-item="')[2].partition('"')[0]
                if not item:
                    errors[0] += reply.status >= 500
                    time.sleep(0.1)
                    continue
                body = json.dumps({"item": item, "answer": {"choice": ["speech"]}})
                connection.request("POST", f"{place.base}/answer", body, headers)
                reply = connection.getresponse()
                reply.read()
                errors[0] += reply.status >= 500
                if reply.status == 200:
                    said[name, item] = time.monotonic()
            except (OSError, http.client.HTTPException):
                errors[0] += 1
                connection.close()
            time.sleep(0.2)
        connection.close()

    threads = [threading.Thread(target=person, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for _ in range(restarts):
        answered = len(said)
        while len(said) < answered + people:  # everybody could answer again
            time.sleep(0.05)
        time.sleep(pause)
        place.server[-1].terminate()
        place.server[-1].wait()
        place.start()
    answered = len(said)
    while len(said) < answered + people:
        time.sleep(0.05)
    stop.set()
    for one in threads:
        one.join()
    with open_database(study.place) as database:
        kept = set(database.read(lambda tx: tx.rows("SELECT person, item FROM work WHERE state = 'answered'")))
    times = sorted(said.values())
    away = max((after - before for before, after in pairwise(times)), default=0.0)
    return Restarts(len(said), len(said.keys() - kept), errors[0], away)
