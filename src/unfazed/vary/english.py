"""English words in their sentence: parts of speech and inflected forms.

Tags come from look-ups: each word's possible tags, then what its neighbours say. `tools/make_tagger.py` makes the
tables; docs/spoken.md reports how well they do. Tags are Penn's, with VBP in VB, all wh-words W, and names NNP.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from unfazed.vary.words import word_lists

_TAGS_FILE = Path(__file__).parent / "spoken" / "data" / "pos.tsv.gz"
START = "."  # what stands before the first word and after the last
_PLAIN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*(?: [a-z0-9]+(?:['-][a-z0-9]+)*)*")  # as recognisers write
_MOST = 50_000  # words that are remembered, with how they were read
SHORT = 500  # characters of texts whose tags are kept: draws repeat, documents don't

_VERBS = word_lists(Path(__file__).parent / "spoken" / "data" / "verbs.toml")
BE, HAVE, DO = _VERBS["be"], _VERBS["have"], _VERBS["do"]


class Word(NamedTuple):
    """A word in its text, without the punctuation around it."""

    start: int
    end: int
    lower: str
    tag: str


def _closed() -> dict[tuple[str, str], tuple[str, ...]]:
    rows = (Path(__file__).parent / "spoken" / "data" / "stopwords.tsv").read_text("utf-8").splitlines()
    return {(tag, word): tuple(others) for tag, word, *others in (row.split("\t") for row in rows)}


# By tag: determiners, prepositions, pronouns, modals, wh-words, conjunctions. Best first. Forms of *be*, *have* and
# *do*, *to* before a verb, *than* and *not* are left out: nothing else of their class keeps what is said.
STOPWORDS = _closed()
_INFLECTED = {"v": ("VBD", "VBN", "VBG", "VBZ"), "n": ("NNS",), "a": ("JJR", "JJS"), "r": ()}
_BASE = {"v": "VB", "n": "NN", "a": "JJ", "r": "RB"}
KIND_OF = {tag: kind for kind, base in _BASE.items() for tag in (base, *_INFLECTED[kind])}  # v, n, a or r by tag
_REPLACED = frozenset((*KIND_OF, *(tag for tag, _ in STOPWORDS)))  # tags of words that may be
_KEPT = BE | HAVE | DO | frozenset(["let", "let's", "s", "d", "like", "not", "n't", "please", "oh", "there", "here"])


class Tagged(Protocol):
    """A lower-case word and its tag."""

    @property
    def lower(self) -> str: ...

    @property
    def tag(self) -> str: ...


def kind_of(word: Tagged) -> str:
    """Which class of words that may be replaced this is of: verb v, adjective a, adverb r, noun n, stop word s; none
    for names and numbers."""
    tag, lower = word.tag, word.lower
    if tag not in _REPLACED:
        return ""
    if (tag, lower) in STOPWORDS:
        return "s"
    return "" if lower in _KEPT or len(lower) < 3 else KIND_OF.get(tag, "")


def class_of(word: str, classes: dict[str, str]) -> str:
    """A word's class; one that is not listed is told by its look, and is a name if that says nothing."""
    known = classes.get(word)
    if known:
        return known
    if word[:1].isdigit():
        return "JJ" if word[-2:] in ("st", "nd", "rd", "th") else "CD"
    if "-" in word:
        ending = classes.get(word.rsplit("-", 1)[1], "")
        return "JJ" if not ending.startswith("NNP") else "NNP"
    if len(word) > 5 and word.endswith("ing"):
        return "NN|VBG"
    return "RB" if len(word) > 5 and word.endswith("ly") else "NNP"


@cache
def tags_of(kind: str) -> tuple[str, ...]:
    """The tags in a class. A word of a closed class is a class by itself and stands in front."""
    parts = tuple(part.strip("!+*") for part in kind.split("|"))
    return parts[1:] if len(parts) > 1 and not parts[0].isupper() else parts


@cache
def seen_as(kind: str) -> str:
    """What the word before sees: the likeliest tag, or that this may be noun or verb."""
    tags = tags_of(kind)
    if len(tags) == 1 or not kind.split("|")[0].strip("!+*").isupper():
        return tags[0]
    either = {"VB", "VBZ", "VBD"}.intersection(tags) and {"NN", "NNS", "NNP"}.intersection(tags)
    if not either:
        return tags[0]
    return ("V" if tags[0][0] == "V" else "N") + ("s" if {"NNS", "VBZ"}.intersection(tags) else "")


