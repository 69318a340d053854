"""Linear models over hashed features of words and letters, trained by stochastic gradient steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt

from unswayed.base.values import Inputs

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int32]

_TOKENS = 1000  # as much of a text as the intent is read from
_LETTERS = 40  # as much of a word
_CACHED = 50_000  # words and word pairs remembered; typing errors would otherwise fill the memory


def hashed(feature: str) -> int:
    """The feature's 32-bit number, the same in every process."""
    return crc32(feature.encode("utf-8", "surrogatepass"))


class Vocabulary:
    """Hashed features → rows of a weight matrix. Row 0 stands for every feature that training did not see."""

    def __init__(self, hashes: Iterable[int] = ()) -> None:
        self.rows = {h: row for row, h in enumerate(hashes, 1)}

    def __len__(self) -> int:
        return len(self.rows) + 1

    def hashes(self) -> npt.NDArray[np.uint32]:
        return np.fromiter(self.rows, dtype=np.uint32, count=len(self.rows))


def remember(cache: dict[str, tuple[int, ...]], key: str, value: tuple[int, ...]) -> tuple[int, ...]:
    if len(cache) >= _CACHED:
        cache.clear()
    cache[key] = value
    return value


class UtteranceFeatures:
    """The features that an intent is read from: words, pairs of words, and letters three to five at a time."""

    def __init__(self) -> None:
        self._words: dict[str, tuple[int, ...]] = {}

    def __call__(self, inputs: Inputs) -> list[int]:
        """Hashed features of all fields; those of several fields are kept apart."""
        found = [hashed("always")]
        for field in sorted(inputs):
            self._add(inputs[field], f"{field} " if len(inputs) > 1 else "", found)
        return found

    def _add(self, text: str, field: str, found: list[int]) -> None:
        words = [word[:_LETTERS] for word in text.lower().split(None, _TOKENS)[:_TOKENS]]
        before = "<"
        for word in words:
            key = field + word
            found += self._words.get(key) or remember(self._words, key, _of_word(field, word))
            found.append(hashed(f"{field}2 {before} {word}"))
            before = word
        if words:
            found.append(hashed(f"{field}2 {before} >"))


def _of_word(field: str, word: str) -> tuple[int, ...]:
    marked = f"<{word}>"
    letters = {marked[i : i + n] for n in (3, 4, 5) for i in range(len(marked) - n + 1)}
    return (hashed(f"{field}1 {word}"), *(hashed(f"{field}c {part}") for part in sorted(letters)))


class TokenFeatures:
    """The features that a slot tag is read from: the token, its beginning and end, and its neighbours."""

    COUNT = 18

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._rows: Mapping[int, int] | None = vocabulary.rows if vocabulary else None
        self._words: dict[str, tuple[int, ...]] = {}
        self._pairs: dict[str, tuple[int, ...]] = {}

    def __call__(self, tokens: Sequence[str]) -> list[list[int]]:
        """A list of `COUNT` numbers a token: rows of the vocabulary, or hashes where there is none yet."""
        words = ["<<", "<", *(token.lower()[:_LETTERS] for token in tokens), ">", ">>"]
        alone = [self._words.get(w) or remember(self._words, w, self._of_word(w)) for w in words]
        pairs = [self._pair(a, b) for a, b in pairwise(words[1:])]
        return [
            [
                *alone[i][4:],
                alone[i - 2][0],
                alone[i - 1][1],
                alone[i + 1][2],
                alone[i + 2][3],
                pairs[i - 2],
                pairs[i - 1],
                self._pair(words[i - 1], words[i + 1], "around"),
            ]
            for i in range(2, len(words) - 2)
        ]

    def _of_word(self, word: str) -> tuple[int, ...]:
        """As a neighbour two before, one before, one after, two after; then the features of the word itself."""
        shape = "".join("0" if c.isdigit() else "a" if c.isalpha() else c for c in word[:8])
        names = ["-2 ", "-1 ", "+1 ", "+2 ", "w "]
        own = [f"p{n} {word[:n]}" for n in (1, 2, 3, 4)] + [f"s{n} {word[-n:]}" for n in (1, 2, 3, 4)]
        return tuple(self._row(f) for f in (*(n + word for n in names), *own, f"shape {shape}", "always"))

    def _pair(self, first: str, second: str, kind: str = "pair") -> int:
        key = f"{kind} {first} {second}"
        return (self._pairs.get(key) or remember(self._pairs, key, (self._row(key),)))[0]

    def _row(self, feature: str) -> int:
        h = hashed(feature)
        return h if self._rows is None else self._rows.get(h, 0)


_BATCH = 64
_RATE = 0.5
_DECAY = 1e-5
_CELLS = 1 << 21  # weights gathered at once
_GRAIN = 4096.0  # weights are multiples of 1/4096: sums are exact, so they are the same in a batch of any make-up

Scores = npt.NDArray[np.float64]


def train_softmax(
    features: Sequence[Rows], labels: npt.NDArray[np.int64], shape: tuple[int, int], epochs: int,
    rng: np.random.Generator, done: Callable[[int], None],
) -> Floats:  # fmt: skip
    """Weights (features × labels). `features` are the rows that are set in each example, with repeats."""
    weights = np.zeros(shape, dtype=np.float32)
    squares = np.full(shape, 1e-6, dtype=np.float32)
    for _ in range(epochs):
        order = rng.permutation(len(features))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            _step(weights, squares, [features[i] for i in chosen], labels[chosen])
            done(len(chosen))
    weights[0] = 0.0  # features that were never seen say nothing
    return (np.round(weights * _GRAIN) / _GRAIN).astype(np.float32)


def _step(weights: Floats, squares: Floats, features: list[Rows], labels: npt.NDArray[np.int64]) -> None:
    rows = np.concatenate(features)
    lengths = np.array([len(f) for f in features])
    scale = 1.0 / np.sqrt(lengths)
    scores = np.add.reduceat(weights[rows], _starts(lengths), axis=0, dtype=np.float64) * scale[:, None]
    error = np.exp(scores - scores.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1.0
    # The gradient of a row is the sum over its occurrences: sort them together, then add up each stretch.
    occurrence = np.repeat((error * scale[:, None]).astype(np.float32), lengths, axis=0)
    order = np.argsort(rows, kind="stable")
    touched, first = np.unique(rows[order], return_index=True)
    gradient = np.add.reduceat(occurrence[order], first, axis=0) + _DECAY * weights[touched]
    squares[touched] += gradient * gradient
    weights[touched] -= _RATE * gradient / np.sqrt(squares[touched])


def best_labels(weights: Floats, features: Sequence[Rows]) -> list[int]:
    """The label with the highest score for each example."""
    best: list[int] = []
    for block in _blocks(features, _CELLS // weights.shape[1]):
        starts = _starts(np.array([len(f) for f in block]))
        scores = np.add.reduceat(weights[np.concatenate(block)], starts, axis=0, dtype=np.float64)
        best += scores.argmax(axis=1).tolist()
    return best


def _blocks(features: Sequence[Rows], most: int) -> Iterator[list[Rows]]:
    """Examples together as long as they have no more than `most` features."""
    block: list[Rows] = []
    size = 0
    for rows in features:
        if block and size + len(rows) > most:
            yield block
            block, size = [], 0
        block.append(rows)
        size += len(rows)
    if block:
        yield block


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths)[:-1]))
