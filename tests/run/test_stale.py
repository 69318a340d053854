"""What decides an answer, and is no part of the command or of its source: a change of it makes stored answers unusable.

No answer is checked here (`canary` is 0), so that what these tests see is seen by content alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import unswayed

from unswayed.run.engine import run_system
from unswayed.storage.answers import Asked
from unswayed.storage.suite import Suite

UNCHECKED = {"run": {"asking": {"canary": 0}}}


def write(file: str, text: str) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text)


# Holds a database open, so that what it writes stands in the log alone.
HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode=WAL")
db.execute("PRAGMA wal_autocheckpoint=0")
db.execute("CREATE TABLE IF NOT EXISTS answers (answer TEXT)")
for line in sys.stdin:
    db.execute("DELETE FROM answers")
    db.execute("INSERT INTO answers VALUES (?)", (line.strip(),))
    db.commit()
    print("done", flush=True)
"""
OPEN: list[subprocess.Popen[str]] = []


def answer_in_log(place: str, answer: str) -> None:
    if answer == "a":
        command = [sys.executable, "-c", HOLDER, place]
        OPEN.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    writer = OPEN[-1]
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(f"{answer}\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "done\n"


# By name: how a function comes by its answer, and what makes that `a`, then `b`.
FUNCTIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "module": ("import importlib\nx = importlib.import_module('hel' + 'per')\ndef find(): return x.A\n",
               lambda a: write("helper.py", f"A = '{a}'  # {'of the second edition' * (a == 'b')}\n")),
    "late_module": ("def find():\n    import importlib\n    return importlib.import_module('la' + 'ter').A\n",
                    lambda a: write("later.py", f"A = '{a}'  # {'of the second edition' * (a == 'b')}\n")),
    "beside": ("from pathlib import Path\ndef find(): return (Path(__file__).parent / ('wor' + 'ds')).read_text()\n",
               lambda a: write("words", a)),
    "at_import": ("with open('im' + 'port.cfg') as f: A = f.read()\ndef find(): return A\n",
                  lambda a: write("import.cfg", a)),
    "dot_file": ("def find():\n    with open('.set' + 'tings') as f: return f.read()\n",
                 lambda a: write(".settings", a)),
    "resource": ("from importlib.resources import files\n"
                 "def find(): return files('pack').joinpath('ta' + 'ble').read_text()\n",
                 lambda a: (write("pack/__init__.py", ""), write("pack/table", a))),
    "globbed": ("import glob\ndef find(): return 'ab'[len(glob.glob('parts/*')) - 1]\n",
                lambda a: write(f"parts/{a}", "")),
    "log_of_sqlite": ("import sqlite3\ndef find():\n    db = sqlite3.connect('answers' + '.db')\n"
                      "    try: return db.execute('SELECT answer FROM answers').fetchone()[0]\n"
                      "    finally: db.close()\n",
                      lambda a: answer_in_log("answers.db", a)),
    "path_module": ("import elsewhere_on_the_path as x\ndef find(): return x.A\n",
                    lambda a: write("lib/elsewhere_on_the_path.py", f"A = '{a}'  # {'second' * (a == 'b')}\n")),
    "new_variable": ("import os\ndef find(): return os.environ.get('STALE_' + 'NEW', 'a')\n",
                     lambda a: os.environ.update({"STALE_NEW": "b"} if a == "b" else {})),
    "variable": ("import os\ndef find(): return os.getenv('STALE_' + 'ANSWER')\n",
                 lambda a: os.environ.update({"STALE_ANSWER": a})),
    "appears": ("import os\ndef find():\n    try:\n        with open('over' + 'ride') as f: return f.read()\n"
                "    except OSError: return 'a'\n",
                lambda a: write("override", "b") if a == "b" else None),
    "low_level": ("import os\ndef find():\n    f = os.open('lo' + 'w', os.O_RDONLY)\n"
                  "    try: return os.read(f, 9).decode()\n    finally: os.close(f)\n",
                  lambda a: write("low", a)),
    "thread": ("from concurrent.futures import ThreadPoolExecutor\ndef read():\n"
               "    with open('thr' + 'ead') as f: return f.read()\n"
               "def find():\n    with ThreadPoolExecutor(1) as pool: return pool.submit(read).result()\n",
               lambda a: write("thread", a)),
    "run_path": ("import runpy\ndef find(): return runpy.run_path('scr' + 'ipt.txt')['A']\n",
                 lambda a: write("script.txt", f"A = '{a}'")),
    "mapped": ("import mmap\ndef find():\n    with open('ma' + 'p', 'rb') as f:\n"
               "        with mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m: return m[:1].decode()\n",
               lambda a: write("map", a)),
    "argument": ("import subprocess\ndef find():\n"
                 "    return subprocess.run(['cat', 'named' + '.x'], capture_output=True, text=True).stdout\n",
                 lambda a: write("named.x", a)),
}  # fmt: skip
PREDICT = "\ndef predict(batch):\n    with open('log', 'a') as f: f.write('x')\n    return [find()] * len(batch)\n"
RUNS = """
import json, sys, unswayed
from unswayed.run.plan import Engine
for kind in sys.argv[2:]:
    plan = {"run": {"asking": {"canary": 0}}, "engine": Engine(workers=int(sys.argv[1]))}
    run = unswayed.run_system("suite", f"by_{kind}:predict", f"runs/{kind}", plan=plan)
    print(json.dumps([kind, run.session.asked, run.session.known, sorted({o.value for _, o in run})]), flush=True)
"""


