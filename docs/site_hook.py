"""Adds to the site what is made from the code: a page for each operator, and every page that the navigation forgets."""

from __future__ import annotations

import html
from typing import Any

from mkdocs.structure.files import File, Files

from unswayed.base.options import OperatorSpec
from unswayed.vary import operators
from unswayed.vary.engine import describe_operator


def operator_page(name: str) -> str:
    """What an operator does, on a sentence, with its parameters and the command."""
    cls = operators.get(name)
    before, after = (html.escape(text) for text in cls.example)
    language = "" if cls.languages == ("*",) else f" --lang {cls.languages[0]}"
    lines = [
        f"# {name}",
        "",
        cls.summary(),
        "",
        f"- languages: {', '.join(cls.languages).replace('*', 'any')}",
        f"- meaning: {'kept' if cls.meaning == 'same' else 'changed; this is a control'}",
        f"- labels: {'tags and spans move with the words' if cls.aligned else 'whole texts only'}",
        f"- version: {cls.version}",
        "",
        "| before | after |",
        "|---|---|",
        f"| {before.replace('|', '&#124;')} | {after.replace('|', '&#124;')} |",
        "",
        "```sh",
        f"unswayed vary texts.txt{language} --with {name} --draws 3 --seed 7 -o suite/",
        "```",
        "",
    ]
    parameters: dict[str, Any] = describe_operator(OperatorSpec(name))["params"]
    if parameters:
        lines += ["| parameter | default |", "|---|---|", *(f"| `{k}` | `{v!r}` |" for k, v in parameters.items())]
    return "\n".join(lines) + "\n"


def on_files(files: Files, config: Any) -> Files:
    pages = []
    for name in operators.names():
        path = f"operators/{name.replace('/', '_')}.md"
        files.append(File.generated(config, path, content=operator_page(name)))
        pages.append({name: path})
    shown = {path for section in config.nav for path in _paths(section)}
    there = {file.src_uri for file in files.documentation_pages()} - {page for one in pages for page in one.values()}
    config.nav.append({"All operators": pages})
    forgotten = sorted(there - shown)
    if forgotten:
        config.nav.append({"More": forgotten})
    return files


def _paths(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [path for one in inner for path in _paths(one)]


def on_post_page(output: str, **_: object) -> str:
    """The theme's search and drawer are dialogs without a name, which screen readers need."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
