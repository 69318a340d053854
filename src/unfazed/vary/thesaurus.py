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
from functools import cache, lru_cache
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unfazed.vary.collocations import OF_PEOPLE, everywhere, never, vague
from unfazed.vary.english import KIND_OF, START, Reading, Word, forms, tagged, tagger
from unfazed.vary.fitting import MOST_FITTING, Asked, Place, fits
from unfazed.vary.stopwords import stopword_candidates

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
    """A lemma's number, how many senses it has, and its candidates, each with its score."""

    number: int
    senses: int
    words: list[str]
    scores: list[float]


class Choice:
    """An entry's candidates in a word's form; None for those that may never stand for it."""

    __slots__ = ("entry", "forms", "taken")

    def __init__(self, entry: Entry, said: list[str | None]) -> None:
        self.entry, self.forms = entry, said
        # Candidates of a word's only sense that are good enough whatever the sentence says: it may add `_WORD_FIT` to a
        # candidate, or take that much away, and a little more, since vectors are not quite as long as 1.
        least = max(entry.scores) - _WORST + 2.1 * _WORD_FIT
        self.taken = frozenset(n for n, score in enumerate(entry.scores) if entry.senses == 1 and score > least)
        if len(said) == entry.senses == 1:
            self.taken = frozenset((0,))


class Target:
    """What follows from a word and its tag: its part of speech, its lemma, and what may stand for it."""

    __slots__ = ("choices", "lemma", "of")

    def __init__(self, reading: Reading) -> None:
        self.of = KIND_OF.get(reading.tag, "")
        self.lemma = forms().lemma(reading.lower, reading.tag)
        self.choices: dict[tuple[bool, bool, bool], Choice | None] = {}


class Line:
    """The words of a text, and where they are if that is not plain to see."""

    __slots__ = ("_context", "readings", "text", "words")

    def __init__(self, text: str, readings: list[Reading], words: Sequence[Word] | None = None) -> None:
        self.text, self.readings, self.words = text, readings, words
        self._context = readings if words is None else None

    @property
    def context(self) -> list[Reading]:
        """The words read as one sentence in small letters, which is how candidates are tried."""
        if self._context is None:
            self._context = tagger().readings([reading.lower for reading in self.readings])
        return self._context

    def span(self, i: int) -> tuple[int, int]:
        """Where a word begins and ends."""
        if self.words is not None:
            return self.words[i].start, self.words[i].end
        start = len(self.text) - len(self.text.split(" ", i)[i])
        return start, start + len(self.readings[i].lower)


