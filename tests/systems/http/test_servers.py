"""Servers of today, each played as its makers describe it: what they refuse, how they stream, where thoughts stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import unswayed
from unswayed.base.errors import SystemBroken
from unswayed.base.values import CUT_OFF, UNREADABLE, Failed
from unswayed.run.record import Run
from unswayed.systems.opening import open_system

Reply = tuple[int, Any]  # a status with a body: JSON, or bytes of events
Plays = Callable[[dict[str, Any], dict[str, str]], Reply]
ROWS = [
    {"text": "turn on the light", "label": "lights"},
    {"text": "play some jazz", "label": "music"},
    {"text": "dim the light in the hall", "label": "lights"},
    {"text": "put on a song", "label": "music"},
]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, plays: Plays) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plays = plays
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.heads: list[dict[str, str]] = []

    def url(self, path: str = "/v1") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.paths.append(self.path)
        self.server.heads.append({name.lower(): value for name, value in self.headers.items()})
        status, body = self.server.plays(request, self.server.heads[-1])
        streamed = isinstance(body, bytes)
        content = body if streamed else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        if streamed:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(content), 50):
                part = content[at : at + 50]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[Plays], Server]]:
    servers: list[Server] = []

    def start(plays: Plays) -> Server:
        servers.append(Server(plays))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


Serve = Callable[[Plays], Server]


def label_of(request: dict[str, Any]) -> str:
    content = request["messages"][-1]["content"]
    return "lights" if "light" in content else "music"


def completion(content: Any, why: str = "stop", **message: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": why}
    return {"id": "c", "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage}


def refusal(message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def reasoning_model(request: dict[str, Any], head: dict[str, str]) -> Reply:
    """OpenAI's newer models: they count thoughts among the tokens, and take no temperature but 1."""
    if "max_tokens" in request:
        told = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return 400, refusal(told, "max_tokens", "unsupported_parameter")
    if request.get("temperature", 1) != 1:
        told = (
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) is supported."
        )
        return 400, refusal(told, "temperature", "unsupported_value")
    if request["max_completion_tokens"] < 500:
        return 200, completion("", "length")
    return 200, completion(label_of(request))


