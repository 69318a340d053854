"""Writes docs/tutorials/NAME.ipynb from NAME.py: cells are separated by `# %%`, texts by `# %% [markdown]`.

Cells are run in an empty folder, and what the last line of each gives is kept as its output: `make notebooks`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[1] / "docs/tutorials"


def cells(source: str) -> list[tuple[str, str]]:
    """The kind, `markdown` or `code`, and the text of each cell."""
    found = []
    for part in re.split(r"^# %%", source, flags=re.M)[1:]:
        head, _, text = part.partition("\n")
        kind = "markdown" if "[markdown]" in head else "code"
        lines = text.strip("\n").split("\n")
        shown = [re.sub("^# ?", "", line) for line in lines] if kind == "markdown" else lines
        found.append((kind, "\n".join(shown)))
    return found


def run(code: str, names: dict[str, Any]) -> str:
    """Runs a cell; returns what it prints, then what its last line gives if that is not None."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    return printed.getvalue() + ("" if value is None else f"{value!r}\n")


def notebook(source: str, execute: bool = True) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    made = []
    for kind, text in cells(source):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{len(made)}", "metadata": {}, "source": _lines(text)}
        if kind == "code":
            said = run(text, names) if execute else ""
            output = {"name": "stdout", "output_type": "stream", "text": _lines(said.rstrip("\n"))}
            cell |= {"execution_count": None, "outputs": [output] if said else []}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    sys.path.insert(0, "")
    home = Path.cwd()
    for file in sorted(PLACE.glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            made = notebook(file.read_text(encoding="utf-8"))
            os.chdir(home)
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        file.with_suffix(".ipynb").write_text(text, encoding="utf-8")
        print(file.with_suffix(".ipynb").name)


if __name__ == "__main__":
    main()
