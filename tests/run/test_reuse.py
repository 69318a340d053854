"""Stored answers: a few are asked again before any is used, and those of another system are refused."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from math import ceil
from pathlib import Path
from typing import Any

import commands
import pytest

import unswayed
from unswayed.base.errors import StaleAnswers, SystemBroken, UsageError
from unswayed.base.values import Failed, Inputs, Output
from unswayed.run.engine import run_system
from unswayed.run.plan import ComparePlan, Engine, GatePlan, Plan
from unswayed.run.record import Run
from unswayed.storage.answers import AnswerStore, Asked, hidden_share
from unswayed.storage.suite import Suite
from unswayed.systems.asking import Asking, Canary, ask, canary_count, check_canaries, same_answer
from unswayed.systems.system import System

pytestmark = pytest.mark.usefixtures("asked_once")

Make = Callable[..., Suite]
TODAY = date.today().isoformat()


class Answers(System):
    """Answers by a function under one identity, whatever the function."""

    name = "answers"
    batch_size = 4

    def __init__(self, answer: Callable[[str], Any] = lambda text: "a", deterministic: bool | None = None) -> None:
        self.answer, self.deterministic = answer, deterministic
        self.asked: list[str] = []

    @property
    def identity(self) -> str:
        return "one and the same"

    def predict(self, batch: Sequence[Inputs]) -> list[Any]:
        self.asked += [inputs["text"] for inputs in batch]
        return [self.answer(inputs["text"]) for inputs in batch]


def test_how_many_are_asked_again() -> None:
    assert [canary_count(n, None, None) for n in (0, 3, 8, 100, 400, 960, 10**6)] == [0, 3, 8, 8, 20, 32, 32]
    assert [canary_count(5000, n, None) for n in (0, 1, 300)] == [0, 1, 300]
    assert canary_count(100, None, False) == 32
    # With gates: so many that a change of half the margin is among them at 95%, and no more than a twentieth.
    wanted = [canary_count(10**6, None, None, margin) for margin in (0.2, 0.02, 0.01)]
    assert wanted == [32, 299, 598]
    assert [0.95 <= 1 - (1 - m / 2) ** n < 0.951 for m, n in zip((0.02, 0.01), wanted[1:], strict=True)] == [True, True]
    assert canary_count(4000, None, None, 0.02) == 200
    plan = Plan(gate=GatePlan(max_drop={"all": 0.05}), compare=ComparePlan(fail_if_worse={"worst": 0.03}))
    assert (plan.margin, Plan().margin, Plan(gate=GatePlan(fail_under={"worst": 0.8})).margin) == (0.03, None, 0.02)


# With ten of 960, the same ones each time, 18, 14 and 5 of 20 models with 2, 5 and 10% of changed answers passed.
@pytest.mark.parametrize(("stored", "share", "most"), [(960, 0.05, 5), (960, 0.1, 1), (9600, 0.01, 3), (9600, 0.02, 1)])
def test_how_many_changed_models_are_accepted(stored: int, share: float, most: int) -> None:
    rng, accepted = random.Random(7), 0
    for _ in range(20):
        changed = set(rng.sample(range(stored), int(stored * share)))
        accepted += changed.isdisjoint(rng.sample(range(stored), canary_count(stored, None, None, 0.02)))
    assert accepted <= most


def test_other_answers_are_checked_each_time(make: Make, tmp_path: Path) -> None:
    suite, checked = make(100), set[str]()
    run_system(suite, Answers(), tmp_path / "run")
    for _ in range(3):
        system = Answers()
        run_system(suite, system, tmp_path / "run")
        checked.update(system.asked)
    assert len(checked) > len(system.asked)


@pytest.mark.parametrize("checked", [8, 32, 299])
def test_how_large_a_change_could_go_unseen_is_said(checked: int) -> None:
    share = hidden_share(checked, 10_000)
    assert (1 - share) ** checked == pytest.approx(0.05)
    said = Asked(reused=10_000, reused_from=(TODAY, TODAY), checked=checked).sentence
    assert f"({checked} of them checked; a change of up to {ceil(100 * share)}% could go unseen)" in said
    assert hidden_share(8, 8) == 0


def test_what_was_asked_and_reused_is_said_with_the_day(make: Make, tmp_path: Path) -> None:
    suite = make(40)
    first = run_system(suite, Answers(), tmp_path / "run")
    assert first.session is not None
    assert (first.session.reused, first.session.checked) == (0, 0)
    assert first.session.sentence == f"asked {first.session.asked}, reused 0"
    system = Answers()
    again = run_system(suite, system, tmp_path / "run").session
    assert again is not None
    assert (again.asked, again.reused) == (0, first.session.asked)
    assert (again.reused_from, again.checked) == ((TODAY, TODAY), 8)
    hidden = "(8 of them checked; a change of up to 32% could go unseen)"
    assert again.sentence.startswith(f"asked 0, reused {again.reused} answered {TODAY} {hidden}")
    assert "; not recorded: " in again.sentence
    assert len(system.asked) == len(set(system.asked)) == 8
    assert unswayed.measure_run(Run(tmp_path / "run")).reused == 0


@pytest.mark.parametrize("engine", [Engine(), Engine(workers=2)])
def test_a_changed_system_of_the_same_name_is_refused(
    at_work: Path, make: Make, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (at_work / "silent.py").write_text(
        "import os, pathlib\ndef predict(batch):\n"
        "    return [pathlib.Path(os.environ['ANSWER']).read_text() for _ in batch]\n"
        "predict.unswayed_identity = 'silent'\n"
    )
    monkeypatch.setenv("ANSWER", str(at_work / "answer"))
    (at_work / "answer").write_text("a")
    suite = make()
    run_system(suite, "silent:predict", at_work / "run", plan={"engine": engine})
    (at_work / "answer").write_text("b")
    with pytest.raises(StaleAnswers) as told:
        run_system(suite, "silent:predict", at_work / "run", plan={"engine": engine})
    message = str(told.value)
    assert "run/outputs.sqlite: 8 of 8 stored answers" in message
    assert "was 'a', now it is 'b'" in message
    assert 'plan={"run": {"fresh": …}}' in message
    fresh = run_system(suite, "silent:predict", at_work / "run", plan={"engine": engine, "run": {"fresh": True}})
    assert {o.value for _, o in fresh} == {"b"}
    assert fresh.session is not None
    aside = at_work / f"run/outputs.{TODAY}.sqlite"
    assert fresh.session.aside == str(aside)
    with AnswerStore.reading(aside) as store:
        assert {value for _, some in store.scan() for value in some} == {b'"a"'}
    run_system(suite, "silent:predict", at_work / "run", plan={"engine": engine, "run": {"fresh": True}})
    assert (at_work / f"run/outputs.{TODAY}-2.sqlite").exists()


def test_one_changed_answer_in_many_is_enough_where_it_is_among_those_checked(make: Make, tmp_path: Path) -> None:
    suite = make(10)
    run_system(suite, Answers(), tmp_path / "run")
    with pytest.raises(StaleAnswers, match="'text 1!!' was 'a', now it is 'b'"):
        run_system(
            suite,
            Answers(lambda t: "b" if t == "text 1!!" else "a"),
            tmp_path / "run",
            plan={"run": {"asking": Asking(canary=1000)}},
        )
    kept = Run(tmp_path / "run")
    assert {o.value for _, o in kept} == {"a"}  # what is refused is not changed
    run_system(suite, Answers(lambda t: "b"), tmp_path / "run", plan={"run": {"asking": Asking(canary=0)}})


def test_a_dead_system_is_an_error_also_where_nothing_is_new(make: Make, tmp_path: Path) -> None:
    suite = make()
    run_system(suite, Answers(), tmp_path / "run")
    with pytest.raises(SystemBroken, match="failed when stored answers were checked.*no server"):
        run_system(suite, Answers(lambda t: Failed("no server", final=True)), tmp_path / "run")
    odd = Answers(lambda t: Failed("overloaded", final=True) if "!!" in t else "a")
    with pytest.raises(StaleAnswers, match=r"now it is a failure \(overloaded\)"):
        run_system(suite, odd, tmp_path / "run", plan={"run": {"asking": Asking(canary=1000)}})


def test_a_system_that_wavers_is_accepted_with_a_warning_and_another_one_is_not(make: Make, tmp_path: Path) -> None:
    suite = make(60)
    lots = random.Random(1)
    run_system(suite, Answers(lambda t: lots.choice("aab")), tmp_path / "run")
    again = run_system(suite, Answers(lambda t: lots.choice("aab")), tmp_path / "run").session
    assert again is not None
    assert "since the system is not deterministic" in again.warnings[0]
    with pytest.raises(StaleAnswers):
        run_system(suite, Answers(lambda t: lots.choice("cccccd")), tmp_path / "run")


def told(pairs: int, changed: int, deterministic: bool | None) -> str | None:
    kept = [Canary({"text": str(i)}, Output("a")) for i in range(pairs)]
    outputs = [Output("b" if i < changed else "a") for i in range(pairs)]
    return check_canaries("it", kept, lambda inputs: outputs, deterministic, "store", "Begin anew.")


def test_a_server_may_differ_a_little_and_a_function_not_at_all() -> None:
    assert told(40, 0, None) is None
    assert "1 of 40" in str(told(40, 1, False))
    for changed, deterministic in ((1, None), (1, True), (5, False)):
        with pytest.raises(StaleAnswers):
            told(40, changed, deterministic)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (0.5, 0.500001, True), (0.5, 0.51, False), (1.0, 1, True), (1, 2, False), (True, 1, False), (None, None, True),
        ({"label": "a", "score": 0.25}, {"score": 0.2500001, "label": "a"}, True), ([1, 2], [1], False),
        ({"label": "a"}, {"label": "b"}, False), ("1", 1, False), ([["B"]], [("B",)], True),
    ],
)  # fmt: skip
def test_same_answers(one: Any, other: Any, equal: bool) -> None:
    assert same_answer(Output(one), Output(other)) is equal


def test_a_metric_a_judge_or_a_recogniser_is_checked_too(tmp_path: Path) -> None:
    texts = [{"text": f"{i} words"} for i in range(30)]
    with AnswerStore.shared(tmp_path / "scores.sqlite") as store:
        ask(Answers(lambda t: 0.5), texts, store)
    with AnswerStore.shared(tmp_path / "scores.sqlite") as store:
        same_as_before = Answers(lambda t: 0.5)
        for at in range(0, 30, 10):
            ask(same_as_before, texts[at : at + 10], store)
        assert len(same_as_before.asked) == 8
        told = f"asked 0, reused 30 answered {TODAY} (8 of them checked; a change of up to 32% could go unseen)"
        assert store.reuse_summary().sentence.startswith(told)
    with AnswerStore.shared(tmp_path / "scores.sqlite") as store:
        with pytest.raises(StaleAnswers, match=r"scores\.sqlite.*was 0\.5, now it is 0\.25.*another name"):
            ask(Answers(lambda t: 0.25), texts[:5], store)
        ask(Answers(lambda t: 0.25), texts, store, Asking(canary=0))


WAYS = ("on", "off", "down", "up", "on now", "off please", "down a bit", "up again", "on here", "off there")
DATA = [(f"turn the {word} {way}", word) for word in ("lights", "music") for way in WAYS]
CLF = """
import joblib
from pathlib import Path
MODEL = joblib.load(Path(__file__).parent / "model.joblib")