class Question(NamedTuple):
    """A word of a line to find others for: of its choice, the places of single words that fit and of phrases that do.

    A closed-class word has no choice, but candidates, which nothing else in the line decides about.
    """

    line: Line
    i: int
    strict: bool
    choice: Choice | None
    fit: tuple[list[int], list[int]]
    closed: list[str]


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
        self._vectors: Any = np.zeros((len(stored) + 1, size), np.float32)  # that of row 0, of no word, is zero
        self._vectors[1:] = stored
        self._entry = cache(self._read)
        self._senses = Rows(lines.count("\t"), len(self._lines), row=int, share=float)
        self._words = Rows(lines.count(" ") // 2, len(self._lines), row=int, of=int, score=float)
        self._targets: dict[Reading, Target] = {}
        self._row_of: dict[Reading, int] = {}
        self._fit: dict[tuple[Choice, bool, str, str, str, str], tuple[list[int], list[int]]] = {}

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        """For each word asked about, candidates in the same inflected form, best first."""
        lines = {id(one.words): self._line_of(one.text, one.words) for one in asked}
        found = [self.question(lines[id(one.words)], one.i, one.sure, one.strict) for one in asked]
        answers = iter(self.answers([question for question in found if question]))
        return [next(answers) if question else [] for question in found]

    def line(self, text: str) -> Line:
        """The words of a text."""
        readings = tagger().plain(text)
        return self._line_of(text, tagged(text)) if readings is None else Line(text, readings)

    def _line_of(self, text: str, words: Sequence[Word]) -> Line:
        seen = tagger().seen
        return Line(text, [seen(word.lower).reading(word.tag) for word in words], words)

    def _target(self, reading: Reading) -> Target:
        if len(self._targets) >= _MOST_READ:
            self._targets.clear()
        self._targets[reading] = found = Target(reading)
        return found

    def question(self, line: Line, i: int, sure: bool, strict: bool) -> Question | None:
        """The question what may stand for a word; None if nothing may."""
        readings = line.readings
        if readings[i].kind == "s":
            found = stopword_candidates(readings, i)
            return Question(line, i, strict, None, ([], []), found) if found else None
        target = self._targets.get(readings[i]) or self._target(readings[i])
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
        return Question(line, i, strict, choice, fit, []) if fit[0] or fit[1] else None

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
        scores = [int(score) / 10 for sense in senses for score in sense[3::2]]
        self._senses.add(row=[int(sense[0]) + 1 for sense in senses], share=[int(sense[1]) / 10 for sense in senses])
        number = self._words.add(
            row=[self._rows[word] for word in words],
            of=[n for n, sense in enumerate(senses) for _ in sense[2::2]],
            score=scores,
        )
        return Entry(number, len(senses), words, scores)

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
        found = [_alone(question) for question in questions]
        open_ = [question for question, alone in zip(questions, found, strict=True) if alone is None]
        if open_:
            orders = iter(self._orders(open_))
            found = [
                _answer(question, next(orders), most) if alone is None else alone
                for question, alone in zip(questions, found, strict=True)
            ]
        return [words or [] for words in found]

    def _orders(self, questions: Sequence[Question]) -> list[list[int]]:
        """For each word, the places in its entry of candidates whose sense may be meant, best first."""
        entries = np.array([question.choice.entry.number for question in questions if question.choice])
        sense, of_sense, at = self._senses.of(entries)
        word, of, word_at = self._words.of(entries)
        rows = np.concatenate((self._senses["row"][sense], self._words["row"][word]))
        around = self._around(questions)[np.concatenate((of_sense, of))]
        alike = np.einsum("ij,ij->i", self._vectors[rows], around)
        senses = self._senses["share"][sense] + _SENSE_FIT * alike[: len(sense)]
        most = np.maximum.reduceat(senses, at)
        senses -= (most + np.log(np.add.reduceat(np.exp(senses - most[of_sense]), at)))[of_sense]
        meant = senses[self._words["of"][word] + at[of]]
        scores = self._words["score"][word] + meant + _WORD_FIT * alike[len(sense) :]
        least = np.maximum.reduceat(scores, word_at) - _WORST
        likely = np.array([_LIKELY_MEANT if question.strict else _LEAST_MEANT for question in questions])
        taken = (scores > least[of]) & (meant > likely[of])
        # Rounded, so that ties stay ties whatever the processor makes of the last bits.
        order = np.lexsort((-np.round(scores, 6), of))
        order = order[taken[order]]
        of = of[order]
        ends = np.searchsorted(of, np.arange(len(entries) + 1)).tolist()
        places = (order - word_at[of]).tolist()
        return [places[a:b] for a, b in pairwise(ends)]

    def _around(self, questions: Sequence[Question]) -> Any:
        """For each word, the mean direction of the other content words of its line that have a vector."""
        rows: list[int] = []
        ends, own, get = [0], [], self._row_of.get
        for question in questions:
            its = list(map(get, question.line.readings))
            if None in its:
                its = list(map(self._row, question.line.readings))
            own.append(len(rows) + question.i)
            rows += its  # type: ignore[arg-type]
            ends.append(len(rows))
        found = np.array(rows)
        found[own] = 0
        counts = np.add.reduceat(found > 0, ends[:-1], dtype=int)
        total = np.add.reduceat(self._vectors[found], ends[:-1])
        length = np.sqrt(np.einsum("ij,ij->i", total, total)) / _UNIT + 1e-9
        return total * (np.where(counts == 1, _FEW, 1.0) / length / _UNIT**2).astype(np.float32)[:, None]

    def _row(self, reading: Reading) -> int:
        """The row of the vector of a content word; 0 for others, and if it has none."""
        found = self._row_of.get(reading)
        if found is None:
            lemma = forms().lemma(reading.lower, reading.tag)
            found = (self._rows.get(reading.lower) or self._rows.get(lemma, 0)) if reading.tag in KIND_OF else 0
            if len(self._row_of) >= _MOST_READ:
                self._row_of.clear()
            self._row_of[reading] = found
        return found


class Rows:
    """Rows of numbers of all entries that were read, those of one entry together."""

    def __init__(self, most: int, entries: int, **columns: type) -> None:
        self._columns: dict[str, Any] = {name: np.zeros(most, kind) for name, kind in columns.items()}
        self._starts, self._sizes = np.zeros(entries, int), np.zeros(entries, int)
        self._entries = self._filled = 0

    def add(self, **values: list[Any]) -> int:
        """Adds an entry; gives back its number."""
        number, start = self._entries, self._filled
        for name, its in values.items():
            self._filled = start + len(its)
            self._columns[name][start : self._filled] = its
        self._starts[number], self._sizes[number] = start, self._filled - start
        self._entries += 1
        return number

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def of(self, entries: Any) -> tuple[Any, Any, Any]:
        """The rows of these entries; for each row the place of its entry among them; and where each entry begins."""
        sizes = self._sizes[entries]
        starts = sizes.cumsum() - sizes
        of = np.repeat(np.arange(len(entries)), sizes)
        return (self._starts[entries] - starts)[of] + np.arange(len(of)), of, starts


def _alone(question: Question) -> list[str] | None:
    """The answer, if nothing in the line but the word's neighbours decides about it."""
    if question.choice is None:
        return question.closed
    single = question.fit[0]
    if len(single) == 1 and single[0] in question.choice.taken and not question.fit[1]:
        return _answer(question, single, 1)
    return None


def _answer(question: Question, order: Sequence[int], most: int) -> list[str]:
    """The best that fit, phrases only if no single word does; a strict one is not said elsewhere in the text."""
    line, _, strict, choice, fits_there, _ = question
    forms_of = choice.forms if choice is not None else []
    for fit in fits_there:
        found: list[str] = []
        for n in order:
            if n in fit:
                form = forms_of[n]
                if form is None or form in found or (strict and any(word.lower == form for word in line.readings)):
                    continue
                found.append(form)
                if len(found) == most:
                    break
        if found:
            return found
    return []


def _apart(follows: Sequence[Reading]) -> bool:
    """Does the verb have a particle other than *on* and *off*, or one that comes later: *turn the lights down*?"""
    return not _PARTICLES.isdisjoint([word.lower for word in follows]) or "RP" in [word.tag for word in follows[1:]]


@lru_cache(1)
def thesaurus() -> Thesaurus:
    table = gzip.decompress((_DATA / "synonyms.tsv.gz").read_bytes()).decode()
    return Thesaurus(table, gzip.decompress((_DATA / "synonym_vectors.gz").read_bytes()))
