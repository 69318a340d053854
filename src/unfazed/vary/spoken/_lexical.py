"""Synonyms from a table, ranked by how well each fits the sentence.

A word's senses each have a share of its uses and a vector, made from the sense's definition; so has every common
word. The sense whose vector is most like the other words' is likeliest meant, and its candidates come first; among
them those that are common, that mostly mean this, and that are themselves like the other words.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unfazed.vary.spoken._forms import KIND_OF, forms
from unfazed.vary.spoken._synonyms import Asked, fitting
from unfazed.vary.spoken._tagger import Word

_DATA = Path(__file__).parent / "data"
_SENSE_FIT = 6.0  # what the sentence counts for against how often a sense is meant
_WORD_FIT = 2.0  # and for the candidate itself
_LEAST_MEANT = log(0.15)  # least probable sense whose candidates are taken
_PEOPLE = frozenset(["me", "us", "you", "him", "her", "them"])
_WORST = 4.0  # how much worse than the best a candidate may be


class Entry(NamedTuple):
    """A lemma's senses, by row of their vectors with the log of their shares, and its candidates, each with its sense's
    place among them, its score and the row of its own vector."""

    senses: Any
    shares: Any
    words: list[str]
    of: Any
    scores: Any
    rows: Any


class Lexical:
    """The table: lines of kind, lemma, then senses as `row share word score word score`; and the vectors."""

    def __init__(self, table: str, vectors: bytes, size: int = 32) -> None:
        words, _, lines = table.partition("\n\n")
        self._rows = {word: i for i, word in enumerate(words.split())}
        self._lines: dict[tuple[str, str], str] = {}
        for line in lines.splitlines():
            kind, lemma, rest = line.split("\t", 2)
            self._lines[lemma, kind] = rest
        self._vectors: Any = np.frombuffer(vectors, np.int8).reshape(-1, size).astype(np.float32) / 127
        self._entry = lru_cache(4096)(self._read)
        self._ranked = lru_cache(8192)(self._rank)

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        return [self._ranked(one) for one in asked]

    def _read(self, lemma: str, kind: str) -> Entry | None:
        line = self._lines.get((lemma, kind))
        if line is None:
            return None
        senses = [sense.split(" ") for sense in line.split("\t")]
        words = [word for sense in senses for word in sense[2::2]]
        return Entry(
            np.array([int(sense[0]) for sense in senses]),
            np.array([int(sense[1]) / 10 for sense in senses]),
            words,
            np.array([n for n, sense in enumerate(senses) for _ in sense[2::2]]),
            np.array([int(score) / 10 for sense in senses for score in sense[3::2]]),
            np.array([self._rows[word] for word in words]),
        )

    def _rank(self, asked: Asked) -> list[str]:
        word = asked.words[asked.i]
        entry, inflect = self._found(asked)
        if entry is None:
            return []
        senses, scores = entry.shares, entry.scores
        around = self._around(asked.words, asked.i)
        if around is not None:
            senses = senses + _SENSE_FIT * (self._vectors[entry.senses] @ around)
            scores = scores + _WORD_FIT * (self._vectors[entry.rows] @ around)
        senses = senses - np.logaddexp.reduce(senses)
        meant = senses[entry.of]
        scores = scores + meant
        least = float(scores.max()) - _WORST
        ranked = np.argsort(-scores, kind="stable").tolist()
        order = [i for i in ranked if scores[i] > least and meant[i] > _LEAST_MEANT]
        said = [forms().inflected(entry.words[i], word.tag) if inflect else entry.words[i] for i in order]
        single = [form for form in said if form and " " not in form]
        return fitting(asked, single) or fitting(asked, [form for form in said if form])

    def _found(self, asked: Asked) -> tuple[Entry | None, bool]:
        """The entry for this form of the word as it stands, or for its lemma, whose candidates must be inflected.

        Before a particle, as in *turn on*, other verbs do than elsewhere, or none; before *me*, too.
        """
        word = asked.words[asked.i]
        kind, lemma = KIND_OF.get(word.tag, ""), forms().lemma(word.lower, word.tag)
        after = asked.words[asked.i + 1] if asked.i + 1 < len(asked.words) else None
        before = asked.words[asked.i - 1] if asked.i else None
        if kind == "r" and before is not None and (before.tag == "IN" or before.lower == "right"):
            return None, False  # *from now* and *right now* are expressions
        if kind == "v" and after is not None:
            if after.tag == "RP":
                return self._entry(lemma + "~", kind), True
            if after.lower in _PEOPLE and (entry := self._entry(lemma + "^", kind)):
                return entry, True
        if word.lower != lemma and (entry := self._entry(word.lower, kind)):
            return entry, False
        return self._entry(lemma, kind), True

    def _around(self, words: tuple[Word, ...], i: int) -> Any | None:
        """The mean direction of the other content words that have a vector."""
        rows = []
        for n, word in enumerate(words):
            if n != i and word.tag in KIND_OF:
                row = self._rows.get(word.lower) or self._rows.get(forms().lemma(word.lower, word.tag))
                if row is not None:
                    rows.append(row)
        if not rows:
            return None
        total = self._vectors[rows].sum(0)
        return total / (float(np.linalg.norm(total)) + 1e-9) * min(1.0, log(1 + len(rows)))


@lru_cache(1)
def lexical() -> Lexical:
    table = gzip.decompress((_DATA / "synonyms.tsv.gz").read_bytes()).decode()
    return Lexical(table, gzip.decompress((_DATA / "synonym_vectors.gz").read_bytes()))
