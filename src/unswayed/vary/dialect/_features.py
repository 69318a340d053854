"""Operators that work feature by feature, and the edits that their rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.vary.english import forms
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.sentence import Sentence, sentences
from unswayed.vary.words import cased, checked_rate, picked

Edits = tuple[Edit, ...]
Rule = Callable[[Sentence], Iterator[Edits]]


class FeatureOperator(Operator):
    """Extend with `features`: rules by the name of the feature, each yielding the edits of one place."""

    languages = ("en",)
    features: ClassVar[Mapping[str, Rule]]

    def __init__(self, feature: str = "", rate: float = 0.0) -> None:
        self.feature, self.rate = feature, checked_rate(rate)
        self._asked = [name.strip() for name in feature.split(",") if name.strip()] or list(self.features)
        for name in self._asked:
            if name not in self.features:
                raise UnknownName(f"feature of dialect/{type(self).__module__.rpartition('.')[2]}", name, self.features)

    def places(self, text: str) -> dict[str, list[Edits]]:
        """What each feature asked for may change, by its name."""
        found: dict[str, list[Edits]] = {}
        for sentence in sentences(text):
            for name in self._asked:
                edits = [one for one in self.features[name](sentence) if apply(text, sorted(one)) != text]
                if edits:
                    found.setdefault(name, []).extend(edits)
        return found

    def change(self, text: Text, rng: Stream) -> Change | None:
        found = self.places(text.text)
        if not found:
            return None
        if not self.rate:
            name = rng.choice(list(found))
            return Change(tuple(sorted(rng.choice(found[name]))), name)
        return _several(found, self.rate, rng)


def _several(found: Mapping[str, list[Edits]], rate: float, rng: Stream) -> Change:
    """Each place with a probability, at least one; of places that touch each other, the first."""
    every = sorted((min(edits).start, name, edits) for name, places in found.items() for edits in places)
    chosen = picked(len(every), rate, rng) or [rng.below(len(every))]
    edits: list[Edit] = []
    names: list[str] = []
    for i in chosen:
        _, name, new = every[i]
        if all(one.end < other.start or other.end < one.start for one in new for other in edits):
            edits += new
            names.append(name)
    return Change(tuple(sorted(edits)), ", ".join(names))


def replaced(s: Sentence, i: int, new: str) -> Edit:
    """A word by another, with its capital."""
    word = s.words[i]
    return Edit(word.start, word.end, cased(new, s.text[word.start : word.end]))


def dropped(s: Sentence, i: int, count: int = 1) -> Edit:
    """Words left out with the space after them; what then begins the sentence gets the capital."""
    first, after = s.words[i], s.words[i + count]
    if i == 0 and s.text[first.start].isupper():
        return Edit(first.start, after.start + 1, s.text[after.start].upper())
    return Edit(first.start, after.start, "")


def lower(s: Sentence, i: int) -> str:
    return s.words[i].lower if 0 <= i < len(s.words) else ""


def tag(s: Sentence, i: int) -> str:
    return s.words[i].tag if 0 <= i < len(s.words) else ""


def joined(s: Sentence, i: int) -> bool:
    """Does a word follow the one before it with only a space between?"""
    return 0 < i < len(s.words) and s.gap(i) == " "


def apostrophe(s: Sentence) -> str:
    return "’" if "’" in s.text else "'"


def lemma_of(s: Sentence, i: int) -> str:
    return {"has": "have", "does": "do"}.get(s.words[i].lower) or forms().lemma(s.words[i].lower, s.words[i].tag)


def asks(s: Sentence) -> bool:
    """Does a question mark close the sentence?"""
    return s.text[s.end :].lstrip().startswith("?")
