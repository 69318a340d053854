"""The table of synonyms: what may stand for a word, ranked by how well each candidate fits the sentence.

A word's senses each have a share of its uses and a vector, made from the sense's definition; so has every common word.
The sense whose vector is most like the other words' is likeliest meant, and its candidates come first; among them those
that are common, that mostly mean this, and that are themselves like the other words.

What follows from a word and its tag alone is found out once; what follows from the words beside it, once for each such
place. Only the ranking looks at the whole sentence, and does so for many words at a time.
"""

from __future__ import annotations

import gzip
from collections.abc import Container, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unswayed.vary.english import KIND_OF, forms, tagger
from unswayed.vary.fitting import OF_PEOPLE, Place, everywhere, fits, never, stopword_candidates, vague

_DATA = files("unswayed.vary") / "spoken" / "data"
_SENSE_FIT = 6.0  # what the sentence counts for against how often a sense is meant
_WORD_FIT = 2.0  # and for the candidate itself
_LEAST_MEANT = log(0.15)  # least probable sense whose candidates are taken
_LIKELY_MEANT, _LEAST_ALIKE = log(0.5), -2.2  # the same, and the least score of a candidate, for strict operators
_ALIKE = 0.6  # cosine of the definitions of two words, from which on they are alike
_WORST = 4.0  # how much worse than the best a candidate may be
_UNIT = 127  # what a vector's number 1 is stored as
_FEW = log(2)  # weight of a sentence with one other word that has a vector
Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]
_MAX_WORDS, _MAX_PLACES = 100_000, 100_000  # words with tags, and places of words, that are remembered


class Synonyms(NamedTuple):
    """The entry of a lemma: of its senses, the rows of their vectors and their shares; of its candidates, each with its
    score, the rows of their vectors and the numbers of their senses."""

    sense_rows: Numbers
    shares: Floats
    words: list[str]
    scores: Floats
    rows: Numbers
    senses: Numbers


class InflectedSynonyms(NamedTuple):
    """An entry, and its candidates in a word's form; None for those that may never stand for it."""

    entry: Synonyms
    forms: list[str | None]


class Candidates(NamedTuple):
    """What may stand for a word in a place: of its synonyms, the numbers of single words that fit, and of phrases.

    Where nothing else in the line decides about them, they are in `alone`, best first; a closed-class word has no
    synonyms.
    """

    synonyms: InflectedSynonyms | None
    fit: tuple[list[int], list[int]]
    alone: list[str] | None

    def best(self, order: Sequence[int] | None, most: int, said: Container[str]) -> list[str]:
        """The best that fit, phrases only if no single word does, and none that is said elsewhere.

        `order` has the numbers of those whose sense may be meant; None where nothing in the line decides about them.
        """
        if self.synonyms is None:
            return self.alone or []
        if self.alone is not None:
            return [] if self.alone[0] in said else self.alone
        forms_of = self.synonyms.forms
        for fit in self.fit:
            found: list[str] = []
            for n in order or ():
                if n in fit:
                    form = forms_of[n]
                    if form is None or form in found or form in said:
                        continue
                    found.append(form)
                    if len(found) == most:
                        break
            if found:
                return found
        return []


# A word, the words before and after it, and what is `coded` of the place.
Spot = tuple[str, str, str, int]
_BITS = 5  # of a tag's number
SURE, STRICT = 2, 1  # what may be added to a code


def coded(tags: Numbers, one: Numbers, two: Numbers, flag: Numbers) -> Numbers:
    """For each place the numbers of three tags, the word's own first, and a flag, as one number.

    `SURE` and `STRICT` may be added.

    Of a content word, the tags are those of the words before the one before it, and the flag says whether a particle
    follows. Of a closed-class word, they are that of the word after it and any, and the flag says whether there is
    a noun in the plural behind a determiner, or a *between* before an *and*.
    """
    return ((((tags << _BITS | one) << _BITS | two) << 1) | flag) << 2


