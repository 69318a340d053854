"""The list of operators for people: a block for each, with what it changes marked."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.report.terminal import change, shows_colours, titled
from unswayed.vary.catalogue import OperatorEntry

_LANGUAGES = 12  # that are named


def operators_view(entries: Sequence[OperatorEntry], format: str = "table", languages: bool = True) -> str:
    """The operators in a format of `--format`; `languages` says whether to name those that each knows."""
    if format != "table":
        from unswayed.report.tables import render  # which imports all that is measured
    if format in ("json", "jsonl"):
        return render(entries, format)
    if not entries and format != "md":
        return "No operator fits."
    rows, blocks = [], []
    for entry in entries:
        example, known = entry.example, ", ".join(entry.languages)
        parameters = ", ".join(f"{key}={value}" for key, value in entry.parameters.items())
        if "*" in entry.languages:
            known = "all"
        elif (more := len(entry.languages) - _LANGUAGES) > 1:
            known = f"{', '.join(entry.languages[:_LANGUAGES])} and {more} more"
        shown = change(example.before, example.after, format != "md" and shows_colours()) if example else ""
        row = {"name": entry.name, "what": entry.what, "languages": known, "parameters": parameters}
        rows.append(row | {"example": shown})
        lines = {
            "Example": shown,
            "Needs": entry.needs,
            "Languages": known if languages else "",
            "Parameters": parameters,
            "Presets": ", ".join(entry.presets),
            "Control": "the meaning changes." if entry.meaning != "same" else "",
        }
        told = [f"{name}: {text}" for name, text in lines.items() if text]
        blocks.append(titled(entry.name, [entry.what, *told]))
    return render(rows, "md") if format == "md" else "\n\n".join(blocks)
