"""A small extractive reader that trains on the spot: candidates, their features, and what is learnt of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Self
from zlib import crc32

import numpy as np
import numpy.typing as npt

from unswayed.base import Example, Inputs, Json, Progress, Seeds
from unswayed.systems import Failed
from unswayed.systems.baselines import Arrays, Floats, Quiet, Rows, SavedCard, SavedSystem

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

SIZE = 1 << 18  # rows of the weights; features are hashed into them
_CONTEXT, _QUESTION = 20_000, 300  # letters that are read
_LONGEST = 120  # letters of an answer
_NEAR = 4
_WINDOWS = (6, 15, 40)
_SENTENCE, _CLAUSE = set("。！？!?\n；;"), set("，,、：:。！？!?\n；;（）()")
_ASKING = [
    ("who", r"谁|哪位|哪一位|何人|什么人|\bwho\b|\bwhom\b"),
    ("when", r"什么时候|什么时间|何时|哪一?年|几几?年|几月|哪一?天|哪个?月|什么年代|哪个?世纪|\bwhen\b"),
    ("why", r"为什么|为何|什么原因|因为什么|\bwhy\b"),
    ("many", r"多少|多大|多长|多高|多久|多远|第?几|\bhow (?:many|much|long|old|far)\b"),
    ("where", r"哪里|哪儿|何处|何地|什么地方|哪个?(?:国家|城市|地区|省|市|县|州)|\bwhere\b"),
    ("list", r"哪些|哪几|哪两|哪三|哪四|什么和什么"),
    ("how", r"怎么样?|怎样|如何|\bhow\b"),
    ("which", r"哪一?[个种部座条支首所家名]?|\bwhich\b"),
    ("what", r"什么|何|啥|\bwhat\b"),
]
_PATTERNS = [(name, re.compile(pattern)) for name, pattern in _ASKING]


class Reading:
    """What is known of one question and its context before any weights are."""

    def __init__(self, question: str, context: str) -> None:
        self.context = context[:_CONTEXT]
        text = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.context)
        self.question = question.strip()[:_QUESTION].lower()
        self.length = len(text)
        self._text = text
        self._kind, self._left, self._right = _asked(self.question)
        self._codes = np.array([0, 0, *map(ord, text), 0, 0], dtype=np.int64)
        self._classes = np.array([_class(c) for c in text], dtype=np.int64)
        self._shared = self._shares()
        self._sums = {name: _summed(marks) for name, marks in self._marks().items()}
        self.places = self._allowed()

    def _shares(self) -> Doubles:
        """For each letter, how telling the pieces are that it stands in and that the question has too."""
        told = np.zeros(self.length)
        for n in (1, 2, 3):
            asked = {self.question[i : i + n] for i in range(len(self.question) - n + 1)}
            pieces = [self._text[i : i + n] for i in range(self.length - n + 1)]
            counts = Counter(piece for piece in pieces if piece in asked)
            for i, piece in enumerate(pieces):
                if piece in counts and not piece.isspace():
                    told[i : i + n] += n / (n + counts[piece])
        return told

    def _marks(self) -> dict[str, Doubles]:
        text = self._text
        return {
            "shared": self._shared,
            "known": (self._shared > 0).astype(float),
            "clause": np.array([c in _CLAUSE for c in text], dtype=float),
            "sentence": np.array([c in _SENTENCE for c in text], dtype=float),
            "digit": np.array([c.isdigit() for c in text], dtype=float),
            "open": np.array([(c in "（(《“「『") - (c in "）)》”」』") for c in text], dtype=float),
        }

    def _allowed(self) -> Ints:
        """Places between letters, but not inside a word that is written with spaces around it, or a number."""
        word = self._classes >= 2
        inside = np.zeros(self.length + 1, dtype=bool)
        inside[1:-1] = word[1:] & word[:-1] & (self._classes[1:] == self._classes[:-1])
        return np.flatnonzero(~inside)

    def _within(self, name: str, low: Ints, high: Ints) -> Doubles:
        sums = self._sums[name]
        return sums[np.clip(high, 0, self.length)] - sums[np.clip(low, 0, self.length)]

    def place_features(self) -> Ints:
        """(places, features) rows of the weights; the same for beginnings and ends, whose weights differ."""
        at = self.places
        before2, before, after, after2 = (self._codes[at + k] for k in range(4))
        classes = np.concatenate(([0], self._classes, [0]))
        left, right = self._next_to(at)
        rank, share, edge = self._sentences(at)
        kind = self._kind
        found = [
            _mixed(1, before), _mixed(2, after), _mixed(3, before2, before), _mixed(4, after, after2),
            _mixed(5, before, after), _mixed(6, kind, before), _mixed(7, kind, after), _mixed(8, kind, after, after2),
            _mixed(9, kind, before2, before), _mixed(10, kind, classes[at], classes[at + 1]), _mixed(11, left, kind),
            _mixed(12, right, kind), _mixed(13, rank, kind), _mixed(14, share, rank), _mixed(15, edge, rank),
            _mixed(16, *self._met(at)), _mixed(17, left, right), _mixed(18, left, rank), _mixed(19, right, rank),
        ]  # fmt: skip
        for n, width in enumerate(_WINDOWS):
            most = self._sums["shared"][-1] + 1e-9
            sides = (self._within("shared", at - width, at), self._within("shared", at, at + width))
            near = [np.minimum((12 * side / most).astype(np.int64), 9) for side in sides]
            found += [_mixed(30 + n, *near), _mixed(40 + n, near[0], kind), _mixed(50 + n, near[1], kind)]
        return np.stack(found, axis=1)

    def _met(self, at: Ints) -> tuple[Ints, Ints]:
        """Are the letters before and after the place in the question?"""
        known = np.concatenate(([0.0], self._shared, [0.0])) > 0
        return known[at].astype(np.int64), known[at + 1].astype(np.int64)

    def _next_to(self, at: Ints) -> tuple[Ints, Ints]:
        """How many letters before the place stand before the asking word too, and after it likewise."""
        left, right = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
        for n in range(1, _NEAR + 1):
            if len(self._left) >= n:
                tail = self._left[-n:]
                left[[self._text.endswith(tail, 0, p) for p in at.tolist()]] = n
            if len(self._right) >= n:
                head = self._right[:n]
                right[[self._text.startswith(head, p) for p in at.tolist()]] = n
        return left, right

    def _sentences(self, at: Ints) -> tuple[Ints, Ints, Ints]:
        """Of the sentence around a place: its rank by what it shares, how much that is, and if this is its edge."""
        ends = np.flatnonzero(self._sums["sentence"][1:] > self._sums["sentence"][:-1]) + 1
        edges = np.unique(np.concatenate(([0], ends, [self.length])))
        scores = np.array([self._distinct(a, b) for a, b in pairwise(edges.tolist())] or [0.0])
        order = np.argsort(np.argsort(-scores, kind="stable"))
        own = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(scores) - 1)
        share = (5 * scores / max(float(scores.max()), 1e-9)).astype(np.int64)
        return np.minimum(order, 4)[own], share[own], np.isin(at, edges).astype(np.int64)

    def _distinct(self, a: int, b: int) -> float:
        """What of the question stands in this stretch, each piece once, longer pieces for more."""
        text, asked = self._text[a:b], self.question
        return sum(n for n in (1, 2, 3) for p in {asked[i : i + n] for i in range(len(asked) - n + 1)} if p in text)

    def span_features(self, starts: Ints, ends: Ints) -> Ints:
        """(spans, features) rows of the weights."""
        length = ends - starts
        size = np.minimum(np.where(length < 10, length, 8 + (np.log2(np.maximum(length, 1)) * 2).astype(np.int64)), 22)
        known = (4 * self._within("known", starts, ends) / np.maximum(length, 1)).astype(np.int64)
        clauses = np.minimum(self._within("clause", starts, ends), 4).astype(np.int64)
        sentences = np.minimum(self._within("sentence", starts, ends), 2).astype(np.int64)
        digits = (2 * self._within("digit", starts, ends) / np.maximum(length, 1)).astype(np.int64)
        hanging = np.clip(self._within("open", starts, ends), -1, 1).astype(np.int64)
        right, left = self._next_to(ends)[1], self._next_to(starts)[0]
        last, kind = self._codes[ends + 1], self._kind
        named = np.isin(last, [ord(c) for c in self._right[:2]]).astype(np.int64)
        found = [
            _mixed(61, size), _mixed(62, size, kind), _mixed(63, known, size), _mixed(64, clauses, kind),
            _mixed(65, sentences), _mixed(66, digits, kind), _mixed(67, hanging), _mixed(68, left, right),
            _mixed(69, named, kind), _mixed(70, clauses, size), _mixed(71, digits, size), _mixed(72, known, kind),
        ]  # fmt: skip
        return np.stack(found, axis=1)

    def spans(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Every pair of a beginning and an end, as places' numbers, between which there is a possible answer."""
        a, b = (x.ravel() for x in np.meshgrid(starts, ends, indexing="ij"))
        length = self.places[b] - self.places[a]
        fine = (length > 0) & (length <= _LONGEST)
        return a[fine], b[fine]


