"""Another word for the same thing: which word is replaced, by what, and that it fits its place.

Candidates come from a table, ranked by how well each fits the sentence, or from a masked language model. In the
table, a word's senses each have a share of its uses and a vector, made from the sense's definition; so has every
common word. The sense whose vector is most like the other words' is likeliest meant, and its candidates come first;
among them those that are common, that mostly mean this, and that are themselves like the other words.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import log
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from unfazed.core.edits import Edit
from unfazed.core.errors import UsageError
from unfazed.core.seeds import Stream
from unfazed.systems.device import beside
from unfazed.systems.hf import load_pretrained
from unfazed.vary.collocations import OF_PEOPLE, collocated, everywhere, in_name, in_title, never, vague
from unfazed.vary.english import (
    BE,
    DO,
    HAVE,
    KIND_OF,
    STOPWORDS,
    Word,
    forms,
    is_stopword,
    stopword_candidates,
    tagged,
    tagger,
)
from unfazed.vary.operator import BatchOperator, Change, Text

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
_NEVER = BE | HAVE | DO | frozenset(["let", "let's", "s", "d", "like", "not", "n't", "please", "oh", "there", "here"])
_VOWELS = frozenset("aeiou")
_NEEDED = 8  # candidates that fit, after which no more are tried


class Asked(NamedTuple):
    """A word to find others for: its place among the words of its text."""

    text: str
    words: tuple[Word, ...]
    i: int
    sure: bool = False  # take only candidates that surely fit
    strict: bool = False  # and only from a sense that is likely meant


class Source(Protocol):
    """Where candidates come from."""

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        """For each word asked about, candidates in the same inflected form, best first."""


class SynonymOperator(BatchOperator):
    """Replaces one word of a class by another that means about the same there; a noun where there is none.

    `model` is the path of a masked language model, whose likeliest words are taken; without it the table of synonyms
    that ships with the package. `slots` says whether words inside labelled values may be replaced, too. One of the
    `top` best candidates is taken, better ones more often; 1 takes the best.
    """

    languages = ("en",)
    rewords = True
    kinds: ClassVar[str]  # letters of KINDS
    strict: ClassVar[bool] = False  # rather leaves a text as it is than risk a word that does not fit

    def __init__(self, model: str | None = None, slots: bool = True, top: int = 3) -> None:
        if top < 1:
            raise ValueError(f"top must be 1 or more, not {top}")
        self.slots, self.top = slots, top
        self._model = model

    @cached_property
    def source(self) -> Source:
        return lexical() if self._model is None else MaskedModel(self._model)

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        """Goes through the words that may be replaced in random order, until one has a candidate that fits."""
        made: list[Change | None] = [None] * len(texts)
        targets = [self._targets(text, rng) for text, rng in zip(texts, rngs, strict=True)]
        waiting = [n for n, found in enumerate(targets) if found]
        while waiting:
            asked = [Asked(texts[n].text, tagged(texts[n].text), *targets[n].pop(), self.strict) for n in waiting]
            for n, one, ranked in zip(waiting, asked, self._ranked(asked), strict=True):
                if ranked:
                    best = ranked[: self.top]
                    new = rngs[n].weighted(best, [1 / rank for rank in range(1, len(best) + 1)])
                    made[n] = replacement(one, new)
            waiting = [n for n in waiting if made[n] is None and targets[n]]
        return made

    def _targets(self, text: Text, rng: Stream) -> list[tuple[int, bool]]:
        """The places of words that may be replaced, last first: one class at random, then the others, then nouns.

        Parts of names stay. Words outside titles come first, with candidates that surely fit.
        """
        words = tagged(text.text)
        order: list[tuple[int, bool]] = []
        seen: set[int] = set()
        for kinds in (self.kinds, "n"):
            places: list[int] = []
            for kind in rng.sample(kinds, len(kinds)):
                of_kind = [i for i, word in enumerate(words) if kind_of(word) == kind and i not in seen]
                if not self.slots:
                    of_kind = [i for i in of_kind if not text.labelled(words[i].start)]
                places += rng.sample(of_kind, len(of_kind))
                seen.update(of_kind)
            if self._model is None:
                places = [i for i in places if not in_name(words, i, kind_of(words[i]))]
                order += [(i, True) for i in places if not _in_title(text, words[i])]
            if self.strict and self._model is None:
                titled = [i for i in places if _in_title(text, words[i])]
                order = [(i, True) for i, _ in order if not in_title(words, i)] + [(i, True) for i in titled]
                order = [(i, sure) for i, sure in order if not _doubtful(words, i)]
            else:
                order += [(i, False) for i in places]
        return order[::-1]

    def _ranked(self, asked: list[Asked]) -> list[list[str]]:
        """Closed-class words have a table of their own; a model is asked about all words."""
        if self._model is not None:
            return self.source.ranked(asked)
        closed = [is_stopword(one.words[one.i]) for one in asked]
        others = iter(self.source.ranked([one for one, stop in zip(asked, closed, strict=True) if not stop]))
        return [
            stopword_candidates(a.words, a.i) if stop else next(others) for a, stop in zip(asked, closed, strict=True)
        ]


def kind_of(word: Word) -> str:
    """Which class of words that may be replaced this is of, as a letter of KINDS; none for names and numbers."""
    if (word.tag, word.lower) in STOPWORDS:
        return "s"
    return "" if word.lower in _NEVER or len(word.lower) < 3 else KIND_OF.get(word.tag, "")


def _doubtful(words: tuple[Word, ...], i: int) -> bool:
    """May the tag be wrong: an adjective that could be a noun or verb, a verb at the start that could be a noun?"""
    word, could = words[i], tagger().could_be
    if word.tag == "JJ":
        return could(word.lower, "NN") or could(word.lower, "VB")
    noun = could(word.lower, "NN") and i + 1 < len(words) and words[i + 1].tag in ("IN", "TO")
    return word.tag == "VB" and i == 0 and noun


def _in_title(text: Text, word: Word) -> bool:
    """Does it stand in a labelled value of several words, which may be a name or a title?"""
    return any(start <= word.start < end and " " in text.text[start:end] for start, end in text.marked)


def fitting(asked: Asked, candidates: Sequence[str]) -> list[str]:
    """The candidates of another lemma that, put in place, are tagged as the word that they replace; where only sure
    ones are wanted, those that go with its neighbours."""
    word = asked.words[asked.i]
    lemma = forms().lemma(word.lower, word.tag)
    context = [w.lower for w in asked.words]
    found: list[str] = []
    said = frozenset(context)
    beside = {word.lower, *context[max(0, asked.i - 1) : asked.i + 2]}  # nobody says *forecast forecast*
    for candidate in candidates:
        other = forms().lemma(candidate, word.tag)
        if candidate in found or candidate in beside or other == lemma:
            continue
        if never(lemma, other):
            continue
        if asked.sure and not collocated(context, asked.i, word.lower, candidate, asked.strict):
            continue
        if asked.strict and candidate in said:
            continue
        if " " not in candidate:
            context[asked.i] = candidate
            tag = tagger().tags(context)[asked.i]
            if tag != word.tag and (
                KIND_OF.get(tag) != KIND_OF.get(word.tag) or not tagger().could_be(candidate, word.tag)
            ):
                continue
        found.append(candidate)
        if len(found) == _NEEDED:
            break
    return found


def replacement(asked: Asked, new: str) -> Change:
    """The change that puts the new word in place, with the article before it made to agree."""
    text, words, i = asked[:3]
    word = words[i]
    old = text[word.start : word.end]
    kind = kind_of(word) or KIND_OF.get(word.tag, "s")
    edits = [Edit(word.start, word.end, _cased(new, old))]
    if i and words[i - 1].lower in ("a", "an") and text[words[i - 1].end : word.start] == " ":
        article = "an" if new[0] in _VOWELS else "a"
        before = words[i - 1]
        if (old[0].lower() in _VOWELS) == (before.lower == "an") and article != before.lower:
            edits.insert(0, Edit(before.start, before.end, _cased(article, text[before.start : before.end])))
    return Change(tuple(edits), f"{old}→{edits[-1].new} ({KINDS[kind]})")


def _cased(new: str, old: str) -> str:
    """The new word in the old one's case."""
    if old.islower() or not old[0].isupper():
        return new
    return new.upper() if len(old) > 1 and old.isupper() else new[0].upper() + new[1:]