class Reading:
    """A word with one of its tags. There is one object for each pair, by which tables find what follows from both."""

    __slots__ = ("kind", "lower", "tag")

    def __init__(self, lower: str, tag: str) -> None:
        self.lower, self.tag = lower, tag
        self.kind = kind_of(self)


class Seen(Reading):
    """A word that was met, with its class, what the word before it sees of it, and how it was read so far.

    One that can be read in one way only is that reading.
    """

    __slots__ = ("_readings", "classed", "decided", "only", "view")

    def __init__(self, word: str, classed: str) -> None:
        self.lower, self.tag, self.kind = word, classed, ""
        self.classed, self.view = classed, seen_as(classed)
        self._readings: dict[str, Reading] | None = None
        self.only: Reading | None = None
        if "|" in classed:
            self.decided: dict[tuple[str, str, str], Reading] = {}
        else:
            self.only, self.kind = self, kind_of(self)

    def reading(self, tag: str) -> Reading:
        if tag == self.tag:
            return self
        if self._readings is None:
            self._readings = {}
        found = self._readings.get(tag)
        if found is None:
            found = self._readings[tag] = Reading(self.lower, tag)
        return found


_END = Seen(START, START)


class Tagger:
    """The tables. A class is a word's possible tags, likeliest first, as one string; its view is what the word
    before it sees of it."""

    def __init__(self, text: str) -> None:
        classes, _, contexts = text.partition("\n\n")
        self.classes: dict[str, str] = {}
        for line in classes.split("\n"):
            kind, _, words = line.partition("\t")
            self.classes.update(dict.fromkeys(words.split(" "), kind))
        self.contexts: dict[tuple[str, ...], str] = {}
        for line in contexts.splitlines():
            tag, *key = line.split("\t")
            self.contexts[tuple(key)] = tag
        self._known: dict[str, Seen] = {}
        self._plain: dict[str, Seen] = {"": _END}  # of these, words as recognisers write them, and the end

    def tags(self, words: Sequence[str]) -> list[str]:
        """The tag of each lower-case word of a sentence. Nothing is remembered, since new words cost more then."""
        classes = self.classes
        kinds = [classes.get(word) or class_of(word, classes) for word in words]
        found: list[str] = []
        before = last = START
        for i, kind in enumerate(kinds):
            tag = kind
            if "|" in kind:
                after = seen_as(kinds[i + 1]) if i + 1 < len(kinds) else START
                tag = self._decide(words[i], kind, last, after, before)
            found.append(tag)
            before, last = last, tag
        return found

    def readings(self, words: Sequence[str]) -> list[Reading]:
        """Each lower-case word of a sentence with its tag."""
        known, seen = self._known, self.seen
        return self._read([*[known.get(word) or seen(word) for word in words], _END])

    def plain(self, text: str) -> list[Reading] | None:
        """The words of a text in small letters, without marks and with single spaces; None if it is not such a text."""
        words = text.split(" ")
        if "" in words:
            return None
        words.append("")
        try:
            return self._read(list(map(self._plain.__getitem__, words)))
        except KeyError:
            if not _PLAIN.fullmatch(text):
                return None
        seen = [*map(self.seen, words[:-1]), _END]
        self._plain.update(zip(words, seen, strict=True))
        return self._read(seen)

    def seen(self, word: str) -> Seen:
        """A lower-case word."""
        found = self._known.get(word)
        if found is None:
            found = Seen(word, self.classes.get(word) or class_of(word, self.classes))
            if len(self._known) >= _MOST:
                self._known.clear()
                self._plain = {"": _END}
            self._known[word] = found
        return found

    def _read(self, words: list[Seen]) -> list[Reading]:
        """What `read` makes of each word but the last, which is the end."""
        found: list[Reading] = []
        before = last = START
        for follows, word in enumerate(words, 1):
            reading = word.only
            if reading is None:
                after = words[follows].view
                reading = word.decided.get((last, after, before)) or self._first(word, last, after, before)
            found.append(reading)
            before = last
            last = reading.tag
        found.pop()
        return found

    def read(self, word: Seen, last: str, after: str, before: str) -> Reading:
        """A word with the tag that it has after two others, the last of them first, and before what is seen next."""
        return word.only or word.decided.get((last, after, before)) or self._first(word, last, after, before)

    def _first(self, word: Seen, last: str, after: str, before: str) -> Reading:
        """The same for the first time, which is remembered."""
        tag = self._decide(word.lower, word.classed, last, after, before)
        word.decided[last, after, before] = reading = word.reading(tag)
        return reading

    def _decide(self, word: str, kind: str, last: str, after: str, before: str) -> str:
        """What the longest known context says."""
        get = self.contexts.get
        return (
            get((word, last, after, "word"))
            or get((kind, last, after, before))
            or get((kind, last, after))
            or get((kind, last))
            or get((kind,))
            or tags_of(kind)[0]
        )

    def could_be(self, word: str, tag: str) -> bool:
        """May the lower-case word have this tag?"""
        return tag in tags_of(self.classes.get(word) or class_of(word, self.classes))


