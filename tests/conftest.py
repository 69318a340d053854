"""What all tests share: the same examples in every run, a fixed clock, and a server on the loopback with set replies.

Set UNSWAYED_FUZZ to a number for new random examples, that many in each hypothesis test that does not limit them.
"""

from __future__ import annotations

import html
import json
import os
import re
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

LONG = int(os.environ.get("UNSWAYED_FUZZ", "0"))
QUICK = "--quick" in sys.argv or bool(os.environ.get("UNSWAYED_QUICK"))  # workers of xdist get the variable
if QUICK:
    os.environ["UNSWAYED_QUICK"] = "1"
# What `make quick` leaves out beside the tests marked slow: programs, trained models, whole chains and long tables.
_NOT_QUICK = re.compile(
    r"^tests/(stories|faults|papers|collect|integrations|lab|systems/(hf|onnx|sklearn|spacy)|measure/test_table_reader"
    r"|score/test_translation|vary/(test_dialect_scores|paraphrase/test_seq2seq)"
    r"|test_(docs|tutorials|site|pins|accessibility|benchmarks|language_models))"
)
_PROGRAMS = {"browser", "postgres", "serve", "small_disk", "unswayed", "program"}
settings.register_profile(
    "unswayed",
    max_examples=LONG or (10 if QUICK else 100),
    derandomize=not LONG,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unswayed")
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"  # the date in reports, also in child processes

# Reasons to skip a test that name a package which `make test` installs. Corpora and the right to mount disks may lack.
LACKING = re.compile("not installed|needs (the extra|unswayed\\[|espeak|R with|onnx)|install it with|could not import")


def _not_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI nothing is left out: what should be installed and is not is a failure."""
    if os.environ.get("CI") and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if LACKING.search(reason):
            report.outcome, report.longrepr = "failed", f"{report.nodeid} must not be skipped in CI. {reason}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests that are slow or start other programs")
    parser.addoption("--long", action="store_true", help="run the tests marked long, and no others")


def _is_quick(item: pytest.Item) -> bool:
    used = set(getattr(item, "fixturenames", ()))
    return not (item.get_closest_marker("slow") or _NOT_QUICK.match(item.nodeid) or used & _PROGRAMS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that no worker begins one when the others have nothing left to do."""
    long = config.getoption("--long")
    chosen = [item for item in items if bool(item.get_closest_marker("long")) is long]
    chosen = [item for item in chosen if not QUICK or _is_quick(item)]
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _not_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _not_skipped(report)
    return report


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that count requests: no clean input is asked a second time, as for a deterministic system."""
    import unswayed.run.engine

    monkeypatch.setattr(unswayed.run.engine, "ASKED_TWICE", 0)


Reply = bytes | None | Callable[[Any], bytes]  # bytes and hang up if they are no whole answer; None: say nothing


def reply(body: Any, status: int = 200, **headers: str) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


def chat(text: str | None, finish: str = "stop", tokens: tuple[int, int] = (10, 1)) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return reply({"choices": [choice], "usage": usage})


class Scripted(socketserver.ThreadingTCPServer):
    """Gives its replies in order, the last one again and again, and keeps what it was sent."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, replies: list[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = replies
        self.heads: list[str] = []
        self.bodies: list[Any] = []
        self.connections = 0
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def next(self, head: str, body: Any) -> Reply:
        with self.lock:
            self.heads.append(head)
            self.bodies.append(body)
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class _Handler(socketserver.StreamRequestHandler):
    server: Scripted

    def handle(self) -> None:
        with self.server.lock:
            self.server.connections += 1
        try:
            while self.one():
                pass
        except OSError:
            pass  # the client hung up, as some tests make it do

    def one(self) -> bool:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return False
            head += line
        length = [int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        body = self.rfile.read(length[0] if length else 0)
        said = self.server.next(head.decode(), json.loads(body) if body else None)
        said = said(json.loads(body)) if callable(said) else said
        if said is None:
            self.server.over.wait(30)
            return False
        self.wfile.write(said)
        declared = said.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
        return bool(declared) and len(said.partition(b"\r\n\r\n")[2]) == int(declared)


@pytest.fixture
def scripted() -> Iterator[Callable[..., Scripted]]:
    made: list[Scripted] = []

    def make(*replies: Reply) -> Scripted:
        server = Scripted(list(replies))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        made.append(server)
        return server

    make.reply, make.chat = reply, chat  # type: ignore[attr-defined]
    yield make
    for server in made:
        server.over.set()
        server.shutdown()
        server.server_close()


Answer = Callable[[str, list[str]], dict[str, Any]]


@pytest.fixture
def unswayed() -> Callable[..., str]:
    """Runs a command of unswayed in this process and returns what it prints; `fails` is part of the error expected."""
    from click.testing import CliRunner

    from unswayed.base.errors import UnswayedError
    from unswayed.cli import unswayed as command

    def run(*words: object, fails: str = "") -> str:
        done = CliRunner().invoke(command, [str(word) for word in words])
        if fails:
            assert isinstance(done.exception, UnswayedError), done.exception
            assert fails in str(done.exception)
        elif done.exception:
            raise done.exception
        return done.stdout

    return run


@pytest.fixture
def answer_online(unswayed: Callable[..., str]) -> Callable[..., None]:
    """Serves a study as `unswayed collect serve` does and lets people answer all that they are asked, over HTTP.

    `answer` gets a person's name and the texts on their page, unescaped, and returns what they answer. Of a page with
    several items, it gets the texts that all share and those of one.
    """
    return lambda study, people, answer: _answer_online(unswayed, study, people, answer)


def _answer_online(unswayed: Callable[..., str], study: Path, people: dict[str, str], answer: Answer) -> None:
    import httpx

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    links = {}
    for name, stratum in people.items():
        given = ["--stratum", stratum] if stratum else []
        links[name] = unswayed("collect", "invite", study, "--name", name, "--url", url, *given).split()[-1]
    command = [sys.executable, "-m", "unswayed", "collect", "serve", str(study), "--port", url.rpartition(":")[2]]
    server = subprocess.Popen(command)
    try:
        for name, link in links.items():
            with httpx.Client(follow_redirects=True, transport=httpx.HTTPTransport(retries=9), timeout=60) as http:
                page = http.get(link)
                csrf = _between(page.text.partition('name="csrf"')[2], 'value="', '"')
                http.post(f"{url}/consent", data={"csrf": csrf, "agree": "yes"})
                _answer_all(http, url, name, answer)
    finally:
        server.terminate()
        server.wait()


def _answer_all(http: Any, url: str, name: str, answer: Answer) -> None:
    while 'data-item="' in (page := http.get(f"{url}/task")).text or page.status_code == 429:
        if page.status_code == 429:  # the server holds people to a human pace
            time.sleep(0.2)
            continue
        item, csrf = (html.unescape(_between(page.text, f'data-{what}="', '"')) for what in ("item", "csrf"))
        shared, *sections = page.text.split('data-one="')
        said = {item: answer(name, _texts(shared))} if not sections else {
            html.unescape(section.partition('"')[0]): answer(name, [*_texts(shared), *_texts(section)])
            for section in sections
        }  # fmt: skip
        body = {"item": item, "answer": said.pop(item), "more": said}
        while (reply := http.post(f"{url}/answer", json=body, headers={"x-csrf": csrf})).status_code == 429:
            time.sleep(0.2)
        assert reply.status_code == 200, reply.text


def _texts(part: str) -> list[str]:
    return [html.unescape(one.partition(">")[2].partition("</p>")[0]) for one in part.split('<p class="text"')[1:]]


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


@pytest.fixture(autouse=True)
def _own_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests and pages write modules of the same name; each gets its own."""
    before = set(sys.modules)
    yield
    folder = str(tmp_path_factory.getbasetemp())
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
            del sys.modules[name]
