"""What holds the packages apart: doors that offer names, and underscore modules that stay inside."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unfazed

SOURCE = Path(unfazed.__file__).parent
DOORS = ("core", "data", "measure", "mitigate", "report", "run", "score", "systems", "systems.metrics",
         "systems.baselines", "vary")  # fmt: skip


def imports(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, `from a import b` as `a.b`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(module: str) -> str:
    """The folder below unfazed that a module is in; each paper is a package of its own."""
    parts = module.split(".")
    return ".".join(parts[1:3] if parts[1:2] == ["papers"] else parts[1:2])


def crossings() -> Iterator[tuple[str, str]]:
    """(importer, underscore module of another package) for all of `src`."""
    for file in sorted(SOURCE.rglob("*.py")):
        here = ".".join(("unfazed", *file.relative_to(SOURCE).with_suffix("").parts))
        for name in imports(file):
            parts = name.split(".")
            hidden = next((i for i, p in enumerate(parts) if p.startswith("_") and not p.endswith("__")), None)
            if parts[0] == "unfazed" and hidden and package_of(name) != package_of(here):
                yield here, ".".join(parts[: hidden + 1])


def test_no_package_imports_the_underscore_module_of_another() -> None:
    assert list(crossings()) == []


@pytest.mark.parametrize("name", DOORS)
def test_a_door_opens_to_every_name_it_lists(name: str) -> None:
    door = importlib.import_module(f"unfazed.{name}")
    for offered in door.__all__:
        assert getattr(door, offered) is not None
    assert len(set(door.__all__)) == len(door.__all__)
    modules = {file.stem for file in Path(str(door.__file__)).parent.iterdir()}
    assert not modules & set(door.__all__), "a name that is also a module's would mean one or the other by chance"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = door.nothing


def test_doors_are_light() -> None:
    names = ", ".join(f"unfazed.{name}" for name in DOORS if not name.startswith("score"))
    script = f"import sys, {names}\nheavy = {{'numpy', 'torch', 'click', 'jinja2', 'arro3'}} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", f"{script}assert not heavy, heavy"], check=True)
