"""What must hold of every task: whatever a system says is read or refused, and gold is scored as right."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.chat import chat_inputs
from unswayed.base.task import task_named, tasks
from unswayed.base.values import Example, Inputs, Json
from unswayed.measure.measuring import scorers_for
from unswayed.score import due_of

CHAT = chat_inputs([{"role": "user", "content": "turn it on"}])
SCHEMA = {"tables": {"t": ["a", "b"]}, "keys": {}}
EXAMPLES: dict[str, tuple[Inputs, Json, Json]] = {  # inputs, gold, and an output that is right
    "chat": (CHAT, "yes", "yes"),
    "classify": ({"text": "turn it on"}, "lights", "lights"),
    "generate": ({"question": "how many"}, ["three", 3], "There are three."),
    "multilabel": ({"text": "turn it on"}, ["a", "b"], ["b", "a", "a"]),
    "qa": ({"question": "who", "context": "Anna came."}, {"answers": [{"text": "Anna", "start": 0}]}, "anna"),
    "retrieve": ({"query": "a lamp"}, {"d1": 2, "7": 1}, ["d1", 7]),
    "score": ({"text": "fine"}, 0.5, "0.5"),
    "slu": ({"text": "turn it on"}, {"intent": "i", "slots": ["O"] * 3}, {"intent": "i", "slots": ["O"] * 3}),
    "sql": ({"question": "which"}, {"sql": "select a from t", "db_id": "d", "schema": SCHEMA}, "select a from t"),
    "structured": ({"text": "turn it on"}, {"a": {"b": 1}, "c": "x"}, {"c": "X", "a": {"b": 1.0}, "d": 2}),
    "tag": ({"text": "Anna came"}, {"tags": ["B-PER", "O"]}, ["B-PER", "O"]),
    "text": ({"text": "turn it on"}, None, {"anything": 1}),
    "tools": (CHAT, [{"f": {"x": [1]}}], [{"name": "f", "arguments": {"x": 1}}]),
    "translate": ({"source": "turn it on"}, ["schalte es bitte an"], "schalte es bitte an"),
}
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["label", "labels", "id", "score", "name", "tags", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def test_every_task_is_here() -> None:
    assert set(EXAMPLES) == set(tasks.names())


@pytest.mark.parametrize("name", sorted(EXAMPLES))
class TestContract:
    def test_gold_fits_and_a_right_output_has_the_full_score(self, name: str) -> None:
        task, (inputs, gold, output) = task_named(name), EXAMPLES[name]
        assert task.gold_problem(Example(0, "a", inputs, gold)) is None
        assert task.output_problem(output, inputs) is None
        said = task.read(output, inputs)
        for scorer in scorers_for(task, None) if gold is not None else ():
            found = scorer.aggregate(scorer.stats([said], [due_of(scorer, gold, inputs)], task).sum(axis=0))
            assert float(found) == pytest.approx(scorer.bounds[1], nan_ok=True) or found != found

    def test_nothing_is_scored_lower(self, name: str) -> None:
        task, (inputs, gold, output) = task_named(name), EXAMPLES[name]
        scorers = scorers_for(task, None)
        if gold is None or not task.has_wrong or not scorers:
            return
        golds = [due_of(scorers[0], gold, inputs)]
        right, nothing = task.read(output, inputs), task.nothing(gold)
        better, worse = (scorers[0].aggregate(scorers[0].stats([said], golds, task)) for said in (right, nothing))
        assert not better[0] < worse[0]
        assert scorers[0].key(nothing, task) is not None, "what can't be read is wrong, and not missing"

    @settings(max_examples=40)
    @given(output=ODD)
    def test_odd_outputs_are_read_or_refused(self, name: str, output: Json) -> None:
        task, (inputs, _, _) = task_named(name), EXAMPLES[name]
        problem = task.output_problem(output, inputs)
        if problem is None:
            assert isinstance(task.answer(task.read(output, inputs)), Hashable)
        else:
            assert problem

    def test_equal_outputs_are_equal_answers(self, name: str) -> None:
        task, (inputs, _, output) = task_named(name), EXAMPLES[name]
        assert task.answer(task.read(output, inputs)) == task.answer(task.read(output, inputs))
