"""English words in their sentence: parts of speech and inflected forms.

Tags come from look-ups: each word's possible tags, then what its neighbours say. `tools/make_tagger.py` makes the
tables; docs/speech.md reports how well they do. Tags are Penn's, with VBP in VB, all wh-words W, and names NNP.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import accumulate, pairwise
from operator import add
from typing import NamedTuple

from unswayed.vary.words import word_lists

START = "."  # what stands before the first word and after the last
_PLAIN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*(?: [a-z0-9]+(?:['-][a-z0-9]+)*)*")  # as recognisers write
_REST = ""  # what is said of all others, in tables of decisions
SHORT = 500  # characters of texts whose tags are kept: draws repeat, documents don't
_DATA = files("unswayed.vary") / "spoken" / "data"

_VERBS = word_lists(_DATA / "verbs.toml")
BE, HAVE, DO = _VERBS["be"], _VERBS["have"], _VERBS["do"]


class Word(NamedTuple):
    """A word in its text, without the punctuation around it."""

    start: int
    end: int
    lower: str
    tag: str


# By tag: determiners, prepositions, pronouns, modals, wh-words, conjunctions. Best first. Forms of *be*, *have* and
# *do*, *to* before a verb, *than* and *not* are left out: nothing else of their class keeps what is said.
STOPWORDS: dict[tuple[str, str], tuple[str, ...]] = {
    (tag, word): tuple(others)
    for tag, word, *others in (line.split("\t") for line in (_DATA / "stopwords.tsv").read_text("utf-8").splitlines())
}
_INFLECTED = {"v": ("VBD", "VBN", "VBG", "VBZ"), "n": ("NNS",), "a": ("JJR", "JJS"), "r": ()}
_BASE = {"v": "VB", "n": "NN", "a": "JJ", "r": "RB"}
KIND_OF = {tag: kind for kind, base in _BASE.items() for tag in (base, *_INFLECTED[kind])}  # v, n, a or r by tag
_CLOSED_TAGS = frozenset(tag for tag, _ in STOPWORDS)
_CLOSED_AS = {
    word: frozenset(tag for tag in _CLOSED_TAGS if (tag, word) in STOPWORDS) for word in {word for _, word in STOPWORDS}
}
_KEPT = BE | HAVE | DO | frozenset(["let", "let's", "s", "d", "like", "not", "n't", "please", "oh", "there", "here"])


def replaceable_as(word: str) -> frozenset[str]:
    """The tags with which a lower-case word is of a class of words that may be replaced."""
    open_ = frozenset() if word in _KEPT or len(word) < 3 else frozenset(KIND_OF)
    return open_ | _CLOSED_AS.get(word, frozenset())


def kind_of(word: Word) -> str:
    """Which class of words that may be replaced this is of: verb v, adjective a, adverb r, noun n, stop word s; none
    for names and numbers."""
    kind = KIND_OF.get(word.tag)
    if kind is None:
        return "s" if (word.tag, word.lower) in STOPWORDS else ""
    return "" if word.lower in _KEPT or len(word.lower) < 3 else kind


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


_LOOKS = ("CD", "JJ", "NN|VBG", "NNP", "RB")  # the classes that `class_of` tells by a word's look
_Said = dict[str, str | dict[str, str]]  # tags by what is seen next; also by the tag before the last, if that counts


class Tagger:
    """The tables. A class is a word's possible tags, likeliest first, as one string; its view is what the word
    before it sees of it.

    How a word was read is not remembered: with new texts that costs more than to decide again. Decisions are few, and
    are kept by class and last tag, so that the processor has them near.
    """

    def __init__(self, text: str) -> None:
        classes, _, contexts = text.partition("\n\n")
        self.classes: dict[str, str] = {START: START}
        kinds = set(_LOOKS)
        for line in classes.split("\n"):
            kind, _, words = line.partition("\t")
            kinds.add(kind)
            self.classes.update(dict.fromkeys(words.split(" "), kind))
        self.contexts: dict[tuple[str, ...], str] = {}
        for line in contexts.splitlines():
            tag, *key = line.split("\t")
            self.contexts[tuple(key)] = tag
        self.views = {START: START, **{kind: seen_as(kind) for kind in kinds}}
        self.names = sorted({START}.union(*map(tags_of, kinds)))  # of tags
        self.number = {name: n for n, name in enumerate(self.names)}
        self.decisions: dict[str, dict[str, _Said]] = {
            kind: {_REST: {_REST: tags_of(kind)[0]}} for kind in kinds if "|" in kind
        }
        self.own: dict[str, dict[tuple[str, str], str]] = {}  # of words, by the last tag and what is seen next
        for context in sorted(self.contexts, key=len):  # what a longer one says is added to what shorter ones say
            tag = self.contexts[context]
            kind, last, view, before, *_ = (*context, _REST, _REST, _REST)
            if before == "word":
                self.own.setdefault(kind, {})[last, view] = tag
                continue
            by_last = self.decisions[kind]
            said = by_last.setdefault(last, dict(by_last[_REST]))
            shorter = said.get(view, said[_REST])
            if before == _REST:
                said[view] = tag
            else:
                said[view] = {**(shorter if isinstance(shorter, dict) else {_REST: shorter}), before: tag}

    def tags(self, words: Sequence[str], last: str = START, before: str = START) -> list[str]:
        """The tag of each lower-case word of a sentence, or of a part of it that follows two others, the last first."""
        classes, views, own, decisions = self.classes, self.views, self.own, self.decisions
        found = [before, last, *[classes.get(word) or class_of(word, classes) for word in words], START]
        for i in [i for i, kind in enumerate(found) if "|" in kind]:
            last, view, its = found[i - 1], views[found[i + 1]], own.get(words[i - 2])
            if its and (last, view) in its:
                found[i] = its[last, view]
                continue
            by_last = decisions[found[i]]
            said = by_last.get(last) or by_last[_REST]
            tag = said.get(view) or said[_REST]
            found[i] = tag if isinstance(tag, str) else tag.get(found[i - 2]) or tag[_REST]
        del found[:2], found[-1]
        return found

    def class_of(self, word: str) -> str:
        return self.classes.get(word) or class_of(word, self.classes)

    def could_be(self, word: str, tag: str) -> bool:
        """May the lower-case word have this tag?"""
        return tag in tags_of(self.class_of(word))


@lru_cache(1)
def tagger() -> Tagger:
    return Tagger(gzip.decompress((_DATA / "pos.tsv.gz").read_bytes()).decode())


class Line(NamedTuple):
    """The words of a text in small letters, their tags, and where they begin and end if single spaces don't say it."""

    text: str
    lowers: Sequence[str]
    tags: Sequence[str]
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    @property
    def plain(self) -> bool:
        """Is the text nothing but its words and single spaces?"""
        return not self.starts

    def stretch(self, first: int, end: int) -> tuple[int, int]:
        """Where the words from one up to another begin and end."""
        if self.starts:
            return self.starts[first], self.ends[end - 1]
        start = sum(map(len, self.lowers[:first])) + first
        return start, start + sum(map(len, self.lowers[first:end])) + end - first - 1

    def spaced(self, i: int) -> bool:
        """Is there but a space between a word and the one before it?"""
        return not self.starts or self.text[self.ends[i - 1] : self.starts[i]] == " "

    def words(self) -> tuple[Word, ...]:
        starts, ends = self.starts, self.ends
        if not starts:
            after = list(accumulate([len(word) + 1 for word in self.lowers], initial=0))
            starts, ends = after[:-1], [end - 1 for end in after[1:]]
        return tuple(map(_word, zip(starts, ends, self.lowers, self.tags, strict=True)))


