"""Texts for a terminal: changes marked in a line, and lines filled to its width."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from unswayed.base.text import one_line
from unswayed.report.flips import diff
from unswayed.report.tables import columns_of, terminal_width

_WIDTH = 80  # where there is no terminal
_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
_CELL = re.compile(r"\x1b\[\d+m|.", re.DOTALL)


def change(before: str, after: str, colour: bool = False, limit: int = 240) -> str:
    """The new text in one line, with what was taken out as [-old-] and what was put in as {+new+}, or in colours."""
    shape = {"del": "[-{}-]", "ins": "{{+{}+}}", "same": "{}", "cut": "{}"}
    if colour:
        shape |= {"del": _RED + "[-{}-]" + _PLAIN, "ins": _GREEN + "{{+{}+}}" + _PLAIN}
    return "".join(shape[kind].format(_shown(kind, text)) for kind, text in diff(before, after, limit))


def _shown(kind: str, text: str) -> str:
    return one_line(text.replace(" ", "␣") if kind in ("del", "ins") and text.isspace() else text)


def coloured() -> bool:
    """Is standard output a terminal that shows colours?"""
    import os

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def width() -> int:
    """The columns to fill: the terminal's, or 80 where there is none."""
    return max(terminal_width() or _WIDTH, 20)


def filled(text: str, indent: str = "", columns: int | None = None) -> str:
    """The text in lines that fit, broken at spaces where there are any; colours take no room."""
    room = (width() if columns is None else columns) - len(indent)
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


def block(title: str, lines: Iterable[str], columns: int | None = None) -> str:
    """A title, and lines that stand under it."""
    return "\n".join([title, *(filled(line, "  ", columns) for line in lines)])
