"""People of a crowd who take part in a study over HTTP, page by page, as their browsers would."""

from __future__ import annotations

import html
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx


@contextmanager
def served(study: str | Path) -> Iterator[str]:
    """The address of a study that `unswayed collect serve` serves."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "unswayed", "collect", "serve", str(study), "--port", str(port)])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def typing(text: str, seconds: float | None = None, keys: bool = True) -> list[dict[str, Any]]:
    """The log of a text that somebody typed evenly, at 10 characters a second unless told otherwise."""
    step = 1000 * (len(text) / 10 if seconds is None else seconds) / len(text)
    events: list[dict[str, Any]] = []
    for n, character in enumerate(text):
        if keys:
            events.append({"t": round(n * step), "e": "down", "k": "Process", "c": "KeyA"})
        events.append({"t": round((n + 1) * step), "e": "commit", "d": character})
    return events


class Participant:
    """Somebody with a browser that runs no scripts but sends what they would."""

    def __init__(self, url: str, arrival: str) -> None:
        self.url = url
        self.http = httpx.Client(follow_redirects=True, transport=httpx.HTTPTransport(retries=9), timeout=60)
        self.page = self.get(f"{url}/{arrival.removeprefix(url).lstrip('/')}")

    def __enter__(self) -> Participant:
        return self

    def __exit__(self, *error: object) -> None:
        self.http.close()

    def get(self, place: str) -> httpx.Response:
        return self._patient(lambda: self.http.get(place))

    def _patient(self, ask: Callable[[], httpx.Response]) -> httpx.Response:
        while (reply := ask()).status_code == 429:  # the server holds people to a human pace
            time.sleep(0.2)
        return reply

    @property
    def at(self) -> str:
        return self.page.url.path.rpartition("/")[2]

    def fact(self, name: str) -> str:
        """What the page says of its item in an attribute."""
        return html.unescape(self.page.text.partition(f'data-{name}="')[2].partition('"')[0])

    @property
    def csrf(self) -> str:
        return self.page.text.partition('name="csrf" value="')[2].partition('"')[0]

    def says(self, words: str) -> bool:
        return words in html.unescape(self.page.text)

    def submit(self, place: str, **fields: str) -> None:
        data = {"csrf": self.csrf, **fields}
        self.page = self._patient(lambda: self.http.post(f"{self.url}/{place}", data=data))

    def begin(self, **questions: str) -> None:
        """Everything up to the first item."""
        while self.at in ("consent", "questions", "instructions"):
            self.submit(self.at, **{"consent": {"agree": "yes"}, "questions": questions}.get(self.at, {}))

    @property
    def text(self) -> str:
        """The text to be typed or read, if there is one."""
        found = re.search(r'id="source">(.*?)</p>', self.page.text, re.DOTALL)
        return html.unescape(found[1]) if found else ""

    def answer(self, answer: dict[str, Any], log: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """Sends an answer and goes on to the next page; returns what the server said of it."""
        body = {"item": self.fact("item"), "answer": answer, "log": log or [], "attempt": int(self.fact("attempt"))}
        headers = {"x-csrf": self.fact("csrf")}
        reply = self._patient(lambda: self.http.post(f"{self.url}/answer", json=body, headers=headers))
        assert reply.status_code == 200, reply.text
        self.page = self.get(f"{self.url}/task")
        said: dict[str, Any] = reply.json()
        return said

    def more(self, answer: dict[str, Any], others: dict[str, Any]) -> None:
        """Answers a page with several items: the first, and the others by their ids."""
        body = {"item": self.fact("item"), "answer": answer, "more": others}
        headers = {"x-csrf": self.fact("csrf")}
        reply = self._patient(lambda: self.http.post(f"{self.url}/answer", json=body, headers=headers))
        assert reply.status_code == 200, reply.text
        self.page = self.get(f"{self.url}/task")

    def type(self, text: str, **how: Any) -> dict[str, Any]:
        return self.answer({"text": text}, typing(text, **how))

    def record(self, take: str, recording: bytes) -> dict[str, Any]:
        """Sends a take and says that it is the answer."""
        place = f"{self.url}/audio?item={self.fact('item')}&take={take}"
        headers = {"x-csrf": self.fact("csrf")}
        reply = self._patient(lambda: self.http.post(place, content=recording, headers=headers))
        assert reply.status_code == 200, reply.text
        return self.answer({"audio": take})