@pytest.fixture
def place(at_work: Path, make: Callable[..., Suite]) -> Iterator[Path]:
    make(3)  # in the folder `suite`
    yield at_work
    while OPEN:
        OPEN.pop().communicate()


@pytest.mark.parametrize("workers", [1, 2])
def test_whatever_a_function_reads_is_part_of_it(place: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = list(FUNCTIONS) if workers == 1 else ["beside", "globbed", "variable"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, str(place / "lib")]))
    for name in ("STALE_NEW", "STALE_ANSWER"):
        monkeypatch.delenv(name, raising=False)

    def asked() -> dict[str, list[object]]:
        command = [sys.executable, "-c", RUNS, str(workers), *chosen]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return {kind: rest for kind, *rest in map(json.loads, done.stdout.splitlines())}

    for name in chosen:
        how, change = FUNCTIONS[name]
        write(f"by_{name}.py", how + PREDICT)
        change("a")
    first = asked()
    assert {kind: found[2] for kind, found in first.items()} == {kind: ["a"] for kind in chosen}
    again = asked()  # nothing changed, though each has written to its log
    assert {kind: found[0] for kind, found in again.items()} == dict.fromkeys(chosen, 0)
    # All is known of them, so that none need be asked again, but of one that has another program read.
    assert {kind for kind, found in again.items() if not found[1]} == {"argument"} & set(chosen)
    for name in chosen:
        FUNCTIONS[name][1]("b")
    changed = asked()
    assert {kind: found[2] for kind, found in changed.items()} == {kind: ["b"] for kind in chosen}
    assert {kind: found[0] for kind, found in asked().items()} == dict.fromkeys(chosen, 0)


LOOP = """
import json, sys
{how}
for line in sys.stdin:
    print(json.dumps({{"id": json.loads(line)["id"], "output": find()}}), flush=True)
"""
PYTHON = sys.executable


FROM_ARGUMENT = "import importlib\nfind = importlib.import_module(sys.argv[1]).find"
RESOURCE = "from importlib.resources import files\ndef find(): return files('pack').joinpath('t.txt').read_text()"
SQLITE = """
import sqlite3
def find():
    db = sqlite3.connect('answers.db')
    return db.execute('SELECT answer FROM answers').fetchone()[0]
"""
JAVASCRIPT = """
const x = require('./x');
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', line => console.log(JSON.stringify({id: JSON.parse(line).id, output: x})));
"""


def function(answer: str) -> str:
    return f"def find(): return '{answer}'"


