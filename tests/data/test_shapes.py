"""Forms of data that were once misread: each is understood and measured, or refused with the way out."""

from __future__ import annotations

from typing import Any

import pytest

import unswayed
from unswayed.base.errors import DataError, NothingEvaluated, UsageError
from unswayed.data import ReadOptions, open_source
from unswayed.data._read import Source
from unswayed.systems.template import Template, prompt_of

TEXTS = ["where is the lamp in the house", "what is on the big old table", "who took the red train home"]
CALL = {"content": None, "tool_calls": [{"function": {"name": "find", "arguments": '{"what": "lamp"}'}}]}


def read(rows: list[dict[str, Any]], **options: Any) -> Source:
    return open_source(rows, ReadOptions(**options), "en")


def test_these_work_as_written() -> None:
    """The first three lines of issue 35."""
    asked = [
        {"question": text, "context": "The lamp is in the hall, and the lamp is old.", "answer": "lamp"}
        for text in TEXTS
    ]

    def reader(batch: list[Any]) -> list[str]:
        return [inputs["context"].split()[1] for inputs in batch]

    results = unswayed.check(reader, asked, "@typing", draws=3)
    assert (results.task, results.flip_rate.value, results.clean.value) == ("qa", 0.0, 1.0)

    def tagger(batch: list[Any]) -> list[list[str]]:
        return [["complaint", "phone"][:: 1 if "a" in inputs["text"] else -1] for inputs in batch]

    tagged = [{"text": text, "labels": ["phone", "complaint"]} for text in TEXTS]
    results = unswayed.check(tagger, tagged, "keyboard/adjacent", gold="labels")
    assert (results.task, results.flip_rate.value, results.clean.value) == ("multilabel", 0.0, 1.0), "order is no flip"

    def search(batch: list[Any]) -> list[list[str]]:
        return [["d1", "d3"] if "lamp" in inputs["query"] else ["d1"] for inputs in batch]

    queries = [{"query": f"{text} {n} lamp", "relevant": ["d3"]} for n, text in enumerate(TEXTS * 4)]
    drop = unswayed.check(search, queries, "@typing", task="retrieve").scores["recall@10"]["drop"]
    assert drop.value is not None
    assert drop.value >= 0


def test_a_string_answer_moves_with_its_context_where_that_is_asked_for() -> None:
    rows = [
        {"question": text, "context": f"Yes, the lamp {n} is there.", "answer": "lamp"} for n, text in enumerate(TEXTS)
    ]
    suite = unswayed.make_suite(rows, "spoken/filler_begin", language="en", plan={"vary": {"fields": ["context"]}})
    variants = list(suite.variants())
    assert variants
    for variant in variants:
        for answer in variant.gold["answers"]:
            assert variant.inputs["context"][answer["start"] :].startswith("lamp")
        assert variant.gold["answers"][0]["start"] > rows[0]["context"].index("lamp")
    plain = unswayed.make_suite(rows, "spoken/filler_begin", language="en")
    assert {variant.inputs["context"] for variant in plain.variants()} == {row["context"] for row in rows}


def test_an_answer_is_found_as_a_word_and_at_each_place() -> None:
    rows = [{"question": TEXTS[0], "context": "Lampshades: a lamp, lamps and the lamp.", "answer": "lamp"}]
    (example,) = read(rows).examples
    assert [answer["start"] for answer in example.gold["answers"]] == [14, 34]


def test_lists_of_passages_reach_the_system_as_lists_and_prompts_as_texts() -> None:
    rows = [
        {"question": text, "contexts": ["The lamp.", 'A "table".'], "answer": f"{text}, I think so"} for text in TEXTS
    ]
    seen: list[Any] = []

    def system(batch: list[Any]) -> list[str]:
        seen.extend(batch)
        return ["I think so" for _ in batch]

    results = unswayed.check(system, rows, "keyboard/adjacent", language="en")
    assert results.task == "generate"
    assert all(inputs["contexts"] == rows[0]["contexts"] for inputs in seen)
    inputs = {"question": "what?", "contexts": '["The lamp.", "A table."]'}
    assert prompt_of(Template("{contexts}\nQ: {question}"), inputs) == "The lamp.\n\nA table.\nQ: what?"
    with pytest.raises(UsageError, match="'contexts' is a list of passages"):
        unswayed.make_suite(rows, "keyboard/adjacent", language="en", plan={"vary": {"fields": ["contexts"]}})