_DATA = Path(__file__).parent / "spoken" / "data"
_SENSE_FIT = 6.0  # what the sentence counts for against how often a sense is meant
_WORD_FIT = 2.0  # and for the candidate itself
_LEAST_MEANT = log(0.15)  # least probable sense whose candidates are taken
_LIKELY_MEANT, _LEAST_ALIKE = log(0.5), -2.2  # the same, and the least score of a candidate, for strict operators
_ALIKE = 0.6  # cosine of the definitions of two words, from which on they are alike
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
        # Rounded, so that ties stay ties whatever the processor makes of the last bits.
        ranked = np.argsort(-np.round(scores, 6), kind="stable").tolist()
        after = asked.words[asked.i + 1].lower if asked.i + 1 < len(asked.words) else ""
        lemma = forms().lemma(word.lower, word.tag)
        likely = _LIKELY_MEANT if asked.strict else _LEAST_MEANT
        order = [i for i in ranked if scores[i] > least and meant[i] > likely]
        if asked.strict:
            kind = KIND_OF[word.tag]
            alike = [i for i in order if entry.scores[i] > _LEAST_ALIKE]
            order = [
                i for i in alike if everywhere(lemma, entry.words[i], after) or self._both(lemma, entry.words[i], kind)
            ]
        if KIND_OF.get(word.tag) == "v":
            order = [i for i in order if not vague(lemma, forms().lemma(entry.words[i], word.tag), after)]
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
            if asked.strict and _apart(asked.words[asked.i + 1 :]):
                return None, False
            if after.tag == "RP":
                return self._entry(lemma + "~", kind), True
            if after.lower in OF_PEOPLE and (entry := self._entry(lemma + "^", kind)):
                return entry, True
        if word.lower != lemma and (entry := self._entry(word.lower, kind)):
            return entry, False
        return self._entry(lemma, kind), True

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


