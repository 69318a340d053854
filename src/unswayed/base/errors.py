"""Every error that unswayed raises on purpose, as one tree; a command's exit code is on the class.

UnswayedError                3   something went wrong inside, or a result is incomplete
├── UsageError              4   the call, the options or the plan are wrong
│   ├── UnknownName         4   no operator, system, scorer, task or reader of that name
│   ├── NameClash           4   two things claim one name
│   ├── WrongLanguage       4   an operator was asked to vary a language it does not know
│   ├── CannotKeepLabels    4   an operator that rewrites whole texts was asked to keep token or span labels
│   └── MissingExtra        4   an optional dependency is not installed; the message has the line that installs it
├── DataError               4   an input file is bad; the message names the file and the row or field
├── StoredFileError         3   a suite or run on disk is damaged, unfinished, or of another version
│   └── StaleAnswers        3   a system no longer gives the answers that were stored
├── InUse                   3   another process works in the same run directory
├── SystemBroken            3   the system under test breaks its contract, or fails on everything
├── PullError               3   a corpus could not be fetched whole and unchanged
├── GateFailed              1   a result is below what was asked of it
├── Interrupted             2   stopped by the user; all outputs so far are kept
└── NothingEvaluated        5   no variant had an output, or the set-up looks broken, so there is nothing to say
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

_CALLER = "UNSWAYED_CALLER"  # in the environment, so that the worker processes of a command know as well


@contextmanager
def environment_set(values: Mapping[str, str | None]) -> Iterator[None]:
    """While this is open, the environment has these variables, those that are not None; so have worker processes."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update({name: value for name, value in values.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def at_command_line() -> AbstractContextManager[None]:
    """While this is open, messages name the options of the command line; otherwise the arguments in Python."""
    return environment_set({_CALLER: "command line"})


in_plan: dict[str, str] = {}  # from the command line's name of an option to how a plan in Python has it


def option(name: str, argument: str | None = None, value: str = "") -> str:
    """How the caller spells an option in a message: `--input` at the command line, `input=` in Python.

    `argument` is the name in Python where it differs: `option("o", "to")` is `-o` or `to=`. What is no argument is in a
    plan: `option("limit")` is `--limit` or `plan={"run": {"limit": …}}`. `value` is one to give it.
    """
    if os.environ.get(_CALLER):
        flag = f"-{name}" if len(name) == 1 else f"--{name}"
        return flag if name.startswith("no-") else f"{flag} {value}".rstrip()
    if (written := in_plan.get(argument or name)) is not None:
        shown = value if value in ("", "True", "False") or value.isdecimal() else f'"{value}"'
        return written.replace("…", shown or "…")
    return f"{argument or name.replace('-', '_')}={value}"


class UnswayedError(Exception):
    """Base of all errors raised on purpose; `str(error)` says what, where and what next.

    Example: `except unswayed.UnswayedError as error: print(error)`.
    """

    exit_code = 3
    partial: Any = None  # of a call without a folder: the `Run` with what was answered before the error

    def __str__(self) -> str:
        """The message, in which an error of the user's code may have quoted a secret."""
        from unswayed.base.secrets import without_known  # needs msgspec, which takes longer than all of this module

        return without_known(super().__str__())


class UsageError(UnswayedError):
    """Wrong use: an option, an argument or a name that does not exist."""

    exit_code = 4


class UnknownName(UsageError):
    """Carries the nearest valid name and the command that lists all of them."""

    def __init__(self, kind: str, name: str, known: Iterable[str], list_command: str | None = None) -> None:
        known = sorted(known)
        near = nearest(str(name), known)
        hint = f" Did you mean {near!r}?" if near else ""
        where = f" See `{list_command}`." if list_command else f" Known: {', '.join(known) or 'none'}."
        super().__init__(f"There is no {kind} named {name!r}.{hint}{where}")


class NameClash(UsageError):
    pass


class WrongLanguage(UsageError):
    pass


class CannotKeepLabels(UsageError):
    pass


class MissingExtra(UsageError):
    """Shows the exact line that installs what is missing."""

    def __init__(self, what: str, extra: str) -> None:
        from unswayed.base.project import install_line  # reads the metadata, which takes longer than all of this module

        super().__init__(f"{what} needs an optional dependency. Install it with:  {install_line(extra)}")


def import_extra(module: str, what: str, extra: str) -> Any:
    """A module of an optional dependency; raises MissingExtra where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(what, extra) from error


class DataError(UnswayedError):
    """A bad input; `where` is the file and, where it has one, the row (1-based, as editors count)."""

    exit_code = 4

    def __init__(self, message: str, path: object = None, row: int | None = None) -> None:
        where = "" if path is None else f"{path}:{row}: " if row is not None else f"{path}: "
        super().__init__(where + message)
        self.path, self.row = path, row


class StoredFileError(UnswayedError):
    """A file that unswayed keeps can't be read or written."""


class StaleAnswers(StoredFileError):
    """Stored answers are not those of the system of today."""


class InUse(UnswayedError):
    pass


class SystemBroken(UnswayedError):
    """The system answers nothing at all, so asking on makes no sense."""


class PullError(UnswayedError):
    pass


class GateFailed(UnswayedError):
    exit_code = 1


class Interrupted(UnswayedError):
    exit_code = 2


class NothingEvaluated(UnswayedError):
    """There is nothing to measure."""

    exit_code = 5


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`; a right last part (`filler_end`) counts as near."""
    known = list(known)
    tail = name.rsplit("/", 1)[-1]
    tails = [k for k in known if k.rsplit("/", 1)[-1] == tail != "*"]
    close = tails or get_close_matches(name, known, n=1, cutoff=0.5)
    return close[0] if close else None
