"""In their own words: what an answer may be, and how its marks become labels."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, strategies as st

from unswayed.base.edits import LabelsLost
from unswayed.base.task import tasks
from unswayed.base.values import Example
from unswayed.collect.kinds import Delivery
from unswayed.collect.kinds.reword import Reword, labelled_words, placed

from .test_browser import Visit, driver, visit

__all__ = ["Visit", "driver", "visit"]
KIND = Reword({})
TAGS = {"tags": ["O", "B-time", "I-time", "B-place"]}
ENTITIES = {"entities": [{"start": 6, "end": 8, "label": "place", "id": 7}, {"start": 0, "end": 2, "label": "who"}]}


def test_items_have_the_labelled_words():
    example = Example(0, "e", {"text": "at nine am home"}, TAGS)
    (item,) = Reword.from_suite(example, [], ["text"])
    assert item.content["marks"] == [{"name": "time", "value": "nine am"}, {"name": "place", "value": "home"}]
    assert [span.name for span in labelled_words(ENTITIES, "text", "小明今天去了上海吗")] == ["who", "place"]
    assert labelled_words({"answers": [{"text": "x", "start": 0}]}, "question", "x") == []


def test_marks_become_tags():
    answer = {"text": "home  lah,\nnine  am", "marks": ["nine am", "home"]}
    text, gold = KIND.moved(tasks.get("tag")(), TAGS, "text", "at nine am home", answer)
    assert (text, gold) == ("home lah, nine am", {"tags": ["B-place", "O", "B-time", "I-time"]})
    _, gold = KIND.moved(
        tasks.get("tag")(), TAGS, "text", "at nine am home", {"text": "go home", "marks": [None, "home"]}
    )
    assert gold == {"tags": ["O", "B-place"]}, "a label whose words are gone goes with them"


def test_marks_become_entities():
    answer = {"text": "今朝小明到上海去了伐", "marks": ["小明", "上海"]}
    text, gold = KIND.moved(tasks.get("tag")(), ENTITIES, "text", "小明今天去了上海吗", answer)
    assert [(text[e["start"] : e["end"]], e["label"]) for e in gold["entities"]] == [("小明", "who"), ("上海", "place")]
    assert gold["entities"][1]["id"] == 7, "what else an entity has stays"


def test_a_label_without_places_stays():
    assert KIND.moved(tasks.get("classify")(), "yes", "text", "is it", {"text": "izzit"}) == ("izzit", "yes")


def test_whole_words_come_first_and_none_over_another():
    assert placed("nineteen at nine", ["nine"]) == [(12, 16)]
    assert placed("new york, york", ["york", "new york"]) == [(10, 14), (0, 8)]
    assert placed("six to six", ["six", "six", None]) == [(0, 3), (7, 10), None]
    for marks in (["seven"], ["six", "six", "six"], [""], ["  "]):
        with pytest.raises(LabelsLost):
            placed("six to six", marks)


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_marks_that_are_apart_are_found(words):
    found = placed("\n".join(words), words)
    assert all(span and "\n".join(words)[span[0] : span[1]] == word for span, word in zip(found, words, strict=True))
    taken = sorted(span for span in found if span)
    assert all(one[1] <= other[0] for one, other in pairwise(taken))


@pytest.mark.parametrize(
    "answer",
    [{"text": "x", "marks": []}, {"text": "x", "marks": ["y", None]}, {"text": "", "marks": [None, None]},
     {"text": "x", "marks": ["x", "x"]}, {"text": "x", "marks": [1, 2]}],
)  # fmt: skip
def test_answers_that_do_not_fit_are_refused(answer):
    item = KIND.item({"text": "t", "marks": [{"name": "a", "value": "b"}, {"name": "c", "value": "d"}]})
    with pytest.raises(msgspec.ValidationError):
        KIND.answer(answer, item, {})


def test_the_same_sentence_again_is_flagged():
    item, delivery = KIND.item({"text": "t"}), Delivery([], 1, 1)
    assert [flag.name for flag in KIND.flags(item, KIND.answer({"text": "t"}, item, {}), delivery)] == ["as it was"]
    assert not KIND.flags(item, KIND.answer({"text": "u"}, item, {}), delivery)


def test_marking_in_the_browser(visit):
    item = {
        "id": "i",
        "text": "wake me at nine",
        "marks": [{"name": "time", "value": "nine"}, {"name": "who", "value": "me"}],
    }
    v = visit(kind="reword", items=[item])
    v.size(900)
    v.enter(v.server.invite(), about="x")
    v.ready()
    v.find("#reworded").send_keys("nine o'clock can wake or not")
    v.send()
    v.wait(lambda: "Give the words" in v.find("#say").text, "marks are asked for")
    v.driver.execute_script("document.querySelector('#reworded').setSelectionRange(0, 4)")
    v.find(".mark button").click()
    assert v.driver.execute_script("return document.querySelector('#mark-1').value") == "nine"
    v.find("#mark-2").send_keys("lah")
    v.send()
    v.wait(lambda: "not in your text: lah" in v.find("#say").text, "words that are not there")
    v.driver.find_elements("css selector", ".mark [type=checkbox]")[1].click()
    v.send()
    v.wait(v.answers, "the answer comes")
    ((_, _, content, flags, live, _),) = v.answers()
    assert msgspec.json.decode(content) == {"text": "nine o'clock can wake or not", "marks": ["nine", None]}
    assert (flags, live) == ("", 1)
    v.sound()