def predict(batch):
    return MODEL.predict([inputs["text"] for inputs in batch]).tolist()
"""
HIDDEN = """
import os

def predict(batch):
    with open(os.environ["MODEL"]) as file:
        first, second = file.read().split()
    return [first if "lights" in inputs["text"] else second for inputs in batch]
"""
GATE = ("run", "suite/", "-o", "run/", "--format", "json", "--fail-under", "worst=0.85", "--no-sanity", "--system")


def train(file: Path, wrong: bool) -> None:
    joblib = pytest.importorskip("joblib")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    texts, labels = zip(*DATA, strict=True)
    swapped = {"lights": "music", "music": "lights"}
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    joblib.dump(model.fit(texts, [swapped[label] if wrong else label for label in labels]), file)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lines = [json.dumps({"text": text, "label": label}) + "\n" for text, label in DATA]
    (tmp_path / "mine.jsonl").write_text("".join(lines))
    commands.unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "-o", "suite/", cwd=tmp_path, check=True)
    return tmp_path


def test_a_model_file_behind_a_module_is_part_of_the_system(place: Path) -> None:
    (place / "clf.py").write_text(CLF)
    train(place / "model.joblib", wrong=False)
    first = json.loads(commands.unswayed(*GATE, "clf:predict", cwd=place, check=True).stdout)
    assert (first["asked"], first["reused"]) == (60, 0)  # 20 clean inputs are asked twice
    train(place / "model.joblib", wrong=True)
    changed = commands.unswayed(*GATE, "clf:predict", cwd=place)
    assert changed.returncode == 1
    figures = json.loads(changed.stdout)
    assert figures["worst"]["value"] < 0.5
    assert (figures["asked"], figures["reused"]) == (60, 0)  # 20 clean inputs are asked twice


def test_a_model_that_only_the_environment_names_never_gives_the_old_numbers(place: Path) -> None:
    (place / "hidden.py").write_text(HIDDEN)
    (place / "model").write_text("lights music")
    gate, env = (*GATE, "hidden:predict"), {"MODEL": str(place / "model")}
    first = commands.unswayed(*gate, cwd=place, env=env, check=True)
    assert "Asked 60, reused 0." in first.stderr
    again = commands.unswayed(*gate, cwd=place, env=env, check=True)
    assert json.loads(again.stdout) == json.loads(first.stdout) | {"asked": 0, "reused": 60}
    assert f"Asked 0, reused 60 answered {TODAY} (all that decides them is known and unchanged)." in again.stderr
    (place / "model").write_text("music lights")
    changed = commands.unswayed(*gate, "--canary", "0", cwd=place, env=env)
    assert changed.returncode == 1
    assert json.loads(changed.stdout)["asked"] == 60
    assert "model has changed: answers of hidden:predict from before are not reused." in changed.stderr


def test_a_model_that_nothing_can_see_is_refused(place: Path) -> None:
    # A program that another one starts: what it reads, only the answers show.
    hidden = "import os, subprocess\n" + HIDDEN.replace(
        'with open(os.environ["MODEL"]) as file:\n        first, second = file.read().split()',
        'first, second = subprocess.run("cat *.words", shell=True, capture_output=True, text=True).stdout.split()',
    )
    (place / "hidden.py").write_text(hidden)
    (place / "model.words").write_text("lights music")
    gate = (*GATE, "hidden:predict")
    commands.unswayed(*gate, cwd=place, check=True)
    again = commands.unswayed(*gate, cwd=place, check=True)
    assert "(8 of them checked; a change of up to 32% could go unseen)" in again.stderr
    assert "not recorded: what programs that it starts read" in again.stderr
    (place / "model.words").write_text("music lights")
    unchecked = commands.unswayed(*gate, "--canary", "0", cwd=place, check=True)
    assert "(none of them checked)" in unchecked.stderr
    changed = commands.unswayed(*gate, cwd=place)
    assert changed.returncode == 3
    assert changed.stdout == ""
    assert "run/outputs.sqlite: 8 of 8 stored answers" in changed.stderr
    assert "--fresh" in changed.stderr
    fresh = commands.unswayed(*gate, "--fresh", cwd=place)
    assert fresh.returncode == 1
    assert json.loads(fresh.stdout)["asked"] == 60  # 20 of them clean inputs that are asked twice
    assert f"outputs.{TODAY}.sqlite" in fresh.stderr


NOTEBOOK = """
import json, sys, unswayed
import numpy as np
data = json.loads(sys.argv[1])

