"""Writes the tables of docs/operators.md and docs/typing.md, between their marks, and the stored list of operators."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import msgspec

from unswayed.vary import operators
from unswayed.vary.catalogue import StoredCatalogue, entry_of, sources_sum
from unswayed.vary.keyboard.layouts import LANGUAGES, layout_for

DOCS = Path(__file__).parent
CATALOGUE = DOCS.parent / "src/unswayed/vary/catalogue.json"


def operators_table() -> str:
    """A row for each operator: its languages, its summary and its example."""
    lines = ["| operator | languages | what it does | before → after |", "|---|---|---|---|"]
    for name in operators.names():
        cls = operators.get(name)
        languages = ", ".join(cls.languages).replace("*", "any") if len(cls.languages) < 6 else len(cls.languages)
        before, after = (" ".join(text.split()).replace("|", "\\|") for text in cls.example)
        lines.append(f"| `{name}` | {languages} | {cls.summary()} | {before} → {after} |")
    return "\n".join(lines)


def layouts_table() -> str:
    """A row for each keyboard layout that is the default of a language."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for language in LANGUAGES:
        board = layout_for(language)
        found[board.name, board.title].append(f"`{language}`")
    rows = [f"| {', '.join(languages)} | `{name}` | {title} |" for (name, title), languages in found.items()]
    return "\n".join(["| language | layout | keyboard |", "|---|---|---|", *rows])


TABLES = {"operators": operators_table, "typing": layouts_table}
MARKS = {"operators": "operators", "typing": "layouts"}


def page(name: str) -> str:
    """The page with its table as the code has it."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    mark = re.escape(MARKS[name])
    part = re.compile(rf"(?<=<!-- {mark} -->\n).*?(?=<!-- end of {mark} -->)", re.S)
    return part.sub(lambda _: TABLES[name]() + "\n", text)


def stored_catalogue() -> bytes:
    """`catalogue.json`, from which `unswayed list operators` reads what our operators are."""
    entries = [entry_of(name) for name in operators.names() if operators.is_own(name)]
    return msgspec.json.format(msgspec.json.encode(StoredCatalogue(sources_sum(), entries)), indent=1) + b"\n"


if __name__ == "__main__":
    CATALOGUE.write_bytes(stored_catalogue())
    for name in TABLES:
        (DOCS / f"{name}.md").write_text(page(name), encoding="utf-8")
