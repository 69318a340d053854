"""One model that chats as OpenAI's do, behind a URL; what a server refuses of a request is sent as it wants it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.reply import ChatAnswer, answer_in, is_stream, streamed_reply
from unswayed.base.secrets import masked
from unswayed.base.text import one_line
from unswayed.base.values import Json
from unswayed.systems.http.client import Client, Endpoint, HttpSettings, Malformed, Refused
from unswayed.systems.http.connection import Reply, checked_url, is_azure, key_for
from unswayed.systems.system import Prices

_CHAT_PATH = "/chat/completions"
_MAX_MODELS = 20  # whose names are told apart
_MODEL_NAME_CHARS = 80
# Words by which servers say that they know a field, or a value of it, not; and not that it is too large.
_UNKNOWN = (
    "unsupported", "not support", "not_support", "unknown", "unrecognized", "unexpected", "not permitted",
    "extra_forbidden", "extra inputs", "deprecated", "not allowed", "no longer", "only the default", "instead",
    "must be true", "set to true", "only stream", "streaming only", "requires stream", "cannot find field",
    "not accepted", "must be enabled",
)  # fmt: skip
# What is tried in place of a field that is refused, in this order: another name for it, or "", which leaves it out.
_INSTEAD: dict[str, tuple[str, ...]] = {
    "max_tokens": ("max_completion_tokens",), "temperature": ("",), "stream": ("stream",), "stream_options": ("",),
    "reasoning_effort": ("reasoning", ""), "seed": ("",),
}  # fmt: skip


class ChatEndpoint(Endpoint):
    """Asks one model. Extend with `_send`, which posts a request as OpenAI's API takes it.

    `more` are further fields of each request; one that is None leaves out what would be sent. If the server refuses a
    field that newer models no longer take, the request is sent once more without it, or with its successor. That is
    remembered for all requests to come, and `adapted` says it.
    """

    def __init__(
        self, model: str, prices: Prices | None = None, more: Mapping[str, Json] | None = None,
        settings: HttpSettings | None = None, retries: int = 6,
    ) -> None:  # fmt: skip
        super().__init__(settings, retries)
        self._open_chat(model, prices, more)

    def _open_chat(self, model: str, prices: Prices | None, more: Mapping[str, Json] | None) -> None:
        if not model:
            raise UsageError("A model's name is needed, as the server knows it.")
        self.model, self._prices, self._more = model, prices, dict(more or {})
        self._models: dict[str, str] = {}  # that the server says it used, each with what counts its answers
        self.adapted: dict[str, str] = {}  # fields that the server refused, each with what is sent instead

    def ask(self, messages: list[Json], **parameters: Json) -> ChatAnswer:
        """The answer to a chat. Raises `Unanswered` where none is to be had."""
        body = {"model": self.model, "messages": messages, "stream": False, **parameters, **self._more}
        body = {name: value for name, value in body.items() if value is not None}
        while True:
            sent = self.sent(body)
            try:
                return self.post(sent, self._read_answer)
            except Refused as problem:
                if not self._adapt(sent, problem.content) and self.sent(body) == sent:
                    raise
                self.use(retries=1)

    def sent(self, body: dict[str, Json]) -> dict[str, Json]:
        """The request as the server takes it, as far as that is known."""
        if not self.adapted:
            return body
        sent = dict(body)
        for name, instead in self.adapted.items():
            if name not in sent:
                continue
            value = sent.pop(name)
            if name == "stream":
                sent |= {"stream": True, "stream_options": {"include_usage": True}}
            elif instead == "reasoning":
                sent["reasoning"] = {"effort": value}
            elif instead:
                sent[instead] = value
        return sent

    def _adapt(self, sent: Mapping[str, Json], content: bytes) -> bool:
        """Whether another form of the request is worth a try, after the server refused this one with that content."""
        told = content[:4000].decode(errors="replace").lower()
        if not any(words in told for words in _UNKNOWN):
            return False
        with self._lock:
            for name in sent:
                origin = next((old for old, new in self.adapted.items() if new == name), name)
                others = _INSTEAD.get(origin, ())
                tried = others.index(self.adapted[origin]) + 1 if origin in self.adapted else 0
                if tried < len(others) and re.search(rf"\b{name}\b", told):
                    self.adapted[origin] = others[tried]
                    shown = self.adaptations()[origin]
                    print(f"unswayed: {self.shown} refuses {name} for {self.model}: {shown}.", file=sys.stderr)
                    return True
        return False

    def adaptations(self) -> dict[str, str]:
        """What is sent in place of each field that the server refused, in words."""
        return {
            name: "answers are streamed" if name == "stream" else f"sent as {new}" if new else "left out"
            for name, new in self.adapted.items()
        }

    def _data_in(self, reply: Reply) -> Json:
        if not is_stream(reply.content):
            return super()._data_in(reply)
        try:
            return streamed_reply(reply.content)
        except ValueError as error:
            raise Malformed(str(error)) from error

    def _read_answer(self, value: Json) -> ChatAnswer:
        try:
            answer = answer_in(value)
        except ValueError as error:
            raise Malformed(str(error)) from None
        if answer is None:
            raise Malformed("the answer is not one to a chat")
        self.use_tokens(answer.tokens, self._prices)
        if answer.model and (name := self._counter_of(answer.model)):
            self.use(**{name: 1})
        return answer

    def _counter_of(self, model: str) -> str:
        """What counts the answers of a model; none for more models than are told apart."""
        name = self._models.get(model)
        if name is None and len(self._models) < _MAX_MODELS:
            name = self._models[model] = f"answers of {one_line(masked(model[:_MODEL_NAME_CHARS]))}"
        return name or ""


class ChatClient(ChatEndpoint, Client):
    """Asks one model of a server that chats as OpenAI's does."""

    def __init__(
        self, url: str, model: str, key_env: str | None = None, prices: Prices | None = None,
        more: Mapping[str, Json] | None = None, settings: HttpSettings | None = None, retries: int = 6,
        insecure: bool = False,
    ) -> None:  # fmt: skip
        parts = checked_url(url)
        if not parts.path.endswith(_CHAT_PATH):
            parts = parts._replace(path=parts.path.rstrip("/") + _CHAT_PATH)
        key = key_for(parts, key_env, default=True, insecure=insecure)
        Client.__init__(self, parts.geturl(), key, settings, retries, "api-key" if is_azure(parts) else None)
        self._open_chat(model, prices, more)


class PassedClient(ChatEndpoint):
    """Asks one model through a client that the caller made; `call` gets a request's fields and returns the reply as
    data. Its own exceptions are read for the status that a server gave."""

    def __init__(
        self, call: Any, shown: str, model: str, prices: Prices | None = None, more: Mapping[str, Json] | None = None,
        settings: HttpSettings | None = None, retries: int = 6,
    ) -> None:  # fmt: skip
        super().__init__(model, prices, more, settings, retries)
        self._call, self.shown = call, shown

    def _send(self, content: bytes) -> Reply:
        return self._call(msgspec.json.decode(content))  # type: ignore[no-any-return]
