"""The table of synonyms: what may stand for a word, ranked by how well each candidate fits the sentence.

A word's senses each have a share of its uses and a vector, made from the sense's definition; so has every common word.
The sense whose vector is most like the other words' is likeliest meant, and its candidates come first; among them those
that are common, that mostly mean this, and that are themselves like the other words.

What follows from a word and its tag alone is found out once; what follows from the words beside it, once for each such
place. Only the ranking looks at the whole sentence, and does so for many words at a time.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unfazed.vary.collocations import OF_PEOPLE, everywhere, never, vague
from unfazed.vary.english import KIND_OF, START, Reading, Word, forms, tagged, tagger
from unfazed.vary.fitting import MOST_FITTING, Asked, Place, fits, kind_of

_DATA = Path(__file__).parent / "spoken" / "data"
_SENSE_FIT = 6.0  # what the sentence counts for against how often a sense is meant
_WORD_FIT = 2.0  # and for the candidate itself
_LEAST_MEANT = log(0.15)  # least probable sense whose candidates are taken
_LIKELY_MEANT, _LEAST_ALIKE = log(0.5), -2.2  # the same, and the least score of a candidate, for strict operators
_ALIKE = 0.6  # cosine of the definitions of two words, from which on they are alike
_WORST = 4.0  # how much worse than the best a candidate may be
_UNIT = 127  # what a vector's number 1 is stored as
_FEW = log(2)  # weight of a sentence with one other word that has a vector
_PARTICLES, _REACH = frozenset(("up", "down", "out", "back", "away", "over")), 5  # words after the verb
_MOST_READ, _MOST_PLACES = 50_000, 100_000  # words with tags, and places of words, that are remembered


class Entry(NamedTuple):
    """A lemma's senses, by row of their vectors with the log of their shares, and its candidates, each with its sense's
    place among them, its score and the row of its own vector."""

    senses: Any
    shares: Any
    words: list[str]
    of: Any
    scores: Any
    rows: Any


class Choice:
    """An entry's candidates in a word's form; None for those that may never stand for it."""

    __slots__ = ("entry", "forms", "settled")

    def __init__(self, entry: Entry, said: list[str | None]) -> None:
        self.entry, self.forms = entry, said
        self.settled = len(said) == len(entry.senses) == 1  # whatever the sentence says


class Target:
    """What follows from a word and its tag: its class, its lemma, the row of its vector, and whether the table has it."""

    __slots__ = ("choices", "hope", "kind", "lemma", "of", "row")

    def __init__(self, reading: Reading, rows: dict[str, int], listed: dict[tuple[str, str], str]) -> None:
        self.kind, self.of = kind_of(reading), KIND_OF.get(reading.tag, "")
        self.lemma = lemma = forms().lemma(reading.lower, reading.tag)
        row = rows.get(reading.lower) or rows.get(lemma)
        self.row = row if self.of else None
        keys = (reading.lower, lemma, lemma + "~", lemma + "^")
        self.hope = self.kind == "s" or any((key, self.of) in listed for key in keys)
        self.choices: dict[tuple[bool, bool, bool], Choice | None] = {}


class Line:
    """The words of a text: how each is read, what follows from that, and where they are if that is not plain to see."""

    __slots__ = ("_context", "_rows", "_said", "readings", "targets", "text", "words")

    def __init__(
        self, text: str, readings: list[Reading], targets: list[Target], words: Sequence[Word] | None = None
    ) -> None:
        self.text, self.readings, self.targets, self.words = text, readings, targets, words
        self._context = readings if words is None else None
        self._rows: list[int] | None = None
        self._said: set[str] | None = None

    @property
    def context(self) -> list[Reading]:
        """The words read as one sentence in small letters, which is how candidates are tried."""
        if self._context is None:
            self._context = tagger().readings([reading.lower for reading in self.readings])
        return self._context

    @property
    def rows(self) -> list[int]:
        """The rows of the vectors of its content words, after that of a vector of zeros."""
        if self._rows is None:
            self._rows = [-1, *(target.row for target in self.targets if target.row is not None)]
        return self._rows

    @property
    def said(self) -> set[str]:
        """Its words."""
        if self._said is None:
            self._said = {reading.lower for reading in self.readings}
        return self._said

    def span(self, i: int) -> tuple[int, int]:
        """Where a word begins and ends."""
        if self.words is not None:
            return self.words[i].start, self.words[i].end
        start = len(self.text) - len(self.text.split(" ", i)[i])
        return start, start + len(self.readings[i].lower)


class Question(NamedTuple):
    """A word of a line to find others for, and the places in its choice of single words that fit, and of phrases."""

    line: Line
    i: int
    choice: Choice
    fit: tuple[list[int], list[int]]
    strict: bool


class Thesaurus:
    """The table: lines of kind, lemma, then senses as `row share word score word score`; and the vectors."""

    def __init__(self, table: str, vectors: bytes, size: int = 32) -> None:
        words, _, lines = table.partition("\n\n")
        self._rows = {word: i for i, word in enumerate(words.split())}
        self._lines: dict[tuple[str, str], str] = {}
        for line in lines.splitlines():
            kind, lemma, rest = line.split("\t", 2)
            self._lines[lemma, kind] = rest
        stored = np.frombuffer(vectors, np.int8).reshape(-1, size)
        self._vectors: Any = np.vstack([stored, np.zeros((1, size), np.int8)]).astype(np.float32)
        self._entry = lru_cache(4096)(self._read)
        self._targets: dict[Reading, Target] = {}
        self._fit: dict[tuple[Choice, bool, str, str, str, str], tuple[list[int], list[int]]] = {}

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        """For each word asked about, candidates in the same inflected form, best first."""
        lines: dict[int, Line] = {}
        found: list[list[str]] = [[] for _ in asked]
        questions, places = [], []
        for n, one in enumerate(asked):
            line = lines.get(id(one.words)) or lines.setdefault(id(one.words), self._line_of(one.text, one.words))
            if line.targets[one.i].of and (question := self.question(line, one.i, one.sure, one.strict)):
                questions.append(question)
                places.append(n)
        for n, answer in zip(places, self.answers(questions), strict=True):
            found[n] = answer
        return found

    def line(self, text: str) -> Line:
        """The words of a text."""
        readings = tagger().plain(text)
        if readings is None:
            return self._line_of(text, tagged(text))
        known = self._targets
        try:
            return Line(text, readings, [known[reading] for reading in readings])
        except KeyError:
            return Line(text, readings, [self._target(reading) for reading in readings])

    def _line_of(self, text: str, words: Sequence[Word]) -> Line:
        seen = tagger().seen
        readings = [seen(word.lower).reading(word.tag) for word in words]
        return Line(text, readings, [self._target(reading) for reading in readings], words)

    def _target(self, reading: Reading) -> Target:
        found = self._targets.get(reading)
        if found is None:
            found = Target(reading, self._rows, self._lines)
            if len(self._targets) >= _MOST_READ:
                self._targets.clear()
            self._targets[reading] = found
        return found

    def question(self, line: Line, i: int, sure: bool, strict: bool) -> Question | None:
        """The question what may stand for a word; None if nothing may."""
        target, readings = line.targets[i], line.readings
        after = readings[i + 1] if i + 1 < len(readings) else None
        if target.of == "r" and i and (readings[i - 1].tag == "IN" or readings[i - 1].lower == "right"):
            return None  # *from now* and *right now* are expressions
        particle = people = False
        if after is not None:
            if target.of == "v":
                if strict and _apart(readings[i + 1 : i + 1 + _REACH]):
                    return None
                particle = after.tag == "RP"
            people = after.lower in OF_PEOPLE
        key = strict, particle, people
        if key not in target.choices:
            target.choices[key] = self._choice(readings[i], target, *key)
        choice = target.choices[key]
        if choice is None:
            return None
        fit = self._fitting(choice, line, i, sure, strict)
        return Question(line, i, choice, fit, strict) if fit[0] or fit[1] else None

    def _choice(self, reading: Reading, target: Target, strict: bool, particle: bool, people: bool) -> Choice | None:
        word, tag, kind, lemma = reading.lower, reading.tag, target.of, target.lemma
        entry, inflect = self._found(word, lemma, kind, particle, people)
        if entry is None:
            return None
        after = next(iter(OF_PEOPLE)) if people else ""
        said: list[str | None] = []
        for candidate, score in zip(entry.words, entry.scores, strict=True):
            form = forms().inflected(candidate, tag) if inflect else candidate
            other = forms().lemma(form, tag) if form else lemma
            fine = other != lemma and form != word and not never(lemma, other)
            if fine and strict:
                alike = everywhere(lemma, candidate, after) or self._both(lemma, candidate, kind)
                fine = score > _LEAST_ALIKE and alike
            if fine and kind == "v":
                fine = not vague(lemma, forms().lemma(candidate, tag), after)
            said.append(form if fine else None)
        return Choice(entry, said) if any(said) else None

    def _found(self, word: str, lemma: str, kind: str, particle: bool, people: bool) -> tuple[Entry | None, bool]:
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

    def _both(self, lemma: str, other: str, kind: str) -> bool:
        """Are the two defined alike, or may each stand for the other where it means what it mostly means?"""
        one, two = self._rows.get(lemma), self._rows.get(other)
        if one is not None and two is not None:
            first, second = self._vectors[one], self._vectors[two]
            if first @ second >= _ALIKE * float(np.linalg.norm(first) * np.linalg.norm(second)):
                return True
        entry = self._entry(other, kind)
        return entry is not None and any(
            w == lemma and s > _LEAST_ALIKE for w, s in zip(entry.words, entry.scores, strict=True)
        )

    def _fitting(self, choice: Choice, line: Line, i: int, sure: bool, strict: bool) -> tuple[list[int], list[int]]:
        """Which candidates fit where the word stands: single words and phrases."""
        context = line.context
        before, after = context[i - 1].lower if i else "", context[i + 1].lower if i + 1 < len(context) else ""
        last, earlier = context[i - 2].tag if i > 1 else START, context[i - 3].tag if i > 2 else START
        key = choice, sure, before, after, last, earlier
        found = self._fit.get(key)
        if found is None:
            found = [], []
            place = Place(before, after, last, earlier)
            for n, form in enumerate(choice.forms):
                if form is not None and fits(line.readings[i], form, place, sure, strict):
                    found[" " in form].append(n)
            if len(self._fit) >= _MOST_PLACES:
                self._fit.clear()
            self._fit[key] = found
        return found

    def answers(self, questions: Sequence[Question], most: int = MOST_FITTING) -> list[list[str]]:
        """The candidates that fit and whose sense may be meant, in the same inflected form, best first."""
        open_ = [question for question in questions if not question.choice.settled]
        orders = iter(self._orders(open_) if open_ else ())
        return [_answer(q, (0,) if q.choice.settled else next(orders), most) for q in questions]

    def _orders(self, questions: Sequence[Question]) -> list[list[int]]:
        """For each word, the places in its entry of candidates whose sense may be meant, best first."""
        entries = [question.choice.entry for question in questions]
        around = self._around(questions)
        sense_of, sense_at = _parts([len(entry.senses) for entry in entries])
        senses = np.concatenate([entry.shares for entry in entries])
        senses += _SENSE_FIT * self._likeness([entry.senses for entry in entries], around[sense_of])
        most = np.maximum.reduceat(senses, sense_at)
        senses -= (most + np.log(np.add.reduceat(np.exp(senses - most[sense_of]), sense_at)))[sense_of]
        word_of, word_at = _parts([len(entry.words) for entry in entries])
        meant = senses[np.concatenate([entry.of for entry in entries]) + sense_at[word_of]]
        scores = np.concatenate([entry.scores for entry in entries]) + meant
        scores += _WORD_FIT * self._likeness([entry.rows for entry in entries], around[word_of])
        least = np.maximum.reduceat(scores, word_at) - _WORST
        likely = np.array([_LIKELY_MEANT if question.strict else _LEAST_MEANT for question in questions])
        taken = (scores > least[word_of]) & (meant > likely[word_of])
        # Rounded, so that ties stay ties whatever the processor makes of the last bits.
        order = np.lexsort((-np.round(scores, 6), word_of))
        order = order[taken[order]]
        ends = np.searchsorted(word_of[order], np.arange(len(entries) + 1)).tolist()
        places = (order - word_at[word_of[order]]).tolist()
        return [places[a:b] for a, b in zip(ends, ends[1:], strict=False)]

    def _around(self, questions: Sequence[Question]) -> Any:
        """For each word, the mean direction of the other content words of its line that have a vector."""
        rows = [question.line.rows for question in questions]
        own = [question.line.targets[question.i].row for question in questions]
        counts = np.array([len(some) - 1 - (row is not None) for some, row in zip(rows, own, strict=True)])
        _, starts = _parts([len(some) for some in rows])
        total = np.add.reduceat(self._vectors[list(chain.from_iterable(rows))], starts)
        total -= self._vectors[[-1 if row is None else row for row in own]]
        length = np.sqrt(np.einsum("ij,ij->i", total, total)) / _UNIT + 1e-9
        return total * (np.where(counts == 1, _FEW, 1.0) / length / _UNIT**2).astype(np.float32)[:, None]

    def _likeness(self, rows: list[Any], around: Any) -> Any:
        return np.einsum("ij,ij->i", self._vectors[np.concatenate(rows)], around)


def _parts(sizes: list[int]) -> tuple[Any, Any]:
    """Of things in a row that belong to parts of these sizes: the part of each, and where each part begins."""
    ends = np.cumsum(sizes)
    return np.repeat(np.arange(len(sizes)), sizes), ends - sizes


def _answer(question: Question, order: Sequence[int], most: int) -> list[str]:
    """The best that fit, phrases only if no single word does; a strict one is not said elsewhere in the text."""
    said = question.line.said if question.strict else ()
    for fit in question.fit:
        found: list[str] = []
        for n in order:
            form = question.choice.forms[n]
            if n in fit and form not in found and form not in said and form is not None:
                found.append(form)
                if len(found) == most:
                    break
        if found:
            return found
    return []


def _apart(follows: Sequence[Reading]) -> bool:
    """Does the verb have a particle other than *on* and *off*, or one that comes later: *turn the lights down*?"""
    return any(word.lower in _PARTICLES for word in follows) or any(word.tag == "RP" for word in follows[1:])


@lru_cache(1)
def thesaurus() -> Thesaurus:
    table = gzip.decompress((_DATA / "synonyms.tsv.gz").read_bytes()).decode()
    return Thesaurus(table, gzip.decompress((_DATA / "synonym_vectors.gz").read_bytes()))
