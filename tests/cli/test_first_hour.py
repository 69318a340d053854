"""The first hour: mistakes that new users make, each with a message that says what next; help; completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import commands
import pytest
from click.testing import CliRunner

from unswayed.cli import unswayed as program

MINE = [("turn off the lights", "lights"), ("play some jazz", "music"), ("more light please", "lights")]
MODULE = """
import numpy as np
from unswayed.score import MeanScorer, Scorer
def fine(batch): return ["lights" if "light" in x["text"] else "music" for x in batch]
def wrong_key(batch):
    return [x["txt"] for x in batch]
def one_text(text): return "lights"
def one_row(row): return row["text"]
def no_argument(): return []
def no_return(batch): fine(batch)
def too_few(batch): return ["lights"]
def mapping(batch): return {x["text"]: "a" for x in batch}
def frame(batch):
    import pandas
    return pandas.DataFrame({"label": fine(batch)})
async def later(batch): return fine(batch)
def laters(batch): return [later([x]) for x in batch]
def leaves(batch): raise SystemExit(2)
def things(batch): return [object() for x in batch]
def generator(batch): yield from fine(batch)
def array(batch): return np.array(fine(batch))
def odd(batch):
    if any("jazz" in x["text"] for x in batch): raise ValueError("no jazz")
    return fine(batch)
class Model:
    def predict(self, batch): return fine(batch)
class NoMethod(Scorer): pass
class OtherArguments(MeanScorer):
    def item(self, output, gold): return 1.0
class NoNumber(MeanScorer):
    def item(self, output, gold, task): return None
class Raises(MeanScorer):
    def item(self, output, gold, task): return output.nothing
class NoName(MeanScorer):
    def item(self, output, gold, task): return float(output == gold)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first_hour")
    (folder / "mine.jsonl").write_text("".join(json.dumps({"text": t, "label": g}) + "\n" for t, g in MINE))
    (folder / "my.py").write_text(MODULE)
    (folder / "broken.py").write_text("import no_such_module\n")
    (folder / "syntax.py").write_text("def predict(batch) return batch\n")
    (folder / "model.joblib").write_bytes(b"\x80")
    (folder / "empty").mkdir()
    vary = ["vary", "mine.jsonl", "--lang", "en", "--with", "spoken/filler_end", "--draws", "2", "-o", "suite"]
    commands.unswayed(*vary, cwd=folder, check=True)
    return folder


SYSTEMS = [
    ("my.fine", 4, "Did you mean 'my:fine'?"),
    ("my.py:fine", 4, "Did you mean 'my:fine'?"),
    ("my", 4, "Did you mean 'my:predict'?"),
    ("my:", 4, "names no function"),
    ("my:predict", 4, "'my' has no 'predict'. It offers: "),
    ("mine:fine", 4, "There is no module 'mine' here or installed. Run from the folder"),
    ("broken:fine", 4, "import no_such_module\nModuleNotFoundError"),
    ("syntax:predict", 4, "SyntaxError"),
    ("my:Model", 4, "is a class. Make an object of it"),
    ("my:np", 4, "which can't be called"),
    ("sklearn:model.joblib", 4, "python -c \"import joblib, skops.io as io; io.dump(joblib.load('model.joblib')"),
    ("model.joblib", 4, "use sklearn:model.joblib"),
    ("empty", 4, "has no system.json"),
    ("nothing", 4, "A system is one of"),
    ("hf:nothing", 4, "there is no such folder"),
    ("cmd:no-such-program", 4, "Is it installed and on the PATH?"),
    ("my:wrong_key", 3, 'File "my.py", line 6, in wrong_key\n    return [x["txt"] for x in batch]\nKeyError: \'txt\''),
    ("my:one_text", 0, ""),
    ("my:one_row", 3, "If it takes one text, name its parameter text"),
    ("my:no_argument", 3, "takes 0 positional arguments"),
    ("my:no_return", 3, "returned None"),
    ("my:too_few", 3, "returned 1 outputs for"),
    ("my:mapping", 3, "returned dict"),
    ("my:frame", 3, "Return one column"),
    ("my:later", 0, ""),
    ("my:laters", 3, "returned coroutines"),
    ("my:leaves", 3, "the system left by SystemExit: 2"),
    ("my:things", 5, "which is not JSON"),
    ("my:generator", 0, ""),
    ("my:array", 0, ""),
]