_word: Callable[[tuple[int, int, str, str]], Word] = partial(tuple.__new__, Word)  # which saves a call for each


def tagged(text: str) -> tuple[Word, ...]:
    """The words of a text with their tags. Tokens without a letter or digit are no words."""
    return _tagged(text) if len(text) <= SHORT else line_of(text).words()


@lru_cache(1024)  # as many as are varied at once; more would only be more for the garbage collector to look at
def _tagged(text: str) -> tuple[Word, ...]:
    return line_of(text).words()


def line_of(text: str) -> Line:
    """The same as a line, for those who need no Word."""
    if not _PLAIN.fullmatch(text):
        return _read_line(text)
    words = text.split(" ")
    return Line(text, words, tagger().tags(words))


def _read_line(text: str) -> Line:
    """The line of a text that may have capitals and marks, and several sentences."""
    words = text.split()
    sizes = list(map(len, words))
    if sum(sizes) + len(sizes) - 1 == len(text):  # one character between all
        starts = list(map(add, accumulate(sizes, initial=0), range(len(sizes))))
    else:
        starts, at = [], 0
        for token in words:
            starts.append(text.index(token, at))
            at = starts[-1] + len(token)
    ends = list(map(add, starts, sizes))
    stops = []
    for i in [i for i, word in enumerate(words) if not word.isalnum()]:
        token = words[i]
        if token[-1] in ".?!" and (token[-1] != "." or text[ends[i] + 1 : ends[i] + 2].isupper()):
            stops.append(i + 1)
        first, last = 0, len(token)  # of the word in the token, which has marks
        if token[:-1].isalnum() and token[-1] != "&":
            last -= 1  # the commonest
        else:
            while first < last and not token[first].isalnum() and token[first] != "&":
                first += 1
            while last > first and not token[last - 1].isalnum() and token[last - 1] != "&":
                last -= 1
        words[i] = token[first:last]
        starts[i], ends[i] = starts[i] + first, starts[i] + last
    lowers = list(map(str.lower, words))
    if "’" in text:
        lowers = [word.replace("’", "'") for word in lowers]
    if not stops or stops == [len(words)]:
        tags = _tag_sentence(words, lowers)
    else:
        parts = pairwise((0, *stops, len(words)))
        tags = [tag for first, last in parts for tag in _tag_sentence(words[first:last], lowers[first:last])]
    if "" in words:  # from a token of marks
        kept = [i for i, word in enumerate(words) if word]
        starts, ends, lowers = [starts[i] for i in kept], [ends[i] for i in kept], [lowers[i] for i in kept]
    return Line(text, lowers, tags, starts, ends)


def _tag_sentence(words: list[str], lowers: list[str]) -> list[str]:
    """The tags of a sentence's words. A capital inside it tells a name, unless case says nothing."""
    if "" in words:
        words, lowers = [word for word in words if word], [word for word in lowers if word]
    tags = tagger().tags(lowers)
    if words != lowers and any(map(str.islower, words)):
        for i, word in enumerate(words):
            if i and word[0].isupper() and word[:2] not in ("I", "I'"):
                tags[i] = "NNP"
    return tags


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
    return Forms(gzip.decompress((_DATA / "synonym_forms.tsv.gz").read_bytes()).decode())
