"""Structured answers: scored by field, and valid against a JSON schema as `jsonschema` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import unswayed
from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Inputs, Json
from unswayed.score import scorer_named

TASK = task_named("structured")
GOLD = {"category": "lights", "place": {"room": "hall", "floor": 2}, "tags": ["a", "b"]}
ROWS = [
    {
        "text": f"turn on the light number {i} in the hall",
        "expected": {"category": "lights", "room": "hall", "count": i},
    }
    for i in range(8)
]


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (GOLD, 4),
        (json.dumps(GOLD), 4),
        (f"Here you are:\n```json\n{json.dumps(GOLD)}\n```", 4),
        ({"category": " LIGHTS", "place": {"floor": 2.0, "room": "Hall"}, "tags": ["a", "b"], "more": 1}, 4),
        ({"category": "lights", "place": {"room": "hall", "floor": "2"}, "tags": ["b", "a"]}, 2),
        ({"category": "lights", "place": None}, 1),
        ({}, 0),
        ("no JSON", 0),
        ([GOLD], 0),
    ],
)
def test_each_field_of_the_gold_is_right_or_wrong(said: Json, right: int) -> None:
    scorer = scorer_named("fields")
    rows = scorer.stats([said], [GOLD], TASK)
    assert rows.tolist() == [[right / 4, 1.0]]
    parts = {part.name: part for part in scorer.parts([GOLD], TASK)}
    assert list(parts) == ["fields(category)", "fields(place.room)", "fields(place.floor)", "fields(tags)"]
    assert sum(part.stats([said], [GOLD], TASK)[0, 0] for part in parts.values()) == right


def answer(batch: list[Inputs]) -> list[Any]:
    """Loses the room where a letter of it is wrong, and says nothing of use where the light is not one."""
    found: list[Any] = []
    for inputs in batch:
        words = inputs["text"].split()
        count = next((int(word) for word in words if word.isdecimal()), None)
        said = {"category": "lights", "room": "hall" if "hall" in words else 3, "count": count}
        found.append(f"```json\n{json.dumps(said)}\n```" if "light" in words else "Sorry, what?")
    return found


def test_a_suite_of_objects_is_scored_by_field_and_by_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = {"$defs": {"room": {"type": "string"}}, "type": "object", "required": ["category", "room", "count"],
              "properties": {"room": {"$ref": "#/$defs/room"}, "count": {"type": "integer", "maximum": 5}}}  # fmt: skip
    Path("s.json").write_text(json.dumps(schema))
    results = unswayed.check(
        answer, ROWS, "keyboard/adjacent", draws=3, seed=7, language="en", scores=["fields", "valid@s.json"],
        plan={"measure": {"sanity": False}},
    )  # fmt: skip
    assert results.clean.value == 1
    scores = results.scores
    assert set(scores) == {"fields(category)", "fields(room)", "fields(count)", "valid@s.json"}
    assert scores["fields(room)"]["average"].value <= scores["fields(category)"]["average"].value < 1
    # counts of 6 and 7 are above the schema's limit, and an answer without JSON is not valid
    assert scores["valid@s.json"]["clean"].value == pytest.approx(6 / 8)
    assert scores["valid@s.json"]["average"].value < 6 / 8


def test_valid_says_what_jsonschema_says(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"enum": [1, "x", None]}}}
    schema["additionalProperties"] = False
    (tmp_path / "s.json").write_text(json.dumps(schema))
    scorer = scorer_named(f"valid@{tmp_path / 's.json'}")
    objects: list[Any] = [{"a": 1}, {"a": "x"}, {"a": None}, {"a": 2}, {}, {"a": 1, "b": 2}]
    said = [*objects, [], "no", '{"a": 1}', '```\n{"a": 1}\n```', ""]
    assert scorer.stats(said, [{}] * len(said), TASK)[:, 0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0]


def test_without_a_schema_any_json_is_valid() -> None:
    assert scorer_named("valid").stats(["[1]", "{", {}, ""], [{}] * 4, TASK)[:, 0].tolist() == [1, 0, 1, 0]


def test_what_is_no_schema_or_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    for content in ("{", '{"type": 3}', "\xff"):
        (tmp_path / "bad.json").write_text(content, encoding="latin-1")
        with pytest.raises(UsageError, match=r"bad.json is not a JSON schema"):
            scorer_named(f"valid@{tmp_path / 'bad.json'}")
    with pytest.raises(UsageError, match="not a JSON schema"):
        scorer_named(f"valid@{tmp_path / 'none.json'}")
    (tmp_path / "far.json").write_text('{"$ref": "http://127.0.0.1:9/schema.json"}')
    with pytest.raises(UsageError, match="not fetched"):
        scorer_named(f"valid@{tmp_path / 'far.json'}").stats(["{}"], [{}], TASK)


def test_a_part_of_the_answer_is_compared_with_plain_gold() -> None:
    rows = [{"text": f"turn on the light number {i}", "label": "lights"} for i in range(6)]
    rows += [{"text": f"play song number {i}", "label": "music"} for i in range(6)]

    def says(batch: list[Inputs]) -> list[Any]:
        return [{"category": "lights" if "light" in inputs["text"] else "music"} for inputs in batch]

    results = unswayed.check(says, rows, "surface/case", language="en", plan={"measure": {"extract": "json.category"}})
    assert results.clean.value == 1
