"""Operators for how people speak: fillers, synonyms, words that sound alike; and where the verbs of a text are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

import msgspec

from unfazed.core.edits import Edit, OneEach
from unfazed.core.seeds import Stream, Streams
from unfazed.vary.block import BlockOperator, SingleEdits, Texts
from unfazed.vary.english import BE, DO, HAVE, SHORT, Word, tagged
from unfazed.vary.operator import Change, Text

_AUXILIARY = BE | HAVE | DO
_OBJECTS = frozenset(["me", "us", "it", "them", "him", "her", "you", "s"])
_CLITICS = frozenset(["s", "m", "re", "ve"])  # as recognisers write *what's*: nothing is said before them
_BETWEEN = frozenset(("PRP", "EX", "RB"))  # what may stand between auxiliary and participle

_NOUNS = frozenset(("NN", "NNS", "NNP"))
_NOMINAL = _NOUNS | {"DT", "PDT", "PRP$", "JJ", "JJR", "JJS", "CD", "POS"}

Phrase = tuple[Word, ...]  # a verb, and the particles and object pronouns that go with it


class Said(msgspec.Struct, frozen=True, gc=False):
    """What may be said at a place of a text, and the note on each. Texts share them, so that they are found quickly.

    Thousands are remembered: with `gc=False`, Python's collector need not look at them over and over.
    """

    at: int
    fillers: tuple[str, ...]
    notes: tuple[str, ...]


_NOTHING = Said(0, (), ())
_LIKE = ("like ",), ('"like" before the first slot',)
_KEPT = 8192  # texts whose verbs are remembered


class Verb(Said, frozen=True, gc=False):
    """What may be said at a verb, and where the verb is, with what belongs to it."""

    start: int
    end: int
    first: int  # the token that it begins in, where single spaces separate them
    last: int  # and the one that it ends in


class VerbFiller(BlockOperator):
    """Says a filler at the utterance's verb: the first one outside labelled spans, for a verb in a song's title is
    not the utterance's. Without one, *like* goes before the first labelled value."""

    languages = ("en",)
    objects: ClassVar[bool] = False  # does the verb's object belong to it?
    kept: ClassVar[dict[str, tuple[Verb, ...]]]  # the verbs of short texts, remembered

    def __init_subclass__(cls) -> None:
        cls.kept = {}

    @classmethod
    def verbs(cls, text: str) -> tuple[Verb, ...]:
        found = cls.kept.get(text)
        if found is None:
            found = tuple(cls._verbs(text))
            if len(cls.kept) >= _KEPT:
                cls.kept.clear()
            if len(text) <= SHORT:
                cls.kept[text] = found
        return found

    @classmethod
    def _verbs(cls, text: str) -> Iterator[Verb]:
        for phrase in verb_phrases(text, cls.objects):
            start, end = phrase[0].start, phrase[-1].end
            first, last = text.count(" ", 0, start), text.count(" ", 0, end - 1)
            said = cls.said(phrase, text)
            yield Verb(said.at, said.fillers, said.notes, start, end, first, last)

    @classmethod
    def said(cls, phrase: Phrase, text: str) -> Said:
        """What may be said. Extend."""
        raise NotImplementedError

    def change(self, text: Text, rng: Stream) -> Change | None:
        said = self._options(text)
        if not said.fillers:
            return None
        n = rng.below(len(said.fillers))
        return Change((Edit(said.at, said.at, said.fillers[n]),), said.notes[n])

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        said = texts.once(self._options_each)
        places, fillers = [its.at for its in said], [its.fillers for its in said]
        chosen = streams.below(0, list(map(len, fillers)))
        news = [its[n] if its else None for its, n in zip(fillers, chosen, strict=True)]
        return SingleEdits(
            OneEach(places, places, news),
            lambda: [its.notes[n] if its.notes else "" for its, n in zip(said, chosen, strict=True)],
        )

    def _options_each(self, texts: Texts) -> list[Said]:
        """What `_options` gives, sooner where nothing at the first verb is labelled."""
        known, plain = self.kept, texts.task is None
        found: list[Said] = []
        for i, (text, tags) in enumerate(zip(texts.strings, texts.tags, strict=True)):
            verbs = known.get(text)
            if verbs is None:
                verbs = self.verbs(text)
            if tags is None:
                found.append(verbs[0] if plain and verbs else self._options(texts[i]))
                continue
            for verb in verbs:
                if tags[verb.first] == "O":
                    whole = tags[verb.last] == "O" or _ends(text, tags, verb)
                    found.append(verb if whole else self.at(verb, texts[i]))
                    break
            else:
                found.append(_before_slot(text, tags))
        return found

    def _options(self, text: Text) -> Said:
        """What may be said in this text, with its labels."""
        for verb in self.verbs(text.text):
            if not text.labelled(verb.start):
                return self.at(verb, text)
        return Said(text.marked[0][0], *_LIKE) if text.marked else _NOTHING

    def at(self, verb: Verb, text: Text) -> Said:
        """What may be said at the utterance's verb."""
        return verb


def _ends(text: str, tags: Sequence[str], verb: Verb) -> bool:
    """Does the slot that the verb's last token is in end with it?"""
    after = tags[verb.last + 1 : verb.last + 2]
    return text[verb.end : verb.end + 1] in ("", " ") and not (after and after[0][:1] in ("I", "E"))


def _before_slot(text: str, tags: Sequence[str]) -> Said:
    """What may be said before the first token that is in a slot."""
    at = 0
    for tag in tags:
        if tag != "O":
            return Said(at, *_LIKE)
        at = text.find(" ", at) + 1
    return _NOTHING


def verb_phrases(text: str, objects: bool = False) -> tuple[Phrase, ...]:
    """The verbs of a text, auxiliaries last, each with what belongs to it: *play*, *show me*, *turn it off*; with
    `objects` also *play some jazz*."""
    words = tagged(text)
    verbs = [i for i, (_, _, _, tag) in enumerate(words) if tag[:2] == "VB"]
    helping = [i for i, main in pairwise(verbs) if words[i].lower in _AUXILIARY and _helps(words, i, main)]
    if helping:
        verbs = [i for i in verbs if i not in helping] + helping
    found = []
    for i in verbs:
        first, end = _phrase(words, i)
        found.append(words[first : _with_object(text, words, end) if objects else end])
    return tuple(found)


def _with_object(text: str, words: tuple[Word, ...], first: int) -> int:
    """The end of the nouns that follow a phrase, with their articles, numbers and adjectives, up to a mark."""
    end = first
    while end < len(words) and words[end].tag in _NOMINAL and text[words[end - 1].end : words[end].start] == " ":
        end += 1
    while end > first and words[end - 1].tag not in _NOUNS:
        end -= 1
    return end


def _helps(words: tuple[Word, ...], i: int, main: int) -> bool:
    """Is this form of *be*, *have* or *do* the auxiliary of the verb that follows, as in *does it stop*?"""
    if words[i].lower in DO:
        return words[main].tag == "VB" and words[main - 1].tag not in ("TO", "W")
    return words[main].tag in ("VBG", "VBN") and all(word.tag in _BETWEEN for word in words[i + 1 : main])


def _phrase(words: tuple[Word, ...], i: int) -> tuple[int, int]:
    """Where the verb begins, and where what belongs to it ends."""
    end, verb = i + 1, words[i].lower
    if verb in BE:
        end += end < len(words) and words[end].tag in ("EX", "PRP")  # *is there*, *is it*
    else:
        while end < len(words) and (words[end].tag == "RP" or words[end].lower in _OBJECTS):
            end += 1
    return i - (i > 0 and verb in _CLITICS), end
