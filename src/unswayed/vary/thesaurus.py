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
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from unswayed.vary.collocations import OF_PEOPLE, everywhere, never, vague
from unswayed.vary.english import KIND_OF, START, STOPWORDS, Line, forms, tagger
from unswayed.vary.fitting import MOST_FITTING, Asked, Place, fits
from unswayed.vary.rows import Rows
from unswayed.vary.stopwords import farther, stopword_candidates

_DATA = files("unswayed.vary") / "spoken" / "data"
_SENSE_FIT = 6.0  # what the sentence counts for against how often a sense is meant
_WORD_FIT = 2.0  # and for the candidate itself
_LEAST_MEANT = log(0.15)  # least probable sense whose candidates are taken
_LIKELY_MEANT, _LEAST_ALIKE = log(0.5), -2.2  # the same, and the least score of a candidate, for strict operators
_ALIKE = 0.6  # cosine of the definitions of two words, from which on they are alike
_WORST = 4.0  # how much worse than the best a candidate may be
_UNIT = 127  # what a vector's number 1 is stored as
_FEW = log(2)  # weight of a sentence with one other word that has a vector
APART, REACH = frozenset(("up", "down", "out", "back", "away", "over")), 5  # words after the verb
Code = TypeVar("Code", int, "NDArray[np.intp]")
_MOST_READ, _MOST_PLACES = 50_000, 100_000  # words with tags, and places of words, that are remembered


class Entry(NamedTuple):
    """A lemma's number, how many senses it has, and its candidates, each with its score."""

    number: int
    senses: int
    words: list[str]
    scores: list[float]


class Choice:
    """An entry's candidates in a word's form; None for those that may never stand for it."""

    __slots__ = ("entry", "forms")

    def __init__(self, entry: Entry, said: list[str | None]) -> None:
        self.entry, self.forms = entry, said

    def takes(self, n: int) -> bool:
        """Is this candidate, of a word's only sense, good enough whatever the sentence says?

        That may add `_WORD_FIT` to a candidate, or take that much away, and a little more, since vectors are not quite
        as long as 1.
        """
        _, senses, _, scores = self.entry
        return senses == 1 and (len(scores) == 1 or scores[n] > max(scores) - _WORST + 2.1 * _WORD_FIT)


class Target:
    """What follows from a word and its tag: its part of speech, its lemma, and what may stand for it."""

    __slots__ = ("choices", "lemma", "of")

    def __init__(self, word: str, tag: str) -> None:
        self.of = KIND_OF.get(tag, "")
        self.lemma = forms().lemma(word, tag)
        self.choices: dict[tuple[bool, bool, bool], Choice | None] = {}


class Options(NamedTuple):
    """What may stand for a word in a place: of its choice, the numbers of single words that fit and of phrases that do.

    Where nothing else in the line decides about them, they are in `alone`, best first; a closed-class word's have no
    choice.
    """

    choice: Choice | None
    fit: tuple[list[int], list[int]]
    alone: list[str] | None

    def best(self, order: Sequence[int] | None, most: int, said: Container[str]) -> list[str]:
        """The best that fit, phrases only if no single word does, and none that is said elsewhere.

        `order` has the numbers of those whose sense may be meant; None where nothing in the line decides about them.
        """
        if self.choice is None:
            return self.alone or []
        if self.alone is not None:
            return [] if self.alone[0] in said else self.alone
        forms_of = self.choice.forms
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


class Question(NamedTuple):
    """A word of a line to find others for."""

    line: Line
    i: int
    strict: bool
    options: Options


# A word, the words before and after it, and what is `coded` of the place.
Spot = tuple[str, str, str, int]
_BITS = 5  # of a tag's number
SURE, STRICT = 2, 1  # what a code that has neither is joined with


def coded(tag: Code, one: Code, two: Code, flag: Code, sure: Code, strict: Code) -> Code:
    """The numbers of three tags, the word's own first, and three flags as one number; or arrays of such.

    Of a content word, the tags are those of the words before the one before it, and the flag says whether a particle
    follows. Of a closed-class word, they are that of the word after it and any, and the flag is what `farther` says.
    """
    return ((((tag << _BITS | one) << _BITS | two) << 1 | flag) << 1 | sure) << 1 | strict