def _apart(follows: Sequence[Word]) -> bool:
    """Does the verb have a particle other than *on* and *off*, or one that comes later: *turn the lights down*?"""
    return any(word.lower in _PARTICLES for word in follows[:_REACH]) or any(w.tag == "RP" for w in follows[1:_REACH])


@lru_cache(1)
def lexical() -> Lexical:
    table = gzip.decompress((_DATA / "synonyms.tsv.gz").read_bytes()).decode()
    return Lexical(table, gzip.decompress((_DATA / "synonym_vectors.gz").read_bytes()))


_PARTICLES, _REACH = frozenset(("up", "down", "out", "back", "away", "over")), 5  # words after the verb
_TRIED = 100  # likeliest words looked at
_BATCH = 32


class MaskedModel:
    """A Hugging Face model with a masked-language-model head, loaded from a directory."""

    def __init__(self, path: str) -> None:
        self.tokenizer, self.model = load_pretrained("AutoModelForMaskedLM", path, "masked language model")
        if self.tokenizer.mask_token is None:
            raise UsageError(f"The model in {path!r} has no mask token, so it can't fill in a word.")
        longest = getattr(self.model.config, "max_position_embeddings", 512) - 2  # RoBERTa's count begins at 2
        self._longest = min(self.tokenizer.model_max_length, longest)

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        found: list[list[str]] = []
        for at in range(0, len(asked), _BATCH):
            batch = asked[at : at + _BATCH]
            found += [_fitting_the_mask(one, words) for one, words in zip(batch, self._likeliest(batch), strict=True)]
        return found

    def _likeliest(self, batch: Sequence[Asked]) -> list[list[str]]:
        """Whole words in place of each hidden one, likeliest first."""
        hidden = [_hide(one, self.tokenizer.mask_token) for one in batch]
        encoded = self.tokenizer(hidden, return_tensors="pt", padding=True, truncation=True, max_length=self._longest)
        encoded = beside(self.model, dict(encoded))
        import torch

        with torch.inference_mode():
            scores = self.model(**encoded).logits
        mask = encoded["input_ids"] == self.tokenizer.mask_token_id
        found: list[list[str]] = [[] for _ in batch]
        for row in range(len(batch)):
            places = mask[row].nonzero()
            if len(places):  # else the text is longer than the model reads
                best = scores[row, places[0, 0]].topk(min(_TRIED, scores.shape[-1])).indices.tolist()
                found[row] = self._words(best)
        return found

    def _words(self, ids: list[int]) -> list[str]:
        pieces = self.tokenizer.convert_ids_to_tokens(ids)
        starts = [piece.lstrip("Ġ▁") for piece in pieces if not piece.startswith("##")]
        return [word.lower() for word in starts if word.isalpha()]


def _hide(asked: Asked, mask: str) -> str:
    word = asked.words[asked.i]
    return asked.text[: word.start] + mask + asked.text[word.end :]


def _fitting_the_mask(asked: Asked, words: list[str]) -> list[str]:
    """A closed-class word's candidates are of its class; another's have its part of speech in context."""
    word = asked.words[asked.i]
    if (word.tag, word.lower) in STOPWORDS:
        return [other for other in words if other != word.lower and (word.tag, other) in STOPWORDS]
    known = [other for other in words if not any((tag, other) in STOPWORDS for tag in ("DT", "IN", "PRP", "MD"))]
    return fitting(asked, known) if word.tag in KIND_OF else []
