"""Operators that change how a text looks and not what it says, and what they share: kinds, and what to leave alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, ClassVar

from unswayed.base.edits import Edit, apply
from unswayed.base.protect import Protected, touching
from unswayed.base.seeds import Stream, Streams, below
from unswayed.vary.operator import Change, Operator, Text, Texts
from unswayed.vary.words import checked_choice, checked_rate, some, word_ranks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DATA = files("unswayed.vary.surface") / "data"
LONGEST = 20_000  # characters of a text that are looked at
_DIGITS = frozenset("0123456789")
_NOTED = 5  # edits that a note names

# Numbers with marks inside, and short forms with points. Addresses, code and the like are in `base/protect.py`.
_FIXED = re.compile(r"(?<!\d)\d+(?:[.,:/·’'\-–]\d+)+|(?<!\w)\w(?:\.\w)+(?!\w)")
# Latin, Cyrillic, Greek and Armenian are the scripts of these languages; the letters of all have two cases.
LATIN = ("en", "es", "fr", "pt", "de", "it", "nl", "af", "az", "bs", "ca", "cs", "cy", "da", "eo", "et", "eu", "fi",
    "fil", "fo", "fy", "ga", "gl", "ha", "hr", "hu", "id", "ig", "is", "jv", "ku", "la", "lb", "lt", "lv", "mg", "mi",
    "ms", "mt", "nb", "nn", "no", "oc", "pl", "ro", "sk", "sl", "sq", "st", "sv", "sw", "tl", "tr", "uz", "vi", "xh",
    "yo", "zu")  # fmt: skip
CYRILLIC = ("ru", "uk", "be", "bg", "kk", "ky", "mk", "mn", "sr", "tg", "tt")
CASED = (*LATIN, *CYRILLIC, "el", "hy")


class SurfaceOperator(Operator):
    """Extend with `kinds` and `of_kind`. Without a kind, one is drawn for each example; another if it finds nothing.

    With `rate` 0 one place changes; otherwise each place changes with that probability, and at least one.
    """

    kinds: ClassVar[tuple[str, ...]]
    presets: ClassVar[tuple[str, ...]] = ("surface",)
    quick = True
    distinct = True

    def __init__(self, kind: str = "any", rate: float = 0.0) -> None:
        self.kind, self.rate = checked_choice("kind", kind, "any", *self.kinds), checked_rate(rate)

    @property
    def tried(self) -> tuple[str, ...]:
        """The kinds that may come."""
        return self.kinds if self.kind == "any" else (self.kind,)

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        orders, spans = self.orders(streams).tolist(), texts.protected if self.protect != "none" else {}
        return [
            self.change_one(text, rng, [self.tried[k] for k in order], self.spares(spans.get(i, ())))
            for i, (text, rng, order) in enumerate(zip(texts, streams, orders, strict=True))
        ]

    def change_one(
        self, text: Text, rng: Stream, kinds: Sequence[str], spans: tuple[Protected, ...]
    ) -> Change | None:  # fmt: skip
        """The change to one text: kinds as they are tried, and what must stay whole."""
        for kind in self.order_in(text.language) if self.kind == "any" and self.order_in(text.language) else kinds:
            places = self.of_kind(kind, text, rng)
            if spans:
                places = [place for place in places if not any(touching(text.text, spans, place))]
            chosen = [edit for place in some(places, self.rate, rng) for edit in place]
            if not chosen:
                continue
            edits = tuple(sorted(chosen, key=lambda edit: edit.start))  # a pair of brackets is one place with two ends
            new = apply(text.text, edits)
            if new != text.text and new.strip() and text.keeps(edits):
                return Change(edits, self.note(kind, text.text, edits))
        return None

    def order_in(self, language: str) -> Sequence[str]:
        """The kinds as they are tried in a language, where that is no matter of chance."""
        return ()

    def orders(self, streams: Streams) -> NDArray[np.int64]:
        """The kinds as they are tried, as numbers of `tried`, a row for each text. They are drawn once for all texts of
        an example: a person writes both in one way."""
        import numpy as np

        size = len(self.tried)
        if size == 1:
            return np.zeros((len(streams), 1), np.int64)
        numbers, rows = streams.moments("kind"), np.arange(len(streams))
        orders = np.tile(np.arange(size), (len(streams), 1))
        for i in range(size):  # as `Stream.sample` draws
            j = i + below(numbers[:, i], np.full(len(streams), size - i, np.uint64)).astype(np.int64)
            orders[rows, i], orders[rows, j] = orders[rows, j], orders[rows, i]
        return orders

    def note(self, kind: str, text: str, edits: Sequence[Edit]) -> str:
        """What was done, for people."""
        return f"{kind}: {noted(text, edits)}"

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        """The places where the text can change in this way, in order, each with its edits."""
        raise NotImplementedError


def noted(text: str, edits: Sequence[Edit]) -> str:
    """The first edits for people: `rn→m at 3`."""
    said = [f"{text[start:end] or '∅'}→{new or '∅'} at {start}" for start, end, new in edits[:_NOTED]]
    more = f" and {len(edits) - _NOTED} more" if len(edits) > _NOTED else ""
    return ", ".join(said).replace("\n", "␊") + more


def fixed_places(text: str) -> set[int]:
    """The places of a text inside decimal numbers, times, dates and short forms such as *p.m.*"""
    if text.isascii() and "." not in text and _DIGITS.isdisjoint(text):
        return set()
    return {at for match in _FIXED.finditer(text[:LONGEST]) for at in range(*match.span())}


def joined(text: str, at: int) -> bool:
    """Is the character at this place part of the one before, as accents, joiners and parts of an emoji are?"""
    if not 0 < at < len(text):
        return False
    here, before = text[at], text[at - 1]
    return (
        unicodedata.category(here)[0] == "M"
        or here in "\u200c\u200d"
        or before in "\u200c\u200d"
        or unicodedata.combining(before) == 9  # a virama ties two consonants
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    )


def in_name(text: str, word: re.Match[str]) -> bool:
    """Is the word a name or a short form: with a capital inside a sentence, or in capitals?"""
    if len(word[0]) < 5 and word[0].isupper():
        return True
    before = text[max(0, word.start() - 16) : word.start()].rstrip()
    return word[0][0].isupper() and not word[0].isupper() and bool(before) and before[-1] not in '.!?…\n"“'


def another_word(new: str, language: str) -> bool:
    """Is this one of 50,000 English words? Of other languages, nothing is known here."""
    return language.partition("-")[0] == "en" and new.lower() in word_ranks()


def base(language: str) -> str:
    """`pt` of `pt-BR`."""
    return language.partition("-")[0].lower()
