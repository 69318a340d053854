"""Another word for the same thing: which word is replaced, by what, and that it fits its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.spoken._forms import KIND_OF, forms
from unfazed.vary.spoken._stopwords import STOPWORDS, is_stopword, stopword_candidates
from unfazed.vary.spoken._tagger import Word, tagged, tagger
from unfazed.vary.spoken._verbs import BE, DO, HAVE

KINDS = {"v": "verb", "a": "adjective", "r": "adverb", "n": "noun", "s": "stop-word"}
_NEVER = BE | HAVE | DO | frozenset(["let", "let's", "s", "d", "like", "not", "n't", "please", "oh", "there", "here"])
_VOWELS = frozenset("aeiou")
_NEEDED = 8  # candidates that fit, after which no more are tried


class Asked(NamedTuple):
    """A word to find others for: its place among the words of its text."""

    text: str
    words: tuple[Word, ...]
    i: int


class Source(Protocol):
    """Where candidates come from."""

    def ranked(self, asked: Sequence[Asked]) -> list[list[str]]:
        """For each word asked about, candidates in the same inflected form, best first."""


class SynonymOperator(Operator):
    """Replaces one word of a class by another that means about the same there; a noun where there is none.

    `model` is the path of a masked language model, whose likeliest words are taken; without it the table of synonyms
    that ships with the package. `slots` says whether words inside labelled values may be replaced, too. One of the
    `top` best candidates is taken, better ones more often; 1 takes the best.
    """

    languages = ("en",)
    kinds: ClassVar[str]  # letters of KINDS

    def __init__(self, model: str | None = None, slots: bool = True, top: int = 3) -> None:
        if top < 1:
            raise ValueError(f"top must be 1 or more, not {top}")
        self.slots, self.top = slots, top
        self._source: Source | None = None
        self._model = model

    @property
    def source(self) -> Source:
        if self._source is None:
            if self._model is None:
                from unfazed.vary.spoken._lexical import lexical

                self._source = lexical()
            else:
                from unfazed.vary.spoken._masked import MaskedModel

                self._source = MaskedModel(self._model)
        return self._source

    def change(self, text: Text, rng: Stream) -> Change | None:
        return self.changes([text], [rng])[0]

    def changes(self, texts: Sequence[Text], rngs: Sequence[Stream]) -> list[Change | None]:
        """Goes through the words that may be replaced in random order, until one has a candidate that fits."""
        made: list[Change | None] = [None] * len(texts)
        targets = [self._targets(text, rng) for text, rng in zip(texts, rngs, strict=True)]
        waiting = [n for n, found in enumerate(targets) if found]
        while waiting:
            asked = [Asked(texts[n].text, tagged(texts[n].text), targets[n].pop()) for n in waiting]
            for n, one, ranked in zip(waiting, asked, self._ranked(asked), strict=True):
                if ranked:
                    best = ranked[: self.top]
                    new = rngs[n].weighted(best, [1 / rank for rank in range(1, len(best) + 1)])
                    made[n] = replacement(one, new)
            waiting = [n for n in waiting if made[n] is None and targets[n]]
        return made

    def _targets(self, text: Text, rng: Stream) -> list[int]:
        """The places of words that may be replaced, last first: one class at random, then the others, then nouns."""
        words = tagged(text.text)
        order: list[int] = []
        for kind in [*rng.sample(self.kinds, len(self.kinds)), "n"]:
            places = [i for i, word in enumerate(words) if kind_of(word) == kind and i not in order]
            if not self.slots:
                places = [i for i in places if not text.labelled(words[i].start)]
            order += rng.sample(places, len(places))
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
    return "" if word.lower in _NEVER or len(word.lower) < 2 else KIND_OF.get(word.tag, "")


def fitting(asked: Asked, candidates: Sequence[str]) -> list[str]:
    """The candidates of another lemma that, put in place, are tagged as the word that they replace."""
    word = asked.words[asked.i]
    lemma = forms().lemma(word.lower, word.tag)
    context = [w.lower for w in asked.words]
    found: list[str] = []
    beside = {word.lower, *context[max(0, asked.i - 1) : asked.i + 2]}  # nobody says *forecast forecast*
    for candidate in candidates:
        if candidate in found or candidate in beside or forms().lemma(candidate, word.tag) == lemma:
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
    text, words, i = asked
    word = words[i]
    old = text[word.start : word.end]
    kind = kind_of(word) or KIND_OF.get(word.tag, "s")
    edits = [Edit(word.start, word.end, cased(new, old))]
    if i and words[i - 1].lower in ("a", "an") and text[words[i - 1].end : word.start] == " ":
        article = "an" if new[0] in _VOWELS else "a"
        before = words[i - 1]
        if (old[0].lower() in _VOWELS) == (before.lower == "an") and article != before.lower:
            edits.insert(0, Edit(before.start, before.end, cased(article, text[before.start : before.end])))
    return Change(tuple(edits), f"{old}→{edits[-1].new} ({KINDS[kind]})")


def cased(new: str, old: str) -> str:
    """The new word in the old one's case."""
    if old.islower() or not old[0].isupper():
        return new
    return new.upper() if len(old) > 1 and old.isupper() else new[0].upper() + new[1:]