def test_what_a_server_refuses_is_sent_as_it_wants_it_once_for_all(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(reasoning_model)
    suite = unswayed.make_suite(ROWS, "surface/case", language="en")
    system = open_system(server.url() + "#gpt-5-mini")
    run = unswayed.run_system(suite, system, tmp_path / "run", plan={"run": {"asking": {"concurrency": 1}}})
    assert unswayed.measure_run(run).clean.value == 1
    assert len(server.requests) == 12 + 3  # one for each field that was refused, and one without room for thoughts
    assert server.requests[-1].keys() == {"model", "messages", "stream", "max_completion_tokens"}
    settings = Run(tmp_path / "run").manifest.settings
    assert settings["temperature"] is None
    assert settings["max_completion_tokens"] == server.requests[-1]["max_completion_tokens"]
    assert settings["refused"] == {"max_tokens": "sent as max_completion_tokens", "temperature": "left out"}
    told = capsys.readouterr().err
    assert told.count("refuses max_tokens") == told.count("refuses temperature") == 1
    assert run.used()["retries"] == 2


def test_reasoning_effort_goes_where_the_server_takes_it(serve: Serve) -> None:
    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        if "reasoning_effort" in request:
            return 422, {
                "detail": [{"type": "extra_forbidden", "loc": ["body", "reasoning_effort"], "msg": "Extra inputs"}]
            }
        return 200, completion(request["reasoning"]["effort"])

    system = open_system(serve(plays).url(), model="m", reasoning_effort="low")
    assert system.predict([{"text": "a"}]) == ["low"]

    def refuses(request: dict[str, Any], head: dict[str, str]) -> Reply:
        for name in ("reasoning_effort", "reasoning"):
            if name in request:
                return 400, refusal(f"Unrecognized request argument supplied: {name}")
        return 200, completion("yes")

    server = serve(refuses)
    system = open_system(server.url(), model="m", reasoning_effort="low")
    assert system.predict([{"text": "a"}]) == ["yes"]
    assert len(server.requests) == 3


def test_a_limit_that_is_too_large_is_not_taken_for_an_unknown_field(serve: Serve) -> None:
    told = "max_tokens is too large: 100000. This model takes at most 4096."
    server = serve(lambda request, head: (400, refusal(told, "max_tokens")))
    (failed,) = open_system(server.url(), model="m", max_tokens=100_000).predict([{"text": "a"}])
    assert isinstance(failed, Failed)
    assert "too large" in failed.error
    assert len(server.requests) == 1


def events(pieces: list[dict[str, Any]], usage: bool = True) -> bytes:
    chunks = [{"model": "m-1", "choices": [{"index": 0, "delta": piece, "finish_reason": None}]} for piece in pieces]
    chunks.append({"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if usage:
        chunks.append({"model": "m-1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    return "".join([": a comment\n\n", *lines, "data: [DONE]\n\n"]).encode()


def test_a_server_that_only_streams(serve: Serve) -> None:
    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        if not request["stream"]:
            return 400, refusal("This model only supports streaming: 'stream' must be true.", "stream")
        assert request["stream_options"] == {"include_usage": True}
        thoughts = [{"role": "assistant"}, {"reasoning_content": "hm, "}, {"reasoning_content": "ä"}]
        return 200, events([*thoughts, {"content": "<think>so"}, {"content": "</think>li"}, {"content": "ghts"}])

    suite = unswayed.make_suite(ROWS[:1], "surface/case", language="en", task="generate")
    run = unswayed.run_system(suite, serve(plays).url() + "#m")
    _, output, _ = next(iter(run.items()))
    assert (output.value, output.tokens_in, output.tokens_out) == ("lights", 7, 3)
    assert output.reasoning == "hm, ä\nso"


def test_streams_though_none_was_wanted_and_streams_that_break_off(serve: Serve) -> None:
    server = serve(lambda request, head: (200, events([{"content": "yes"}], usage=False)))
    assert open_system(server.url(), model="m").predict([{"text": "a"}]) == ["yes"]
    calls = [{"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": '{"a"'}}]},
             {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}]  # fmt: skip
    server = serve(lambda request, head: (200, events(calls)))
    found = open_system(server.url(), model="m").predict([{"text": "a"}])
    assert found == [{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}]
    server = serve(lambda request, head: (200, b'data: {"error": {"message": "overloaded"}}\n\n'))
    system = open_system(server.url(), model="m", backoff=0)
    system.retries = 1
    (failed,) = system.predict([{"text": "a"}])
    assert isinstance(failed, Failed)
    assert "overloaded" in failed.error
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("message", "reasoning"),
    [
        ({"content": "<think>\nIs it?\n</think>\n\nLights."}, "Is it?"),
        ({"content": "Is it?</think>lights"}, "Is it?"),  # the template begins the thought
        ({"content": "LIGHTS", "reasoning_content": "Is it?"}, "Is it?"),  # DeepSeek, vLLM
        ({"content": "lights", "reasoning": "Is it?"}, "Is it?"),  # OpenRouter, newer vLLM
        ({"content": [{"type": "text", "text": "li"}, {"type": "text", "text": "ghts"}]}, ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "x"}]},
                    {"type": "text", "text": "lights"},
                ]
            },
            None,
        ),
        ({"content": [{"type": "reasoning", "text": "Is it?"}, {"type": "text", "text": "lights"}]}, "Is it?"),
    ],
)
def test_thoughts_are_no_part_of_the_answer(serve: Serve, message: dict[str, Any], reasoning: str | None) -> None:
    server = serve(lambda request, head: (200, completion(**message)))
    suite = unswayed.make_suite(ROWS, "surface/case", language="en")
    run = unswayed.run_system(suite, server.url() + "#m")
    outputs = [output for _, output, _ in run.items()]
    assert {output.value for output in outputs} == {"lights"}
    if reasoning is not None:
        assert {output.reasoning for output in outputs} == {reasoning}


def test_a_model_that_thinks_gets_room_for_it(serve: Serve) -> None:
    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        if request["max_tokens"] < 1000:
            return 200, completion("<think>Let me see, this", "length")
        return 200, completion(f"<think>Let me see.</think>{label_of(request)}")

    server = serve(plays)
    suite = unswayed.make_suite(ROWS, "surface/case", language="en")
    system = open_system(server.url() + "#m")
    run = unswayed.run_system(suite, system, plan={"run": {"asking": {"concurrency": 1}}})
    assert unswayed.measure_run(run).clean.value == 1
    assert len(server.requests) == 13
    (cut,) = open_system(server.url() + "#m", max_tokens=100).predict([{"text": "a"}])
    assert isinstance(cut, Failed)
    assert cut.error.startswith(CUT_OFF)


