"""Inputs and outputs that are more than a text: chats, the choices of a question, and tool calls.

A chat as an example's inputs is the texts that are varied, by name, and the rest of it as JSON under `chat`. In the
JSON, `{"input": "user"}` stands where the text of that name goes, so that a variant changes the text alone.

The choices of a question are one input, `choices`: a line for each, with its letter, as in `A. Paris`. The gold is a
letter. Where choices change places, an answer is compared by the choice that its letter stands for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from unswayed.base.ids import canonical, decode
from unswayed.base.values import Inputs, Json

CHAT = "chat"
Turn = Literal["last-user", "first-user", "users", "system", "all"]
TURNS: tuple[str, ...] = get_args(Turn)
_VARIED = ("system", "developer", "user")  # roles whose words are people's, not the model's


def chat_inputs(messages: Json, tools: Json = None, turn: Turn = "last-user") -> Inputs:
    """The inputs of a chat in which the texts of `turn` are varied. Raises ValueError, which says what is wrong."""
    problem = messages_problem(messages)
    if problem:
        raise ValueError(problem)
    roles = [message["role"] for message in messages]
    users = [at for at, role in enumerate(roles) if role == "user"]
    varied = _VARIED[:2] if turn == "system" else _VARIED
    chosen = {"last-user": users[-1:], "first-user": users[:1], "users": users}.get(
        turn, [at for at, role in enumerate(roles) if role in varied]
    )
    texts: dict[str, str] = {}
    seen: Counter[str] = Counter()

    def name_text(role: str, text: str) -> dict[str, str]:
        seen[role] += 1
        name = role if seen[role] == 1 else f"{role}_{seen[role]}"
        texts[name] = text
        return {"input": name}

    kept = []
    for at, message in enumerate(messages):
        if at in chosen:
            role, content = message["role"], message.get("content")
            if isinstance(content, str):
                content = name_text(role, content)
            elif isinstance(content, list):
                content = list(content)
                for n, part in enumerate(content):
                    if part.get("type") in ("text", "input_text") and isinstance(part.get("text"), str):
                        content[n] = {**part, "text": name_text(role, part["text"])}
            message = {**message, "content": content}
        kept.append(message)
    if not texts:
        there = ", ".join(dict.fromkeys(roles))
        raise ValueError(f"there is no text to vary in the turn {turn!r}; the roles are {there}")
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


def is_chat(inputs: Inputs) -> bool:
    """Do these inputs hold a chat?"""
    return inputs.get(CHAT, "").startswith('{"messages":')


def chat_of(inputs: Inputs) -> dict[str, Any]:
    """The chat as it is sent: `messages`, and `tools` if it has some, with each text in its place."""
    chat: dict[str, Any] = decode(inputs[CHAT])
    messages = []
    for message in chat["messages"]:
        content = message.get("content")
        if isinstance(content, dict):
            content = inputs[content["input"]]
        elif isinstance(content, list):
            content = [
                {**part, "text": inputs[part["text"]["input"]]} if isinstance(part.get("text"), dict) else part
                for part in content
            ]
        messages.append({**message, "content": content} if "content" in message else message)
    return {**chat, "messages": messages}


LISTED = ("contexts", "passages", "documents", "retrieved_contexts")  # inputs that hold several texts, as a JSON list
UNVARIED = frozenset(("context", *LISTED))  # inputs that people do not write, beside those that they do


def passages_of(inputs: Inputs) -> dict[str, list[str]]:
    """The inputs that hold a list of passages, by name."""
    found = {}
    for name in LISTED:
        if inputs.get(name, "").startswith("["):
            with suppress(msgspec.MsgspecError):
                found[name] = msgspec.json.decode(inputs[name], type=list[str])
    return found


def as_sent(inputs: Inputs) -> Json:
    """What a system gets of an example: its texts by name, lists of passages as lists, and a chat as its messages and
    tools."""
    if CHAT in inputs and is_chat(inputs):
        return chat_of(inputs)
    return inputs if inputs.keys().isdisjoint(LISTED) else {**inputs, **passages_of(inputs)}


def chat_problem(inputs: Inputs) -> str | None:
    """Why these inputs are not a chat, if they are not; for suites that were written by hand."""
    try:
        chat = chat_of(inputs)
    except (KeyError, TypeError, AttributeError, msgspec.MsgspecError):
        return f"the input {CHAT!r} must be a chat as JSON, {{'messages': […]}}, not {inputs.get(CHAT)!r:.60}"
    return messages_problem(chat["messages"])


CHOICES = "choices"
LETTERS = "ABCDEFGHIJ"
_LINE = re.compile(r"([A-J])\. (.*)")


def lettered(choices: Sequence[str], letters: str = LETTERS) -> str:
    """Choices as the text of the input, each on one line."""
    return "\n".join(f"{letter}. {' '.join(text.split())}" for letter, text in zip(letters, choices, strict=False))


def choices_in(inputs: Inputs) -> dict[str, str]:
    """From letters to choices, in their order; empty where the inputs have none in this form."""
    lines = [_LINE.fullmatch(line) for line in inputs.get(CHOICES, "").split("\n")]
    found = {line[1]: line[2] for line in lines if line}
    return found if len(found) == len(lines) > 1 else {}


def letter_of(gold: Json, choices: Sequence[str], labels: Sequence[str] = ()) -> str | None:
    """The letter of the right choice, which is given by its place from 0, its letter, its own label or its text."""
    if isinstance(gold, bool):
        return None
    if isinstance(gold, int):
        return LETTERS[gold] if 0 <= gold < len(choices) else None
    text = str(gold).strip()
    if text in labels:
        return LETTERS[list(labels).index(text)]
    if re.fullmatch(r"\(?[A-Ja-j][.)]?", text) and (at := LETTERS.index(text.strip("(.)").upper())) < len(choices):
        return LETTERS[at]
    if text in choices:
        return LETTERS[list(choices).index(text)]
    return LETTERS[int(text)] if text.isdecimal() and int(text) < len(choices) else None


def moved_back(letter: str, before: Inputs, after: Inputs) -> str:
    """The letter that the choice had before it changed places; the letter itself in brackets where it is of none."""
    text = choices_in(after).get(letter)
    return next((old for old, choice in choices_in(before).items() if choice == text), f"({letter})")


_LEFT_OUT = re.compile(r"[ ,./\-_*^]")  # what BFCL does not look at when it compares texts
_LIKE_JSON = re.compile(r"\s*(```|[\[{])")


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]


def calls_of(output: Json) -> list[Call] | None:
    """The calls of an output; none where it is words instead, and None where it is a call that can't be read.

    They may be the model's own list, OpenAI's `tool_calls`, or JSON in a text.
    """
    if output is None:
        return []
    if isinstance(output, str):
        if not _LIKE_JSON.match(output):
            return []
        try:
            fenced = re.fullmatch(r"\s*```\w*\n?(.*?)```\s*", output, re.S)
            output = decode(fenced[1] if fenced else output)
        except msgspec.DecodeError:
            return None
    if isinstance(output, dict):
        output = output.get("tool_calls", [output])
    if not isinstance(output, list):
        return None
    calls = []
    for item in output:
        openai = isinstance(item, dict) and isinstance(item.get("function"), dict)
        call = item["function"] if openai else item
        name = arguments = None
        if isinstance(call, dict) and "name" in call:
            name, arguments = call["name"], call.get("arguments", call.get("parameters", {}))
        elif isinstance(call, dict) and len(call) == 1:  # BFCL's
            ((name, arguments),) = call.items()
        if isinstance(arguments, str):
            with suppress(msgspec.DecodeError):
                arguments = decode(arguments or "{}")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return None
        calls.append(Call(name, arguments))
    return calls


def standard_text(text: str) -> str:
    """A text as BFCL compares it: no spaces, no `,./-_*^`, lower case, one kind of quotation mark."""
    return _LEFT_OUT.sub("", text).lower().replace("'", '"')


def standard(value: Json, form: Callable[[str], str] = standard_text) -> Json:
    """A value in which texts have their standard form, or another, and whole numbers are whole: 5.0 is 5."""
    if isinstance(value, str):
        return form(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [standard(item, form) for item in value]
    if isinstance(value, dict):
        return {key: standard(item, form) for key, item in value.items()}
    return value
