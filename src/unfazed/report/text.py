"""Texts from outside made safe to show: controls visible, directions contained, lengths bounded, markup escaped."""

from __future__ import annotations

import re

import msgspec
from markupsafe import Markup, escape

from unfazed.core.edits import slots_of
from unfazed.core.values import Inputs, Json

LABEL = 80  # characters of a name that are shown
ANSWER = 300

# C0 and C1 controls, invisible marks, direction overrides, line separators, surrogates, noncharacters. The joiners
# U+200C and U+200D stay, since Persian and emoji are spelled with them.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]|[\U000e0000-\U000e0fff]"
)
_BREAKS = str.maketrans({"\n": "␊", "\t": "␉"})


def visible(text: str) -> str:
    """The text with every character that could hide, reorder or control something spelled out."""
    return _UNSEEN.sub(_name, text)


def _name(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str) -> str:
    """As `visible`, and with line breaks and tabs spelled out too."""
    return visible(text).translate(_BREAKS)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, then how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (+{len(text) - limit:,} characters)"


def outside(text: object, limit: int = LABEL) -> Markup:
    """A text from outside as HTML: shortened, visible, escaped, and isolated from the direction around it."""
    return Markup("<bdi>{}</bdi>").format(visible(shorten(str(text), limit)))


def label(text: object, limit: int = LABEL) -> str:
    """A name from outside as one plain line, for titles, charts and sentences."""
    plain = str(text)
    return one_line(plain if len(plain) <= limit else plain[: limit - 1] + "…")


def attribute(text: object, limit: int = LABEL) -> Markup:
    """A name from outside for an attribute or a `<title>`, where no element can isolate it."""
    return escape(label(text, limit))


def spelled(value: Json, inputs: Inputs | None = None) -> str:
    """A gold or an answer as people read it: texts as they are, slots with the words that they label, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return " · ".join(_entry(str(key), part, inputs) for key, part in value.items())
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return " | ".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        return repr(value)


def _entry(key: str, value: Json, inputs: Inputs | None) -> str:
    tokens = (inputs or {}).get("text", "").split(" ")
    tags = key == "slots" and isinstance(value, list) and all(isinstance(tag, str) for tag in value)
    if tags and len(tokens) == len(value):
        slots = [f"{kind}: {' '.join(tokens[first:last])}" for kind, first, last in slots_of(value)]
        return ", ".join(slots) or "no slots"
    return f"{key}: {spelled(value)}"
