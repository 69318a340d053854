"""A server on this machine that speaks OpenAI's chat completions, with usage: for tests that run commands on it."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answers = Callable[[dict[str, Any], int], str | dict[str, Any]]  # the request, how often it came → what is said


class ChatServer(ThreadingHTTPServer):
    """Answers by `answers`; `asked` counts each request, `tokens` are all that it counted, in and out."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answers: Answers) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers, self.lock = answers, threading.Lock()
        self.asked: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.keys: set[str] = set()  # that came with requests

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def do_POST(self) -> None:
        if "/nowhere/" in self.path:
            self.send_error(404)
            return
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(request["messages"])
        keys = (self.headers.get("Authorization"), self.headers.get("x-api-key"), self.headers.get("api-key"))
        self.server.keys |= {key for key in keys if key}
        with self.server.lock:
            self.server.asked[text] += 1
            times = self.server.asked[text]
        said = self.server.answers(request, times)
        reply = said if isinstance(said, dict) else {"content": said}
        usage = {
            "prompt_tokens": len(re.findall(r"\w+", text)),
            "completion_tokens": len(str(reply.get("content")).split()),
        }
        with self.server.lock:
            self.server.tokens.update(usage)
        message = {"role": "assistant", "content": reply.get("content")}
        if "tool_calls" in reply:
            message["tool_calls"] = reply["tool_calls"]
        choice = {"index": 0, "message": message}
        choice["finish_reason"] = reply.get("finish_reason", "stop")
        body = {"choices": [choice], "model": f"{request['model']}-2026-11-01", "usage": usage}
        body |= {"id": f"chat-{times}", "object": "chat.completion", "created": 1_790_000_000}
        if self.path.endswith("/messages"):  # Anthropic's own API
            body = {
                "id": f"msg-{times}", "type": "message", "role": "assistant", "model": request["model"],
                "content": [{"type": "text", "text": reply.get("content") or ""}],
                "stop_reason": "max_tokens" if reply.get("finish_reason") == "length" else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]},
            }  # fmt: skip
        content = json.dumps(body).encode()
        self.send_response(reply.get("status", 200))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def chat_server(answers: Answers) -> Iterator[ChatServer]:
    server = ChatServer(answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