def decoded(code: int) -> tuple[str, str, str, bool, bool, bool]:
    """The same from the number, with the tags' names."""
    names, ones = tagger().names, (1 << _BITS) - 1
    tags = code >> 3
    tag, one, two = (names[tags >> shift & ones] for shift in (2 * _BITS, _BITS, 0))
    return tag, one, two, bool(code & 4), bool(code & SURE), bool(code & STRICT)


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
        self._senses = Rows(lines.count("\t"), len(self._lines), row=int, share=float)
        self._words = Rows(lines.count(" ") // 2, len(self._lines), row=int, of=int, score=float)
        self._targets: dict[tuple[str, str], Target] = {}  # by word and tag
        self._row_of: dict[str, dict[str, int]] = {tag: {} for tag in KIND_OF}  # by tag and word
        self._options: dict[Spot, Options | None] = {}

    def ranked(self, asked: Sequence[Asked], most: int = MOST_FITTING) -> list[list[str]]:
        """For each word asked about, candidates in the same inflected form, best first."""
        lines: dict[int, Line] = {}
        for one in asked:
            if id(one.words) not in lines:
                lines[id(one.words)] = Line.of(one.text, one.words)
        found = [self.question(lines[id(one.words)], one.i, one.sure, one.strict) for one in asked]
        answers = iter(self.answers([question for question in found if question], most))
        return [next(answers) if question else [] for question in found]

    def _target(self, word: str, tag: str) -> Target:
        if len(self._targets) >= _MOST_READ:
            self._targets.clear()
        self._targets[word, tag] = found = Target(word, tag)
        return found

    def question(self, line: Line, i: int, sure: bool, strict: bool) -> Question | None:
        """The question what may stand for a word; None if nothing may."""
        words, tags, number = line.lowers, line.tags, tagger().number
        word, tag, end = words[i], tags[i], i + 1 == len(words)
        before, after = words[i - 1] if i else "", "" if end else words[i + 1]
        kind = KIND_OF.get(tag)
        if kind is None:
            if end or (tag, word) not in STOPWORDS:
                return None
            beside, flag = (number[tags[i + 1]], 0), farther(words, tags, i)
        else:
            if kind == "r" and i and (tags[i - 1] == "IN" or before == "right"):
                return None  # *from now* and *right now* are expressions
            if kind == "v" and strict and _apart(line, i + 1):
                return None
            context = line.context
            beside = number[context[i - 2] if i > 1 else START], number[context[i - 3] if i > 2 else START]
            flag = kind == "v" and not end and tags[i + 1] == "RP"
        found = self.options((word, before, after, coded(number[tag], *beside, flag, sure, strict)))
        return Question(line, i, strict, found) if found else None

    def options(self, spot: Spot) -> Options | None:
        """What may stand in a place; None if nothing may."""
        try:
            return self._options[spot]
        except KeyError:
            if len(self._options) >= _MOST_PLACES:
                self._options.clear()
            self._options[spot] = found = self._find(spot)
            return found

    def _find(self, spot: Spot) -> Options | None:
        word, before, after, code = spot
        tag, one, two, flag, sure, strict = decoded(code)
        if tag not in KIND_OF:
            closed = stopword_candidates(word, tag, before, after, one, flag)
            return Options(None, ([], []), closed) if closed else None
        target = self._targets.get((word, tag)) or self._target(word, tag)
        key = strict, flag, after in OF_PEOPLE
        if key not in target.choices:
            target.choices[key] = self._choice(word, tag, target, *key)
        choice = target.choices[key]
        if choice is None:
            return None
        fit: tuple[list[int], list[int]] = [], []
        for n, form in enumerate(choice.forms):
            if form is not None and fits(word, tag, form, Place(before, after, one, two), sure, strict):
                fit[" " in form].append(n)
        single, phrases = fit
        if not single and not phrases:
            return None
        only = choice.forms[single[0]] if len(single) == 1 and not phrases and choice.takes(single[0]) else None
        return Options(choice, fit, None if only is None else [only])

    def _choice(self, word: str, tag: str, target: Target, strict: bool, particle: bool, people: bool) -> Choice | None:
        kind, lemma = target.of, target.lemma
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
        words, of = list[str](), list[int]()
        scores = [int(score) / 10 for sense in senses for score in sense[3::2]]
        for n, sense in enumerate(senses):
            words += sense[2::2]
            of += [n] * (len(words) - len(of))
        self._senses.add(row=[int(sense[0]) + 1 for sense in senses], share=[int(sense[1]) / 10 for sense in senses])
        number = self._words.add(row=[*map(self._rows.__getitem__, words)], of=of, score=scores)
        return Entry(number, len(senses), words, scores)

    def _both(self, lemma: str, other: str, kind: str) -> bool:
        """Are the two defined alike, or may each stand for the other where it means what it mostly means?"""
        one, two = self._rows.get(lemma), self._rows.get(other)
        if one is not None and two is not None:
            first, second = self.vectors[one], self.vectors[two]
            if first @ second >= _ALIKE * float(np.linalg.norm(first) * np.linalg.norm(second)):
                return True
        entry = self._entry(other, kind)
        return entry is not None and any(
            w == lemma and s > _LEAST_ALIKE for w, s in zip(entry.words, entry.scores, strict=True)
        )

    def answers(self, questions: Sequence[Question], most: int = MOST_FITTING) -> list[list[str]]:
        """The candidates that fit and whose sense may be meant, in the same inflected form, best first."""
        open_ = [question for question in questions if question.options.alone is None]
        strict = [question.strict for question in open_]
        orders = iter(
            self.orders([question.options for question in open_], self._around(open_), strict) if open_ else ()
        )
        found = []
        for line, _, strictly, options in questions:
            order = next(orders) if options.alone is None else None
            found.append(options.best(order, most, line.lowers if strictly else ()))
        return found

    def orders(self, options: Sequence[Options], around: Any, strict: Sequence[bool]) -> list[list[int]]:
        """For each word, the numbers in its entry of candidates whose sense may be meant, best first."""
        entries = np.array([its.choice.entry.number for its in options if its.choice])
        sense, of_sense, at = self._senses.of(entries)
        word, of, word_at = self._words.of(entries)
        rows = np.concatenate((self._senses["row"][sense], self._words["row"][word]))
        alike = np.einsum("ij,ij->i", self.vectors[rows], around[np.concatenate((of_sense, of))])
        senses = self._senses["share"][sense] + _SENSE_FIT * alike[: len(sense)]
        most = np.maximum.reduceat(senses, at)
        senses -= (most + np.log(np.add.reduceat(np.exp(senses - most[of_sense]), at)))[of_sense]
        meant = senses[self._words["of"][word] + at[of]]
        scores = self._words["score"][word] + meant + _WORD_FIT * alike[len(sense) :]
        least = np.maximum.reduceat(scores, word_at) - _WORST
        taken = (scores > least[of]) & (meant > np.where(strict, _LIKELY_MEANT, _LEAST_MEANT)[of])
        # Rounded, so that ties stay ties whatever the processor makes of the last bits.
        taken = np.flatnonzero(taken)
        order = taken[np.lexsort((-np.round(scores[taken], 6), of[taken]))]
        of = of[order]
        ends = np.searchsorted(of, np.arange(len(entries) + 1)).tolist()
        places = (order - word_at[of]).tolist()
        return [places[a:b] for a, b in pairwise(ends)]

    def _around(self, questions: Sequence[Question]) -> Any:
        """For each word, the mean direction of the other content words of its line that have a vector."""
        lines: dict[Line, int] = {}
        rows: list[int] = []
        starts: list[int] = []
        of, own = [], []
        for question in questions:
            line, i = question.line, question.i
            if line not in lines:
                lines[line] = len(starts)
                starts.append(len(rows))
                rows += self._rows_of(line)
            of.append(lines[line])
            own.append(self.row(line.lowers[i], line.tags[i]))
        counts = np.diff([*starts, len(rows)]) - 1
        return self.directions(np.add.reduceat(self.vectors[rows], starts)[of], counts[of], np.array(own))

    def directions(self, totals: Any, counts: Any, own: Any) -> Any:
        """The mean directions of so many vectors with these sums, without the word's own row."""
        # Vectors are whole numbers, so that nothing is lost where the word's own is taken away again.
        total, others = totals - self.vectors[own], counts - (own > 0)
        length = np.sqrt(np.einsum("ij,ij->i", total, total)) / _UNIT + 1e-9
        return total * (np.where(others == 1, _FEW, 1.0) / length / _UNIT**2).astype(np.float32)[:, None]

    def _rows_of(self, line: Line) -> list[int]:
        """The rows of a line's content words that have a vector, after that of no word."""
        row_of, row = self._row_of, self.row
        content = [(tag, word) for tag, word in zip(line.tags, line.lowers, strict=True) if tag in row_of]
        rows = [row_of[tag].get(word) for tag, word in content]
        if None in rows:
            rows = [row(word, tag) for tag, word in content]
        return [0, *filter(None, rows)]

    def row(self, word: str, tag: str) -> int:
        """The row of the vector of a content word; 0 for others, and if it has none."""
        known = self._row_of.get(tag)
        if known is None:
            return 0
        found = known.get(word)
        if found is None:
            found = self.new_row(word, tag)
            if len(known) >= _MOST_READ:
                known.clear()
            known[word] = found
        return found

    def new_row(self, word: str, tag: str) -> int:
        """The same for a content word that nothing is remembered of."""
        return self._rows.get(word) or self._rows.get(forms().lemma(word, tag), 0)


def _apart(line: Line, first: int) -> bool:
    """Does the verb before this word have a particle other than *on* and *off*, or one later: *turn lights down*?"""
    end = first + REACH
    return not APART.isdisjoint(line.lowers[first:end]) or "RP" in line.tags[first + 1 : end]


@lru_cache(1)
def thesaurus() -> Thesaurus:
    table = gzip.decompress((_DATA / "synonyms.tsv.gz").read_bytes()).decode()
    return Thesaurus(table, gzip.decompress((_DATA / "synonym_vectors.gz").read_bytes()))
