"""The error tree in the module's docstring is the tree of the classes, exit codes and all."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import unfazed
from unfazed.core import errors


def test_the_docstring_is_the_tree() -> None:
    written = {name: int(code) for name, code in re.findall(r"(\w+) +(\d) ", errors.__doc__ or "")}
    classes = {
        name: cls.exit_code
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.UnfazedError)
    }
    assert written == classes


def test_places_are_as_editors_count() -> None:
    assert str(errors.DataError("bad", "mine.jsonl", 7)) == "mine.jsonl:7: bad"
    assert str(errors.DataError("bad", "mine.jsonl")) == "mine.jsonl: bad"


def test_a_missing_extra_shows_the_line() -> None:
    assert "pip install 'unfazed[hf]'" in str(errors.MissingExtra("jointbert", "hf"))


def test_every_public_name_is_there() -> None:
    assert set(unfazed.__all__) == set(dir(unfazed))
    for name in unfazed.__all__:
        assert getattr(unfazed, name) is not None


def test_an_option_is_spelled_as_the_caller_spells_it() -> None:
    assert (errors.option("input"), errors.option("o", "to"), errors.option("max-drop")) == (
        "input=",
        "to=",
        "max_drop=",
    )
    with errors.at_command_line():
        assert (errors.option("input"), errors.option("o", "to"), errors.option("max-drop")) == (
            "--input",
            "-o",
            "--max-drop",
        )
        code = "from unfazed.core.errors import option; print(option('input'))"
        worker = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert worker.stdout == "--input\n"
    assert errors.option("input") == "input="
