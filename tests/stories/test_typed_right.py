"""A simulated person types half of the texts right: they are kept, counted with the clean answer, and asked once."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from commands import Done, unswayed

from unswayed import Results, Suite, measure_run, run_system
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.mitigate.augment import augment
from unswayed.run.order import ASKED_TWICE
from unswayed.vary.engine import make_operator

ROOMS = ["kitchen", "bedroom", "garage", "hallway", "office", "attic", "cellar", "bathroom"]
ASKS = ["Could you turn off the lights in the {}, please?", "I'd like some music in the {} now.",
        "Is there anybody in the {} at the moment?", "Open all the windows of the {} tomorrow."]  # fmt: skip
MODULE = '''
import itertools, os

asked = itertools.count()

def wavering(batch):
    """Another answer each time, and a note of each question."""
    with open(os.environ.get("ASKED", "asked.txt"), "a", encoding="utf-8") as file:
        file.writelines(item["text"] + "\\n" for item in batch)
    return ["yes" if (next(asked) * 7919) % 5 else "no" for _ in batch]

wavering.unswayed_deterministic = False

def steady(batch):
    return ["yes"] * len(batch)
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("typed")
    rows = [{"text": ask.format(room), "label": "yes"} for ask in ASKS for room in ROOMS]
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "mine.py").write_text(MODULE)
    made = _shell("unswayed vary mine.jsonl --lang en --with keyboard/typist --draws 3 --seed 7 -o suite/", place)
    same, total = _unaltered(Suite(place / "suite"))
    assert f"keyboard/typist: {same} of {total} variants are unaltered" in made.stderr
    return place


def _shell(command: str, place: Path) -> Done:
    return unswayed(*command.split()[1:], cwd=place, check=True)


def _unaltered(suite: Suite) -> tuple[int, int]:
    pairs = [(example, variant) for example, variants in suite.groups() for variant in variants]
    assert {(e.id, v.draw) for e, v in pairs} == {(e.id, draw) for e in suite.examples() for draw in range(3)}
    return sum(v.inputs == e.inputs and v.gold == e.gold for e, v in pairs), len(pairs)


def test_half_of_the_texts_are_typed_right_and_shown_as_such(place: Path) -> None:
    same, total = _unaltered(Suite(place / "suite"))
    assert total == 96
    assert 0.25 < same / total < 0.75, "in about half of the texts nothing goes wrong"
    shown = json.loads(_shell("unswayed suite show suite/ --format json", place).stdout)
    assert shown["unaltered"] == {"keyboard/typist": same}
    assert "unaltered" in _shell("unswayed suite show suite/", place).stdout


@pytest.mark.parametrize("more", ["", "--workers 2", "--repeats 2"])
def test_from_vary_to_the_number(place: Path, more: str) -> None:
    run = f"run{more.replace(' ', '')}"
    log = place / f"{run}.txt"
    done = unswayed(*f"run suite/ --system mine:wavering -o {run} --format json --canary 0 {more}".split(), cwd=place,
                   check=True, env={"ASKED": str(log)})  # fmt: skip
    found, suite = json.loads(done.stdout), Suite(place / "suite")
    clean = [example.inputs["text"] for example in suite.examples()]
    texts = {variant.inputs["text"] for variant in suite} | set(clean)
    asked = log.read_text().splitlines()
    again = Counter(asked) - Counter(texts)
    assert set(asked) == texts
    if "repeats" in more:
        assert again == Counter(clean * 2)
    else:  # it is not declared deterministic
        assert set(again) <= set(clean)
        assert sorted(again.values()) == [1] * ASKED_TWICE, "each text once, and some clean ones twice"
    same, total = _unaltered(suite)
    altered = found["altered"]
    assert altered["value"] == pytest.approx(1 - same / total)
    assert altered["low"] < altered["value"] < altered["high"]
    assert altered == found["by"]["operator"]["keyboard/typist"]["altered"] | {"signature": altered["signature"]}
    _counts(measure_run(place / run, {"measure": {"stored": False}}), suite)
    said = re.search(r"([\d.]+)% of variants have the example's own text", _table(place, run))
    assert said is not None
    assert float(said[1]) == pytest.approx(100 * same / total, abs=0.06)


def _counts(results: Results, suite: Suite) -> None:
    """Average and flips over all variants, of which the unaltered have the clean answer."""
    answers: dict[str, list[tuple[bool, bool]]] = {}
    by_id = {example.id: example for example in suite.examples()}
    for example, clean, varied in results.run.items():
        for variant, output in varied:
            if variant.inputs == by_id[example.id].inputs:
                assert output.value == clean.value, "the clean answer stands"
            answers.setdefault(example.id, []).append((output.value == "yes", output.value != clean.value))
    n = len(answers) * 3
    assert results.average.value == pytest.approx(sum(right for own in answers.values() for right, _ in own) / n)
    assert results.flip_rate.value == pytest.approx(sum(flip for own in answers.values() for _, flip in own) / n)
    assert results.consistency.value == pytest.approx(
        sum(not any(flip for _, flip in own) for own in answers.values()) / len(answers)
    )


def _table(place: Path, run: str) -> str:
    page = unswayed("report", run, "-o", f"{run}.html", cwd=place, check=True)
    assert page.returncode == 0
    assert "altered" in (place / f"{run}.html").read_text("utf-8")
    table = unswayed("measure", "run", run, cwd=place, check=True).stdout
    return " ".join(table.split())


def test_a_wavering_system_does_not_flip_by_chance_where_nothing_is_altered(place: Path) -> None:
    """It changes a fifth of its answers whatever it is asked, so nothing is left beyond chance."""
    suite = Suite(place / "suite")

    class Wavering:
        unswayed_deterministic = False
        unswayed_identity = "wavering"

        def __init__(self, start: int) -> None:
            self.state = start * 7919 + 1

        def __call__(self, batch: list[dict[str, str]]) -> list[str]:
            return [self._answer() for _ in batch]

        def _answer(self) -> str:
            self.state = (self.state * 48271) % 2147483647
            return "yes" if self.state % 5 else "no"

    beyond = [
        measure_run(
            run_system(suite, Wavering(k), place / f"w{k}", plan={"run": {"repeats": 6}}),
            {"measure": {"stored": False, "sanity": False}},
        ).repeats
        for k in range(12)
    ]
    flips = [found.flips.value for found in beyond if found is not None and found.flips.value is not None]
    consistency = [found.consistency.value for found in beyond if found is not None]
    assert abs(sum(flips) / len(flips)) < 0.04
    assert abs(sum(value or 0.0 for value in consistency) / len(consistency)) < 0.06


def test_the_hard_set_prefers_what_is_altered_and_training_data_gets_no_unaltered_copies(place: Path) -> None:
    examples = [Example(i, f"e{i}", {"text": ask.format(room)}, "yes") for i, (ask, room) in
                enumerate((ask, room) for ask in ASKS for room in ROOMS)]  # fmt: skip
    unchanged: Counter[str] = Counter()
    rows = list(
        augment(examples, [make_operator(OperatorSpec("keyboard/typist"))], 7, task="classify", unchanged=unchanged)
    )
    copies = [row for row in rows if "augmented" in row.groups]
    texts = {example.id: example.inputs["text"] for example in examples}
    assert all(row.inputs["text"] != texts[row.id.partition("+")[0]] for row in copies)
    assert unchanged["set/random"] == len(examples) - len(copies) > 0
    command = "vary mine.jsonl --lang en --set hard --selector mine:steady --with keyboard/typist --with surface/case"
    unswayed(*f"{command} -o hard/".split(), cwd=place, check=True)
    hard = Suite(place / "hard")
    for example, [variant] in hard.groups():
        assert variant.inputs != example.inputs


def test_another_tool_is_not_asked_about_unaltered_variants(place: Path) -> None:
    _shell("unswayed export suite/ --as promptfoo -o tests/", place)
    tests = [json.loads(line) for line in (place / "tests" / "tests.jsonl").read_text().splitlines()]
    same, total = _unaltered(Suite(place / "suite"))
    assert len(tests) == 32 + total - same
    lines = [{"inputs": json.loads(test["metadata"]["inputs"]), "output": "yes"} for test in tests]
    (place / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = _shell("unswayed run suite/ --system logged:answers.jsonl -o back/ --format json", place)
    found = json.loads(done.stdout)
    assert found["flips"]["value"] == 0
    assert found["validity"]["variants"] == total