def test_an_answer_that_is_not_in_the_context_is_free_and_the_context_stays() -> None:
    rows = [
        {"question": text, "context": "The lamp is here.", "answer": f"I think that it is number {n}"}
        for n, text in enumerate(TEXTS)
    ]
    source = read(rows)
    assert source.kind.task == "generate"
    variants = unswayed.make_suite(rows, "keyboard/adjacent", language="en").variants()
    assert {variant.inputs["context"] for variant in variants} == {"The lamp is here."}


@pytest.mark.parametrize(
    ("rows", "options", "task"),
    [
        ([{"text": t, "topics": ["a", "b"]} for t in TEXTS], {}, "multilabel"),
        ([{"text": t, "gold": ["a", "b"]} for t in TEXTS], {}, "multilabel"),
        ([{"question": t, "answer": ["the lamp", f"lamp {t}"]} for t in TEXTS], {}, "generate"),
        ([{"text": t, "gold": 0.73} for t in TEXTS], {}, "score"),
        ([{"text": t, "label": "0.73"} for t in TEXTS], {}, "score"),
        ([{"text": t, "score": n} for n, t in enumerate(TEXTS)], {}, "score"),
        ([{"text": t, "stars": n} for n, t in enumerate(TEXTS)], {}, "classify"),
        ([{"question": t, "answer": 0.5} for t in TEXTS], {}, "generate"),
        ([{"query": t, "relevant_ids": [3, "d4"]} for t in TEXTS], {}, "retrieve"),
        ([{"query": t, "qrels": {"d3": 2}} for t in TEXTS], {}, "retrieve"),
        ([{"text": t, "expected_output": f"{t}, and here is more"} for t in TEXTS * 7], {}, "generate"),
        ([{"text": t, "reply": f"{t}, and here is more"} for t in TEXTS * 7], {"gold": "reply"}, "generate"),
        ([{"text": t, "reply": "yes"} for t in TEXTS * 7], {"gold": "reply"}, "classify"),
    ],
)  # fmt: skip
def test_the_task_is_found(rows: list[dict[str, Any]], options: dict[str, Any], task: str) -> None:
    assert read(rows, **options).kind.task == task


def test_the_tolerance_of_scores_follows_their_range() -> None:
    source = read([{"text": text, "score": score} for text, score in zip(TEXTS, (1, 3.5, 5), strict=True)])
    assert source.kind.compared == {"equivalent": "within@0.2"}
    assert "1 to 5, a change counts if it is beyond 0.2" in source.read_as


@pytest.mark.parametrize(
    "row",
    [
        {"inputs": {"question": "where is it"}, "outputs": {"answer": "In the hall, next to the red door."}},
        {"inputs": {"question": "where is it"}, "outputs": {"anything": "In the hall, next to the red door."}},
        {"inputs": {"question": "where is it"}, "reference_outputs": {"answer": "In the hall, next to the red door."}},
        {"inputs.question": "where is it", "outputs.answer": "In the hall, next to the red door."},
    ],
)
def test_langsmiths_examples_keep_their_gold(row: dict[str, Any]) -> None:
    source = read([row])
    (example,) = source.examples
    assert (example.inputs, example.gold) == ({"question": "where is it"}, "In the hall, next to the red door.")


def test_dotted_names_can_be_chosen() -> None:
    rows = [{"data": {"q": text}, "out": {"a": {"b": "yes"}}, "more": 1} for text in TEXTS]
    source = read(rows, input=("data.q",), gold="out.a.b")
    assert [(e.inputs, e.gold) for e in source.examples] == [({"q": text}, "yes") for text in TEXTS]
    with pytest.raises(DataError, match=r"there is no field 'data\.p'"):
        read(rows, input=("data.p",))


def test_what_looks_like_gold_and_is_not_read_is_named() -> None:
    said = read([{"text": text, "true_class": "a"} for text in TEXTS]).read_as
    assert said.endswith("'true_class' looks like a right answer: to score with it, name it with gold=.")
    said = read([{"inputs": {"text": text}, "the_label": "a"} for text in TEXTS]).read_as
    assert "no gold" in said
    assert "'the_label' looks like a right answer" in said


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([{"text": t, "soft": {"pos": 0.2}} for t in TEXTS], r"has a form that no task has.*task=: retrieve"),
        ([{"text": t, "soft": ["a b", "c d"]} for t in TEXTS[:1]], None),
        ([{"text": t, "soft": ["a", "b"][:n]} for n, t in enumerate(TEXTS, 1)], "task= with multilabel or generate"),
    ],
)
def test_unclear_golds_are_refused_with_the_way_out(rows: list[dict[str, Any]], match: str | None) -> None:
    if match is None:
        assert read(rows, gold="soft").kind.task == "generate"
        return
    with pytest.raises(UsageError, match=match):
        read(rows, gold="soft")


