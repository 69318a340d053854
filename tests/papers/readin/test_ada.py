"""READIN's ADA: Chinese training data of its four tasks with noisy copies, by homophones or by simulated typing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from unswayed.base.errors import UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.cli.augment import command
from unswayed.mitigate.augment import augment
from unswayed.vary.engine import make_operator

SCHEMA = {"tables": {"歌手": ["名字"]}, "keys": {}}
TASKS = {
    "classify": Example(0, "a", {"sentence1": "花呗怎么不能提额了", "sentence2": "花呗为什么不能提高额度"}, "1"),
    "qa": Example(
        0,
        "a",
        {"question": "底特律第二浸信会教堂在哪里", "context": "底特律第二浸信会教堂位于密歇根州底特律市。"},
        {"answers": [{"text": "密歇根州底特律市", "start": 12}]},
    ),
    "sql": Example(
        0,
        "a",
        {"question": "最年轻的歌手叫什么名字", "db_id": "歌手", "schema": "歌手(名字)"},
        {"sql": "SELECT 名字 FROM 歌手", "db_id": "歌手", "schema": SCHEMA},
    ),
    "translate": Example(0, "a", {"source": "要尽力防止病毒在社区进一步扩散"}, "Try our best to stop the virus."),
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("noise", ["keyboard/homophone", "keyboard/pinyin"])
def test_every_example_has_a_noisy_copy_with_its_label(task: str, noise: str) -> None:
    example = TASKS[task]
    data = [Example(i, str(i), example.inputs, example.gold) for i in range(40)]
    found = list(augment(data, [make_operator(OperatorSpec(noise))], task=task, language="zh", people=5))
    copies = [e for e in found if "augmented" in e.groups]
    assert len(copies) >= 10  # a hurried typist may also get a sentence right
    assert len(found) == len(data) + len(copies)
    assert all(e.gold == example.gold for e in found)
    own = ("context", "db_id", "schema")
    for copy in copies:
        assert {k: v for k, v in copy.inputs.items() if k in own} == {
            k: v for k, v in example.inputs.items() if k in own
        }
        assert copy.inputs != example.inputs


def test_several_people_share_the_examples() -> None:
    text = "借呗还款日是哪天，花呗怎么不能提额了"
    data = [Example(i, str(i), {"text": text}, "x") for i in range(60)]
    operators = [make_operator(OperatorSpec("keyboard/pinyin"))]
    one, many = (
        {e.id: e.inputs["text"] for e in augment(data, operators, task="text", language="zh", people=people)}
        for people in (1, 5)
    )
    assert 5 < len([id for id in many if one.get(id) == many[id] and "+" in id]) < 30  # the first person's share
    backwards = augment(data[::-1], operators, task="text", language="zh", people=5)
    assert {e.id: e.inputs["text"] for e in backwards} == many
    with pytest.raises(UsageError, match="people must be 1 or more"):
        list(augment(data, operators, task="text", language="zh", people=0))


def test_on_the_command_line(tmp_path: Path) -> None:
    rows = [
        {**TASKS["classify"].inputs, "label": "1"},
        {"sentence1": "借呗还款日", "sentence2": "哪天还款", "label": "0"},
    ]
    (tmp_path / "train.json").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    to = tmp_path / "noisy.jsonl"
    options = ["--format-in", "readin", "--with", "keyboard/homophone", "-o", str(to)]
    done = CliRunner().invoke(command, [str(tmp_path / "train.json"), *options], catch_exceptions=False)
    assert done.exit_code == 0
    found = [json.loads(line) for line in to.read_text("utf-8").splitlines()]
    assert [row["gold"] for row in found] == ["1", "1", "0", "0"]
    assert found[1]["groups"]["augmented"] == "keyboard/homophone"
