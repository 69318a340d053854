from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from samples import reader

from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.data import read_examples
from unswayed.papers.readin.answer_finder import AnswerFinder, Reading
from unswayed.papers.readin.scores import CmrcF1
from unswayed.systems.system import Failed

CMRC = Path(__file__).parents[3].parent / "shared/data/cmrc2018/cmrc2018_trial.json"
PLACES = ["北京", "上海", "广州", "成都", "西安", "南京", "武汉", "杭州"]
PEOPLE = ["王明", "李华", "张伟", "刘洋"]


def examples(count: int = 24) -> list[Example]:
    made = []
    for i in range(count):
        person, place, year = PEOPLE[i % 4], PLACES[i * 3 % 8], 1950 + i
        context = f"{person}生于{place}，{year}年毕业。后来他在一家工厂工作，喜欢音乐。"
        question, answer = (f"{person}生于哪里？", place) if i % 2 else (f"{person}哪一年毕业？", f"{year}年")
        gold = {"answers": [{"text": answer, "start": context.index(answer)}]}
        made.append(Example(i, str(i), {"question": question, "context": context}, gold))
    return made


def test_learns_from_some_and_answers_others() -> None:
    model = AnswerFinder.train(examples()[:18])
    outputs = model.predict([e.inputs for e in examples()[18:]])
    assert list(outputs) == [e.gold["answers"][0]["text"] for e in examples()[18:]]


def test_same_data_and_seed_same_model_also_after_saving(tmp_path: Path) -> None:
    model = AnswerFinder.train(examples(8), epochs=1)
    assert AnswerFinder.train(examples(8), epochs=1).identity == model.identity
    assert AnswerFinder.train(examples(8), epochs=1, seed=1).identity != model.identity
    assert AnswerFinder.load(model.save(tmp_path / "model")).identity == model.identity


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=80))
def test_an_answer_stands_in_the_context_whatever_it_is(question: str, context: str) -> None:
    [answer] = _sample().predict([{"question": question, "context": context}])
    assert isinstance(answer, str)
    assert answer in context


def _sample(cache: list[AnswerFinder] = []) -> AnswerFinder:  # noqa: B006
    if not cache:
        cache.append(reader())
    return cache[0]


def test_words_and_numbers_are_not_cut() -> None:
    reading = Reading("when?", "in 1984 or 北京")
    assert [reading.context[p] for p in reading.places[:-1]] == ["i", " ", "1", " ", "o", " ", "北", "京"]


def test_what_can_not_be_learnt_from_is_named() -> None:
    with pytest.raises(UsageError, match="'classify'"):
        AnswerFinder.train(examples(), task="classify")
    [failed] = _sample().predict([{"question": "what?"}])
    assert isinstance(failed, Failed)


@pytest.mark.slow
def test_reads_chinese_wikipedia_a_little() -> None:
    if not CMRC.exists():
        pytest.skip(f"needs CMRC2018's trial set as {CMRC}")
    rows = list(read_examples(CMRC))
    model, held = AnswerFinder.train(rows[:400], epochs=1), rows[850:]
    assert not {e.inputs["context"] for e in rows[:400]} & {e.inputs["context"] for e in held}
    outputs = model.predict([e.inputs for e in held])
    scores = [CmrcF1().item(o, e.gold, task_named("qa")) for o, e in zip(outputs, held, strict=True)]
    assert sum(scores) / len(scores) >= 0.30
