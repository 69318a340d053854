"""Exact match: the answer is one of the gold answers; for questions on a text, by SQuAD's rules."""

from __future__ import annotations

from unswayed.score._scorer import AnswerScorer


class ExactMatch(AnswerScorer):
    """Gold is `{"answers": [{"text": …}, …]}`, a text, a number or a list of texts; an output is one text or number."""

    name = "exact_match"
    version = 2

    def likeness(self, said: str, due: str) -> float:
        return float(said == due)