class Linear:
    def __init__(self, weights): self.weights = weights
    def label(self, text): return ["lights", "music"][int(self.weights[len(text) % 2] > 0)]

MODELS = {"now": Linear(np.array([1.0, -1.0]))}
def predict(batch): return [MODELS["now"].label(inputs["text"]) for inputs in batch]
def check(**more):
    found = unswayed.check(predict, data, "spoken/filler_end", to="run", **more)
    print(found.asked, found.reused)

check()
check()
MODELS["now"] = Linear(np.array([-1.0, 1.0]))
check()
MODELS["now"].label = lambda text: "music"  # which no identity shows
try:
    check()
except unswayed.UnswayedError as error:
    print(type(error).__name__)
check(plan={"run": {"fresh": True}})
"""


def test_a_model_that_a_notebook_trains_again_is_another_system(tmp_path: Path) -> None:
    data = json.dumps([{"text": text, "label": label} for text, label in DATA])
    command = [sys.executable, "-", data]
    done = subprocess.run(command, input=NOTEBOOK, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["60 0", "0 60", "60 0", "StaleAnswers", "60 0"]


def test_a_limit_that_is_no_number(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must be a whole number of 1 or more, not 0"):
        run_system(make(), Answers(), tmp_path / "run", plan={"run": {"limit": 0}})
