"""NOTICE names the source and the licence of every table that the package ships, and the wheel names NOTICE."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/unswayed"
CODE = {".py", ".pyi", ".pyc", ".html", ".jinja", ".js", ".cjs", ".css", ".svg", ".sql", ".cpp", ".yml", ".md"}
LICENCES = {"LICENSE.txt", "NOTICE.md", "speako_LICENSES.txt", "characters_LICENSES.txt"}


def lines() -> list[list[str]]:
    text = (ROOT / "NOTICE").read_text("utf-8")
    return [[part.strip() for part in line.split("|")] for line in text.splitlines() if line.count("|") == 2]


def tables() -> list[str]:
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.name not in LICENCES)
    return [
        path.relative_to(PACKAGE).as_posix() for path in files if path.suffix not in CODE and path.name != "py.typed"
    ]


def test_every_table_has_one_line_and_every_line_a_table() -> None:
    found = {name: [pattern for pattern, _, _ in lines() if fnmatch.fnmatch(name, pattern)] for name in tables()}
    assert len(found) > 80
    assert {name: patterns for name, patterns in found.items() if len(patterns) != 1} == {}
    assert {pattern for pattern, _, _ in lines()} == {pattern for patterns in found.values() for pattern in patterns}
    assert all(source and licence for _, source, licence in lines())


def test_longer_notices_are_named_and_go_into_the_wheel() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8")
    given = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["license-files"]
    longer = {path for path in PACKAGE.rglob("*") if path.name in LICENCES}
    assert len(longer) == 6
    assert {path.relative_to(ROOT).as_posix() for path in longer} | {"LICENSE", "NOTICE"} == set(given)
    assert all(path.name in notice and path.parent.relative_to(ROOT).as_posix() in notice for path in longer)
