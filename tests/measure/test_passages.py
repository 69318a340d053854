"""A retriever's run beside the whole system's: each changed answer with a lost passage, or in spite of a kept one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import unswayed
from unswayed.base.errors import UsageError
from unswayed.measure import passage_losses

THINGS = ["phone", "film", "parcel", "guitar", "garden", "ticket", "doctor", "window"]
IDS = [str(n) for n in range(24)]
QUESTIONS = [f"where can I find a very good {THINGS[n % 8]} please" for n in range(24)]
OPERATORS: list[str] = ["keyboard/adjacent", "spoken/filler_end"]


def search(batch: Sequence[Any]) -> list[list[str]]:
    return [[thing for thing in THINGS if thing in next(iter(row.values()))] for row in batch]


def answer(batch: Sequence[Any]) -> list[str]:
    """Answers from what it finds, and not at all where it does not like the word `good` to be mistyped."""
    found = search(batch)
    return [
        f"the {ids[0]} shop" if ids and "good" in row["question"] else "I do not know"
        for ids, row in zip(found, batch, strict=True)
    ]


def runs(seed: int = 3) -> tuple[Any, Any]:
    things = [THINGS[n % 8] for n in range(24)]
    asked = [{"id": i, "question": q, "relevant": [t]} for i, q, t in zip(IDS, QUESTIONS, things, strict=True)]
    told = [{"id": i, "question": q, "answer": f"the {t} shop"} for i, q, t in zip(IDS, QUESTIONS, things, strict=True)]
    plan: dict[str, Any] = {"vary": {"keep_facts": "no"}}
    how: dict[str, Any] = {"draws": 4, "language": "en", "plan": plan}
    retrieval = unswayed.check(search, asked, OPERATORS, seed=3, task="retrieve", **how)
    return retrieval, unswayed.check(answer, told, OPERATORS, seed=seed, task="generate", **how)


def test_every_changed_answer_is_counted_once_by_hand() -> None:
    retrieval, answers = runs()
    found = passage_losses(retrieval, answers)
    hand = dict.fromkeys(found.by["all"], 0)
    for example, varied in answers.run.suite.groups():
        thing = THINGS[int(example.id) % 8]
        for variant in varied:
            text = variant.inputs["question"]
            lost, kept = thing not in text, thing in text and "good" in text
            hand[f"passage {'lost' if lost else 'kept'}, answer {'kept' if kept else 'changed'}"] += 1
    assert found.by["all"] == hand
    assert hand["passage lost, answer changed"] > 0 < hand["passage kept, answer changed"]
    lost, kept = hand["passage lost, answer changed"], hand["passage kept, answer changed"]
    assert found.explained.value == pytest.approx(lost / (lost + kept))
    assert found.when_lost.value == 1.0
    assert found.explained.low is not None
    assert found.explained.low < lost / (lost + kept)
    assert found.by["spoken/filler_end"]["passage lost, answer changed"] == 0
    assert "With a lost passage, the answer changes in 100% of them." in found.sentences
    assert len(list(found)) == 3


def test_other_questions_are_refused() -> None:
    retrieval, answers = runs()
    with pytest.raises(UsageError, match="must be of the task retrieve, not of generate"):
        passage_losses(answers, retrieval)
    _, other = runs(seed=9)
    with pytest.raises(UsageError, match="variants have another text"):
        passage_losses(retrieval, other)
