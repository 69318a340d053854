"""Tool calls in whatever form a model gives them: its own list, OpenAI's `tool_calls`, or JSON in a text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from unswayed.base.json import decode
from unswayed.base.values import Json

_LEFT_OUT = re.compile(r"[ ,./\-_*^]")  # what BFCL does not look at when it compares texts
_LIKE_JSON = re.compile(r"\s*(```|[\[{])")


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]


def calls_of(output: Json) -> list[Call] | None:
    """The calls of an output; none where it is words instead, and None where it is a call that can't be read."""
    if output is None:
        return []
    if isinstance(output, str):
        if not _LIKE_JSON.match(output):
            return []
        try:
            output = decode(_unfenced(output))
        except msgspec.DecodeError:
            return None
    if isinstance(output, dict):
        output = output.get("tool_calls", [output])
    if not isinstance(output, list):
        return None
    calls = [_call(item) for item in output]
    return None if None in calls else [call for call in calls if call is not None]


def _unfenced(text: str) -> str:
    fenced = re.fullmatch(r"\s*```\w*\n?(.*?)```\s*", text, re.S)
    return fenced[1] if fenced else text


def _call(item: Json) -> Call | None:
    if isinstance(item, dict) and isinstance(item.get("function"), dict):  # OpenAI's
        item = item["function"]
    if not isinstance(item, dict):
        return None
    if "name" in item:
        name, arguments = item["name"], item.get("arguments", item.get("parameters", {}))
    elif len(item) == 1:  # BFCL's
        ((name, arguments),) = item.items()
    else:
        return None
    if isinstance(arguments, str):
        try:
            arguments = decode(arguments or "{}")
        except msgspec.DecodeError:
            return None
    return Call(name, arguments) if isinstance(name, str) and isinstance(arguments, dict) else None


def standard_text(text: str) -> str:
    """A text as BFCL compares it: no spaces, no `,./-_*^`, lower case, one kind of quotation mark."""
    return _LEFT_OUT.sub("", text).lower().replace("'", '"')


def standard(value: Json) -> Json:
    """A value in which texts have their standard form, and whole numbers are whole: 5.0 is 5."""
    if isinstance(value, str):
        return standard_text(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [standard(item) for item in value]
    if isinstance(value, dict):
        return {key: standard(item) for key, item in value.items()}
    return value
