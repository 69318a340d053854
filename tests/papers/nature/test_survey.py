"""The survey is balanced, hides what it must, and its answers come back as acceptance by operator."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.errors import DataError, NothingEvaluated, UsageError
from unswayed.base.values import Example
from unswayed.papers.nature.acceptance import read_acceptance
from unswayed.papers.nature.survey import Survey, SurveyDesign, make_survey, write_survey
from unswayed.run.making import make_suite
from unswayed.stats import Resampling
from unswayed.storage.suite import Suite

OPERATORS = ["keyboard/adjacent", "spoken/filler_begin", "spoken/filler_end"]
QUICK = Resampling(bootstrap=500)


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Suite]]:
    place = tmp_path_factory.mktemp("suites")
    made = []
    for name in ("one", "two", "three"):
        data = [
            Example(
                i, f"{name}{i}", {"text": f"play {name} {i} now"}, {"intent": "play", "slots": ["O", "B-x", "I-x", "O"]}
            )
            for i in range(30)
        ]
        made.append((name, make_suite(data, OPERATORS, draws=2, to=place / name)))
    return made


def test_items_are_balanced_and_controls_go_to_every_group(suites: list[tuple[str, Suite]]) -> None:
    survey = make_survey(suites, SurveyDesign(per_operator=12, controls=6, groups=2))
    keys = {key.id: key for key in survey.keys}
    altered = [key for key in keys.values() if not key.control]
    assert Counter((key.operator, key.suite) for key in altered) == {(o, s): 4 for o in OPERATORS for s, _ in suites}
    assert Counter((item.group, keys[item.id].operator) for item in survey.items) == {
        (group, operator): 6 for group in (1, 2) for operator in (*OPERATORS, None)
    }
    assert Counter((i.group, keys[i.id].suite) for i in survey.items if not keys[i.id].control) == {
        (group, name): 6 for group in (1, 2) for name, _ in suites
    }
    assert len({(key.suite, key.example_id) for key in keys.values()}) == len(keys), "no utterance is judged twice"


def test_what_does_not_divide_is_spread(suites: list[tuple[str, Suite]]) -> None:
    survey = make_survey(suites, SurveyDesign(per_operator=4, controls=2, groups=1))
    assert Counter(key.operator for key in survey.keys) == {**dict.fromkeys(OPERATORS, 4), None: 2}
    assert Counter(key.suite for key in survey.keys if not key.control) == {name: 4 for name, _ in suites}


def test_an_operator_that_not_all_suites_have(suites: list[tuple[str, Suite]], tmp_path: Path) -> None:
    other = make_suite(list(suites[0][1].examples()), ["keyboard/misspell"], to=tmp_path / "other")
    survey = make_survey([*suites, ("other", other)], SurveyDesign(per_operator=6, controls=4))
    counts = Counter((key.operator, key.suite) for key in survey.keys if not key.control)
    assert counts["keyboard/misspell", "other"] == 6
    assert counts["keyboard/adjacent", "one"] == 2


def test_people_see_the_labels_and_nothing_else(suites: list[tuple[str, Suite]], tmp_path: Path) -> None:
    survey = make_survey(suites, SurveyDesign(per_operator=3, controls=3))
    write_survey(survey, tmp_path / "items.jsonl")
    shown = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert all(set(item) == {"group", "id", "utterance", "marked", "slots", "intent"} for item in shown)
    control = next(item for item in shown if item["utterance"].startswith("play") and item["utterance"].endswith("now"))
    value = " ".join(control["utterance"].split(" ")[1:3])
    assert control["marked"] == f"play [x : {value}] now"
    assert control["slots"] == [{"name": "x", "value": value}]
    controls = [keys.control for item in survey.items for keys in survey.keys if keys.id == item.id]
    assert controls not in (sorted(controls), sorted(controls, reverse=True)), "controls stand among the others"


def test_the_seed_decides(suites: list[tuple[str, Suite]]) -> None:
    assert make_survey(suites) == make_survey(suites)
    assert make_survey(suites, SurveyDesign(seed=1)) != make_survey(suites)


def test_too_little_is_told(suites: list[tuple[str, Suite]], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"one has utterances for only \d+ of 20 keyboard/adjacent|of 20 spoken"):
        make_survey(suites, SurveyDesign(per_operator=60))
    other = make_suite([{"text": "a b", "label": "x"}], OPERATORS, language="en", to=tmp_path / "c")
    with pytest.raises(UsageError, match="of the task classify"):
        make_survey([("c", other)])


def answers(survey: Survey, path: Path, people: int = 3, careless: bool = False) -> list[dict[str, object]]:
    """People who accept everything but the intents of what `keyboard/adjacent` made; one of a group may be careless."""
    keys = {key.id: key for key in survey.keys}
    rows = []
    for item in survey.items:
        for person in range(people):
            bad = keys[item.id].operator == "keyboard/adjacent" or (careless and person == 0)
            rows.append(
                {
                    "item": item.id,
                    "participant": f"g{item.group}p{person}",
                    "slots": True,
                    "intent": "unreasonable" if bad else "reasonable",
                }
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def test_answers_become_acceptance(suites: list[tuple[str, Suite]], tmp_path: Path) -> None:
    survey = make_survey(suites, SurveyDesign(per_operator=12, controls=6))
    write_survey(survey, tmp_path / "items.jsonl")
    answers(survey, tmp_path / "a.jsonl", careless=True)
    found = read_acceptance(tmp_path / "a.jsonl", tmp_path / "items.jsonl", settings=QUICK)
    sets = {(row.set, row.name): row for row in found.sets}
    adjacent = sets["operator", "keyboard/adjacent"]
    assert (adjacent.items, adjacent.answers) == (12, 36)
    assert (adjacent.intent.value, adjacent.slots.value) == (0.0, 1.0)
    # all twelve items agree: the exact interval of Clopper and Pearson
    assert adjacent.slots.low == pytest.approx(0.025 ** (1 / 12))
    assert sets["operator", "spoken/filler_end"].intent.value == pytest.approx(2 / 3)
    assert sets["all", "altered"].intent.value == pytest.approx(2 / 3 * 2 / 3)
    assert (sets["group", "1 controls"].items, sets["group", "1 controls"].answers) == (6, 18)
    assert [p.control_intent for p in found.participants] == [0.0, 1.0, 1.0] * 2
    careful = read_acceptance(tmp_path / "a.jsonl", tmp_path / "items.jsonl", least_control=0.8, settings=QUICK)
    assert [p.participant for p in careful.participants if not p.kept] == ["g1p0", "g2p0"]
    assert next(row for row in careful.sets if row.name == "spoken/filler_end").intent.value == 1.0
    assert "g1p0, g2p0" in careful.warnings[0]
    assert careful.sets[0].intent.signature != found.sets[0].intent.signature


def test_intervals_resample_items(suites: list[tuple[str, Suite]], tmp_path: Path) -> None:
    """Half of the items are accepted by all: the interval is that of 36 items, however many people answer."""
    survey = make_survey(suites, SurveyDesign(per_operator=12, controls=0, groups=1))
    write_survey(survey, tmp_path / "items.jsonl")
    rows = answers(survey, tmp_path / "a.jsonl", people=20)
    good = {item.id for item in survey.items[::2]}
    rows = [{**row, "slots": row["item"] in good} for row in rows]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_acceptance(tmp_path / "a.jsonl", tmp_path / "items.jsonl", settings=Resampling(bootstrap=4000))
    estimate = found.sets[0].slots
    assert estimate.n == 36
    assert estimate.value == 0.5
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * math.sqrt(0.25 / 36), abs=0.05)


def test_open_answers_are_missing_and_bad_ones_are_named(suites: list[tuple[str, Suite]], tmp_path: Path) -> None:
    survey = make_survey(suites, SurveyDesign(per_operator=3, controls=3, groups=1))
    items, file = tmp_path / "items.jsonl", tmp_path / "a.jsonl"
    write_survey(survey, items)
    first = survey.items[0].id
    file.write_text(json.dumps({"item": first, "participant": "p", "intent": False}) + "\n")
    found = read_acceptance(file, items, settings=QUICK)
    assert found.sets[0].slots.value is None
    assert found.sets[0].slots.missing == 1
    assert "p" in found.warnings[-1]
    for line, message in (
        ('{"item": "x", "participant": "p"}', "a.jsonl:2: there is no item 'x'"),
        (json.dumps({"item": first, "participant": "p"}), "a.jsonl:2: 'p' answers item .* twice"),
        ('{"item": 3}', "a.jsonl:2: this is not an answer"),
    ):
        file.write_text(json.dumps({"item": first, "participant": "p"}) + "\n" + line)
        with pytest.raises(DataError, match=message):
            read_acceptance(file, items)
    record = {"person": "p", "kind": "labels", "item": first, "asked": {}, "answer": {"slots": True, "intent": True}}
    for row, message in (
        ({"item": first, "participant": "p"}, "a.jsonl:1: this answer only names its item. Give the file of items"),
        (record, f"a.jsonl: item '{first}' has no key"),
        (record | {"answer": {"slots": "well"}}, "a.jsonl:1: answer: Expected `bool | null`"),
    ):
        file.write_text(json.dumps(row))
        with pytest.raises(DataError, match=re.escape(message)):
            read_acceptance(file)
    file.write_text("")
    with pytest.raises(NothingEvaluated):
        read_acceptance(file, items)