def test_azure(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        assert head["api-key"] == "azure-key-1234567"
        assert "authorization" not in head
        return 200, completion("yes")

    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-1234567")
    server = serve(plays)
    url = server.url("/openai/deployments/mine?api-version=2026-01-01")
    system = open_system(url, model="mine", key_env="AZURE_OPENAI_API_KEY")
    assert system.predict([{"text": "a"}]) == ["yes"]
    assert server.paths == ["/openai/deployments/mine/chat/completions?api-version=2026-01-01"]


def test_anthropic(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its compatible path takes most fields, a temperature only of older models, and wants `max_tokens`."""

    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        if head["authorization"] != "Bearer anthropic-key-1":
            return 401, {"error": {"type": "authentication_error", "message": "invalid x-api-key"}}
        if "temperature" in request:
            return 400, refusal("`temperature` is deprecated for this model.", code="invalid_request_error")
        return 200, completion(label_of(request))

    monkeypatch.setenv("ANTHROPIC_API_KEY", "anthropic-key-1")
    server = serve(plays)
    results = unswayed.check(
        server.url(), ROWS, "surface/case", language="en",
        plan={"run": {"options": {"model": "claude", "key_env": "ANTHROPIC_API_KEY"}}},
    )  # fmt: skip
    assert results.clean.value == 1
    assert server.paths[0] == "/v1/chat/completions"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key-2")
    with pytest.raises(SystemBroken, match="invalid x-api-key"):
        open_system(server.url(), model="claude", key_env="ANTHROPIC_API_KEY").predict([{"text": "a"}])


def test_gemini(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its errors are lists, and a wrong key is an invalid argument."""

    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        if head.get("authorization") != "Bearer gemini-key-1":
            told = "API key not valid. Please pass a valid API key."
            return 400, [{"error": {"code": 400, "message": told, "status": "INVALID_ARGUMENT"}}]
        if "seed" in request:
            told = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
            return 400, [{"error": {"code": 400, "message": told, "status": "INVALID_ARGUMENT"}}]
        return 200, completion(label_of(request))

    server = serve(plays)
    monkeypatch.setenv("GEMINI_API_KEY", "gemini-key-1")
    url = server.url("/v1beta/openai/")
    assert open_system(url, model="g", key_env="GEMINI_API_KEY", seed=3).predict([{"text": "jazz"}]) == ["music"]
    assert server.paths[0] == "/v1beta/openai/chat/completions"
    with pytest.raises(SystemBroken, match="API key not valid"):
        open_system(url, model="g").predict([{"text": "jazz"}])


def test_answers_that_were_paid_for_are_kept_and_not_asked_again(serve: Serve, tmp_path: Path) -> None:
    def plays(request: dict[str, Any], head: dict[str, str]) -> Reply:
        if "song" in request["messages"][-1]["content"].lower():
            return 200, completion("", "length")
        if "jazz" in request["messages"][-1]["content"].lower():
            return 200, completion("Sure! This is about music.")
        return 200, completion("lights")

    server = serve(plays)
    suite = unswayed.make_suite(ROWS, "surface/case", language="en")
    plan = {"run": {"asking": {"canary": 0}}, "measure": {"sanity": False}}
    results = [
        unswayed.check(server.url() + "#m", suite, to=tmp_path / "run", plan=plan),
        unswayed.check(server.url() + "#m", suite, to=tmp_path / "run", plan=plan),
    ]
    assert len(server.requests) == 12
    assert results[1].clean.value == pytest.approx(2 / 3)  # the wrong form is wrong, what was cut off is missing
    assert results[1].clean.missing == 1
    outputs = {example.inputs["text"]: output for example, output, _ in Run(tmp_path / "run").items()}
    wrong, cut = outputs["play some jazz"], outputs["put on a song"]
    assert (wrong.value, wrong.error.startswith(UNREADABLE)) == ("Sure! This is about music.", True)  # type: ignore[union-attr]
    assert (cut.value, cut.error.startswith(CUT_OFF)) == ("", True)  # type: ignore[union-attr]
    assert "extract" in str(results[1].validity["warnings"])
    counted = unswayed.measure_run(tmp_path / "run", plan={"measure": {"missing": "wrong", "sanity": False}})
    assert counted.clean.value == 0.5
