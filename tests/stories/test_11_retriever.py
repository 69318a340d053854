"""Story 11, a retriever: which mistyped queries lose a relevant document; and the same rows for a reader with contexts,
where only the question is varied."""

from __future__ import annotations

from typing import Any

import pytest

import unswayed
from unswayed.base.values import Inputs
from unswayed.measure.changes import flips

THINGS = (
    "lamp",
    "chair",
    "phone",
    "parcel",
    "ticket",
    "garden",
    "bicycle",
    "doctor",
    "hotel",
    "train",
    "guitar",
    "door",
)
TEXTS = [f"the {thing} near the {place}" for thing in THINGS for place in ("market", "river", "school")]
DOCUMENTS = {f"doc{n}": text for n, text in enumerate(TEXTS)}
ROWS = [
    {"query": f"where can I find {text} today", "relevant": [id], "answer": text, "contexts": [text, "nothing else"]}
    for id, text in DOCUMENTS.items()
]


def search(batch: list[Inputs]) -> list[list[str]]:
    """Documents by the number of words that they share with the query; the first ten."""
    found = []
    for inputs in batch:
        words = set(inputs["query"].split())
        found.append(sorted(DOCUMENTS, key=lambda id: -len(words & set(DOCUMENTS[id].split())))[:10])
    return found


def test_what_mistyped_queries_lose(capsys: pytest.CaptureFixture[str]) -> None:
    results = unswayed.check(search, ROWS, "@typing", input="query", gold="relevant", draws=2, seed=11, language="en")
    read = "Read as: retrieve, 36 relevant ids, 36 rows; text = query, gold = relevant; language en; not read: answer, "
    assert capsys.readouterr().err.startswith(read)
    assert (results.task, results.score, list(results.scores)) == ("retrieve", "ndcg@10", ["recall@10", "mrr@10"])
    assert results.scores["recall@10"]["clean"].value == 1.0
    lost = results.scores["recall@10"]["drop"].value
    assert lost is not None
    assert lost > 0.01, "a query without the thing's name finds other documents"
    # each query has one relevant document, so that it is lost exactly where recall is
    assert results.flip_rate.value == pytest.approx(lost)
    assert results.gained is not None
    assert results.gained.value == 0.0
    assert "of varied queries lose a relevant document from the first 10, 0% gain one there" in str(results)
    changed = list(flips(results.run))
    assert changed
    for flip in changed:
        assert flip.example.gold[0] in flip.clean.value
        assert flip.example.gold[0] not in flip.varied.value


def test_the_same_rows_with_contexts_and_an_answer() -> None:
    seen: list[Any] = []

    def reader(batch: list[Any]) -> list[str]:
        seen.extend(batch)
        return [f"It is {inputs['contexts'][0]}, I think." for inputs in batch]

    rows = [{"question": row["query"], "contexts": row["contexts"], "answer": f"{row['answer']}"} for row in ROWS]
    results = unswayed.check(reader, rows, "@typing", language="en")
    assert results.task == "generate"
    assert (results.clean.value, results.flip_rate.value) == (1.0, 0.0)
    assert {tuple(inputs["contexts"]) for inputs in seen} == {(text, "nothing else") for text in DOCUMENTS.values()}
    assert len({inputs["question"] for inputs in seen}) > len(rows), "the question is varied"
