"""Retrieval: a query in, a ranked list of documents' ids out."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from math import isfinite

import msgspec

from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json

_IDS = ("id", "_id", "doc_id", "docid", "document_id")


class RetrieveTask(Task):
    """Gold is a list of the relevant documents' ids, or an object from id to grade; 0 and below are not relevant.

    An output is a list of ids, the best first, or of objects with an `id`; an object from id to score is ranked by
    the scores. Ids are compared as texts, and an id that comes again does not count.
    """

    name = "retrieve"
    scores = ("ndcg@10", "recall@10", "mrr@10")
    compared = ("", "found@10")
    own_rule = True

    def gold_problem(self, example: Example) -> str | None:
        if grades_of(example.gold) is None:
            return f"gold must be a list of relevant ids, or an object from id to grade, not {example.gold!r:.80}"
        return None

    def read(self, output: Json, inputs: Inputs) -> Json:
        found = ranked_ids(output)
        return output if found is None else found

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        if ranked_ids(output) is not None:
            return None
        return f"an output must be a list of documents' ids, the best first, not {output!r:.80}"

    def answer(self, output: Json) -> Hashable:
        found = ranked_ids(output)
        return None if found is None else tuple(found)

    def nothing(self, gold: Json) -> Json:
        return []

    def right(self, gold: Json) -> Json:
        grades = grades_of(gold) or {}
        return sorted(grades, key=lambda id: -grades[id])


def ranked_ids(value: Json) -> list[str] | None:
    """The ids of a ranking as texts, each at its first place; None if it has another form."""
    if isinstance(value, str):
        with suppress(msgspec.MsgspecError, UnicodeError):
            value = msgspec.json.decode(value)
    if isinstance(value, dict):
        scores = list(value.values())
        if not all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in scores):
            return None
        value = sorted(value, key=lambda id: -value[id])
    if not isinstance(value, list):
        return None
    ids = [next((v[name] for name in _IDS if name in v), None) if isinstance(v, dict) else v for v in value]
    if not all(type(id) is str or type(id) is int for id in ids):
        return None
    return list(dict.fromkeys(map(str, ids)))


def grades_of(gold: Json) -> dict[str, float] | None:
    """How relevant each relevant document is, by id; None if the gold has another form."""
    if isinstance(gold, dict):
        grades = list(gold.values())
        if not all(type(grade) in (int, float) and isfinite(grade) for grade in grades):
            return None
        return {id: float(grade) for id, grade in gold.items() if grade > 0}
    ids = gold if isinstance(gold, list) else [gold]
    if not all(type(id) is str or type(id) is int for id in ids):
        return None
    return dict.fromkeys(map(str, ids), 1.0)
