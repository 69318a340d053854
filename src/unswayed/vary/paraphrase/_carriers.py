"""How other rows of the data say the same: their words around slots of the same kinds, in the same order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from unswayed.base.edits import Edit, slots_of
from unswayed.base.values import Example, Json
from unswayed.vary.english import BE, DO, HAVE, STOPWORDS
from unswayed.vary.words import sounds_as_vowel, word_lists

_ARTICLES = ("a", "an")
_LEAST, _COMMON = 3, 0.02  # rows, and share of the rows of an intent, from which on a word is one of the intent's
_TELLING = word_lists(files("unswayed.vary.paraphrase") / "data" / "words.toml")["telling"]
_FUNCTION = frozenset(word for _, word in STOPWORDS) | BE | HAVE | DO


class _Said(NamedTuple):
    """A text with slots: what it asks and the kinds of its slots, the words around them, and where the slots are."""

    asks: tuple[str, ...]
    around: tuple[str, ...]
    spans: list[tuple[int, int]]


class Carriers:
    """The words around the slots of many rows, by intent and kinds of slots.

    Words that are rare among the rows of an intent say something of their own, so both rows must have them.
    """

    def __init__(self, rows: Iterable[tuple[str, Json]] = ()) -> None:
        found: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
        self._rows: Counter[str] = Counter()
        self._with: Counter[tuple[str, str]] = Counter()
        for text, gold in rows:
            if (said := _said(text, gold)) is not None:
                intent = said.asks[0]
                found[said.asks].append(said.around)
                self._rows[intent] += 1
                self._with.update((intent, word) for word in set(_words(said.around)))
        # Sorted, so that the order of the rows decides nothing; often said ones are there often.
        self._around = {asks: sorted(around) for asks, around in found.items()}

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Carriers:
        return cls((text, e.gold) for e in examples for text in e.inputs.values() if isinstance(text, str))

    def others(self, text: str, gold: Json) -> list[tuple[str, ...]]:
        """The words of other rows around slots like those of this text."""
        said = _said(text, gold)
        around = self._around.get(said.asks) if said else None
        if said is None or not around:
            return []
        telling, own = self._telling(said.asks[0], said.around), _words(said.around)
        return [a for a in around if _words(a) != own and self._telling(said.asks[0], a) == telling]

    def _telling(self, intent: str, around: tuple[str, ...]) -> frozenset[str]:
        """The words that say more than the intent does: *when does it play* is not *play it*."""
        least = max(_LEAST, _COMMON * self._rows[intent])
        words = _words(around)
        return frozenset(w for w in words if w in _TELLING or (w not in _FUNCTION and self._with[intent, w] < least))


def _words(around: tuple[str, ...]) -> list[str]:
    return " ".join(around).lower().split()


def _said(text: str, gold: Json) -> _Said | None:
    """None where the gold has no tags, or not one for each token."""
    intent, tags = (gold.get("intent"), gold.get("slots")) if isinstance(gold, dict) else ("", gold)
    tokens = text.split(" ")
    if not isinstance(tags, list) or len(tags) != len(tokens) or not all(isinstance(tag, str) for tag in tags):
        return None
    slots = slots_of([str(tag) for tag in tags])
    if not slots:
        return None
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    spans = [(starts[first], starts[last] - 1) for _, first, last in slots]
    borders = [0, *(place for span in spans for place in span), len(text)]
    around = tuple(text[a:b].strip() for a, b in list(pairwise(borders))[::2])
    return _Said((str(intent), *(kind for kind, _, _ in slots)), around, spans)


def put_around(text: str, gold: Json, around: tuple[str, ...]) -> list[Edit]:
    """The edits that put other words around the slots: each stretch between them that differs is replaced whole."""
    said = _said(text, gold)
    edits: list[Edit] = []
    if said is None:
        return edits
    for k, words in enumerate(around):
        start = said.spans[k - 1][1] if k else 0
        end = said.spans[k][0] if k < len(said.spans) else len(text)
        new = _agreeing(words, text[end : end + 20])
        first, last = k == 0, k == len(said.spans)
        new = ("" if first or (last and not new) else " ") + new + ("" if last or not new else " ")
        if text[start:end] != new:
            edits.append(Edit(start, end, new))
    return edits


def _agreeing(words: str, follows: str) -> str:
    """The words with *a* or *an* at their end as the value after them needs it."""
    before, space, last = words.rpartition(" ")
    return f"{before}{space}{'an' if sounds_as_vowel(follows) else 'a'}" if last in _ARTICLES and follows else words
