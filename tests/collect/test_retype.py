"""Labels of typing errors: READIN's own examples, logs of a real input method, and what must hold of any log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.collect.kinds import Delivery
from unswayed.collect.kinds.retype import Retype, RetypeAnswer, RetypeItem
from unswayed.collect.typing_log import TypedPiece, distance, label, pieces, typing_errors, without_keys

from .conftest import typing

RECORDED = Path(__file__).parents[2] / "../shared/collect"


def keys(text, hidden=False):
    events = []
    for letter in text:
        code = "Backspace" if letter == "<" else f"Key{letter.upper()}"
        events += [{"e": kind, "c": code} for kind in (("up",) if hidden else ("down", "up"))]
    return events


def commit(text, spelled, hidden=False):
    return [*keys(spelled, hidden), {"e": "down", "c": "Space"}, {"e": "commit", "d": text}, {"e": "up", "c": "Space"}]


@pytest.mark.parametrize(
    ("wanted", "typed", "spelled", "expected"),
    [
        ("里程", "历程", "licheng", ("Full", "WrongSelection")),
        ("要尽力", "药剂量", "yjl", ("Abbr", "WrongSelection")),
        ("二", "热", "re", ("Full", "WrongInput")),
        ("当中", "到周", "dangz", ("Abbr", "WrongSelection")),
        ("长城", "张成", "zhangcheng", ("Full", None)),
        ("女人", "旅人", "nvren", ("Full", "WrongSelection")),
        ("银行", "引航", "yinhang", ("Full", "WrongSelection")),
        ("里程", "历程", "", (None, None)),
        ("OK", "好", "ok", (None, None)),
    ],
)
def test_known_errors(wanted, typed, spelled, expected):
    assert label(wanted, TypedPiece(typed, spelled)) == expected


def test_a_correction_inside_the_composition_is_not_an_error():
    log = [*commit("里程", "lichwng<<<eng"), *commit("很长", "henchang")]
    assert pieces(log) == [TypedPiece("里程", "licheng"), TypedPiece("很长", "henchang")]
    assert typing_errors("里程很长", log) == []


def test_a_hidden_composition_shows_by_keys_that_come_up():
    (error,) = typing_errors("里程", commit("历程", "licheng", hidden=True))
    assert (error.keys, error.habit, error.cause) == ("licheng", "Full", "WrongSelection")


def test_false_starts_are_errors_without_a_label():
    log = [*commit("恩", "en"), *commit("人才", "rencai"), *commit("多", "duo")]
    (error,) = typing_errors("人才多", log)
    assert (error.wanted, error.typed, error.habit, error.cause) == ("", "恩", None, None)


PIECES = st.lists(st.tuples(st.text("里程长历a", min_size=1, max_size=3), st.text("lic<", max_size=5)))


@settings(deadline=None)
@given(st.text("里程很长ab", max_size=12), PIECES)
def test_every_log_is_read(text, typed):
    log = [event for piece, spelled in typed for event in commit(piece, spelled)]
    whole = "".join(piece for piece, _ in typed)
    errors = typing_errors(text, log)
    assert all(text[e.start : e.start + len(e.wanted)] == e.wanted != e.typed for e in errors)
    if whole == text:
        assert errors == []


def recorded(name):
    """Logs that a page recorded from fcitx5-pinyin, in our words."""
    file = RECORDED / name
    if not file.exists():
        pytest.skip("the recorded logs are not here")
    names = {"keydown": "down", "keyup": "up", "compositionend": "commit", "compositionupdate": "compose"}
    for case in json.loads(file.read_text("utf-8")):
        log, composed = [], any(e["type"] == "compositionend" for e in case["log"])
        for event in case["log"]:
            if event["type"] in names:
                log.append({"e": names[event["type"]], "c": event["code"] or "", "d": event["data"]})
            elif event["type"] == "input" and event["it"] == "insertText" and not composed:
                log.append({"e": "commit", "d": event["data"]})
        yield case["target"], log


def scrambled(log):
    """The same log with its key codes in another order, as some came from a real input method."""
    codes = [event["c"] for event in log if event["e"] == "down"][::-1]
    return [{**event, "c": codes.pop()} if event["e"] == "down" and codes else event for event in reversed(log)][::-1]


# scrambled codes are told apart by the composition alone, which the hidden case does not have
@pytest.mark.parametrize(
    ("name", "changed"), [("case_visible.json", list), ("case_visible.json", scrambled), ("case_hidden_1.json", list)]
)
def test_a_real_input_method(name, changed):
    labelled = {target: typing_errors(target, changed(log)) for target, log in recorded(name)}
    assert not any(without_keys(log) for _, log in recorded(name))
    found = {target: [(e.typed, e.habit, e.cause) for e in errors] for target, errors in labelled.items()}
    mistaken = [] if name == "case_visible.json" else [("历程", "Full", "WrongSelection")]
    assert found == {
        "里程": mistaken,
        "要尽力": [("易建联", "Abbr", "WrongSelection")],
        "第二": [("地热", "Full", "WrongInput")],
        "历程": [("里程", "Full", "WrongSelection")],
        "社区": [],
    }


def compose(*shown):
    return [{"e": "compose", "d": text} for text in shown]


def test_letters_come_from_the_composition():
    scrambled = [*keys("ichlegn"), *compose("", "l", "li ch", "li cheng", "历程"), {"e": "commit", "d": "历程"}]
    (error,) = typing_errors("里程", scrambled)
    assert (error.keys, error.habit, error.cause) == ("licheng", "Full", "WrongSelection")


def test_a_part_that_was_chosen_first_is_remembered_as_it_was_spelled():
    steps = compose("", "licheng", "licheng henchang", "历程henchang", "licheng henchang", "历程henchang", "历程很长")
    assert pieces([*steps, {"e": "commit", "d": "历程很长"}]) == [TypedPiece("历程很长", "lichenghenchang")]


def test_a_very_long_answer_is_labelled():
    assert label("里" * 3000, TypedPiece("历" * 3000, "li" * 3000)) == ("Full", "WrongSelection")


def test_distance_is_by_sound():
    assert distance("里程很远", "历程恨远") == 0
    assert distance("蚂蚁花呗还款最低是多少呢", "啊" * 12) > 0.7
    assert 0 < distance("turn it off", "Trun it of!") < 0.4
    assert distance("。。", "。，") == 0.5


TEXT = "蚂蚁花呗还款最低是多少？嗯"


def flags(text, log, elapsed=30.0, draft=()):
    kind = Retype({})
    return [
        f.name for f in kind.flags(RetypeItem(TEXT), RetypeAnswer(text), Delivery(log, elapsed, 1, draft)) if f.again
    ]


def test_what_is_asked_again():
    assert flags(TEXT, typing(TEXT, 3)) == []
    assert flags("啊" * 14, typing("啊" * 14, 3)) == ["another text"]
    assert flags(TEXT, typing(TEXT, 29)) == ["slow"]
    assert flags(TEXT, typing(TEXT, 0.1)) == ["too fast"]
    assert flags(TEXT, [{"t": 0, "e": "down", "c": "KeyA"}, {"t": 3000, "e": "commit", "d": TEXT}]) == ["no keys"]
    assert flags(TEXT, [{"t": 3000, "e": "commit", "d": c} for c in TEXT])[0] == "no keys"
    first = typing("蚂", 1)
    assert flags(TEXT, typing(TEXT, 3), draft=first) == ["log differs from text"], "what was typed before is gone"
    assert flags(TEXT, typing(TEXT, 3), draft=typing(TEXT, 3)[:4]) == []


def test_gold_is_scored_by_distance():
    kind = Retype({})
    assert kind.right({"text": "里程很长"}, {"text": "历程很长"})
    assert not kind.right({"text": "里程很长"}, {"text": "啊啊啊啊"})


def test_what_readins_people_typed_is_taken():
    """Nearly all of it; the rest are other sentences, put into the wrong row."""
    folder = RECORDED.parent / "data/readin/afqmc_keyboard"
    if not folder.is_dir():
        pytest.skip("READIN's files are not here (../shared/data/readin)")
    texts = [
        [json.loads(line)["sentence1"] for line in (folder / name).read_text("utf-8").splitlines()[:1500]]
        for name in ("test_clean.json", "test_noisy_2.json")
    ]
    most = Retype({}).options.most_distance
    refused = sum(distance(text, typed) > most for text, typed in zip(*texts, strict=True))
    assert refused <= 15
    others = sum(distance(one, two) <= most for one, two in zip(texts[0], texts[0][7:], strict=False))
    assert others <= 30, "sentences about the same things are told apart"
    assert all(distance(text, "啊" * len(text)) > most for text in texts[0])
