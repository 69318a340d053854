"""A preset means the operators that fit the data, says which it left out and why, and is the same everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import unswayed
from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Json
from unswayed.run.making import suite_of
from unswayed.run.plan import plan_of
from unswayed.vary import operators
from unswayed.vary.presets import described, expand, is_preset, members, preset_names, with_params

ROWS = [
    {"text": "turn off the lights in the kitchen", "label": "lights"},
    {"text": "play some jazz by miles davis tomorrow", "label": "music"},
]


def names(*asked: str, language: str = "en", task: str = "classify") -> list[str]:
    return [spec.name for spec in expand([OperatorSpec(name) for name in asked], language, task)[0]]


def test_typing_is_what_people_type_in_the_language() -> None:
    assert {"keyboard/adjacent", "keyboard/misspell"} <= set(names("@typing"))
    assert {"keyboard/homophone", "keyboard/pinyin"} <= set(names("@typing", language="zh"))
    assert "keyboard/pinyin" not in names("@typing")


def test_every_operator_of_a_preset_is_used_or_left_out_with_a_reason() -> None:
    for language in ("en", "zh", "es"):
        for task in ("classify", "slu"):
            _, (preset,) = expand([OperatorSpec("@all")], language, task)
            assert sorted([*preset.operators, *preset.left_out]) == operators.names()
            assert all(preset.left_out.values())


def test_the_reasons_are_language_labels_meaning_and_needs() -> None:
    _, (all_,) = expand([OperatorSpec("@all")], "en", "slu")
    assert all_.left_out["keyboard/pinyin"] == "for zh"
    assert "labels of slu" in all_.left_out["paraphrase/seq2seq"]
    assert all_.left_out["meaning/antonym"] == "changes the meaning"
    assert all_.left_out["prompt/format"] == "varies a prompt, which not every system has"
    _, (speech,) = expand([OperatorSpec("@speech")], "en", "text")
    assert speech.left_out["speech/roundtrip"] == "needs a recogniser"


def test_an_operator_whose_needs_are_met_is_not_left_out() -> None:
    spec = OperatorSpec("@speech", {"speech/roundtrip:asr": "pocketsphinx"})
    chosen, _ = expand([spec], "en", "text")
    assert OperatorSpec("speech/roundtrip", {"asr": "pocketsphinx"}) in chosen


@pytest.mark.parametrize("name", ["keyboard", "keyboard/*", "key*/*"])
def test_families_and_patterns(name: str) -> None:
    assert members(name) == [known for known in operators.names() if known.startswith("keyboard/")]


def test_controls_and_prompts_are_used_where_their_family_is_named() -> None:
    assert "prompt/format" in names("prompt/*")
    assert "meaning/antonym" in names("meaning/*")


def test_an_operator_named_beside_its_preset_is_used_once_with_its_own_parameters() -> None:
    specs = [OperatorSpec("@typing", {"rate": 0.5}), OperatorSpec("keyboard/adjacent", {"rate": 0.1}),
        OperatorSpec("keyboard/*")]  # fmt: skip
    chosen = {spec.name: spec.params for spec in expand(specs, "en", "text")[0]}
    assert chosen["keyboard/adjacent"] == {"rate": 0.1}
    assert chosen["keyboard/misspell"] == {"rate": 0.5}


def test_parameters_go_to_those_who_know_them_and_a_name_before_one_wins() -> None:
    params: dict[str, Json] = {"keyboard/adjacent:rate": 0.05, "rate": 0.1}
    (spec,) = with_params(["@typing"], params)
    chosen = {made.name: made.params for made in expand([spec], "en", "text")[0]}
    assert chosen["keyboard/adjacent"] == {"rate": 0.05}
    assert chosen["keyboard/misspell"] == {"rate": 0.1}
    with pytest.raises(UnknownName, match="rato.*Did you mean 'rate'"):
        expand([OperatorSpec("@typing", {"rato": 1})], "en", "text")
    with pytest.raises(UnknownName, match="rato.*Did you mean 'rate'"):
        with_params(["@typing"], {"rato": 1})


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("all", "@all"),
        ("typing", "@typing"),
        ("@typng", "@typing"),
        ("keybord", "keyboard"),
        ("keybord/*", "keyboard/*"),
        ("keyboard/adjacnt", "keyboard/adjacent"),
        ("adjacent", "keyboard/adjacent"),
    ],
)
def test_a_wrong_name_gets_the_nearest(asked: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=rf"Did you mean '{meant.replace('*', '[*]')}'"):
        names(asked)


def test_a_preset_that_has_nothing_for_the_language_says_why() -> None:
    with pytest.raises(UsageError, match="speech/mandarin.*for zh"):
        names("speech/*", language="tlh", task="slu")


def test_what_is_printed_fits_the_terminal() -> None:
    _, presets = expand([OperatorSpec("@all")], "en", "slu")
    assert all(len(line) <= 80 for line in described(presets[0], "en", "slu"))


def test_presets_come_from_the_operators_themselves() -> None:
    assert {"@all", "@typing", "@speech"} <= set(preset_names())
    assert not is_preset("keyboard/adjacent")


def test_command_line_plan_and_python_make_the_same_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "plan.toml").write_text('[data]\nlanguage = "en"\n[vary]\noperators = ["@typing"]\nseed = 7\n')
    command = [sys.executable, "-m", "unswayed", "vary", "mine.jsonl", "--seed", "7", "--lang", "en"]
    done = subprocess.run(
        [*command, "--with", "@typing", "-o", "a"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "@typing (language en, task classify): keyboard/adjacent, keyboard/misspell" in done.stderr
    assert "keyboard/pinyin (for zh)" in done.stderr
    plan = plan_of(tmp_path / "plan.toml", {"data": {"path": tmp_path / "mine.jsonl"}})
    made = [
        unswayed.Suite(tmp_path / "a"),
        suite_of(plan, tmp_path / "b"),
        unswayed.make_suite(tmp_path / "mine.jsonl", "@typing", language="en", seed=7, to=tmp_path / "c"),
        unswayed.make_suite(tmp_path / "mine.jsonl", names("@typing"), language="en", seed=7, to=tmp_path / "d"),
    ]
    assert len({suite.id for suite in made}) == 1
    assert len({suite.manifest.plan for suite in made}) == 1
    assert "@typing" in capsys.readouterr().err
    (preset,) = made[0].manifest.presets
    assert preset["name"] == "@typing"
    assert preset["operators"] == names("@typing")
    assert "keyboard/pinyin" in preset["left_out"]