@pytest.mark.parametrize("calls_first", [True, False])
def test_chats_that_end_in_calls_and_in_text_are_both_scored(calls_first: bool) -> None:
    ends = [CALL, {"content": "Hello!"}]
    chats = [
        {"messages": [{"role": "user", "content": f"{text} {n}"}, {"role": "assistant", **end}]}
        for n in range(4)
        for text, end in zip(("find the lamp", "good morning to you"), ends if calls_first else ends[::-1], strict=True)
    ]
    calls = "find the lamp" if calls_first else "good morning"

    def system(batch: list[Any]) -> list[Any]:
        last = [row["messages"][-1]["content"] for row in batch]
        return [[{"name": "find", "arguments": {"what": "lamp"}}] if calls in text else "Hello! Nice." for text in last]

    results = unswayed.check(system, chats, "spoken/filler_end", language="en")
    assert (results.task, results.score, results.clean.value) == ("tools", "tool_calls", 1.0)
    assert results.flip_rate.value == 0.0

    def silent(batch: list[Any]) -> list[Any]:
        """Another text where a text is due, as soon as there is a filler."""
        last = [row["messages"][-1]["content"] for row in batch]
        return ["Hello!" if text[-1].isdigit() else "What do you want?" for text in last]

    results = unswayed.check(silent, chats, "spoken/filler_end", language="en")
    assert results.clean.value == 0.5
    assert results.flip_rate.value == pytest.approx(0.5, abs=0.01), "only rows with a text as gold flip"


def test_rules_for_texts_are_refused_where_outputs_are_none() -> None:
    rows = [{"query": text, "relevant": ["d3"]} for text in TEXTS]
    with pytest.raises(
        UsageError, match="compares texts, and the task retrieve compares its outputs by the rule found@"
    ):
        unswayed.check(lambda batch: [["d3"] for _ in batch], rows, "surface/case", language="en",
                       plan={"measure": {"equivalent": "exact"}})  # fmt: skip


def test_a_row_of_an_indicator_matrix_is_unreadable_and_no_labels() -> None:
    rows = [{"text": text, "labels": ["a"]} for text in TEXTS * 4]
    with pytest.raises(NothingEvaluated, match="a list of the labels' names is needed"):
        unswayed.check(lambda batch: [[0, 1, 1] for _ in batch], rows, "surface/case", language="en")


def test_a_text_is_no_score_and_is_not_counted_as_a_wrong_one() -> None:
    rows = [{"text": text * n, "score": n / 4} for n, text in enumerate(TEXTS * 4, 1)]

    def rate(batch: list[Any]) -> list[Any]:
        return [len(row["text"]) / 100 if row["text"].islower() else "I can't rate this." for row in batch]

    results = unswayed.check(rate, rows, "surface/case", language="en", seed=1)
    assert results.validity["unreadable"] > 0
    assert "can't be read and are left out of the correlation" in str(results)
    assert results.average.missing == results.validity["unreadable"]
    with pytest.raises(UsageError, match="the task score has none"):
        unswayed.check(rate, rows, "surface/case", language="en", plan={"measure": {"missing": "wrong"}})


def test_k_is_chosen_once() -> None:
    rows = [{"query": f"{text} {n}", "relevant": ["d3"]} for n, text in enumerate(TEXTS * 4)]

    def system(batch: list[Any]) -> list[list[str]]:
        """The relevant document falls from the first to the third place."""
        return [["d3", "d1", "d2"] if row["query"].islower() else ["d1", "d2", "d3"] for row in batch]

    whole = unswayed.check(system, rows, "surface/case", language="en", seed=1)
    assert (whole.flip_rate.value, whole.score) == (0.0, "ndcg@10")
    by_rule = unswayed.check(system, rows, "surface/case", language="en", seed=1,
                             plan={"measure": {"equivalent": "found@2"}})  # fmt: skip
    by_score = unswayed.check(system, rows, "surface/case", language="en", seed=1, scores="recall@2")
    assert list(by_rule.scores) == ["recall@2", "mrr@2"]
    assert by_score.flip_rate.value == by_rule.flip_rate.value
    assert by_score.flip_rate.value == pytest.approx(by_score.drop.value)
    assert by_score.flip_rate.value
