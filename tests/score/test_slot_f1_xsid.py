"""xSID's rule, beside a plain reading of what its script does."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from unswayed.base.task import task_named
from unswayed.score import scorer_named
from unswayed.score.slot_f1_xsid import _spans

TAGS = st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"]), max_size=7)


def by_the_script(tags: list[str]) -> set[tuple[str, int, int]]:
    """The stop of a slot is where a loop over the rest of the text was left, which may be at its last token."""
    found = set()
    for begin, tag in enumerate(tags):
        if tag[0] == "B":
            stop = begin
            for stop in range(begin + 1, len(tags)):
                if tags[stop][0] != "I":
                    break
            found.add((tag[2:], begin, stop))
    return found


@given(TAGS)
def test_spans_are_those_of_the_script(tags: list[str]) -> None:
    assert _spans(tags) == by_the_script(tags)


def test_it_forgives_what_conlleval_does_not() -> None:
    task = task_named("slu")
    gold = {"intent": "x", "slots": ["O", "B-a", "I-a"]}
    said = {"intent": "x", "slots": ["O", "B-a", "O"]}
    values = {}
    for name in ("slot_f1", "slot_f1_xsid"):
        scorer = scorer_named(name)
        values[name] = float(scorer.aggregate(scorer.stats([said], [gold], task).sum(axis=0)))
    assert values == {"slot_f1": pytest.approx(0), "slot_f1_xsid": pytest.approx(1)}