@pytest.mark.parametrize(("system", "code", "message"), SYSTEMS)
def test_a_wrong_system_says_what_next(place: Path, tmp_path: Path, system: str, code: int, message: str) -> None:
    done = commands.unswayed("run", "suite", "--system", system, "-o", tmp_path / "run", cwd=place)
    assert message in done.stderr
    assert done.returncode == code, done.stderr
    assert "internal error" not in done.stderr
    assert "RuntimeWarning" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--score", "my:NoMethod"], "must have a method stats(self, outputs, golds, task)"),
        (["--score", "my:OtherArguments"], "must take (self, output, gold, task), not (self, output, gold)"),
        (["--score", "my:NoNumber"], "`item` must return a number"),
        (["--score", "my:Raises"], "your code raised an error:\n\n  File \"my.py\", line"),
        (["--score", "my:fine"], "is not a class that extends unswayed.score.Scorer"),
        (["--prompt", "p.txt"], "There is no prompt p.txt."),
        (["--option", "bacth_size=3"], "Did you mean 'batch_size'?"),
        (["--model", "gpt"], "--model is for a URL"),
        (["--device", "gpu"], "'gpu' is not one of 'auto', 'cpu', 'cuda', 'mps'"),
    ],
)  # fmt: skip
def test_a_wrong_option_says_what_next(place: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = commands.unswayed("run", "suite", "--system", "my:fine", "-o", tmp_path / "run", *arguments, cwd=place)
    assert message in done.stderr
    assert done.returncode in (3, 4)
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vary", "nothing.jsonl", "--with", "keyboard/adjacent", "-o", "-"], "nothing.jsonl"),
        (["vary", "empty", "--with", "keyboard/adjacent", "-o", "-"], "empty"),
        (["vary", "mine.jsonl", "--with", "keyboard/adjacent"], "-o"),
        (["vary", "mine.jsonl", "-o", "-"], "--with"),
        (["vary", "mine.jsonl", "--gold", "intent", "--with", "keyboard/adjacent", "-o", "-"], "intent"),
        (["run", "nothing", "--system", "my:fine", "-o", "r"], "nothing"),
        (["run", "mine.jsonl", "--system", "my:fine", "-o", "r"], "mine.jsonl"),
        (["run", "suite", "-o", "r"], "--system"),
        (["run", "suite", "--system", "my:fine", "-o", "empty/../suite"], "-o"),
        (["run", "suite", "--system", "http://127.0.0.1:1/v1", "--prompt", "p.txt", "-o", "r"], "add --model"),
        (["report", "nothing", "-o", "r.html"], "nothing"),
    ],
)
def test_a_first_mistake_is_one_message(place: Path, arguments: list[str], message: str) -> None:
    done = commands.unswayed(*arguments, cwd=place)
    assert done.returncode in (3, 4)
    assert message in done.stderr
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_odd_item_is_a_missing_answer_and_a_scorer_needs_no_name(place: Path, tmp_path: Path) -> None:
    run = ["run", "suite", "--system", "my:odd", "--score", "my:NoName", "-o", tmp_path / "run"]
    done = commands.unswayed(*run, "--allow-missing", "0.9", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "NoName" in done.stdout


def test_gates_are_in_markdown(place: Path, tmp_path: Path) -> None:
    run = ["run", "suite", "--system", "my:fine", "-o", tmp_path / "run", "--max-drop", "0.9", "--format", "md"]
    done = commands.unswayed(*run, cwd=place)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^- .*drop is 0\.000; the upper limit is 0\.9\.", done.stdout, re.MULTILINE)
    assert "drop is" not in done.stderr


def test_debug_shows_the_whole_traceback_once(place: Path, tmp_path: Path) -> None:
    run = ["run", "suite", "--system", "my:wrong_key", "-o", tmp_path / "run"]
    by_option = commands.unswayed(*run, "--debug", cwd=place)
    by_variable = commands.unswayed(*run, cwd=place, env={"UNSWAYED_DEBUG": "1"})
    for done in (by_option, by_variable):
        assert done.returncode == 3
        assert done.stderr.count("unswayed/systems/asking.py") > 0
        assert done.stderr.count("The above exception was the direct cause") == 1
        assert "--debug" not in done.stderr


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))


def test_every_page_of_help_fits_80_columns_and_shows_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wrong = []
    for path in ((), *_commands(program)):
        shown = CliRunner().invoke(program, [*path, "--help"], prog_name="unswayed", terminal_width=80).output
        wide = [line for line in shown.split("\n") if len(line) > 80]
        example = " ".join(["unswayed", *path]) in shown.partition("\n")[2]
        if wide or not (example or "Commands:" in shown):
            wrong.append((path, wide))
        assert "\x1b" not in shown
    assert not wrong


COMPLETED = [
    (["va"], "vary"),
    (["run", "--dev"], "--device"),
    (["vary", "x", "--with", "keyboard/adj"], "keyboard/adjacent"),
    (["vary", "x", "--with", "@typ"], "@typing"),
    (["run", "s", "--device", "cu"], "cuda"),
    (["run", "s", "--system", "spacy"], "spacy: spacy/pipeline"),
    (["run", "s", "--score", "macro"], "macro_f1"),
    (["train", "int"], "intent"),
]


def test_bash_completes() -> None:
    """In a real bash, by the function that it would call."""
    tried = "\n".join(f"try unswayed {' '.join(words)}" for words, _ in COMPLETED)
    script = f"""
eval "$(_UNSWAYED_COMPLETE=bash_source unswayed)"
try() {{
  COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _unswayed_completion unswayed; echo "${{COMPREPLY[@]}}"
}}
{tried}
"""
    path = f"{commands.path()}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.stdout.split("\n")[:-1] == [expected for _, expected in COMPLETED], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_are_given_a_script_and_completions(shell: str) -> None:
    script = commands.unswayed(env={"_UNSWAYED_COMPLETE": f"{shell}_source"})
    assert script.returncode == 0
    assert "_UNSWAYED_COMPLETE" in script.stdout
    asked = {"COMP_WORDS": "unswayed va", "COMP_CWORD": "va" if shell == "fish" else "1"}
    found = commands.unswayed(env={"_UNSWAYED_COMPLETE": f"{shell}_complete", **asked})
    assert "vary" in found.stdout
    files = {"COMP_WORDS": "unswayed run su", "COMP_CWORD": "su" if shell == "fish" else "2"}
    assert "file" in commands.unswayed(env={"_UNSWAYED_COMPLETE": f"{shell}_complete", **files}).stdout


def test_doctor_shows_the_devices() -> None:
    assert "--device auto uses" in commands.unswayed("doctor").stdout
