"""A chat and JSON server in a process of its own, for tests and benchmarks: quick, and as bad as it is told to be.

It prints its port, answers POSTs, counts what it was asked, and tells that to a GET. `trouble` hundredths of all
texts each get one of ten kinds of trouble; the first time that they are asked, or, for kinds that cost no time, the
first two times. With a `rate`, a token bucket of `burst` refills at that rate a second, and what is above it gets 429.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.request import urlopen
from zlib import crc32

SLOW = ("429", "429-date", "hang")
QUICK = ("500", "cut", "cut-body", "cut-chunks", "bad-json", "html", "html-502")
KINDS = SLOW + QUICK + QUICK
HTML = b"<!DOCTYPE html><html><head><title>Oops</title></head><body>" + b"<p>Bad gateway</p>" * 50


def number(text: str) -> int:
    """A number for each text, on which everything depends."""
    return crc32(text.encode())


def says(text: str) -> str:
    """What the model says to a prompt."""
    return "yes" if number(text) % 7 < 3 else "no"


def reworded(prompt: str) -> str:
    """Five ways to say what is behind the prompt's last mark, as JSON."""
    text = prompt.partition("\n\nText: ")[2]
    forms = ("in short, {}", "{}, that is", "that is to say, {}", "{}, in other words", "once more, {}")
    return json.dumps({"paraphrases": [form.format(text) for form in forms]})


def trouble_of(text: str, hundredths: int) -> str | None:
    n = number(text) // 7
    return KINDS[n // 100 % len(KINDS)] if n % 100 < hundredths else None


class Counts:
    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.heard = 0
        self.too_early = 0
        self.not_before: dict[str, float] = {}
        self.tokens, self.filled = 0.0, 0.0


class Connection(asyncio.Protocol):
    def __init__(self, options: argparse.Namespace, counts: Counts) -> None:
        self.options, self.counts = options, counts
        self.buffer = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body, self.buffer = self.buffer[end + 4 : end + 4 + length], self.buffer[end + 4 + length :]
            if head.startswith(b"get"):
                self.reply(json.dumps({k: v for k, v in vars(self.counts).items() if k != "not_before"}).encode())
                continue
            self.counts.heard += 1
            if self.options.rate and not self.allowed():
                self.reply(b'{"error": {"message": "slow down"}}', "429 Too Many", more="Retry-After: 1\r\n")
                continue
            if self.options.delay:
                asyncio.get_running_loop().call_later(self.options.delay, self.answer, json.loads(body))
            else:
                self.answer(json.loads(body))

    def allowed(self) -> bool:
        """Is there a token in the bucket? It is full at the first request."""
        counts, now, burst = self.counts, time.monotonic(), self.options.burst
        gained = (now - counts.filled) * self.options.rate if counts.filled else burst
        counts.tokens, counts.filled = min(burst, counts.tokens + gained), now
        if counts.tokens < 1:
            return False
        counts.tokens -= 1
        return True

    def answer(self, request: Any) -> None:
        if "inputs" in request:
            texts = [" ".join(item.values()) for item in request["inputs"]]
            content: Any = {"outputs": [says(text) for text in texts]}
        else:
            texts = [request["messages"][-1]["content"]]
            usage = {"prompt_tokens": len(texts[0].split()), "completion_tokens": 1}
            said = (reworded if "response_format" in request else says)(texts[0])
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            content = {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}
        text = texts[0]
        self.counts.asked.update(texts)
        if time.time() < self.counts.not_before.get(text, 0):
            self.counts.too_early += 1
        kind = trouble_of(text, self.options.trouble)
        if kind and self.counts.asked[text] <= (1 if kind in SLOW else 1 + number(text) % 2):
            self.trouble(kind, text, json.dumps(content).encode())
        else:
            self.counts.answered.update(texts)
            self.reply(json.dumps(content).encode())

    def reply(self, body: bytes, status: str = "200 OK", kind: str = "application/json", more: str = "") -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        if not self.transport.is_closing():
            self.transport.write(head.encode() + body)

    def trouble(self, kind: str, text: str, body: bytes) -> None:
        if kind == "429":
            self.counts.not_before[text] = time.time() + 0.99
            self.reply(b'{"error": {"message": "slow down"}}', "429 Too Many", more="Retry-After: 1\r\n")
        elif kind == "429-date":
            at = int(time.time()) + 2  # dates have whole seconds
            self.counts.not_before[text] = at - 1.01
            self.reply(b"{}", "429 Too Many", more=f"Retry-After: {formatdate(at - 1, usegmt=True)}\r\n")
        elif kind == "500":
            self.reply(b'{"error": "out of memory"}', "500 Internal Server Error")
        elif kind == "hang":
            pass
        elif kind == "cut":
            self.transport.abort()
        elif kind == "cut-body":
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            self.transport.write(head.encode() + body[: len(body) // 2])
            self.transport.close()
        elif kind == "cut-chunks":
            half = body[: len(body) // 2]
            self.transport.write(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(half), half)
            )
            self.transport.close()
        elif kind == "bad-json":
            self.reply(body[: len(body) // 2])
        elif kind == "html":
            self.reply(HTML, kind="text/html")
        else:
            self.reply(HTML, "502 Bad Gateway", "text/html")


async def serve(options: argparse.Namespace) -> None:
    counts = Counts()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(options, counts), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Server:
    """The server as a process, ended with the `with` block."""

    def __init__(self, trouble: int = 0, delay: float = 0.0, rate: float = 0.0, burst: float = 1.0) -> None:
        told = {"--trouble": trouble, "--delay": delay, "--rate": rate, "--burst": burst}
        more = [str(word) for pair in told.items() for word in pair]
        self._command = [sys.executable, "-m", "benchmarks._http_server", *more]

    def __enter__(self) -> Server:
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        return self

    def counts(self) -> dict[str, Any]:
        with urlopen(self.url) as response:
            told: dict[str, Any] = json.load(response)
        return told

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--trouble", type=int, default=0)
    for name in ("--delay", "--rate", "--burst"):
        parser.add_argument(name, type=float, default=0.0)
    asyncio.run(serve(parser.parse_args()))
