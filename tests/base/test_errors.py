"""The error tree in the module's docstring is the tree of the classes, exit codes and all."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unswayed
from unswayed.base import errors


def test_the_docstring_is_the_tree() -> None:
    written = {name: int(code) for name, code in re.findall(r"(\w+) +(\d) ", errors.__doc__ or "")}
    classes = {
        name: cls.exit_code
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.UnswayedError)
    }
    assert written == classes


def test_places_are_as_editors_count() -> None:
    assert str(errors.DataError("bad", "mine.jsonl", 7)) == "mine.jsonl:7: bad"
    assert str(errors.DataError("bad", "mine.jsonl")) == "mine.jsonl: bad"


def test_a_missing_extra_shows_the_line() -> None:
    message = str(errors.MissingExtra("jointbert", "hf"))
    assert "pip install" in message
    assert "'torch==2.13.0'" in message
    assert "unswayed[" not in message, "the name is not registered: nobody may be told to install it"


def test_every_public_name_is_there() -> None:
    assert set(unswayed.__all__) == set(dir(unswayed))
    for name in unswayed.__all__:
        assert getattr(unswayed, name) is not None


def test_an_option_is_spelled_as_the_caller_spells_it() -> None:
    assert (errors.option("input"), errors.option("o", "to"), errors.option("mirror")) == (
        "input=",
        "to=",
        "mirror=",
    )
    with errors.at_command_line():
        assert (errors.option("input"), errors.option("o", "to"), errors.option("mirror")) == (
            "--input",
            "-o",
            "--mirror",
        )
        code = "from unswayed.base.errors import option; print(option('input'))"
        worker = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert worker.stdout == "--input\n"
    assert errors.option("input") == "input="


# Whole command lines, of unswayed or of other programs, which are the same for every caller.
COMMANDS = {
    "collect/backends.py": "pg_dump",
    "collect/study.py": "unswayed collect new",
    "base/options.py": "flags of the command line, as they are declared",
    "data/logs/__init__.py": "lm_eval",
    "integrations/baseline.py": "git",
    "lab/ime/__init__.py": "g++",
    "measure/comparison/logs.py": "lm_eval",
    "measure/correcting.py": "unswayed collect items",
    "measure/sentences.py": "unswayed augment",
    "papers/dialect/metrics/environment.py": "pip install",
    "papers/dialect/page.py": "the page of a study, which has a command line alone",
    "papers/findings/judge.py": "the page of a study",
    "papers/findings/norsid.py": "the page of a study",
    "papers/findings/rocs.py": "the page of a study",
    "papers/findings/sdqa.py": "the page of a study",
    "papers/findings/simulated.py": "the page of a study",
    "papers/findings/study.py": "the page of a study",
    "papers/findings/typos.py": "the page of a study",
    "papers/nature/page.py": "the page of a study",
    "papers/nature/strategies.py": "unswayed augment --help",
    "papers/parte/glove.py": "pip install",
    "papers/readin/page.py": "the page of a study",
    "report/again.py": "how to make a run again",
    "report/export/inspect_ai.py": "inspect eval",
    "report/export/lm_eval.py": "lm_eval",
    "report/export/promptfoo.py": "unswayed run",
    "run/plan.py": "flags of the command line, as they are declared",
    "systems/clients.py": "names both forms: the client is passed in Python, the option also in a terminal",
    "systems/model_folder.py": "pip install",
    "systems/program_files.py": "options of node and Python",
    "vary/keyboard/ime/__init__.py": "apt-get",
    "vary/operator.py": "spells the parameters of operators",
    "vary/speech/roundtrip.py": "espeak-ng",
}


@pytest.mark.slow
def test_messages_outside_the_command_line_spell_no_option_themselves() -> None:
    root = Path(unswayed.__file__).parent
    spelled = set()
    for file in root.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        documented = [n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))]
        docs = {id(n.body[0].value) for n in documented if n.body and isinstance(n.body[0], ast.Expr)}
        texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if any(id(n) not in docs and re.search(r"(?<![\w-])--[a-z]", n.value) for n in texts):
            spelled.add(file.relative_to(root).as_posix())
    assert {name for name in spelled if not name.startswith("cli/")} == COMMANDS.keys(), "use base.errors.option"
