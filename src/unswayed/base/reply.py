"""What a language model said: completions, messages and streams of the usual APIs, read as one plain value.

Replies of OpenAI's chat completions and responses, Anthropic's messages, Gemini's candidates, Ollama's chats and
LangChain's messages are known by their fields, whether they come as JSON or as an object of a client library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from unswayed.base.ids import decode
from unswayed.base.values import Json

# The model's thoughts before its answer, also where the answer was cut off inside them.
_THOUGHTS = re.compile(r"\s*<(think|thinking|thought|reasoning)>(.*?)(?:</\1>|\Z)", re.S | re.I)
_END_OF_THOUGHT = "</think>"  # alone where the prompt's template has the beginning, as Qwen's and DeepSeek's do
_PLAIN_MESSAGE = {"role", "content"}  # most messages have nothing else
_ENDED_BY_LIMIT = ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
_ENDED_BY_FILTER = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii")
_USAGE = ("usage", "usage_metadata", "usageMetadata")
_READ = ("prompt_tokens", "input_tokens", "prompt_eval_count", "prompt_token_count", "promptTokenCount")
_WRITTEN = ("completion_tokens", "output_tokens", "eval_count", "candidates_token_count", "candidatesTokenCount")


_AROUND = " \t\r\n.,;:!?\"'`*()[]。，！？“”‘’「」"  # what models put around a label


class ChatAnswer(NamedTuple):
    """What the model said; None where it would not. `cut` says that it had more to say than it was given tokens for.

    `reasoning` is what it thought aloud before, which is no part of the answer.
    """

    text: str | None
    cut: bool = False
    calls: list[Json] | None = None  # as OpenAI has `tool_calls`
    refusal: str = ""
    reasoning: str = ""
    model: str = ""
    tokens: Mapping[str, int] = MappingProxyType({})  # tokens_in and tokens_out, where they are known

    @property
    def value(self) -> Json:
        """The answer as an output of a system: its text, or its calls, or both."""
        if not self.calls:
            return self.text
        return {"content": self.text, "tool_calls": self.calls} if self.text else {"tool_calls": self.calls}


def answer_key(said: str) -> str:
    """What of an answer tells it from others: not the marks around it, nor its capitals."""
    return said.strip(_AROUND).casefold()


def without_thoughts(text: str) -> tuple[str, str]:
    """The answer in a text, and the thoughts that stand before it in `<think>…</think>`."""
    if "<" not in text:
        return text, ""
    rest, thoughts = text, []
    while found := _THOUGHTS.match(rest):
        thoughts.append(found[2].strip())
        rest = rest[found.end() :]
    if not thoughts:
        before, mark, after = text.partition(_END_OF_THOUGHT)
        if not mark or "<think>" in before:
            return text, ""
        rest, thoughts = after, [before.strip()]
    return rest.lstrip(), "\n".join(thoughts)


def answer_in(value: Json) -> ChatAnswer | None:
    """The answer in a reply as JSON; None where it is no reply of a known API. Raises ValueError where it is broken."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("messages"), list) and value["messages"]:  # the state of an agent: its last word
        last = as_data(value["messages"][-1])
        return answer_in(last) if isinstance(last, dict) and "messages" not in last else None
    choices, candidates, why = value.get("choices"), value.get("candidates"), None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        choice = choices[0]
        message = choice.get("message") or ({"content": choice["text"]} if "text" in choice else None)
        why = choice.get("finish_reason")
    elif isinstance(candidates, list) and candidates and isinstance(candidates[0], dict):
        message = candidates[0].get("content") or {}
        message = {"content": message.get("parts") or []}
        why = candidates[0].get("finish_reason") or candidates[0].get("finishReason")
    elif value.get("object") == "response" and isinstance(value.get("output"), list):
        message = {"content": value["output"]}
        why = (value.get("incomplete_details") or {}).get("reason")
    elif isinstance(value.get("message"), dict) and "content" in value["message"]:
        message, why = value["message"], value.get("done_reason")
    elif value.get("role") in ("assistant", "model") or value.get("type") in ("ai", "AIMessageChunk"):
        message = value
        known = value.get("response_metadata") or {}
        found = (value.get("stop_reason"), *map(known.get, ("finish_reason", "stop_reason", "done_reason")))
        why = next((reason for reason in found if reason), None)
    else:
        return None
    if not isinstance(message, dict):
        return None
    return _answer_of(message, str(why or "").rpartition(".")[2].lower(), value)


