"""The list of operators for people: names whole, descriptions filled to the width, and what each does to a text."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.report.marked import block, change, coloured
from unswayed.report.tables import render
from unswayed.vary.presets import Entry

_FEW = 12  # languages that are named


def operators_view(entries: Sequence[Entry], format: str = "table", languages: bool = True) -> str:
    """The operators in a format of `--format`; `languages` says whether to name those that each knows."""
    if format in ("json", "jsonl"):
        return render(entries, format)
    if format == "md":
        return render([_row(entry) for entry in entries], "md")
    if not entries:
        return "No operator fits."
    return "\n\n".join(block(entry.name, _lines(entry, languages)) for entry in entries)


def _row(entry: Entry) -> dict[str, str]:
    example = entry.example
    return {
        "name": entry.name,
        "what": entry.what,
        "languages": _languages(entry.languages),
        "parameters": _params(entry),
        "example": change(example.before, example.after) if example else "",
    }


def _lines(entry: Entry, languages: bool) -> list[str]:
    lines = [entry.what]
    if entry.example:
        lines.append(f"Example: {change(entry.example.before, entry.example.after, coloured())}")
    if entry.needs:
        lines.append(f"Needs: {entry.needs}")
    if languages:
        lines.append(f"Languages: {_languages(entry.languages)}")
    if entry.parameters:
        lines.append(f"Parameters: {_params(entry)}")
    if entry.presets:
        lines.append(f"Presets: {', '.join(entry.presets)}")
    if entry.meaning != "same":
        lines.append("Control: the meaning changes.")
    return lines


def _languages(known: Sequence[str]) -> str:
    if "*" in known:
        return "all"
    more = len(known) - _FEW
    return ", ".join(known) if more <= 1 else f"{', '.join(known[:_FEW])} and {more} more"


def _params(entry: Entry) -> str:
    return ", ".join(f"{key}={value}" for key, value in entry.parameters.items())
