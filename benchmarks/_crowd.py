"""A crowd on one study: people arrive by their links, agree, answer item after item and try again when the server is
gone, while the server is killed with -9 and its database crashes."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._postgres import Postgres

K = 2
STUDY = """title = "Crowd"
kind = "choice"
contact = "x@example.org"
consent = "x"
database = "{database}"
[items]
path = "items.jsonl"
[assign]
k = {k}
lease_minutes = 2
[options]
question = "Which?"
answers = ["keyboard", "speech", "none"]
"""


@dataclass
class Outcome:
    """`lost`: answers that the server acknowledged and that are not there; `over`: items with more answers than k."""

    people: int = 0
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    retries: int = 0
    kills: int = 0
    crashes: int = 0
    lost: int = 0
    over: int = 0
    served: int = 0  # people who gave at least one answer


class Server:
    """`unswayed collect serve` at a port that stays the same."""

    def __init__(self, file: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.file = file
        self.start()
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)

    def start(self) -> None:
        command = [sys.executable, "-m", "unswayed", "collect", "serve", str(self.file), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def supervise(self) -> None:
        """Starts it again whenever it has ended, as systemd or Docker do."""
        while True:
            if self.process.poll() is not None:
                self.start()
            await asyncio.sleep(0.2)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Person:
    """Somebody with a browser: one connection, cookies, patience."""

    def __init__(self, port: int, name: str, token: str, outcome: Outcome, pause: float) -> None:
        self.port, self.name, self.token, self.outcome, self.pause = port, name, token, outcome, pause
        self.rng = random.Random(name)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
        """The status and the text; asked again for as long as there is no answer."""
        while True:
            try:
                return await asyncio.wait_for(self._ask(method, path, body, headers), 30)
            except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
                self._close()
                self.outcome.retries += 1
                await asyncio.sleep(0.3 + self.rng.random())

    async def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        lines = [f"{method} {path} HTTP/1.1", "host: x", f"cookie: token={self.token}", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        size = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
        text = (await reader.readexactly(size)).decode()
        status = int(head.split()[1])
        if status >= 500 or status == 429:
            raise EOFError
        return status, text

    def _close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None

    async def live(self, end: asyncio.Event) -> None:
        await asyncio.sleep(self.rng.random() * self.pause)
        await self.ask("GET", f"/i/{self.token}")
        _, page = await self.ask("GET", "/consent")
        found = re.search(r'name="csrf" value="(\w+)"', page)
        if found:
            form = {"content_type": "application/x-www-form-urlencoded"}
            await self.ask("POST", "/consent", f"csrf={found[1]}&agree=yes".encode(), **form)
        while not end.is_set():
            _, page = await self.ask("GET", "/task")
            item, csrf = (re.search(rf'data-{name}="([^"]+)"', page) for name in ("item", "csrf"))
            if not item or not csrf:
                await asyncio.sleep(self.pause)  # nothing to do now
                continue
            await asyncio.sleep(self.pause * (0.5 + self.rng.random()))
            said = self.rng.choice(["keyboard", "speech", "none"])
            attempt = re.search(r'data-attempt="(\d+)"', page)
            body = {"item": item[1], "answer": {"choice": [said]}, "log": []}
            if attempt:
                body["attempt"] = int(attempt[1])
            status, _ = await self.ask("POST", "/answer", json.dumps(body).encode(), x_csrf=csrf[1])
            if status == 200:
                self.outcome.acknowledged.setdefault((self.name, item[1]), said)
        self._close()


async def crowd(
    server: Server, postgres: Postgres, tokens: dict[str, str], outcome: Outcome, seconds: float, kills: int,
    pause: float,
) -> None:  # fmt: skip
    """Each disturbance comes in its time, and not before everybody could answer again after the last."""
    began, end = time.monotonic(), asyncio.Event()
    people = [Person(server.port, name, token, outcome, pause).live(end) for name, token in tokens.items()]
    running = asyncio.gather(*people)
    supervisor = asyncio.create_task(server.supervise())
    for n in range(2 * kills + 1):
        before = len(outcome.acknowledged)
        at = began + seconds * (n + 1) / (2 * kills + 1)
        while time.monotonic() < at or len(outcome.acknowledged) < before + len(tokens):
            if running.done():
                await running  # somebody failed
            await asyncio.sleep(0.05)
        if n == 2 * kills:
            break
        if n % 2:
            await asyncio.to_thread(postgres.crash)
            outcome.crashes += 1
        else:
            server.kill()
            outcome.kills += 1
    end.set()
    await running
    supervisor.cancel()


def run(folder: Path, people: int, seconds: float, kills: int, pause: float = 2.0) -> Outcome:
    """Makes a study in a PostgreSQL of its own, lets the crowd in, and counts what is missing afterwards."""
    from unswayed.collect.database import open_database
    from unswayed.collect.items import make_study
    from unswayed.collect.people import invite
    from unswayed.collect.study import read_study

    postgres = Postgres()
    try:
        items = int(people * (seconds / pause + 6 * kills + 10) / K)  # nobody runs out of work
        (folder / "items.jsonl").write_text("".join(f'{{"id": "i{n}", "text": "text {n}"}}\n' for n in range(items)))
        file = folder / "study.toml"
        file.write_text(STUDY.format(database=postgres.url, k=K))
        study = read_study(file)
        database, _, _ = make_study(study)
        with database:
            names = [f"p{n}" for n in range(people)]
            tokens = database.write(lambda tx: {name: invite(tx, study, name) for name in names})
        outcome, server = Outcome(people=people), Server(file)
        try:
            asyncio.run(crowd(server, postgres, tokens, outcome, seconds, kills, pause))
        finally:
            server.kill()
        with open_database(study.place) as database:
            rows = database.read(lambda tx: tx.rows("SELECT person, item, content, live FROM work WHERE content <> ''"))
        kept = {(person, item): json.loads(content)["choice"][0] for person, item, content, _ in rows}
        counted: dict[str, int] = {}
        for _, item, _, live in rows:
            counted[item] = counted.get(item, 0) + live
        outcome.lost = sum(kept.get(key) != said for key, said in outcome.acknowledged.items())
        outcome.over = sum(count > K for count in counted.values())
        outcome.served = len({person for person, _ in outcome.acknowledged})
        return outcome
    finally:
        postgres.stop()
