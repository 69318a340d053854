"""SQuAD's two scores, against another implementation of the published rules, version 1.1 and 2.0."""

from __future__ import annotations

import random
import re
import string

import numpy as np
import pytest

from unswayed.base.task import task_named
from unswayed.score import scorers

QA = task_named("qa")
WORDS = ["the", "a", "An", "river", "Rhine", "1,200", "U.S.", "don't", "—", "é", "of", "river's", "-", "“big”", "THE"]


def words_by_the_rules(text: str) -> list[str]:
    """Lower case; drop each ASCII mark; drop whole words that are articles; split at white space."""
    kept = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def by_the_rules(said: str, golds: list[str]) -> tuple[float, float]:
    """Version 2.0's: golds of which nothing is left are dropped; without any, the right answer is the empty one."""
    golds = [gold for gold in golds if words_by_the_rules(gold)] or [""]
    found = []
    for gold in golds:
        a, b = words_by_the_rules(said), words_by_the_rules(gold)
        if not a or not b:
            found.append((float(a == b), float(a == b)))
            continue
        common, left = 0, list(b)
        for word in a:
            if word in left:
                left.remove(word)
                common += 1
        precision, recall = common / len(a), common / len(b)
        f1 = 0.0 if common == 0 else 2 * precision * recall / (precision + recall)
        found.append((float(a == b), f1))
    return max(exact for exact, _ in found), max(f1 for _, f1 in found)


def test_hundreds_of_answers_score_as_the_rules_say() -> None:
    draw = random.Random(7)
    text = lambda least: " ".join(draw.choices(WORDS, k=draw.randint(least, 4)))  # noqa: E731
    outputs, golds, due = [], [], []
    for _ in range(800):
        answers = [text(1) for _ in range(draw.randint(0, 3))]
        said = draw.choice([*answers, text(0), text(0)])
        outputs.append(said)
        golds.append({"answers": [{"text": answer, "start": None} for answer in answers]})
        due.append(by_the_rules(said, answers))
    assert 100 < sum(exact for exact, _ in due) < 700
    for at, name in enumerate(("exact_match", "f1")):
        rows = scorers.get(name)().stats(outputs, golds, QA)
        assert rows[:, 0].tolist() == pytest.approx([pair[at] for pair in due], abs=1e-12)


@pytest.mark.parametrize(
    ("said", "gold", "exact", "f1"),
    [
        ("the Amazon rainforest", "Amazon Rainforest", 1, 1),
        ("in Amazon", "Amazon Rainforest", 0, 0.5),
        ("Amazon, Amazon!", "Amazon", 0, 2 / 3),  # a word counts as often as gold has it
        ("another", "other", 0, 0),  # articles are whole words
        ("A.", "B", 0, 0),
    ],
)
def test_by_hand(said: str, gold: str, exact: float, f1: float) -> None:
    due = {"answers": [{"text": "something else"}, {"text": gold}]}
    assert scorers.get("exact_match")().item(said, due, QA) == exact
    assert scorers.get("f1")().item(said, due, QA) == pytest.approx(f1)


def test_questions_with_and_without_an_answer_apart() -> None:
    golds = [{"answers": [{"text": "red"}]}, {"answers": []}, {"answers": [{"text": "two words"}]}, {"answers": []}]
    outputs = ["red", "red", "two", ""]
    parts = scorers.get("f1")().parts(golds, QA)
    assert [part.name for part in parts] == ["f1(HasAns)", "f1(NoAns)"]
    due = [[i for i, gold in enumerate(golds) if part.gold_key(gold, QA) is not None] for part in parts]
    assert due == [[0, 2], [1, 3]]
    means = [
        np.mean([part.item(outputs[i], golds[i], QA) for i in rows]) for part, rows in zip(parts, due, strict=True)
    ]
    assert means == pytest.approx([(1 + 2 / 3) / 2, 0.5])
    assert scorers.get("f1")().parts(golds[:1], QA) == []
    assert parts[0].parts(golds, QA) == []


def test_free_answers_of_other_tasks_keep_their_marks() -> None:
    free = task_named("generate")
    assert scorers.get("exact_match")().item("-5", "5", free) == 0
    assert scorers.get("exact_match")().item(" The  Cat", "the cat", free) == 1