@lru_cache(1)
def tagger() -> Tagger:
    return Tagger(gzip.decompress(_TAGS_FILE.read_bytes()).decode())


def tagged(text: str) -> tuple[Word, ...]:
    """The words of a text with their tags. Tokens without a letter or digit are no words."""
    return _kept(text) if len(text) <= SHORT else _tagged(text)


def _tagged(text: str) -> tuple[Word, ...]:
    plain = tagger().plain(text)
    return _any(text) if plain is None else _placed(plain)


def _placed(words: list[Reading]) -> tuple[Word, ...]:
    """What `_any` gives, for the commonest kind of text, at half the time."""
    found, at = [], 0
    for word in words:
        end = at + len(word.lower)
        found.append(Word(at, end, word.lower, word.tag))
        at = end + 1
    return tuple(found)


def _any(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    places: list[tuple[int, int]] = []
    at = 0
    for token in text.split():
        at = text.index(token, at)
        start, end = at, at + len(token)
        at = end
        if not token.isalnum():
            while start < end and not text[start].isalnum() and text[start] != "&":
                start += 1
            while end > start and not text[end - 1].isalnum() and text[end - 1] != "&":
                end -= 1
        if start < end:
            places.append((start, end))
        if places and token[-1] in ".?!" and (token[-1] != "." or text[at + 1 : at + 2].isupper()):
            found += _sentence(text, places)
            places = []
    return tuple(found + _sentence(text, places))


def _sentence(text: str, places: list[tuple[int, int]]) -> list[Word]:
    words = [text[start:end] for start, end in places]
    lower = list(map(str.lower, words))
    if "’" in text:
        lower = [word.replace("’", "'") for word in lower]
    tags = tagger().tags(lower)
    if words != lower and any(map(str.islower, words)):  # else case says nothing
        for i, word in enumerate(words):
            if i and word[0].isupper() and word[:2] not in ("I", "I'"):
                tags[i] = "NNP"
    return [Word(start, end, word, tag) for (start, end), word, tag in zip(places, lower, tags, strict=True)]


_kept = lru_cache(8192)(_tagged)


_FORMS_FILE = Path(__file__).parent / "spoken" / "data" / "synonym_forms.tsv.gz"
_COMPARED = {"JJR": "more", "JJS": "most"}


class Forms:
    """A row of the table is a kind, a lemma and its forms: `v leave left left leaving leaves`."""

    def __init__(self, text: str) -> None:
        self._forms: dict[tuple[str, str], str] = {}
        self._lemmas: dict[tuple[str, str], str] = {}
        for line in text.splitlines():
            kind, lemma, *forms = line.split("\t")
            for tag, form in zip(_INFLECTED[kind], forms, strict=False):
                if form:
                    self._forms[lemma, tag] = form
                    self._lemmas.setdefault((form, kind), lemma)

    def lemma(self, word: str, tag: str) -> str:
        """The lemma of a lower-case word that has this tag; itself where the table says nothing."""
        kind = KIND_OF.get(tag)
        if kind is None or tag == _BASE[kind]:
            return word
        return self._lemmas.get((word, kind), word)

    def inflected(self, lemma: str, tag: str) -> str | None:
        """The lemma's form for a tag, with *more* or *most* where adjectives have none; None if it has no such form."""
        if tag not in KIND_OF or tag == _BASE[KIND_OF[tag]]:
            return lemma
        form = self._forms.get((lemma, tag))
        return f"{_COMPARED[tag]} {lemma}" if form is None and tag in _COMPARED else form


@lru_cache(1)
def forms() -> Forms:
    return Forms(gzip.decompress(_FORMS_FILE.read_bytes()).decode())