# By name: the command; its sources, where those of Python say how it finds its answer; and what makes that `a` or `b`.
PROGRAMS: dict[str, tuple[str, dict[str, str], Callable[[str], object]]] = {
    "argument": (f"{PYTHON} a.py mod", {"a.py": FROM_ARGUMENT}, lambda a: write("mod/__init__.py", function(a))),
    "helper_of_a_script_of_a_shell": (
        "sh start.sh", {"start.sh": f"exec {PYTHON} inner/a.py", "inner/a.py": "from helper import find"},
        lambda a: write("inner/helper.py", function(a)),
    ),
    "dash_m": (
        f"{PYTHON} -m pack.main", {"pack/main.py": "from pack.x import find"},
        lambda a: write("pack/x.py", function(a)),
    ),
    "dot_file": (
        f"{PYTHON} a.py", {"a.py": "def find(): return open('.set' + 'tings').read()"},
        lambda a: write(".settings", a),
    ),
    "import_module": (
        f"{PYTHON} a.py", {"a.py": "import importlib\nfind = importlib.import_module('x' + 'y').find"},
        lambda a: write("xy.py", function(a)),
    ),
    "beside": (
        f"{PYTHON} a.py",
        {"a.py": "from pathlib import Path\ndef find(): return (Path('dir') / 'file').read_text()"},
        lambda a: write("dir/file", a),
    ),
    "resource": (
        f"{PYTHON} a.py", {"a.py": RESOURCE}, lambda a: (write("pack/__init__.py", ""), write("pack/t.txt", a)),
    ),
    "globbed": (
        f"{PYTHON} a.py", {"a.py": "import glob\ndef find(): return 'ab'[len(glob.glob('parts/*')) - 1]"},
        lambda a: write(f"parts/{a}.x", ""),
    ),
    "log_of_sqlite": (f"{PYTHON} a.py", {"a.py": SQLITE}, lambda a: answer_in_log("answers.db", a)),
    "path_module": (
        f"{PYTHON} a.py", {"a.py": "from on_the_path import find"},
        lambda a: write("lib/on_the_path.py", function(a)),
    ),
    "new_variable": (
        f"{PYTHON} a.py", {"a.py": "import os\ndef find(): return os.environ.get('STALE_NEW', 'a')"},
        lambda a: os.environ.update({"STALE_NEW": "b"} if a == "b" else {}),
    ),
    "node": ("node a.js", {"a.js": JAVASCRIPT}, lambda a: write("x.js", f"module.exports = '{a}';")),
    "model": (
        f"{PYTHON} run.py --model=weights/m.bin",
        {"run.py": "def find(): return open(sys.argv[1].partition('=')[2]).read()"},
        lambda a: write("weights/m.bin", a),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_stands_in_the_folders_of_a_program_is_part_of_it(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, sources, change = PROGRAMS[name]
    if name == "node" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    monkeypatch.setenv("PYTHONPATH", str(place / "lib"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("STALE_NEW", raising=False)
    for file, text in sources.items():
        write(file, LOOP.format(how=text) if file.endswith(".py") else text)
    change("a")

    def asked() -> tuple[int, set[object]]:
        run = run_system("suite", f"cmd:{command}", "run", plan=UNCHECKED)
        assert run.session is not None
        return run.session.asked, {output.value for _, output in run}

    every, answers = asked()
    assert (every > 0, answers) == (True, {"a"})
    write("server.log", "a line")
    write("report.html", "a page")
    assert asked() == (0, {"a"})
    change("b")
    assert asked() == (every, {"b"})
    assert asked() == (0, {"b"})
    monkeypatch.setenv("STALE_NEW", "")  # to be taken away at the end


def test_a_file_that_the_program_writes_itself_does_not_count(place: Path) -> None:
    how = "def find():\n    open('seen.json', 'a').write('x')\n    open('calls', 'a').write('x')\n    return 'a'"
    write("a.py", LOOP.format(how=how))
    command = f"cmd:{PYTHON} a.py"
    first = run_system("suite", command, "run", plan=UNCHECKED).session
    again = run_system("suite", command, "run", plan=UNCHECKED).session
    assert first is not None
    assert again is not None
    assert (again.asked, again.reused) == (0, first.asked)
    assert "outside its own folders" in again.sentence


OPERATOR = """
import os
from unswayed.base import Edit
from unswayed.vary import Change, Operator

class H(Operator):
    languages = ("en",)
    def change(self, text, rng):
        with open("sounds.txt") as file:
            word = file.read() + os.environ.get("STALE_WORD", "")
        return Change((Edit(0, 0, word),), "EDITION")
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_suite_is_made_again_once_its_operator_reads_something_else(
    tmp_path: Path, workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STALE_WORD", raising=False)
    write("d.txt", "turn it off\nplay it\n")
    write("sounds.txt", "um ")
    write("ops.py", OPERATOR)

    def vary() -> tuple[str, set[str]]:
        done = unswayed(
            "vary", "d.txt", "--with", "ops:H", "--lang", "en", "--workers", workers, "-o", "s/", check=True
        )
        return done.stderr, {v.inputs["text"].partition(" ")[0] + v.note for v in Suite("s")}

    assert vary()[1] == {"umEDITION"}
    assert "made again" not in vary()[0]
    write("sounds.txt", "er ")
    said, variants = vary()
    assert "sounds.txt has changed since s was made: the variants are made again." in said
    assert variants == {"erEDITION"}
    write("ops.py", OPERATOR.replace("EDITION", "second"))
    said, variants = vary()
    assert "ops.py has changed since s was made" in said
    assert variants == {"ersecond"}
    monkeypatch.setenv("STALE_WORD", "x ")
    said, variants = vary()
    assert "the environment variable STALE_WORD is new since s was made" in said
    assert "made again" not in vary()[0]


def test_a_hard_set_is_selected_again_once_its_selector_reads_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("d.jsonl", '{"text": "turn it off", "label": "a"}\n{"text": "play it", "label": "b"}\n')
    write("hard.py", "def predict(batch):\n    with open('ans' + 'wer') as f: return [f.read()] * len(batch)\n")
    write("answer", "a")
    line = ("vary", "d.jsonl", "--with", "spoken/filler_end", "--lang", "en", "-o", "s/")
    line = (*line, "--set", "hard", "--selector", "hard:predict")
    assert "again" not in unswayed(*line, check=True).stderr
    assert "again" not in unswayed(*line, check=True).stderr
    write("answer", "b")
    assert "answer has changed since s was made: the variants are made again." in unswayed(*line, check=True).stderr


def test_a_suite_under_a_run_is_not_made_again_behind_its_back(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"text": "turn it off", "label": "a"}\n{"text": "play it", "label": "b"}\n')
    (tmp_path / "sounds.txt").write_text("um ")
    (tmp_path / "ops.py").write_text(OPERATOR)
    (tmp_path / "clf.py").write_text("def predict(batch): return ['a' for _ in batch]\n")
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "d.jsonl"\nlanguage = "en"\n[vary]\noperators = ["ops:H"]\n[run]\nsystem = "clf:predict"\n'
    )
    for more in ((), ("--fresh",)):
        unswayed("run", "--plan", "plan.toml", *more, "-o", "r/", cwd=tmp_path, check=True)
    (tmp_path / "sounds.txt").write_text("er ")
    for more in ((), ("--fresh",)):
        done = unswayed("run", "--plan", "plan.toml", *more, "-o", "r/", cwd=tmp_path)
        assert done.returncode != 0
        assert "sounds.txt has changed since r/suite was made, and r holds a run on it" in done.stderr


SCORES = """
from unswayed.score import MeanScorer

def read(name):
    with open(name) as file:
        return file.read()

class Table(MeanScorer):
    name = "table"
    def item(self, output, gold, task):
        return float(read("weig" + "hts"))

def same(answer, reference, inputs):
    return read("ru" + "le") == "yes"

def predict(batch):
    return [inputs["text"] for inputs in batch]
"""
MEASURE = """
import unswayed
found = unswayed.measure_run("run", {"measure": {"scores": ["scores:Table"], "equivalent": "scores:same"}})
print(found.clean.value, found.flip_rate.value)
"""


def test_scores_and_flips_are_made_again_once_a_table_changed(place: Path) -> None:
    write("scores.py", SCORES)
    write("weights", "0.5")
    write("rule", "yes")
    run_system("suite", "scores:predict", "run")
    sys.modules.pop("scores")

    def measured() -> list[float]:
        done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [float(word) for word in done.stdout.split()]

    assert measured() == [0.5, 0.0]
    assert measured() == [0.5, 0.0]
    write("weights", "0.25")
    assert measured() == [0.25, 0.0]
    write("rule", "no")
    assert measured() == [0.25, 1.0]
    write("weights", "0.5")
    write("rule", "yes")
    assert measured() == [0.5, 0.0]


HOLDS = """
import unswayed
from pathlib import Path
def answers():
    run = unswayed.run_system("suite", "loaded:predict", "run", plan={"run": {"asking": {"canary": 0}}})
    return sorted({o.value for _, o in run}), run.session.asked
print(*answers())
Path("mod" + "el").write_text("b")
print(*answers())  # the module has still loaded the old one
"""


def test_what_was_loaded_counts_and_not_what_the_file_has_become(place: Path) -> None:
    write("loaded.py", "with open('mod' + 'el') as f: A = f.read()\ndef predict(batch): return [A] * len(batch)\n")
    write("model", "a")
    done = subprocess.run([sys.executable, "-c", HOLDS], capture_output=True, text=True)
    # 3 examples with 2 variants each; the examples are asked twice.
    assert done.stdout.split("\n")[:2] == ["['a'] 12", "['a'] 12"], done.stderr
    again = subprocess.run([sys.executable, "-c", HOLDS], capture_output=True, text=True)
    assert again.stdout.split("\n")[:2] == ["['b'] 12", "['b'] 0"], again.stderr


def test_temporary_files_do_not_count(place: Path) -> None:
    write(
        "temporary.py",
        """
import os, pathlib, subprocess, tempfile
def predict(batch):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["touch", f"{folder}/x"], check=True)
        return [str(len(os.listdir(folder))) + pathlib.Path(folder, "x").read_text() for _ in batch]
""",
    )
    sessions = [run_system("suite", "temporary:predict", "run", plan=UNCHECKED).session for _ in range(2)]
    assert [session and session.asked for session in sessions] == [12, 0]  # 3 of them asked twice


def test_secrets_are_no_part_of_a_system(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("keyed.py", "import os\ndef predict(batch): return [os.environ['MY_API_KEY'][:1] for _ in batch]\n")
    monkeypatch.setenv("MY_API_KEY", "a-first-secret")
    run_system("suite", "keyed:predict", "run", plan=UNCHECKED)
    assert "MY_API_KEY" not in Path("run/outputs.dependencies.json").read_text()
    monkeypatch.setenv("MY_API_KEY", "another-secret")
    again = run_system("suite", "keyed:predict", "run", plan=UNCHECKED).session
    assert again is not None
    assert again.asked == 0


def test_a_scorer_that_asks_a_server_is_checked_by_scoring_a_few_again(place: Path) -> None:
    write("asks.py", SCORES.replace('float(read("weig" + "hts"))', 'float(__import__("os").popen("cat we*").read())'))
    write("weights", "0.5")
    run_system("suite", "asks:predict", "run")
    sys.modules.pop("asks")
    measure = MEASURE.replace("scores:", "asks:")

    def measured() -> tuple[str, str]:
        done = subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[0], done.stderr

    write("rule", "yes")
    assert measured() == ("0.5", "")
    assert measured() == ("0.5", "")
    write("weights", "0.25")
    value, said = measured()
    assert value == "0.25"
    assert "table scores otherwise than before" in said


def test_answers_without_a_record_of_ones_own_are_checked(place: Path) -> None:
    write("plain.py", "def predict(batch): return ['a'] * len(batch)\n")

    def session() -> Asked:
        found = run_system("suite", "plain:predict", "run").session
        assert found is not None
        return found

    record = Path("run/outputs.dependencies.json")
    session()
    assert (session().known, session().checked) == (True, 0)
    record.write_text(record.read_text().replace('"seal": "', '"seal": "0'))  # of somebody else
    assert (session().known, session().checked) == (False, 8)
    record.unlink()  # of an earlier version
    assert (session().known, session().checked) == (False, 8)
