"""Studies on both databases: SQLite files, and a PostgreSQL server that the tests start for themselves."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import uuid
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unswayed.collect.items import make_study
from unswayed.collect.study import read_study

OPTIONS = {"choice": 'question = "Which?"\nanswers = ["keyboard", "speech", "none"]'}


def tone(seconds=1.0, rate=48_000, loud=0.3, channels=1, hertz=440):
    """A WAV file of one tone."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        t = np.arange(int(seconds * rate)) / rate
        one = (loud * 32767 * np.sin(2 * np.pi * hertz * t)).astype("<i2")
        file.writeframes(np.repeat(one, channels).tobytes())
    return out.getvalue()


def typing(text, seconds=1.0, spelled=None):
    """The log of a text that somebody typed key by key, evenly; `spelled` are the keys, if they are not the text."""
    keys = spelled or text
    events, step = [], seconds * 1000 / max(len(text), 1)
    for n, character in enumerate(text):
        for key in keys[n * len(keys) // len(text) : (n + 1) * len(keys) // len(text)] or "x":
            events.append({"t": round(n * step), "e": "down", "k": key, "c": f"Key{key.upper()}"})
        events.append({"t": round((n + 1) * step), "e": "commit", "d": character})
    return events


def postgres_programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and (os.geteuid() != 0 or shutil.which("runuser")) else None


@pytest.fixture(scope="session")
def postgres(tmp_path_factory) -> Iterator[str]:
    """The URL of a server that lives as long as the tests; it refuses to run as root, so it runs as its own user."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    folder = Path(f"/tmp/unswayed-pg-{uuid.uuid4().hex[:8]}")  # short: the socket's path may have 107 characters
    folder.mkdir()
    as_user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, str(programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/tmp")

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
    run(
        "pg_ctl",
        "-D",
        data,
        "-w",
        "-l",
        str(folder / "log"),
        "-o",
        f"-c listen_addresses= -c fsync=off -k {folder}",
        "start",
    )
    yield f"postgresql://postgres@/postgres?host={folder}"
    run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request) -> str:
    """What a study's `database` says."""
    if request.param == "sqlite":
        return ""
    import psycopg

    url = request.getfixturevalue("postgres")
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.replace("/postgres?", f"/{name}?")


def write_study(
    folder: Path, kind: str, items: list[dict], assign: str = "k = 1", database: str = "", options="", lang="en"
):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_text("".join(json.dumps(i, ensure_ascii=False) + "\n" for i in items), "utf-8")
    text = (
        f'title = "A study"\nkind = "{kind}"\nlanguage = "{lang}"\ncontact = "me@example.org"\n'
        f'consent = "We keep what you type."\ndatabase = "{database}"\n'
        f'[items]\npath = "items.jsonl"\n[assign]\n{assign}\n[options]\n{options or OPTIONS.get(kind, "")}\n'
    )
    (folder / "study.toml").write_text(text, "utf-8")
    return folder / "study.toml"


@pytest.fixture
def make(tmp_path) -> Iterator:
    """Makes a study with its store, and closes the store after the test."""
    stores = []

    def made(kind="choice", items=None, assign="k = 1", database="", options="", lang="en"):
        items = [{"id": f"i{n}", "text": f"text {n}"} for n in range(4)] if items is None else items
        file = write_study(tmp_path / f"s{len(stores)}", kind, items, assign, database, options, lang)
        study = read_study(file)
        store, password, _ = make_study(study)
        stores.append(store)
        return study, store, password

    yield made
    for store in stores:
        store.close()


class Served:
    """A study served by uvicorn in a thread of the tests."""

    def __init__(self, study, store):
        import uvicorn

        from unswayed.collect.app import Site, make_app

        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.study, self.store, self.site = study, store, Site(study, store, urls=[self.url])
        config = uvicorn.Config(make_app(self.site), log_level="critical", lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def invite(self, name="anna", stratum=""):
        from unswayed.collect.people import invite

        return self.store.write(lambda tx: invite(tx, self.study, name, stratum))

    def stop(self):
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


@pytest.fixture
def serve() -> Iterator:
    servers = []

    def made(study, store) -> Served:
        servers.append(Served(study, store))
        return servers[-1]

    yield made
    for server in servers:
        server.stop()
