"""Operators for how people speak: fillers, synonyms, words that sound alike; and where the verbs of a text are."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.english import BE, DO, HAVE, SHORT, Word, tagged
from unfazed.vary.operator import Change, Operator, Text

_AUXILIARY = BE | HAVE | DO
_OBJECTS = frozenset(["me", "us", "it", "them", "him", "her", "you", "s"])
_CLITICS = frozenset(["s", "m", "re", "ve"])  # as recognisers write *what's*: nothing is said before them
_BETWEEN = frozenset(("PRP", "EX", "RB"))  # what may stand between auxiliary and participle

_NOUNS = frozenset(("NN", "NNS", "NNP"))
_NOMINAL = _NOUNS | {"DT", "PDT", "PRP$", "JJ", "JJR", "JJS", "CD", "POS"}

Phrase = tuple[Word, ...]  # a verb, and the particles and object pronouns that go with it


class VerbFiller(Operator):
    """Says a filler at the utterance's verb: the first one outside labelled spans, for a verb in a song's title is
    not the utterance's. Without one, *like* goes before the first labelled value."""

    languages = ("en",)
    fillers: ClassVar[tuple[str, ...]]
    choices: ClassVar[Callable[[str], list[tuple[Phrase, tuple[Change, ...]]]]]  # of short texts, remembered

    def __init_subclass__(cls) -> None:
        cls.choices = lru_cache(8192)(cls._choices)

    @classmethod
    def _choices(cls, text: str) -> list[tuple[Phrase, tuple[Change, ...]]]:
        """The verbs with the changes to choose from; those of later verbs, which are rarely asked for, are left out."""
        return [(phrase, () if n else cls.said(phrase)) for n, phrase in enumerate(verb_phrases(text))]

    @classmethod
    def said(cls, phrase: Phrase) -> tuple[Change, ...]:
        """The changes to choose from. Extend."""
        raise NotImplementedError

    def change(self, text: Text, rng: Stream) -> Change | None:
        known = type(self).choices(text.text) if len(text.text) <= SHORT else self._choices(text.text)
        for phrase, changes in known:
            if not text.labelled(phrase[0].start):
                return self.at(phrase, changes, text, rng)
        if not text.marked:
            return None
        at = text.marked[0][0]
        return Change((Edit(at, at, "like "),), '"like" before the first slot')

    def at(self, phrase: Phrase, changes: tuple[Change, ...], text: Text, rng: Stream) -> Change:
        """The change at the utterance's verb."""
        return rng.choice(changes or self.said(phrase))


def verb_phrases(text: str, objects: bool = False) -> tuple[Phrase, ...]:
    """The verbs of a text, auxiliaries last, each with what belongs to it: *play*, *show me*, *turn it off*; with
    `objects` also *play some jazz*."""
    words = tagged(text)
    verbs = [i for i, word in enumerate(words) if word.tag[:2] == "VB"]
    helping = [i for n, i in enumerate(verbs) if _helps(words, i, verbs[n + 1 : n + 2])]
    found = (_phrase(words, i) for i in [i for i in verbs if i not in helping] + helping)
    return tuple(_with_object(text, words, phrase) if objects else phrase for phrase in found)


def _with_object(text: str, words: tuple[Word, ...], phrase: Phrase) -> Phrase:
    """The phrase and the nouns that follow it, with their articles, numbers and adjectives, up to a mark."""
    end = first = words.index(phrase[-1]) + 1
    while end < len(words) and words[end].tag in _NOMINAL and text[words[end - 1].end : words[end].start] == " ":
        end += 1
    while end > first and words[end - 1].tag not in _NOUNS:
        end -= 1
    return phrase + words[first:end]


def _helps(words: tuple[Word, ...], i: int, later: list[int]) -> bool:
    """Is this form of *be*, *have* or *do* the auxiliary of the verb that follows, as in *does it stop*?"""
    verb = words[i].lower
    if not later or verb not in _AUXILIARY:
        return False
    [main] = later
    if verb in DO:
        return words[main].tag == "VB" and words[main - 1].tag not in ("TO", "W")
    return words[main].tag in ("VBG", "VBN") and all(word.tag in _BETWEEN for word in words[i + 1 : main])


def _phrase(words: tuple[Word, ...], i: int) -> Phrase:
    end = i + 1
    if words[i].lower in BE:
        end += end < len(words) and words[end].tag in ("EX", "PRP")  # *is there*, *is it*
    else:
        while end < len(words) and (words[end].tag == "RP" or words[end].lower in _OBJECTS):
            end += 1
    return words[i - (i > 0 and words[i].lower in _CLITICS) : end]