class Thesaurus:
    """The table: lines of kind, lemma, then senses as `row share word score word score`; and the vectors."""

    def __init__(self, table: str, vectors: bytes, size: int = 32) -> None:
        words, _, lines = table.partition("\n\n")
        self._rows = {word: i for i, word in enumerate(words.split(), 1)}
        self._lines: dict[tuple[str, str], str] = {}
        for line in lines.splitlines():
            kind, lemma, rest = line.split("\t", 2)
            self._lines[lemma, kind] = rest
        stored = np.frombuffer(vectors, np.int8).reshape(-1, size)
        self.vectors: Any = np.zeros((len(stored) + 1, size), np.float32)  # that of row 0, of no word, is zero
        self.vectors[1:] = stored
        self._entry = cache(self._read)
        # What follows from a word and its tag is found out once, and what follows from its neighbours once for a place.
        self._synonyms = lru_cache(_MAX_WORDS)(self._find_synonyms)
        self.candidates = lru_cache(_MAX_PLACES)(self._find_candidates)

    def _find_candidates(self, spot: Spot) -> Candidates | None:
        """What may stand in a place; None if nothing may."""
        word, before, after, code = spot
        tag, one, two = (tagger().names[code >> 3 + shift & (1 << _BITS) - 1] for shift in (2 * _BITS, _BITS, 0))
        flag, sure, strict = bool(code & 4), bool(code & SURE), bool(code & STRICT)
        if tag not in KIND_OF:
            closed = stopword_candidates(word, tag, before, after, one, flag)
            return Candidates(None, ([], []), closed) if closed else None
        synonyms = self._synonyms(word, tag, strict, flag, after in OF_PEOPLE)
        if synonyms is None:
            return None
        entry, said = synonyms
        fit: tuple[list[int], list[int]] = [], []
        for n, form in enumerate(said):
            if form is not None and fits(word, tag, form, Place(before, after, one, two), sure, strict):
                fit[" " in form].append(n)
        if not any(fit):
            return None
        single, phrases = fit
        alone = None
        if len(single) == 1 and not phrases and len(entry.shares) == 1:
            # Is it good enough whatever the sentence says? That may add `_WORD_FIT` to a candidate, or take that much
            # away, and a little more, since vectors are not quite as long as 1.
            only, scores = said[single[0]], entry.scores
            if only and (len(scores) == 1 or scores[single[0]] > scores.max() - _WORST + 2.1 * _WORD_FIT):
                alone = [only]
        return Candidates(synonyms, fit, alone)

    def _find_synonyms(
        self, word: str, tag: str, strict: bool, particle: bool, people: bool
    ) -> InflectedSynonyms | None:
        """What may stand for a word with this tag, before a particle or before a word such as *me*."""
        kind, lemma = KIND_OF[tag], forms().lemma(word, tag)
        entry, inflect = self._found(word, lemma, kind, particle, people)
        if entry is None:
            return None
        after = next(iter(OF_PEOPLE)) if people else ""
        said: list[str | None] = []
        inflected, lemma_of = forms().inflected, forms().lemma
        for candidate, score in zip(entry.words, entry.scores, strict=True):
            form = inflected(candidate, tag) if inflect else candidate
            other = lemma_of(form, tag) if form else lemma
            fine = other != lemma and form != word and not never(lemma, other)
            if fine and strict:
                alike = everywhere(lemma, candidate, after) or self._both(lemma, candidate, kind)
                fine = score > _LEAST_ALIKE and alike
            if fine and kind == "v":
                fine = not vague(lemma, lemma_of(candidate, tag), after)
            said.append(form if fine else None)
        return InflectedSynonyms(entry, said) if any(said) else None

    def _found(self, word: str, lemma: str, kind: str, particle: bool, people: bool) -> tuple[Synonyms | None, bool]:
        """The entry for this form of the word as it stands, or for its lemma, whose candidates must be inflected.

        Before a particle, as in *turn on*, other verbs do than elsewhere, or none; before *me*, too.
        """
        if particle:
            return self._entry(lemma + "~", kind), True
        if kind == "v" and people and (entry := self._entry(lemma + "^", kind)):
            return entry, True
        if word != lemma and (entry := self._entry(word, kind)):
            return entry, False
        return self._entry(lemma, kind), True

    def _read(self, lemma: str, kind: str) -> Synonyms | None:
        line = self._lines.get((lemma, kind))
        if line is None:
            return None
        senses = [sense.split(" ") for sense in line.split("\t")]
        words = [word for sense in senses for word in sense[2::2]]
        scores = np.array([int(score) / 10 for sense in senses for score in sense[3::2]])
        sense_rows = np.array([int(sense[0]) + 1 for sense in senses])
        shares = np.array([int(sense[1]) / 10 for sense in senses])
        rows = np.array([self._rows[word] for word in words])
        of = np.repeat(np.arange(len(senses)), [len(sense) // 2 - 1 for sense in senses])
        return Synonyms(sense_rows, shares, words, scores, rows, of)

    def _both(self, lemma: str, other: str, kind: str) -> bool:
        """Are the two defined alike, or may each stand for the other where it means what it mostly means?"""
        one, two = self._rows.get(lemma), self._rows.get(other)
        if one is not None and two is not None:
            first, second = self.vectors[one], self.vectors[two]
            if first @ second >= _ALIKE * float(np.linalg.norm(first) * np.linalg.norm(second)):
                return True
        entry = self._entry(other, kind)
        both = zip(entry.words, entry.scores, strict=True) if entry is not None else ()
        return any(word == lemma and score > _LEAST_ALIKE for word, score in both)

    def orders(self, asked: Sequence[InflectedSynonyms], around: Any, strict: bool) -> list[list[int]]:
        """For each word, the numbers in its entry of candidates whose sense may be meant, best first."""
        entries, every = [its.entry for its in asked], np.arange(len(asked))
        counts, sizes = np.array([(len(entry.shares), len(entry.words)) for entry in entries]).T
        at, word_at = counts.cumsum() - counts, sizes.cumsum() - sizes
        of_sense, of = np.repeat(every, counts), np.repeat(every, sizes)
        rows = np.concatenate([*(entry.sense_rows for entry in entries), *(entry.rows for entry in entries)])
        alike = np.einsum("ij,ij->i", self.vectors[rows], around[np.concatenate((of_sense, of))])
        senses = np.concatenate([entry.shares for entry in entries]) + _SENSE_FIT * alike[: len(of_sense)]
        most = np.maximum.reduceat(senses, at)
        senses -= (most + np.log(np.add.reduceat(np.exp(senses - most[of_sense]), at)))[of_sense]
        meant = senses[np.concatenate([entry.senses for entry in entries]) + at[of]]
        scores = np.concatenate([entry.scores for entry in entries]) + meant + _WORD_FIT * alike[len(of_sense) :]
        least = np.maximum.reduceat(scores, word_at) - _WORST
        taken = (scores > least[of]) & (meant > (_LIKELY_MEANT if strict else _LEAST_MEANT))
        # Rounded, so that ties stay ties whatever the processor makes of the last bits.
        taken = np.flatnonzero(taken)
        order = taken[np.lexsort((-np.round(scores[taken], 6), of[taken]))]
        of = of[order]
        ends = np.searchsorted(of, np.arange(len(entries) + 1)).tolist()
        places = (order - word_at[of]).tolist()
        return [places[a:b] for a, b in pairwise(ends)]

    def directions(self, totals: Any, counts: Any, own: Any) -> Any:
        """The mean directions of so many vectors with these sums, without the word's own row."""
        # Vectors are whole numbers, so that nothing is lost where the word's own is taken away again.
        total, others = totals - self.vectors[own], counts - (own > 0)
        length = np.sqrt(np.einsum("ij,ij->i", total, total)) / _UNIT + 1e-9
        return total * (np.where(others == 1, _FEW, 1.0) / length / _UNIT**2).astype(np.float32)[:, None]

    def row_of(self, word: str, tag: str) -> int:
        """The row of the vector of a content word; 0 if it has none."""
        return self._rows.get(word) or self._rows.get(forms().lemma(word, tag), 0)


@lru_cache(1)
def thesaurus() -> Thesaurus:
    table = gzip.decompress((_DATA / "synonyms.tsv.gz").read_bytes()).decode()
    return Thesaurus(table, gzip.decompress((_DATA / "synonym_vectors.gz").read_bytes()))
