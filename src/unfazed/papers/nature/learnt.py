"""Operators that learn from the training data which words may take each other's place. They serve augmentation only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import log

from unfazed.core import Edit, Stream
from unfazed.vary import Change, Operator, Text, cased, checked_rate, some_places

_WINDOW = 20  # words above and below in rank that may replace a word
_MOST = 30  # words kept for a context


class TfIdf(Operator):
    """Replaces words that say little, by their TF-IDF in the training data, by words that say as little.

    A word is the likelier to go the less it says; `rate` is the share of words that goes, one at least.
    """

    name, family = "augment/tfidf", "augment"

    def __init__(self, texts: Iterable[str] = (), rate: float = 0.3) -> None:
        self.rate = checked_rate(rate)
        documents, everywhere, count = Counter[str](), Counter[str](), 0
        for text in texts:
            words = text.lower().split()
            documents.update(set(words))
            everywhere.update(words)
            count += 1
        self._idf = {word: log(count / n) for word, n in documents.items()}
        weight = {word: everywhere[word] / n * self._idf[word] for word, n in documents.items()}
        self._ranked = sorted((value, word) for word, value in weight.items())
        self._weight = weight
        self._most = log(count) if count else 0.0  # of a word that was never seen

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = [text.text[start:end].lower() for start, end in text.tokens]
        counts = Counter(words)
        said = [counts[word] * self._idf.get(word, self._most) for word in words]
        most = max(said, default=0.0)
        free = [most - value for value in said]
        total = sum(free)
        chances = [self.rate * len(free) * value / total for value in free] if total else [self.rate] * len(free)
        chosen = [i for i, chance in enumerate(chances) if rng.random() < chance]
        if not chosen and words:
            chosen = [rng.weighted(range(len(words)), free if total else [1.0] * len(words))]
        edits = []
        for i in chosen:
            start, end = text.tokens[i]
            other = self._other(words[i], rng)
            if other is not None:
                edits.append(Edit(start, end, cased(other, text.text[start:end])))
        return _change(text, edits)

    def _other(self, word: str, rng: Stream) -> str | None:
        at = bisect_left(self._ranked, (self._weight.get(word, self._most), word))
        near = [other for _, other in self._ranked[max(0, at - _WINDOW) : at + _WINDOW + 1] if other != word]
        return rng.choice(near) if near else None


class Context(Operator):
    """Replaces words by others that the training data has between the same two words.

    The likelier the more often; `rate` is the share of such words that goes, one at least.
    """

    name, family = "augment/context", "augment"

    def __init__(self, texts: Iterable[str] = (), rate: float = 0.3) -> None:
        self.rate = checked_rate(rate)
        seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for text in texts:
            words = ["", *text.lower().split(), ""]
            for left, word, right in zip(words, words[1:], words[2:], strict=False):
                seen[left, right][word] += 1
        self._between = {
            around: sorted(words.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
            for around, words in seen.items()
            if len(words) > 1
        }

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = ["", *(text.text[start:end].lower() for start, end in text.tokens), ""]
        places = []
        for i, word in enumerate(words[1:-1]):
            others = [item for item in self._between.get((words[i], words[i + 2]), ()) if item[0] != word]
            if others:
                places.append((i, others))
        edits = []
        for i, others in some_places(places, self.rate, rng):
            start, end = text.tokens[i]
            other = rng.weighted([o for o, _ in others], [n for _, n in others])
            edits.append(Edit(start, end, cased(other, text.text[start:end])))
        return _change(text, edits)


def _change(text: Text, edits: list[Edit]) -> Change | None:
    notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
    return Change(tuple(edits), ", ".join(notes)) if edits else None
