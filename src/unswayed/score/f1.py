"""F1 of the words that an answer shares with a gold answer, as SQuAD counts it."""

from __future__ import annotations

from collections import Counter

from unswayed.score._scorer import AnswerScorer


class F1(AnswerScorer):
    """The best over the gold answers. Words are what spaces separate; an empty answer is right if none is due."""

    name = "f1"

    def likeness(self, said: str, due: str) -> float:
        words, gold = said.split(), due.split()
        if not words or not gold:
            return float(words == gold)
        shared = (Counter(words) & Counter(gold)).total()
        return 2 * shared / (len(words) + len(gold))
