"""Errors in a user's own code, as text: the frames of that code; with UNSWAYED_DEBUG commands show all frames."""

from __future__ import annotations

import os
import sysconfig
import traceback
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from unswayed.base.errors import option
from unswayed.base.secrets import masked

_MAX_FRAMES = 4  # of the user's, the innermost
_MAX_CHARS = 2000
_INSIDE = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")  # they stand in a line that is shown


def is_installed_code(file: Path) -> bool:
    """Is it part of Python, or of a package that was installed? Their versions are others' to keep."""
    place = file.resolve()
    return any(place.is_relative_to(folder) for folder in _places()) or "site-packages" in place.parts


@lru_cache(1)
def _places() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in names} | {Path(__file__).resolve().parents[1]})


def is_debugging() -> bool:
    return bool(os.environ.get("UNSWAYED_DEBUG"))


def error_summary(error: BaseException) -> str:
    """The error's type and message."""
    try:
        return masked(f"{type(error).__name__}: {error}")[:_MAX_CHARS].rstrip(": ")  # half a secret is not found
    except Exception:
        return f"{type(error).__name__}, which can't be shown"


def error_place(error: BaseException) -> str:
    """One line: the error's type and message, and where in the user's code it came up."""
    summary, frames = error_summary(error), own_frames(error)
    return f"{summary} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else summary


def own_traceback(error: BaseException) -> str:
    """Several lines: the user's frames, the innermost last, with their lines of code; then the error."""
    lines = []
    for frame in own_frames(error):
        file = frame.filename
        with suppress(OSError, ValueError):  # as short as it goes from here
            file = os.path.relpath(file) if Path(file).is_relative_to(Path.cwd()) else file
        lines.append(f'  File "{file}", line {frame.lineno}, in {frame.name}\n    {frame.line or "…"}')
    lines = list(dict.fromkeys(lines))[-_MAX_FRAMES:]  # one that calls itself is shown once
    only = traceback.format_exception_only(error) if isinstance(error, SyntaxError) else [error_summary(error)]
    return "\n".join([*lines, "".join(only).rstrip()[:_MAX_CHARS]])


def debug_hint() -> str:
    """Where the whole traceback is, as the last sentence of a message; nothing if the caller has it already."""
    at_command_line = option("debug").startswith("-")
    return f" {option('debug')} shows the whole traceback." if at_command_line and not is_debugging() else ""


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an error, or of what caused it, that are neither ours nor those of an installed package."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        found = []
        walked = traceback.walk_tb(one.__traceback__)
        for (frame, _), summary in zip(walked, traceback.extract_tb(one.__traceback__), strict=True):
            file = frame.f_code.co_filename
            if file.startswith("<"):  # a prompt; not what a library made at run time
                own = frame.f_globals.get("__name__") == "__main__"
            else:
                own = not is_installed_code(Path(file))
            if own and summary.name not in _INSIDE:
                found.append(summary)
        if found:
            return found
        one = one.__cause__ or one.__context__
    return []
