"""Chat over any endpoint that speaks as OpenAI's does: a prompt in, a text out, tokens and cost counted."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.secrets import masked
from unswayed.base.text import one_line
from unswayed.base.values import Json
from unswayed.systems.http.client import Client, HttpSettings, Malformed
from unswayed.systems.http.connection import checked_url, key_for
from unswayed.systems.meter import spend
from unswayed.systems.system import Prices, token_costs

_CHAT_PATH = "/chat/completions"
_MOST_MODELS = 20  # names of models that are told apart
_NAME_LETTERS = 80  # characters of a model's name


class ChatAnswer(NamedTuple):
    """What the model said; None where it would not. `cut` says that it had more to say than it was given tokens for."""

    text: str | None
    cut: bool = False
    calls: list[Json] | None = None  # as OpenAI has `tool_calls`
    refusal: str = ""


class Chat:
    """`more` are further fields of each request; one that is None leaves out what would be sent."""

    def __init__(
        self, url: str, model: str, key_env: str | None = None, prices: Prices | None = None,
        more: dict[str, Json] | None = None, settings: HttpSettings | None = None, retries: int = 6,
        insecure: bool = False,
    ) -> None:  # fmt: skip
        if not model:
            raise UsageError("A model's name is needed, as the server knows it.")
        parts = checked_url(url)
        if not parts.path.endswith(_CHAT_PATH):
            parts = parts._replace(path=parts.path.rstrip("/") + _CHAT_PATH)
        self.client = Client(
            parts.geturl(), key_for(parts, key_env, default=True, insecure=insecure), settings, retries
        )
        self.model = model
        self._prices = prices
        self._more = more or {}
        self._models: set[str] = set()  # that the server says it used

    def ask(self, prompt: str, system: str | None = None, **parameters: Json) -> ChatAnswer:
        """The answer to one prompt. Raises `Unanswered` where none is to be had."""
        messages = [{"role": "system", "content": system}] if system else []
        return self.send([*messages, {"role": "user", "content": prompt}], **parameters)

    def send(self, messages: list[Json], **parameters: Json) -> ChatAnswer:
        """The answer to a chat. Raises `Unanswered` where none is to be had."""
        body = {"model": self.model, "messages": messages, "stream": False, **parameters, **self._more}
        return self.client.post({k: v for k, v in body.items() if v is not None}, self._read_answer)

    def _read_answer(self, value: Json) -> ChatAnswer:
        try:
            choice = value["choices"][0]
            message = choice["message"]
            text, calls = message.get("content"), message.get("tool_calls")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise Malformed("the answer is not one to a chat") from None
        if not isinstance(text, str | None):
            raise Malformed("the answer is not a text")
        self._note_usage(value)
        why, refusal = choice.get("finish_reason"), message.get("refusal")
        refusal = refusal if isinstance(refusal, str) else ""
        if why == "content_filter":  # what it let through is not the answer
            text, refusal = None, refusal or "its content filter"
        return ChatAnswer(text, why == "length", calls if isinstance(calls, list) and calls else None, refusal)

    def _note_usage(self, value: Json) -> None:
        """Notes tokens, their cost, and the model that answered."""
        tokens = token_counts(value.get("usage"))
        spend(**tokens)
        used = {**tokens, **token_costs(tokens, self._prices)}
        model = value.get("model")
        if isinstance(model, str) and model:
            name = one_line(masked(model[:_NAME_LETTERS]))
            if name in self._models or len(self._models) < _MOST_MODELS:
                self._models.add(name)
                used[f"answers of {name}"] = 1
        if used:
            self.client.use(**used)


def json_in(text: str) -> Json:
    """The JSON that an answer is, with or without a fence around it. Raises ValueError where it is none."""
    fenced = re.fullmatch(r"\s*```\w*\n(.*)\n\s*```\s*", text, re.S)
    try:
        return msgspec.json.decode(fenced[1] if fenced else text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def token_counts(usage: Json) -> dict[str, float]:
    """Token counts, of those that were given and are such."""
    if not isinstance(usage, dict):
        return {}
    found = {"tokens_in": usage.get("prompt_tokens"), "tokens_out": usage.get("completion_tokens")}
    return {k: v for k, v in found.items() if isinstance(v, int) and not isinstance(v, bool) and v >= 0}
