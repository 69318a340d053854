"""READIN's section 3.3: pairs from suites, asked in the app's own form, and a preference whose truth is known."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from commands import unswayed

from unswayed.base import Example, UsageError, Variant
from unswayed.papers.readin.plausibility import make_pairs, read_preferences, write_pairs
from unswayed.storage import Judgement, write_judgements
from unswayed.storage.suite import Manifest, Suite, write_suite

TEXTS = [f"第{n}句话说的是天气" for n in range(60)]


def suite(folder: Path, source: str, family: str, ending: str) -> Suite:
    """Each text with an ending; every tenth is left as it is, and every seventh is the same for all."""
    examples = [Example(i, str(i), {"text": text}, None) for i, text in enumerate(TEXTS)]
    said = [t if i % 10 == 0 else t + "。。" if i % 7 == 0 else t + ending for i, t in enumerate(TEXTS)]
    made = [Variant(i, str(i), 0, source, family, "same", {"text": t}, None, "") for i, t in enumerate(said)]
    return write_suite(folder, Manifest(task="text", language="zh"), lambda: examples, lambda: made)


@pytest.fixture
def suites(tmp_path: Path) -> tuple[Suite, Suite]:
    human = suite(tmp_path / "human", "person/keyboard-1", "keyboard", "呀")
    return human, suite(tmp_path / "simulated", "keyboard/homophone", "keyboard", "哦")


def answered(folder: Path, items: Path, chance: float, seed: int = 1) -> Path:
    """The export of an app in which two people choose the human version with this chance."""
    rng = random.Random(seed)
    keys = {row["id"]: row for row in map(json.loads, items.with_name("pairs.key.jsonl").read_text().splitlines())}
    rows = []
    for row in map(json.loads, items.read_text().splitlines()):
        key = {name: value for name, value in keys[row["id"]].items() if name != "id"}
        for person in ("p1", "p2"):
            right = rng.random() < chance
            choice = key["human"] if right else "ab".replace(key["human"], "")
            asked = {name: row[name] for name in ("a", "b", "original")}
            rows.append(Judgement(person=person, kind="plausible", item=row["id"], asked=asked,
                                  answer={"choice": choice}, origin=key))  # fmt: skip
    write_judgements(rows, folder / "exported.jsonl")
    return folder / "exported.jsonl"


def test_pairs_hide_who_made_what(suites: tuple[Suite, Suite], tmp_path: Path) -> None:
    made = make_pairs(*suites, count=30, seed=3)
    assert len(made.items) == len(made.keys) == 30
    keys = {key.id: key for key in made.keys}
    sides = [keys[item.id].human for item in made.items]
    assert 5 < sides.count("a") < 25
    for item in made.items:
        human, other = (item.a, item.b) if keys[item.id].human == "a" else (item.b, item.a)
        assert human == item.original + "呀"
        assert other == item.original + "哦"
    write_pairs(made, tmp_path / "pairs.jsonl")
    assert "human" not in (tmp_path / "pairs.jsonl").read_text()
    assert make_pairs(*suites, count=30, seed=3) == made
    assert make_pairs(*suites, count=30, seed=4) != made
    everything = make_pairs(*suites, count=500)
    assert len(everything.items) == sum(i % 10 != 0 and i % 7 != 0 for i in range(60))  # the rest says nothing


def test_suites_that_share_nothing(suites: tuple[Suite, Suite], tmp_path: Path) -> None:
    spoken = suite(tmp_path / "spoken", "speech/mandarin", "speech", "哦")
    with pytest.raises(UsageError, match="share no text that both alter in the same family"):
        make_pairs(suites[0], spoken)


@pytest.mark.parametrize("chance", [0.5, 0.875])
def test_preferences_cover_the_truth(suites: tuple[Suite, Suite], tmp_path: Path, chance: float) -> None:
    write_pairs(make_pairs(*suites), tmp_path / "pairs.jsonl")
    covered, significant = 0, 0
    for seed in range(60):
        (found,) = read_preferences(answered(tmp_path, tmp_path / "pairs.jsonl", chance, seed))
        assert (found.family, found.operator, found.judges, found.paper) == ("keyboard", "keyboard/homophone", 2, 0.875)
        assert found.human.low is not None
        assert found.human.high is not None
        covered += found.human.low <= chance <= found.human.high
        significant += found.p < 0.05
    assert covered >= 52  # 57 are due; 52 is less than two standard errors below
    assert significant <= 8 if chance == 0.5 else significant >= 58


def test_through_the_app_and_the_study(suites: tuple[Suite, Suite], tmp_path: Path) -> None:
    """From two suites by commands to the study's table; the app takes the items as they are."""
    unswayed("survey", "pairs", "human", "simulated", "-o", "pairs.jsonl", cwd=tmp_path, check=True)
    unswayed("collect", "new", "study.toml", "--kind", "plausible", "--items", "pairs.jsonl", cwd=tmp_path, check=True)
    answered(tmp_path, tmp_path / "pairs.jsonl", 0.9)
    done = unswayed("survey", "prefer", "exported.jsonl", "--format", "json", cwd=tmp_path, check=True)
    (row,) = json.loads(done.stdout)
    assert row["pairs"] == 46
    assert 0.8 < row["human"]["value"] < 1
    (tmp_path / "afqmc_keyboard").mkdir()
    for name in ("test_clean", "test_noisy_1"):
        line = {"sentence1": "花呗" if name == "test_clean" else "华北", "sentence2": "提额", "label": "1"}
        (tmp_path / "afqmc_keyboard" / f"{name}.json").write_text(json.dumps(line) + "\n")
    study = ["study", "readin", "--data", "afqmc_keyboard", "--only", "plausibility", "-o", "out", "--format", "md"]
    asked = unswayed(*study, "--plausible", "exported.jsonl", cwd=tmp_path, check=True).stdout
    assert "keyboard/homophone" in asked
    assert "87.5" in asked
    assert "Ours needs people" in unswayed(*study, cwd=tmp_path, check=True).stdout
