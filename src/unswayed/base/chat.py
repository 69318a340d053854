"""A chat as an example's inputs: the texts that are varied, by name, and the rest of the chat as JSON under `chat`.

In the JSON, `{"input": "user"}` stands where the text of that name goes, so that a variant changes the text alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, get_args

import msgspec

from unswayed.base.ids import canonical
from unswayed.base.json import decode
from unswayed.base.values import Inputs, Json

CHAT = "chat"
Turn = Literal["last-user", "first-user", "system", "all"]
TURNS: tuple[str, ...] = get_args(Turn)
_VARIED = ("system", "developer", "user")  # roles whose words are people's, not the model's


def chat_inputs(messages: Json, tools: Json = None, turn: Turn = "last-user") -> Inputs:
    """The inputs of a chat in which the texts of `turn` are varied. Raises ValueError, which says what is wrong."""
    problem = messages_problem(messages)
    if problem:
        raise ValueError(problem)
    chosen = _chosen([message["role"] for message in messages], turn)
    texts: dict[str, str] = {}
    seen: Counter[str] = Counter()

    def name(role: str, text: str) -> dict[str, str]:
        seen[role] += 1
        named = role if seen[role] == 1 else f"{role}_{seen[role]}"
        texts[named] = text
        return {"input": named}

    kept = []
    for at, message in enumerate(messages):
        if at in chosen:
            role, content = message["role"], message.get("content")
            if isinstance(content, str):
                content = name(role, content)
            elif isinstance(content, list):
                content = [{**part, "text": name(role, part["text"])} if _is_text(part) else part for part in content]
            message = {**message, "content": content}
        kept.append(message)
    if not texts:
        raise ValueError(f"there is no text to vary in the turn {turn!r}; the roles are {_roles(messages)}")
    rest = {"messages": kept, **({"tools": tools} if tools else {})}
    return {**texts, CHAT: canonical(rest).decode()}


def messages_problem(messages: Json) -> str | None:
    """What is wrong with a list of messages, if anything."""
    if not isinstance(messages, list) or not messages:
        return f"messages must be a list of at least one message, not {messages!r:.60}"
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return f"message {number} must be {{'role': …, 'content': …}}, not {message!r:.60}"
        content = message.get("content")
        if not isinstance(content, str | list | None):
            return f"the content of message {number} must be a text, not {content!r:.60}"
        if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
            return f"the content of message {number} must be a text or a list of parts, not {content!r:.60}"
    return None


def _chosen(roles: list[str], turn: str) -> set[int]:
    users = [at for at, role in enumerate(roles) if role == "user"]
    if turn == "last-user":
        return set(users[-1:])
    if turn == "first-user":
        return set(users[:1])
    if turn == "system":
        return {at for at, role in enumerate(roles) if role in ("system", "developer")}
    return {at for at, role in enumerate(roles) if role in _VARIED}


def _is_text(part: dict[str, Json]) -> bool:
    return part.get("type") in ("text", "input_text") and isinstance(part.get("text"), str)


def _roles(messages: list[dict[str, Json]]) -> str:
    return ", ".join(dict.fromkeys(message["role"] for message in messages))


def is_chat(inputs: Inputs) -> bool:
    """Do these inputs hold a chat?"""
    return inputs.get(CHAT, "").startswith('{"messages":')


def chat_of(inputs: Inputs) -> dict[str, Any]:
    """The chat as it is sent: `messages`, and `tools` if it has some, with each text in its place."""
    chat: dict[str, Any] = decode(inputs[CHAT])
    return {**chat, "messages": [_filled(message, inputs) for message in chat["messages"]]}


def _filled(message: dict[str, Json], inputs: Inputs) -> dict[str, Json]:
    content = message.get("content")
    if isinstance(content, dict):
        return {**message, "content": inputs[content["input"]]}
    if isinstance(content, list):
        parts = [
            {**part, "text": inputs[part["text"]["input"]]} if isinstance(part.get("text"), dict) else part
            for part in content
        ]
        return {**message, "content": parts}
    return message


def as_sent(inputs: Inputs) -> Json:
    """What a system gets of an example: its texts by name, or, of a chat, its messages and tools."""
    return chat_of(inputs) if CHAT in inputs and is_chat(inputs) else inputs


def chat_problem(inputs: Inputs) -> str | None:
    """Why these inputs are not a chat, if they are not; for suites that were written by hand."""
    try:
        chat = chat_of(inputs)
    except (KeyError, TypeError, AttributeError, msgspec.MsgspecError):
        return f"the input {CHAT!r} must be a chat as JSON, {{'messages': […]}}, not {inputs.get(CHAT)!r:.60}"
    return messages_problem(chat["messages"])