def _asked(question: str) -> tuple[int, str, str]:
    """A number for what is asked for, and what stands before and after the asking word."""
    for n, (_, pattern) in enumerate(_PATTERNS, 1):
        if found := pattern.search(question):
            return n, question[: found.start()], question[found.end() :]
    return 0, question.rstrip("？?。. "), ""


def _class(c: str) -> int:
    """0 for marks and spaces, 1 for letters that are words by themselves, 2 for digits, 3 for other letters."""
    if "\u3040" <= c <= "\u9fff" or "\uf900" <= c <= "\ufaff" or c >= "\U00020000":
        return 1
    return 2 if c.isdigit() else 3 if c.isalpha() else 0


def _summed(values: Doubles) -> Doubles:
    return np.concatenate(([0.0], np.cumsum(values)))


def _mixed(name: int, *parts: Ints | int) -> Ints:
    """A row of the weights for each combination of values, spread as a hash would."""
    mixed = np.full(1, crc32(bytes([name])), dtype=np.uint64)
    for part in parts:
        mixed = (mixed ^ np.asarray(part).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = mixed ^ (mixed >> np.uint64(29))
    return (mixed % np.uint64(SIZE)).astype(np.int64)


NAME = "baselines/reader"
_EPOCHS = 2
_RATE = 0.1
_TOP = 24  # beginnings, and ends, whose spans are looked at
_START, _END, _SPAN = range(3)  # columns of the weights


class AnswerFinder(SavedSystem):
    """A linear model of where an answer begins, where it ends, and of the span between, learnt together."""

    name = NAME
    card: SavedCard
    batch_size = 32

    def __init__(self, card: SavedCard, weights: Floats) -> None:
        self.card = card
        self._weights = weights

    @classmethod
    def train(
        cls, examples: Iterable[Example], task: str = "qa", seed: int = 0, epochs: int = _EPOCHS,
        progress: bool = False,
    ) -> Self:  # fmt: skip
        """A model of these examples; those whose answers do not stand in the context are passed over."""
        examples = cls.checked_examples(examples, task, "qa")
        learning = _Learning()
        rng = Seeds(seed, NAME, cls.version).stream("", 0).numpy()
        with Progress("training", (epochs + 1) * len(examples)) if progress else Quiet() as counted:
            rows = []
            for example in examples:
                rows.append(_ReadExample(example))
                counted.add()
            for _ in range(epochs):
                for i in rng.permutation(len(rows)).tolist():
                    learning.step(rows[i])
                    counted.add()
        card = cls.new_card(task, seed, examples)
        return cls(card, learning.averaged())

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return [self._answer(inputs) for inputs in batch]

    def _answer(self, inputs: Inputs) -> Json | Failed:
        absent = next((field for field in ("question", "context") if field not in inputs), None)
        if absent is not None:
            return Failed(f"the input has no {absent!r}", final=True)
        reading = Reading(inputs["question"], inputs["context"])
        starts, ends, scores, _ = _scored(self._weights, reading, reading.place_features())
        if not len(scores):
            return reading.context.strip()
        best = int(scores.argmax())
        return reading.context[reading.places[starts[best]] : reading.places[ends[best]]].strip()

    def decides(self) -> Json:
        return [self.card.task]

    def arrays(self) -> Arrays:
        return {"weights": self._weights}

    @classmethod
    def rebuilt(cls, card: SavedCard, arrays: Arrays) -> Self:
        if arrays["weights"].shape != (SIZE, 3):
            raise ValueError("they have the wrong shape")
        return cls(card, arrays["weights"])


class _ReadExample:
    """An example to learn from: its reading and the gold spans, as the numbers of their places."""

    def __init__(self, example: Example) -> None:
        self.reading = Reading(example.inputs["question"], example.inputs["context"])
        self.features = self.reading.place_features().astype(np.int32)
        number = {place: n for n, place in enumerate(self.reading.places.tolist())}
        spans = {
            (a["start"], a["start"] + len(a["text"])) for a in example.gold["answers"] if a.get("start") is not None
        }
        self.gold = sorted((number[a], number[b]) for a, b in spans if a in number and b in number and a < b)


class _Learning:
    """AdaGrad over the spans of the likeliest places and the right ones; the weights are averaged over the steps."""

    def __init__(self) -> None:
        self.weights = np.zeros((SIZE, 3))
        self._squares = np.full((SIZE, 3), 1e-2)
        self._behind = np.zeros((SIZE, 3))  # changes times the steps that came before them
        self._steps = 0

    def step(self, row: _ReadExample) -> None:
        self._steps += 1
        if not row.gold:
            return
        starts, ends, scores, spans = _scored(self.weights, row.reading, row.features, row.gold)
        right = np.isin(starts * row.reading.length + ends, [a * row.reading.length + b for a, b in row.gold])
        likely = np.exp(scores - scores.max())
        # Up for the right spans, as likely as they are among themselves, and down for all as likely as they are.
        error = likely / likely.sum() - np.where(right, likely, 0) / max(likely[right].sum(), 1e-300)
        for column, places in ((_START, starts), (_END, ends)):
            blame = np.bincount(places, error, minlength=len(row.features)).astype(np.float64)
            blamed = np.flatnonzero(blame)
            self._change(column, row.features[blamed], blame[blamed])
        self._change(_SPAN, spans, error)

    def _change(self, column: int, features: Ints | Rows, error: Doubles) -> None:
        touched, number = np.unique(features, return_inverse=True)
        slope = np.bincount(number.ravel(), np.repeat(error, features.shape[1]))
        self._squares[touched, column] += slope * slope
        change = _RATE * slope / np.sqrt(self._squares[touched, column])
        self.weights[touched, column] -= change
        self._behind[touched, column] -= change * (self._steps - 1)

    def averaged(self) -> Floats:
        return (self.weights - self._behind / max(self._steps, 1)).astype(np.float32)


def _scored(
    weights: Floats | Doubles, reading: Reading, features: Ints | Rows, gold: Sequence[tuple[int, int]] = ()
) -> tuple[Ints, Ints, Doubles, Ints]:
    """Spans between the likeliest places, the gold ones among them, as places' numbers; their scores and features."""
    begins, finishes = (weights[features, column].sum(axis=1, dtype=np.float64) for column in (_START, _END))
    top = [np.argsort(-scores, kind="stable")[:_TOP] for scores in (begins, finishes)]
    chosen = [np.union1d(top[side], [span[side] for span in gold]).astype(np.int64) for side in (0, 1)]
    starts, ends = reading.spans(*chosen)
    spans = reading.span_features(reading.places[starts], reading.places[ends])
    return starts, ends, begins[starts] + finishes[ends] + weights[spans, _SPAN].sum(axis=1, dtype=np.float64), spans
