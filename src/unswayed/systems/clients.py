"""Clients of language models that a program has made: OpenAI's, Anthropic's, LiteLLM's, Hugging Face's, LangChain's.

They are known by the methods that they have, so that none of these libraries is imported here. A client is called from
several threads only if its makers say that it may be, or if it is asynchronous, which needs no threads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.own_code import error_place
from unswayed.base.reply import as_data, joined_chunks
from unswayed.base.secrets import hide, masked_data, masked_url
from unswayed.base.values import Json

if TYPE_CHECKING:  # they bring TLS and more, which most systems need not load
    from unswayed.systems.http.chat import PassedClient
    from unswayed.systems.http.client import HttpSettings
    from unswayed.systems.http.connection import Reply
    from unswayed.systems.system import Prices

_AT_ONCE = 8  # requests, of a client that may be used by several threads, or that is asynchronous
# Packages whose clients may: OpenAI's and Anthropic's are made of httpx's, which is, and those of LangChain and LiteLLM
# use threads themselves in `batch` and `batch_completion`.
_THREAD_SAFE = frozenset(("openai", "anthropic", "litellm", "langchain_core", "httpx", "urllib3", "botocore"))
_NO_KEYS = ("", "EMPTY", "none", "not-needed")


class Passed(NamedTuple):
    """A client as a system uses it: how many requests it may have at once, and what it is called. One that holds
    settings, such as a temperature, keeps those; they are part of what `decides` its answers."""

    endpoint: PassedClient
    threads: int
    address: str
    decides: Json = None


class _Kind(NamedTuple):
    """How a kind of client is called, where it leads to, and which model it has if it has one."""

    create: Callable[..., Any]
    address: str
    form: str  # of requests: openai, anthropic or langchain
    model: str = ""


def is_thread_safe_client(thing: object) -> bool:
    """Is this an object, or a function or a module, of a package whose clients several threads may use at once?"""
    roots = {cls.__module__.partition(".")[0] for cls in type(thing).__mro__}
    own = getattr(thing, "__name__" if isinstance(thing, ModuleType) else "__module__", None)
    return not _THREAD_SAFE.isdisjoint({*roots, str(own).partition(".")[0]})


def is_chat_client(thing: object) -> bool:
    """Is this a client, or a function such as litellm.completion, that takes a model and messages?"""
    return _kind_of(thing) is not None


def model_of(thing: object) -> str:
    """The model that a client was made for; none where each request names one."""
    kind = _kind_of(thing)
    return kind.model if kind else ""


def passed_client(
    thing: object, model: str, prices: Prices | None, more: Mapping[str, Json] | None, settings: HttpSettings
) -> Passed:
    """The client, fit to be asked like a server behind a URL."""
    from unswayed.systems.http.chat import PassedClient

    kind = _kind_of(thing)
    assert kind is not None
    hide([key for key in _keys_of(thing) if key not in _NO_KEYS], named=True)
    shown = f"{kind.address}/chat/completions" if "://" in kind.address and kind.form == "openai" else kind.address
    endpoint = PassedClient(lambda body: _reply(kind, body), shown, model, prices, more, settings)
    is_async = inspect.iscoroutinefunction(inspect.unwrap(kind.create))
    threads = _AT_ONCE if is_async or is_thread_safe_client(thing) else 1
    settings_of = getattr(thing, "_identifying_params", None) if kind.form == "langchain" else None
    decides = None if kind.form != "langchain" else masked_data(json_like(settings_of))
    return Passed(endpoint, threads, kind.address, decides)


def json_like(value: Any) -> Json:
    """Settings as JSON; of what is none, its type."""
    if isinstance(value, Mapping):
        return {str(name): json_like(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_like(item) for item in value]
    if isinstance(value, str | int | float | bool | None):
        return value
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _kind_of(thing: object) -> _Kind | None:
    """What kind of client something is; None for all else."""
    if isinstance(thing, (str, type)):
        return None
    create = _method(thing, "chat", "completions", "create")
    if create is not None:
        return _Kind(create, _address_of(thing), "openai")
    create = _method(thing, "messages", "create")
    if create is not None:
        return _Kind(create, _address_of(thing), "anthropic")
    if _method(thing, "invoke") and _method(thing, "bind_tools") and _method(thing, "_generate"):
        name = next((str(v) for v in (getattr(thing, n, None) for n in ("model_name", "model", "model_id")) if v), "")
        return _Kind(thing.invoke, _address_of(thing), "langchain", name or type(thing).__name__)  # type: ignore[attr-defined]
    create = _method(thing, "completion")
    if create is None and callable(thing):
        create = thing
    if create is not None:
        try:
            required = [p for p in inspect.signature(create).parameters.values() if p.kind is not p.VAR_KEYWORD]
        except (TypeError, ValueError):
            return None
        if {"model", "messages"} <= {p.name for p in required[:3]}:
            module = getattr(create, "__module__", None) or type(thing).__module__
            return _Kind(create, f"{module.partition('.')[0]}.{getattr(create, '__name__', 'completion')}", "openai")
    return None


def _method(thing: object, *names: str) -> Callable[..., Any] | None:
    """A method at a path such as chat.completions.create, if there is one."""
    found: Any = thing
    for name in names:
        try:
            if not isinstance(found, ModuleType):  # which may load what it has when it is asked for
                inspect.getattr_static(found, name)  # an object that makes up its attributes has all of them
            found = getattr(found, name)
        except Exception:  # whatever a stranger's object raises
            return None
    return found if callable(found) else None


def _address_of(thing: object) -> str:
    """Where a client sends its requests, without a key; else what it is called."""
    for name in (
        "base_url",
        "_base_url",
        "openai_api_base",
        "azure_endpoint",
        "api_base",
        "endpoint_url",
        "api_url",
        "model",
    ):
        found = getattr(thing, name, None)
        if found is not None and "://" in str(found):
            return masked_url(str(found)).partition("?")[0].rstrip("/")
    return f"{type(thing).__module__.partition('.')[0]}.{type(thing).__qualname__}"


def _keys_of(thing: object) -> list[str]:
    """The keys that a client holds, so that they are masked wherever they come out."""
    found = []
    for name in ("api_key", "token", "auth_token", "openai_api_key", "anthropic_api_key", "azure_ad_token", "_api_key"):
        key = getattr(thing, name, None)
        secret = getattr(key, "get_secret_value", None)
        key = secret() if callable(secret) else key
        if isinstance(key, str):
            found.append(key)
    return found


def _reply(kind: _Kind, body: dict[str, Json]) -> Reply:
    """What the client returns for a request, as a server would have sent it. Its exceptions are read for a status."""
    from unswayed.systems.background import run_coroutine
    from unswayed.systems.http.client import TryAgain
    from unswayed.systems.http.connection import Reply

    try:
        returned = _call(kind, body)
        if inspect.isawaitable(returned):
            returned = run_coroutine(returned)
        data = as_data(returned)
        if data is None and hasattr(returned, "__iter__"):
            data = joined_chunks(as_data(chunk) for chunk in returned)
        elif data is None and hasattr(returned, "__aiter__"):

            async def collected() -> list[Json]:
                return [as_data(chunk) async for chunk in returned]

            data = joined_chunks(run_coroutine(collected()))
    except Exception as error:
        status = next(
            (
                code
                for one in (error, getattr(error, "response", None))
                for name in ("status_code", "status", "code")
                if isinstance(code := getattr(one, name, None), int) and 100 <= code < 600
            ),
            None,
        )
        if status is None and isinstance(error, (TypeError, AttributeError, NameError, ImportError)):
            raise SystemBroken(f"{kind.address} raised {error_place(error)}") from error
        if status is None or status in (200, 408) or "Connection" in type(error).__name__:
            raise TryAgain(f"{type(error).__name__}: {error}") from error
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        told = getattr(error, "body", None)
        told = told if isinstance(told, (dict, list)) else {"error": {"message": str(error)}}
        told = told if isinstance(told, list) or "error" in told else {"error": told}
        content = msgspec.json.encode(told, enc_hook=str)
        return Reply(status, {str(name).lower(): str(value) for name, value in dict(headers).items()}, content)
    return Reply(200, {}, msgspec.json.encode(data, enc_hook=str))


def _call(kind: _Kind, body: dict[str, Json]) -> Any:
    """Calls a client with a request of OpenAI's form, in its own form."""
    if kind.form == "langchain":
        options = {name: value for name, value in body.items() if name not in ("model", "messages", "stream", "tools")}
        tools = body.get("tools")
        bound = kind.create.__self__.bind_tools(tools) if tools else None  # type: ignore[attr-defined]
        return (bound.invoke if bound else kind.create)(body["messages"], **options)
    if not body.get("stream"):
        body.pop("stream", None)
    if kind.form == "anthropic":
        messages = [message for message in body["messages"] if message["role"] not in ("system", "developer")]
        system = "\n".join(m["content"] for m in body["messages"] if m["role"] in ("system", "developer"))
        limit = body.pop("max_completion_tokens", None) or body.pop("max_tokens", None)
        body = {**body, "messages": messages, "max_tokens": limit, **({"system": system} if system else {})}
        body.pop("stream_options", None)
        tools = [tool["function"] for tool in body.get("tools", ())]
        if tools:
            body["tools"] = [
                {**{k: v for k, v in tool.items() if k != "parameters"}, "input_schema": tool.get("parameters", {})}
                for tool in tools
            ]
    known = inspect.signature(kind.create).parameters
    others = {} if any(p.kind is p.VAR_KEYWORD for p in known.values()) else body.keys() - known.keys()
    if others and "extra_body" in known:
        body = {k: v for k, v in body.items() if k not in others} | {
            "extra_body": {name: body[name] for name in others}
        }
    return kind.create(**body)


def require_model(thing: object, options: Mapping[str, Any]) -> str:
    """The model that a client is to be asked for: the one chosen, or its own."""
    model = options.get("model") or model_of(thing)
    if not model:
        raise UsageError(
            f"{type(thing).__qualname__} is a client, and each of its requests names a model. Name one, as in "
            f'unswayed.open_system(client, model="gpt-5-mini") or plan={{"run": {{"options": {{"model": "…"}}}}}}; '
            f"at the command line, add --model NAME."
        )
    return str(model)