def _answer_of(message: dict[str, Json], why: str, reply: dict[str, Json]) -> ChatAnswer:
    """The answer in a message, which ended for that reason, of a whole reply."""
    content, model = message.get("content"), reply.get("model")
    if message.keys() <= _PLAIN_MESSAGE and why == "stop" and isinstance(content, str) and "<" not in content:
        return ChatAnswer(content, model=model if isinstance(model, str) else "", tokens=tokens_in_usage(reply))
    texts, thoughts, calls = [], [], []
    if not isinstance(content, str | list | None):
        raise ValueError("the answer is not a text")
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind == "message" and isinstance(part.get("content"), list):  # of a response
                texts += [str(inner.get("text") or "") for inner in part["content"] if isinstance(inner, dict)]
            elif kind in ("thinking", "reasoning", "redacted_thinking") or part.get("thought") is True:
                thoughts.append(_thought_in(part))
            elif kind in ("tool_use", "function_call"):
                calls.append({"name": part.get("name"), "arguments": part.get("input", part.get("arguments", {}))})
            elif isinstance(part.get("text"), str):
                texts.append(part["text"])
    text = "".join(texts) if isinstance(content, str) or texts else None
    more = message.get("additional_kwargs") or {}
    for name in ("reasoning_content", "reasoning", "thinking"):
        told = message.get(name) or (more.get(name) if isinstance(more, dict) else None)
        thoughts += [told] if isinstance(told, str) else []
    if text is not None:
        text, before = without_thoughts(text)
        thoughts += [before] if before else []
    own = message.get("tool_calls")
    for call in own if isinstance(own, list) else []:
        is_langchain = isinstance(call, dict) and "args" in call
        calls.append({"name": call.get("name"), "arguments": call["args"]} if is_langchain else call)
    refusal = message.get("refusal")
    refusal = refusal if isinstance(refusal, str) else ""
    if why in _ENDED_BY_FILTER:  # what it let through is not the answer
        text, refusal = None, refusal or "its content filter"
    elif why == "refusal":
        refusal = refusal or "the model"
    return ChatAnswer(
        text, why in _ENDED_BY_LIMIT, calls or None, refusal, "\n".join(dict.fromkeys(filter(None, thoughts))),
        model if isinstance(model, str) else "", tokens_in_usage(reply),
    )  # fmt: skip


def _thought_in(part: dict[str, Json]) -> str:
    """The thoughts in a part of a message."""
    for name in ("thinking", "text", "reasoning"):
        if isinstance(part.get(name), str):
            return str(part[name])
    summary = part.get("summary")
    if not isinstance(summary, list):
        return ""
    return "\n".join(str(one.get("text") or "") for one in summary if isinstance(one, dict))


def tokens_in_usage(reply: dict[str, Json]) -> dict[str, int]:
    """The tokens that a reply says were read and written, of those that it gives and that are such."""
    usage: Any = next((reply[name] for name in _USAGE if isinstance(reply.get(name), dict)), reply)
    found = {}
    for name, spelled in (("tokens_in", _READ), ("tokens_out", _WRITTEN)):
        amount = next((usage[word] for word in spelled if word in usage), None)
        if isinstance(amount, int) and not isinstance(amount, bool) and amount >= 0:
            found[name] = amount
    return found


def json_within(text: str, default: Json = None) -> Json:
    """The JSON in a text, with or without words or a fence around it: the text itself, or else its last fenced part, or
    its longest bracketed one."""
    fenced = re.findall(r"```\w*\n(.*?)```", text, re.S)
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    ends = max(text.rfind("}"), text.rfind("]")) + 1
    for part in (text, *reversed(fenced), *(text[at:ends] for at in sorted(starts))):
        with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
            return decode(part)
    return default


def as_data(thing: object) -> Json:
    """A reply of a client library as JSON; None where the object is no such reply, and data as they are."""
    if isinstance(thing, str | int | float | list | None):
        return thing
    if isinstance(thing, dict) and not any(hasattr(item, "model_dump") for item in thing.values()):
        return thing
    for method in ("model_dump", "to_dict", "dict"):
        convert = getattr(thing, method, None)
        if callable(convert) and not isinstance(thing, type):
            with suppress(Exception):  # whatever a stranger's object raises, it is not known
                found = convert()
                if isinstance(found, dict):
                    return found
    with suppress(TypeError):
        found = msgspec.to_builtins(thing)
        if isinstance(found, dict):
            return found
    return None


def is_stream(content: bytes) -> bool:
    """Are these server-sent events, in place of JSON?"""
    return content.lstrip()[:6].startswith((b"data:", b"event:", b":"))


def streamed_reply(content: bytes) -> Json:
    """The reply whose pieces a server sent as events. Raises ValueError where one of them is none, or says an error."""
    chunks = []
    for line in content.split(b"\n"):
        data = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
        if data and data != b"[DONE]":
            try:
                chunks.append(decode(data))
            except msgspec.DecodeError as error:
                raise ValueError("a piece of the streamed answer is not JSON") from error
    return joined_chunks(chunks)


def joined_chunks(chunks: Iterable[Json]) -> Json:
    """The pieces of a streamed reply as one reply."""
    reply: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    calls: dict[int, dict[str, Any]] = {}
    why = None
    for chunk in chunks:
        if not isinstance(chunk, dict):
            raise ValueError("a piece of the streamed answer is not an object")
        if chunk.get("error"):
            raise ValueError(f"the server broke off with {chunk['error']!r:.200}")
        reply |= {name: chunk[name] for name in ("model", "usage") if chunk.get(name)}
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            continue
        why = choices[0].get("finish_reason") or why
        delta = choices[0].get("delta") or choices[0].get("message") or {"content": choices[0].get("text")}
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(name), str):
                texts.setdefault(name, []).append(delta[name])
        for part in delta["content"] if isinstance(delta.get("content"), list) else []:
            thinks = part.get("type") in ("thinking", "reasoning")
            texts.setdefault("reasoning" if thinks else "content", []).append(str(part.get("text") or ""))
        for call in delta.get("tool_calls") or []:
            known = calls.setdefault(call.get("index", len(calls)), {"function": {"name": "", "arguments": ""}})
            for name, piece in (call.get("function") or {}).items():
                known["function"][name] = known["function"].get(name, "") + (piece or "")
    message: dict[str, Any] = {name: "".join(pieces) for name, pieces in texts.items()}
    message.setdefault("content", None)
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    return {**reply, "choices": [{"message": message, "finish_reason": why}]}
