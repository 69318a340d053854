"""Machine translation for the dialect study: any system that takes a text and returns its translation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from unswayed.base import DataError, SystemBroken, UsageError, option_name
from unswayed.data import read_lines, without_break
from unswayed.storage import AnswerStore
from unswayed.systems import System, ask, open_system

Translate = Callable[[Sequence[str]], list[str | None]]


def translator(system: str, folder: Path) -> Translate:
    """Translates English texts with a system, as `open_system` names it; nothing twice."""
    return lambda texts: _translated(open_system(system), texts, folder)


def _translated(system: System, texts: Sequence[str], folder: Path) -> list[str | None]:
    """A translation for each text; None for an empty text, and where the system failed."""
    due = [text for text in texts if text]
    try:
        with AnswerStore.writer(folder) as store:
            outputs = iter(ask(system, ({"text": text} for text in due), store))
    finally:
        system.close()
    found: list[str | None] = []
    for text in texts:
        output = next(outputs) if text else None
        value = output.value if output and output.ok else None
        if value is not None and not isinstance(value, str):
            raise SystemBroken(f"{system.name} must return a translated text for {text!r:.60}, not {value!r:.60}.")
        found.append(" ".join(value.split()) or None if value else None)
    return found


def read_translations(file: Path | None, count: int) -> list[str | None]:
    """One translation per line; an empty line is none."""
    if file is None:
        return [None] * count
    lines = [without_break(line).strip() or None for line in read_lines(file)]
    if len(lines) != count:
        raise DataError(f"this file has {len(lines)} lines, but there are {count} examples to translate.", file)
    return lines


def by_language(given: Sequence[str], option: str, what: str = "FILE", such: str = "pt=pt.txt") -> dict[str, str]:
    """LANG=FILE or LANG=SYSTEM options, by language."""
    found: dict[str, str] = {}
    for one in given:
        language, equals, value = one.partition("=")
        if not equals or not value or not language:
            raise UsageError(f"{option_name(option)} takes LANG={what}, such as {such}, not {one!r}.")
        found[language] = value
    return found
