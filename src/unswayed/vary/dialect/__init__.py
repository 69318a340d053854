"""Operators that say the same in another dialect, and what they share: pairs of words and their exchange in a text."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any, NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change
from unswayed.vary.words import cased, some, sounds_as_vowel

LONGEST = 20_000  # characters of a text that are looked at


class Place(NamedTuple):
    """An edit and the feature of the dialect that it brings."""

    edit: Edit
    feature: str


class Exchange:
    """Words of one dialect with those of the other, each under the name of its feature."""

    def __init__(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        self.other = {one: (other, feature) for one, other, feature in pairs}
        longest_first = sorted(self.other, key=lambda word: (-len(word), word))
        words = "|".join(re.escape(word) for word in longest_first)
        self._pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)

    def places(self, text: str) -> Iterator[Place]:
        """Where a word of the table stands; names keep their capitals, and what is a name only with one is left."""
        for match in self._pattern.finditer(text[:LONGEST]):
            found = self.other.get(match[0]) or self.other.get(match[0].lower())
            if found is not None and not _in_name(text, match.start(), match[0]):
                yield Place(Edit(match.start(), match.end(), cased(found[0], match[0])), found[1])


def _in_name(text: str, start: int, word: str) -> bool:
    """Is a word with a capital inside a name, as *Center* in *Lincoln Center*? What begins a sentence is not."""
    before = text[:start].rstrip()
    inside = bool(before) and before[-1] not in ".!?:"
    return (
        inside
        and word[:1].isupper()
        and not word.isupper()
        and word.lower() != word
        and " " not in word
        and bool(re.search(r"\b[A-Z][\w’'-]*$", before))
    )


def changed(text: str, places: Iterable[Place], rate: float, rng: Stream, articles: bool = False) -> Change | None:
    """Some of the places: one with rate 0, otherwise each with that probability."""
    free: list[Place] = []
    for place in sorted(places, key=lambda place: (place.edit.start, -place.edit.end)):
        if not free or place.edit.start >= free[-1].edit.end:
            free.append(place)
    chosen = some(free, rate, rng)
    if not chosen:
        return None
    notes = [f"{feature}: {text[start:end]} → {new}" for (start, end, new), feature in chosen]
    edits = [_with_article(text, place.edit) if articles else place.edit for place in chosen]
    return Change(tuple(edits), ", ".join(notes))


def _with_article(text: str, edit: Edit) -> Edit:
    """The edit with English *a* or *an* before it, where the new word asks for the other."""
    article = re.search(r"\b([Aa]n?) $", text[: edit.start])
    if article is None:
        return edit
    right = cased("an" if sounds_as_vowel(edit.new) else "a", article[1])
    return edit if right == article[1] else Edit(article.start(), edit.end, f"{right} {edit.new}")


def read_table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("unswayed.vary.dialect").joinpath(f"data/{name}.toml").read_text(encoding="utf-8"))


def pairs_of(text: str, feature: str, back: bool, endings: Iterable[str] = ("",)) -> Iterator[tuple[str, str, str]]:
    """Pairs `one/other`, or `one>other` that go one way only, as (from, to, feature); with `back` the other way."""
    for pair in shlex.split(text):
        one, mark, other = re.split(r"([/>])", pair)
        if back and mark == ">":
            continue
        for ending in endings if one.endswith("*") else ("",):
            a, b = one.rstrip("*") + ending, other.rstrip("*") + ending
            yield (b, a, feature) if back else (a, b, feature)
