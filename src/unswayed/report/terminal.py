"""Texts in a terminal: how wide it is, lines that fill it, and what changed in a text, marked or in colours."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable

from unswayed.base.text import one_line
from unswayed.report.diff import diff

_WIDTH = 80  # where there is no terminal
_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
_CELL = re.compile(r"\x1b\[\d+m|.", re.DOTALL)


def terminal_width() -> int | None:
    """The terminal's columns; none where standard output is a file or a pipe, which have no edge."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for what is set on another."""
    return len(text) if text.isascii() else sum(map(columns_of_character, text))


def columns_of_character(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def change(before: str, after: str, colour: bool = False, limit: int = 240) -> str:
    """The new text in one line, with what was taken out as [-old-] and what was put in as {+new+}, or in colours."""
    shape = {"del": "[-{}-]", "ins": "{{+{}+}}", "same": "{}", "cut": "{}"}
    if colour:
        shape |= {"del": _RED + "[-{}-]" + _PLAIN, "ins": _GREEN + "{{+{}+}}" + _PLAIN}
    pieces = diff(before, after, limit)
    texts = [text.replace(" ", "␣") if kind in ("del", "ins") and text.isspace() else text for kind, text in pieces]
    return "".join(shape[kind].format(one_line(text)) for (kind, _), text in zip(pieces, texts, strict=True))


def shows_colours() -> bool:
    """Is standard output a terminal that shows colours?"""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def filled(text: str, indent: str = "", columns: int | None = None) -> str:
    """The text in lines that fit, broken at spaces where there are any; colours take no room."""
    room = (max(terminal_width() or _WIDTH, 20) if columns is None else columns) - len(indent)
    lines: list[str] = []
    line, used, gap = "", 0, -1  # gap: where the line's last space is
    for cell in _CELL.findall(text):
        size = 0 if cell[0] == "\x1b" else columns_of(cell)
        if used + size > room:
            cut = gap if gap > 0 else len(line)
            lines.append(line[:cut])
            line = line[cut:].lstrip(" ")
            used = columns_of(re.sub(r"\x1b\[\d+m", "", line))
            gap = -1
            if cell == " " and not line:
                continue
        if cell == " ":
            gap = len(line)
        line, used = line + cell, used + size
    return "\n".join(indent + one.rstrip(" ") for one in [*lines, line])


def titled(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, *(filled(line, "  ") for line in lines)])
