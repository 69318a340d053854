"""Retrievers of NoiseQA's paragraphs, to see what slips in a question do: BM25, and MiniLM where it is installed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log

import numpy as np

from unswayed.base.errors import UsageError
from unswayed.systems.model_folder import Embeddings, minilm_folder

Retriever = Callable[[Sequence[str]], list[int]]  # the paragraph that each question finds


def bm25(paragraphs: Sequence[str], k: float = 1.2, b: float = 0.75) -> Retriever:
    texts = [Counter(_words(text)) for text in paragraphs]
    sizes = np.array([text.total() for text in texts], float)
    known = {word: column for column, word in enumerate(sorted({word for text in texts for word in text}))}
    weights = np.zeros((len(known), len(texts)))
    for row, text in enumerate(texts):
        for word, count in text.items():
            weights[known[word], row] = count * (k + 1) / (count + k * (1 - b + b * sizes[row] / sizes.mean()))
    present = (weights > 0).sum(1)
    weights *= np.array([log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for n in present])[:, None]

    def find(questions: Sequence[str]) -> list[int]:
        columns = [[known[word] for word in _words(question) if word in known] for question in questions]
        return [int(weights[c].sum(0).argmax()) if c else -1 for c in columns]

    return find


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def minilm(paragraphs: Sequence[str]) -> Retriever | None:
    """all-MiniLM-L6-v2, or None where the package that carries it is not installed."""
    try:
        embeddings = Embeddings(minilm_folder())
    except UsageError:
        return None

    def find(questions: Sequence[str]) -> list[int]:
        unique = list(dict.fromkeys(questions))
        cosines = np.array(embeddings.similarity([(q, p) for q in unique for p in paragraphs]))
        best = dict(zip(unique, cosines.reshape(len(unique), -1).argmax(1), strict=True))
        return [int(best[question]) for question in questions]

    return find
