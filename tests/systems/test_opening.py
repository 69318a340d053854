from __future__ import annotations

import sys
from pathlib import Path

import pytest
from samples import intent

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.systems.callable import CallableSystem
from unswayed.systems.opening import open_system
from unswayed.systems.process import ProcessSystem
from unswayed.systems.system import System

MODULE = """
from unswayed.systems.system import System
def predict(batch): return [i["text"].upper() for i in batch]
class Model:
    def __call__(self, batch): return [0 for _ in batch]
class Mine(System):
    def __init__(self, size=1): self.size = size
    identity = "mine"
    def predict(self, batch): return [self.size for _ in batch]
class Hungry(System):
    def __init__(self, food): self.food = food
made = Mine(7)
number = 3
class space:
    inner = predict
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "opened_here", raising=False)
    Path("opened_here.py").write_text(MODULE)
    return tmp_path


def first(system: System) -> object:
    try:
        return system.predict([{"text": "a"}])[0]
    finally:
        system.close()


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ("opened_here:predict", "A"),
        ("opened_here:Model", 0),
        ("opened_here:Mine", 1),
        ("opened_here:made", 7),
        ("opened_here:space.inner", "A"),
    ],
)
def test_references(spec: str, answer: object) -> None:
    system = open_system(spec)
    assert first(system) == answer
    assert system.name == spec or spec.endswith("made")


def test_callables_classes_and_systems() -> None:
    assert first(open_system(lambda batch: ["x"], name="mine")) == "x"
    system = CallableSystem(lambda batch: [1])
    assert open_system(system) is system
    assert isinstance(open_system(ProcessSystem, command=["sh"]), ProcessSystem)


def test_a_command() -> None:
    program = (
        'import json,sys\nfor l in sys.stdin: print(json.dumps({"id": json.loads(l)["id"], "output": 4}), flush=True)'
    )
    Path("program.py").write_text(program)
    system = open_system(f"cmd:{sys.executable} program.py", timeout=30, concurrency=2)
    assert isinstance(system, ProcessSystem)
    assert system.concurrency == 2
    assert system.name.startswith("cmd:")
    assert first(system) == 4


def test_a_saved_folder_and_a_registered_name() -> None:
    model = intent()
    model.save("model")
    assert open_system("model").identity == open_system("model/").identity == model.identity
    with pytest.raises(UsageError, match=r"takes no options: seed"):
        open_system("model", seed=1)
    with pytest.raises(UsageError, match=r"Train one with Intent\.train"):
        open_system("baselines/intent")


@pytest.mark.parametrize(
    ("spec", "options", "says"),
    [
        ("nothing/such", {}, "package.module:function"),
        ("baselines/intnet", {}, "Did you mean 'baselines/intent'"),
        ("", {}, "FOLDER"),
        ("no_such_module_x:predict", {}, "no module 'no_such_module_x'"),
        ("opened_here:predic", {}, "It offers"),
        ("opened_here:number", {}, "can't be called"),
        ("opened_here:predict", {"sise": 3, "batch_size": 2}, "no option 'sise'"),
        ("opened_here:Mine", {"siz": 3}, "Did you mean 'size'"),
        ("opened_here:made", {"size": 3}, "takes no options: size"),
        ("opened_here:Hungry", {}, "needs food"),
        ("cmd:", {}, "needs a command"),
        ("cmd:sh 'open", {}, "split into words"),
        ("cmd:no-such-command-x", {}, "no-such-command-x"),
        ("cmd:sh", {"tiemout": 3}, "Did you mean 'timeout'"),
    ],
)
def test_what_is_wrong_is_said(spec: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_system(spec, **options)
    assert says in str(caught.value)


@pytest.mark.parametrize("body", ["1 +", "import no_such_module_y", "raise RuntimeError('no gpu')"])
def test_a_module_that_breaks_on_import_is_a_clear_error(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "broken_here", raising=False)
    Path("broken_here.py").write_text(body)
    with pytest.raises(UsageError, match="broken_here:predict can't be imported:\n"):
        open_system("broken_here:predict")


@pytest.mark.parametrize("card", ["{", "[]", "{}", '"x"'])
def test_a_damaged_card_is_named(card: str) -> None:
    Path("model").mkdir()
    Path("model/system.json").write_text(card)
    with pytest.raises(StoredFileError, match=r"system\.json"):
        open_system("model")


def test_a_folder_without_a_card_is_told() -> None:
    Path("empty").mkdir()
    with pytest.raises(UsageError, match=r"has no system\.json"):
        open_system("empty")
