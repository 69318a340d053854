"""Operators that say the same in another dialect, and what they share: exchange of words, and rules by feature."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, ClassVar, NamedTuple

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.vary.english import forms
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.sentence import Sentence, sentences
from unswayed.vary.words import cased, checked_rate, picked, some, sounds_as_vowel

MAX_CHARACTERS = 20_000  # characters of a text that are looked at
_HELPING = ("is", "has", "does", "was", "were", "had", "did")
_CAPITAL_BEFORE = re.compile(r"\b[A-Z][\w’'-]*$")

Edits = tuple[Edit, ...]
Rule = Callable[[Sentence], Iterator[Edits]]
Fits = Callable[[Sentence, int], bool]  # may the word at this place be exchanged?


class FeatureEdit(NamedTuple):
    """An edit and the feature of the dialect that it brings."""

    edit: Edit
    feature: str


class WordExchange:
    """Words of one dialect with those of the other, each under the name of its feature."""

    def __init__(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        self.other = {one: (other, feature) for one, other, feature in pairs}
        longest_first = sorted(self.other, key=lambda word: (-len(word), word))
        words = "|".join(re.escape(word) for word in longest_first)
        self._pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)

    def places(self, text: str) -> Iterator[FeatureEdit]:
        """Where a word of the table stands; names keep their capitals, and what is a name only with one is left."""
        for match in self._pattern.finditer(text[:MAX_CHARACTERS]):
            found = self.other.get(match[0]) or self.other.get(match[0].lower())
            if found is None:
                continue
            # A word with a capital inside a name stays, as *Center* in *Lincoln Center*.
            word, before = match[0], text[: match.start()].rstrip()
            capital = word[:1].isupper() and not word.isupper() and " " not in word
            if capital and before and before[-1] not in ".!?:" and _CAPITAL_BEFORE.search(before):
                continue
            yield FeatureEdit(Edit(match.start(), match.end(), cased(found[0], match[0])), found[1])


def change_some(
    text: str, places: Iterable[FeatureEdit], rate: float, rng: Stream, articles: bool = False
) -> Change | None:
    """Some of the places: one with rate 0, otherwise each with that probability."""
    free: list[FeatureEdit] = []
    for place in sorted(places, key=lambda place: (place.edit.start, -place.edit.end)):
        if not free or place.edit.start >= free[-1].edit.end:
            free.append(place)
    chosen = some(free, rate, rng)
    if not chosen:
        return None
    notes = [f"{feature}: {text[start:end]} → {new}" for (start, end, new), feature in chosen]
    edits = [place.edit for place in chosen]
    for n, edit in enumerate(edits) if articles else ():  # English *a* or *an* before a word that asks for the other
        article = re.search(r"\b([Aa]n?) $", text[: edit.start])
        right = article and cased("an" if sounds_as_vowel(edit.new) else "a", article[1])
        if article and right != article[1]:
            edits[n] = Edit(article.start(), edit.end, f"{right} {edit.new}")
    return Change(tuple(edits), ", ".join(notes))


@cache
def read_table(name: str) -> dict[str, Any]:
    """A dialect's table of words, from its TOML file."""
    return tomllib.loads(files("unswayed.vary.dialect").joinpath(f"data/{name}.toml").read_text(encoding="utf-8"))


def split_pairs(text: str, feature: str, back: bool, endings: Iterable[str] = ("",)) -> Iterator[tuple[str, str, str]]:
    """Pairs `one/other`, or `one>other` that go one way only, as (from, to, feature); with `back` the other way."""
    for pair in shlex.split(text):
        one, mark, other = re.split(r"([/>])", pair)
        if back and mark == ">":
            continue
        for ending in endings if one.endswith("*") else ("",):
            a, b = one.rstrip("*") + ending, other.rstrip("*") + ending
            yield (b, a, feature) if back else (a, b, feature)


class FeatureOperator(Operator):
    """Extend with `features`: rules by the name of the feature, each yielding the edits of one place."""

    languages = ("en",)
    distinct = True
    features: ClassVar[Mapping[str, Rule]]

    def __init__(self, feature: str = "", rate: float = 0.0) -> None:
        self.feature, self.rate = feature, checked_rate(rate)
        self._asked = [name.strip() for name in feature.split(",") if name.strip()] or list(self.features)
        for name in self._asked:
            if name not in self.features:
                raise UnknownName(f"feature of dialect/{type(self).__module__.rpartition('.')[2]}", name, self.features)

    def places(self, text: str) -> dict[str, list[Edits]]:
        """What each feature asked for may change, by its name."""
        return _places_of(type(self), tuple(self._asked), text)  # type: ignore[arg-type]

    def change(self, text: Text, rng: Stream) -> Change | None:
        found = self.places(text.text)
        if not found:
            return None
        if not self.rate:
            name = rng.choice(list(found))
            return Change(tuple(sorted(rng.choice(found[name]))), name)
        # Each place with a probability, at least one; of places that touch each other, the first.
        every = sorted((min(edits).start, name, edits) for name, places in found.items() for edits in places)
        edits: list[Edit] = []
        names: list[str] = []
        for i in picked(len(every), self.rate, rng) or [rng.below(len(every))]:
            _, name, new = every[i]
            if all(one.end < other.start or other.end < one.start for one in new for other in edits):
                edits += new
                names.append(name)
        return Change(tuple(sorted(edits)), ", ".join(names))


@lru_cache(2_048)  # every draw asks for those of the same texts, and a draw that must differ asks often
def _places_of(operator: type[FeatureOperator], asked: tuple[str, ...], text: str) -> dict[str, list[Edits]]:
    found: dict[str, list[Edits]] = {}
    for sentence in sentences(text):
        for name in asked:
            edits = [one for one in operator.features[name](sentence) if apply(text, sorted(one)) != text]
            if edits:
                found.setdefault(name, []).extend(edits)
    return found


def base_form_rule(tag: str, fits: Fits) -> Rule:
    """A rule that puts the base form for words with this tag where they fit; forms of *be*, *have* and *do* stay."""

    def places(s: Sentence) -> Iterator[Edits]:
        for i in range(1, len(s.words)):
            lemma = forms().lemma(s.word_at(i), tag)
            known = s.tag_at(i) == tag and lemma != s.word_at(i) and (tag == "NNS" or s.word_at(i) not in _HELPING)
            if known and s.after_space(i) and fits(s, i):
                yield (s.replace_word(i, lemma),)

    return places


def word_rule(new: Mapping[str, str], fits: Fits) -> Rule:
    """A rule that exchanges single words where they fit; one whose new word is empty is left out."""

    def places(s: Sentence) -> Iterator[Edits]:
        for i, word in enumerate(s.words) if not s.lower.isdisjoint(new) else ():
            if word.lower in new and fits(s, i):
                yield (s.replace_word(i, new[word.lower]) if new[word.lower] else s.drop_word(i),)

    return places
