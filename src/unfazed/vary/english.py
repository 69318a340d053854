"""English words in their sentence: parts of speech, inflected forms, and what may stand for a closed-class word.

Tags come from look-ups: each word's possible tags, then what its neighbours say. `tools/make_tagger.py` makes the
tables; docs/spoken.md reports how well they do. Tags are Penn's, with VBP in VB, all wh-words W, and names NNP.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from unfazed.vary.words import word_lists

_TAGS_FILE = Path(__file__).parent / "spoken" / "data" / "pos.tsv.gz"
_START = "."  # what stands before the first word and after the last
_PLAIN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*(?: [a-z0-9]+(?:['-][a-z0-9]+)*)*")  # as recognisers write
SHORT = 500  # characters of texts whose tags are kept: draws repeat, documents don't

_VERBS = word_lists(Path(__file__).parent / "spoken" / "data" / "verbs.toml")
BE, HAVE, DO = _VERBS["be"], _VERBS["have"], _VERBS["do"]


class Word(NamedTuple):
    """A word in its text, without the punctuation around it."""

    start: int
    end: int
    lower: str
    tag: str


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
        self._views: dict[str, str] = {}

    def tags(self, words: list[str]) -> list[str]:
        """The tag of each lower-case word of a sentence."""
        classes, views = self.classes, self._views
        kinds = [classes.get(word) or class_of(word, classes) for word in words]
        found: list[str] = []
        before = last = _START
        for i, kind in enumerate(kinds, 1):
            tag = kind
            if "|" in kind:
                follows = kinds[i] if i < len(kinds) else _START
                after = views.get(follows) or views.setdefault(follows, seen_as(follows))
                tag = self._decide(words[i - 1], kind, last, after, before)
            found.append(tag)
            before, last = last, tag
        return found

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


def tags_of(kind: str) -> list[str]:
    """The tags in a class. A word of a closed class is a class by itself and stands in front."""
    parts = [part.strip("!+*") for part in kind.split("|")]
    return parts[1:] if len(parts) > 1 and not parts[0].isupper() else parts


def seen_as(kind: str) -> str:
    """What the word before sees: the likeliest tag, or that this may be noun or verb."""
    tags = tags_of(kind)
    if len(tags) == 1 or not kind.split("|")[0].strip("!+*").isupper():
        return tags[0]
    either = {"VB", "VBZ", "VBD"}.intersection(tags) and {"NN", "NNS", "NNP"}.intersection(tags)
    if not either:
        return tags[0]
    return ("V" if tags[0][0] == "V" else "N") + ("s" if {"NNS", "VBZ"}.intersection(tags) else "")


@lru_cache(1)
def tagger() -> Tagger:
    return Tagger(gzip.decompress(_TAGS_FILE.read_bytes()).decode())


def tagged(text: str) -> tuple[Word, ...]:
    """The words of a text with their tags. Tokens without a letter or digit are no words."""
    return _kept(text) if len(text) <= SHORT else _tagged(text)


def _tagged(text: str) -> tuple[Word, ...]:
    return _plain(text) if _PLAIN.fullmatch(text) else _any(text)


def _plain(text: str) -> tuple[Word, ...]:
    """What `_any` gives, for the commonest kind of text, at half the time."""
    words = text.split(" ")
    starts, ends, at = [], [], 0
    for word in words:
        starts.append(at)
        at += len(word)
        ends.append(at)
        at += 1
    return tuple(map(Word, starts, ends, words, tagger().tags(words)))


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
    lower = [word.lower().replace("’", "'") for word in words]
    tags = tagger().tags(lower)
    if words != lower and any(word.islower() for word in words):  # else case says nothing
        for i, word in enumerate(words):
            if i and word[0].isupper() and word[:2] not in ("I", "I'"):
                tags[i] = "NNP"
    return [Word(*place, word, tag) for place, word, tag in zip(places, lower, tags, strict=True)]


_kept = lru_cache(8192)(_tagged)


_FORMS_FILE = Path(__file__).parent / "spoken" / "data" / "synonym_forms.tsv.gz"
_INFLECTED = {"v": ("VBD", "VBN", "VBG", "VBZ"), "n": ("NNS",), "a": ("JJR", "JJS"), "r": ()}
_BASE = {"v": "VB", "n": "NN", "a": "JJ", "r": "RB"}
KIND_OF = {tag: kind for kind, base in _BASE.items() for tag in (base, *_INFLECTED[kind])}  # v, n, a or r by tag
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


_PLURAL = {"this": "these", "that": "those"}
_WITH_I = frozenset(["am", "was", "m", "has", "is", "s", "have", "i'm"])  # verbs by which *we* is told from *i*
_DAYPARTS = frozenset(["morning", "afternoon", "evening"])


def _read() -> dict[tuple[str, str], tuple[str, ...]]:
    rows = (Path(__file__).parent / "spoken" / "data" / "stopwords.tsv").read_text("utf-8").splitlines()
    return {(tag, word): tuple(others) for tag, word, *others in (row.split("\t") for row in rows)}


# By tag: determiners, prepositions, pronouns, modals, wh-words, conjunctions. Best first. Forms of *be*, *have* and
# *do*, *to* before a verb, *than* and *not* are left out: nothing else of their class keeps what is said.
STOPWORDS = _read()


def is_stopword(word: Word) -> bool:
    return (word.tag, word.lower) in STOPWORDS


def stopword_candidates(words: Sequence[Word], i: int) -> list[str]:
    """Other words of the same closed class, best first, that agree with what follows."""
    word, before = words[i].lower, words[i - 1].lower if i else ""
    found = list(STOPWORDS.get((words[i].tag, word), ()))
    if i + 1 == len(words):
        return []
    after = words[i + 1]
    if words[i].tag == "DT":
        return [] if after.lower in _DAYPARTS else _determiners(found, words[i + 1 :])
    if word in ("i", "we") and _WITH_I & {before, after.lower}:
        return []
    if word == "would" and after.lower == "like":
        return ["should"]
    if word == "at" and after.tag == "CD":
        return ["around", "by"]
    if word in ("what", "which") and after.tag[:2] in ("VB", "MD", "PR"):
        return []  # *which* asks for one of several, so only with their name
    if (word == "to" and after.tag == "VB") or (word == "from" and after.tag == "RB"):
        return []
    if word == "of" and before == "out":
        return []
    if word == "and" and any(other.lower == "between" for other in words[:i]):
        return []
    return found


def _determiners(found: list[str], following: Sequence[Word]) -> list[str]:
    """Those that agree in number with the noun: *this flight*, *these movie schedules*."""
    nouns = ""
    for word in following:
        if word.tag in ("NN", "NNS", "NNP"):
            nouns = word.tag
        elif nouns or word.tag[:2] in ("VB", "IN", "MD"):
            break
    if nouns == "NNS":
        return [_PLURAL.get(other, other) for other in found if other not in ("a", "one", "every", "each")]
    return [other for other in found if other != "several"]
