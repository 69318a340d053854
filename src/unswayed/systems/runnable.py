"""LangChain's runnables as systems: chains, prompts with a model, functions; chat models alone are clients."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any

from unswayed.base.chat import as_sent, chat_of, is_chat
from unswayed.base.errors import UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.secrets import masked_data
from unswayed.base.values import Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.systems.callable import (
    CallableSystem,
    declared_determinism,
    fingerprint,
    qualified_name,
    unseen_variation,
)

_AT_ONCE = 8  # `batch` of every runnable calls it from several threads, too
_DEPTH = 20  # of runnables inside runnables


def is_runnable(thing: object) -> bool:
    """Is this a runnable of LangChain's, or anything with its methods?"""
    return not isinstance(thing, type) and all(
        callable(getattr(thing, m, None)) for m in ("invoke", "ainvoke", "batch")
    )


class RunnableSystem(CallableSystem):
    """Asks `runnable.invoke` for each item: with the inputs that its schema names, or with the only text.

    Its identity is made of its parts: the settings of models without their keys, the texts of prompts, the code of
    functions. Its answer is a text, a message or any JSON.
    """

    grows = True

    def __init__(
        self, runnable: Any, name: str | None = None, identity: str | None = None, deterministic: bool | None = None,
        price_in: float | None = None, price_out: float | None = None,
    ) -> None:  # fmt: skip
        self.runnable, self._wanted, self._kind = runnable, list[str](), ""
        with suppress(Exception):  # whatever a stranger's schema is made of
            schema = runnable.get_input_jsonschema()
            self._kind = schema.get("type", "")
            self._wanted = list(schema.get("properties", {})) if self._kind == "object" else []
        decides = identity or f"{qualified_name(type(runnable))} {content_id(masked_data(_parts(runnable, 0)), 16)}"
        sure = declared_determinism(runnable) if deterministic is None else deterministic
        super().__init__(
            self._invoked, name or qualified_name(type(runnable)), decides, None, sure, "inputs", price_in, price_out
        )
        self.threads_if_waiting = _AT_ONCE

    def prepare(self, suite: Suite) -> None:
        super().prepare(suite)
        example = next(suite.examples(), None)
        if example is None or self.given_prompt:
            return
        names = list(example.inputs)
        if not is_chat(example.inputs) and self._wanted and not (len(names) == len(self._wanted) == 1):
            if absent := [name for name in self._wanted if name not in names]:
                raise UsageError(
                    f"{self.name} wants the inputs {', '.join(self._wanted)}, and the examples have "
                    f"{', '.join(names)}: {absent[0]!r} is absent. Choose fields of these names with {option('input')}."
                )
            if unseen := unseen_variation(suite, self._wanted):
                raise UsageError(
                    f"{self.name} does not take the input {unseen!r}, in which the suite's variants differ. Put it "
                    f"into its prompt."
                )

    def _invoked(self, inputs: Inputs) -> object:
        return self.runnable.invoke(self._given(inputs))

    def _argument(self, inputs: Inputs) -> Any:
        return inputs

    def _given(self, inputs: Inputs) -> Any:
        """What the runnable gets of an example."""
        if is_chat(inputs):
            messages = chat_of(inputs)["messages"]
            return {self._wanted[0]: messages} if len(self._wanted) == 1 else messages
        texts: Sequence[str] = list(inputs.values())
        if self.given_prompt and "prompt" in inputs and "prompt" not in self._wanted:
            texts = [inputs["prompt"]]
        if self._wanted == ["messages"]:  # as graphs of agents have it
            return {"messages": [{"role": "user", "content": "\n".join(texts)}]} if len(texts) == 1 else dict(inputs)
        if self._wanted and len(texts) == len(self._wanted) == 1:
            return {self._wanted[0]: texts[0]}
        if self._wanted:
            sent: dict[str, Any] = as_sent(inputs)
            return {name: sent[name] for name in self._wanted if name in sent}
        return texts[0] if len(texts) == 1 else dict(as_sent(inputs))


def _parts(value: Any, depth: int) -> Json:
    """What decides the answers of a runnable and of all inside it; of keys and connections, nothing."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if depth > _DEPTH or callable(getattr(value, "get_secret_value", None)):
        return None
    if isinstance(value, dict):
        return {str(name): _parts(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_parts(item, depth + 1) for item in value]
    if inspect.isroutine(value):
        return fingerprint(value) if isinstance(value, FunctionType) else qualified_name(value)
    named = f"{type(value).__module__}:{type(value).__qualname__}"
    settings = getattr(value, "_identifying_params", None)
    if isinstance(settings, dict):
        return [named, _parts(settings, depth + 1)]
    fields = getattr(type(value), "model_fields", None)
    if not isinstance(fields, dict):  # a RunnableLambda holds a function, and much that is made of it
        held = [value.__dict__[n] for n in ("func", "afunc", "mapper") if n in getattr(value, "__dict__", {})]
        return [named, [_parts(one, depth + 1) for one in held]]
    left_out = ("callbacks", "cache", "metadata", "client", "async_client", "root_client", "root_async_client")
    return [named, {n: _parts(getattr(value, n, None), depth + 1) for n in fields if n not in left_out}]
