"""Writes docs/names.md from the doors of the packages and their docstrings, so that the page can't differ from them."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import TypeVar

PAGE = Path(__file__).with_name("names.md")

# The package doors, then the modules that are listed besides them. Docs, tests and import contracts have the same.
DOORS = ["base", "stats", "storage", "systems", "data", "vary", "score", "run", "mitigate", "measure", "report"]
DOORS += ["collect", "lab"]
MODULES = [
    "lab.training.loop",
    "lab.training.models",
    "lab.training.tuning",
    "report.charts",
    "systems.baselines",
    "systems.device",
]

# Names that are values or types, which have no docstring of their own.
VALUES = {
    "Array": "A numpy array of floats.",
    "Arrays": "Numpy arrays by name.",
    "CORRECTIONS": "The corrections for several tests by name.",
    "EMBEDDED_CORRECTOR": "The name of the corrector that needs no model.",
    "Floats": "A numpy array of single-precision floats.",
    "Given": "The values of a study's options by name.",
    "Group": "A text and the versions of it.",
    "Inputs": "The texts of an example by name.",
    "Ints": "A numpy array of integers.",
    "Json": "Any JSON value.",
    "MeanKind": "What a mean is of: a share, a difference that is mostly zero, or a contrast of two systems.",
    "NATURE": "The operators that random and hard sets use by default.",
    "NONE": "The mark in a table for a number that does not exist.",
    "Pair": "An output and its gold.",
    "Row": "A row of a table: cells by column name.",
    "Rows": "The features of each text, as numbers.",
    "Stats": "A row of numbers for each item.",
    "TIES": "The ways to count a tie.",
    "Tensors": "Tensors by name.",
    "Ties": "How a tie counts: `loss`, `half` or `drop`.",
    "VERSION": "The version of unswayed.",
    "corpora": "The public corpora that `unswayed data pull` knows.",
    "operators": "The registry of operators.",
    "readers": "The registry of readers.",
    "scorers": "The registry of scores.",
    "studies": "The registry of studies.",
    "systems": "The registry of systems.",
}


def page() -> str:
    """The whole page: every name of every door with its first sentence."""
    parts = [
        "# Names for extensions\n\nMade by `make docs` from the docstrings; do not edit. "
        "[Extending](extending.md) shows how to use them.\n"
    ]
    for place in (*DOORS, *MODULES):
        module = importlib.import_module(f"unswayed.{place}")
        rows = [f"| `{name}` | {said(name, getattr(module, name))} |" for name in names_of(module)]
        parts.append(f"## unswayed.{place}\n\n{first_sentence(module)}\n\n| name | what it is |\n|---|---|")
        parts[-1] += "\n" + "\n".join(rows) + "\n"
    return "\n".join(parts)


def names_of(module: object) -> list[str]:
    """What a door offers; of a module without a list, the public things that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    here = module.__name__  # type: ignore[attr-defined]
    found = {n: v for n, v in vars(module).items() if not n.startswith("_") and not isinstance(v, TypeVar)}
    return sorted(name for name, value in found.items() if getattr(value, "__module__", None) == here)


def said(name: str, thing: object) -> str:
    text = VALUES.get(name) or (first_sentence(thing) if inspect.isclass(thing) or inspect.isroutine(thing) else "")
    return text.replace("|", "\\|")


def first_sentence(thing: object) -> str:
    """The first paragraph of a docstring as one line; nothing for a docstring that Python made itself."""
    doc = thing.__doc__ if isinstance(getattr(thing, "__doc__", None), str) else ""
    return "" if not doc or doc.startswith(getattr(thing, "__name__", "-") + "(") else " ".join(
        inspect.cleandoc(doc).split("\n\n")[0].split()
    )  # fmt: skip


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
