"""A small entailment model that trains on the spot: what a pair of sentences shares, and weights of that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Self

import numpy as np
import numpy.typing as npt

from unswayed.base import Example, Inputs, Json, Progress
from unswayed.systems import Failed
from unswayed.systems.baselines import Arrays, Quiet, SavedCard, SavedSystem, numbered, two_fields

NAME = "baselines/nli"
_PENALTY = 1.0
_NAMES = (("premise", "hypothesis"), ("sentence1", "sentence2"), ("text1", "text2"))  # in which one file has its pairs
_GRAIN = 2.0**20  # weights are multiples of this, so that they survive another processor's arithmetic


class NliCard(SavedCard, frozen=True, kw_only=True):
    """The labels in the order of the weights, the two texts in the order of premise and hypothesis, and the stems."""

    labels: list[Json]
    fields: tuple[str, str]
    stems: list[str]


class Nli(SavedSystem):
    """Logistic regression over overlap, numbers, names and negation of a premise and a hypothesis.

    Unlike `baselines/pair` it knows which text is to follow from which, and it learns from hundreds of pairs.
    """

    name = NAME
    card_type = NliCard
    card: NliCard
    batch_size = 256

    def __init__(self, card: NliCard, telling: Doubles, scale: Doubles, weights: Doubles) -> None:
        """`telling` has a number for each stem and a last one for all others; `scale` is means, then deviations."""
        self.card = card
        self._telling, self._scale, self._weights = telling, scale, weights
        self._by_stem = dict(zip(card.stems, telling.tolist(), strict=False))

    @classmethod
    def train(cls, examples: Iterable[Example], task: str = "classify", seed: int = 0, progress: bool = False) -> Self:
        """A model of these examples, whatever their order; nothing is random, so the seed is only kept."""
        examples = cls.checked_examples(examples, task, "classify")
        fields = _fields(examples)
        labels, numbers = numbered([e.gold for e in examples])
        counts = document_counts(e.inputs[field] for e in examples for field in fields)
        stems = sorted(s for s, count in counts.items() if count > 1)
        most = 2 * len(examples) + 1
        telling = np.array([log(most / (counts[s] + 1)) for s in stems] + [log(most / 2)])
        card = cls.new_card(task, seed, examples, labels=labels, fields=fields, stems=stems)
        blank = cls(card, telling, np.zeros((2, 0)), np.zeros((0, len(labels))))
        with Progress("training", len(examples)) if progress else Quiet() as counted:
            rows = []
            for example in examples:
                rows.append(blank._numbers(*(example.inputs[field] for field in fields)))
                counted.add()
        table = np.array(rows)
        scale = np.stack([table.mean(axis=0), table.std(axis=0) + 1e-9])
        weights = fit((table - scale[0]) / scale[1], np.array(numbers), len(labels), _PENALTY)
        return cls(card, telling, scale, np.round(weights * _GRAIN) / _GRAIN)

    def _numbers(self, premise: str, hypothesis: str) -> list[float]:
        return pair_numbers(premise, hypothesis, self._by_stem, float(self._telling[-1]))

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        out: list[Json | Failed] = []
        for inputs in batch:
            texts = two_texts(inputs, self.card.fields)
            if texts is None:
                out.append(Failed(f"the input has no {' and '.join(map(repr, self.card.fields))}", final=True))
                continue
            row = (np.array(self._numbers(*texts)) - self._scale[0]) / self._scale[1]
            scores = np.round((np.append(row, 1.0)[:, None] * self._weights).sum(axis=0), 9)
            out.append(self.card.labels[int(scores.argmax())])
        return out

    def confidence(self, batch: Sequence[Inputs]) -> list[float]:
        """How sure it is of its answer to each: the share of the answer's label in the probabilities of all."""
        found = []
        for inputs in batch:
            texts = two_texts(inputs, self.card.fields) or ("", "")
            row = (np.array(self._numbers(*texts)) - self._scale[0]) / self._scale[1]
            scores = (np.append(row, 1.0)[:, None] * self._weights).sum(axis=0)
            chances = 1 / (1 + np.exp(-np.clip(scores, -30, 30)))
            found.append(float(chances.max() / chances.sum()))
        return found

    def decides(self) -> Json:
        return [self.card.task, self.card.labels, self.card.fields, self.card.stems]

    def arrays(self) -> Arrays:
        return {"telling": self._telling, "scale": self._scale, "weights": self._weights}

    @classmethod
    def rebuilt(cls, card: NliCard, arrays: Arrays) -> Self:
        return cls(card, arrays["telling"], arrays["scale"], arrays["weights"])


def two_texts(inputs: Inputs, fields: tuple[str, str]) -> tuple[str, str] | None:
    """The premise and the hypothesis: under the names that were learnt, or others that are usual for a pair."""
    for first, second in (fields, *_NAMES):
        if first in inputs and second in inputs:
            return inputs[first], inputs[second]
    return None


def _fields(examples: Sequence[Example]) -> tuple[str, str]:
    """The names of the two texts: premise and hypothesis, or as they stand in the first example."""
    first, second = two_fields(examples, NAME)
    return ("premise", "hypothesis") if {first, second} == {"premise", "hypothesis"} else (first, second)


_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[\u3400-\u9fff]|[^\W\d_]+|\S")
_MOST = 200  # tokens of a text that are looked at
_STOPS = """a an the of to in on at by for with from and or is are was were be been has have had that this it its as his
    her their he she they which who will would s"""
_STOP = frozenset(_STOPS.split())
_NEGATIONS = """not no never nor none nobody nothing without cannot fail fails failed refuse refused deny denied denies
    neither 不 没 无 非 未 否"""
_NEGATED = frozenset(_NEGATIONS.split())
_ENDINGS = ("ations", "ation", "ings", "ing", "ied", "ies", "ers", "er", "ed", "es", "s", "ly")
FEATURES = 20

Doubles = npt.NDArray[np.float64]


def tokens(text: str) -> list[str]:
    """Lower-case words, numbers, marks and Chinese characters."""
    return _TOKEN.findall(text.lower().replace("n't", " not").replace("n’t", " not"))[:_MOST]


def stem(word: str) -> str:
    """The word without an English ending, crudely: both texts are treated alike."""
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word[: len(word) - len(ending)]


def document_counts(texts: Iterable[str]) -> Counter[str]:
    """In how many texts each stem comes up."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({stem(token) for token in tokens(text)})
    return counts


def pair_numbers(premise: str, hypothesis: str, weights: Mapping[str, float], unseen: float) -> list[float]:
    """`FEATURES` numbers. `weights` say how telling a stem is, `unseen` how telling one that is not among them is."""
    p, h = tokens(premise), tokens(hypothesis)
    ps, hs = [stem(token) for token in p], [stem(token) for token in h]
    there = set(ps)
    content = [s for s, token in zip(hs, h, strict=True) if token not in _STOP and token[0].isalnum()] or hs
    weight = [weights.get(s, unseen) for s in content]
    found = [s in there for s in content]
    covered = _mean(found)
    telling = sum(w for w, inside in zip(weight, found, strict=True) if inside) / (sum(weight) or 1.0)
    near = _nearest(content, there)
    common = _common(ps, hs) / max(1, len(hs))
    pairs = set(pairwise(ps))
    no_p, no_h = (not _NEGATED.isdisjoint(side) for side in (p, h))
    digits = [token for token in h if token[0].isdigit()]
    names = [word.strip(".,;:'\"“”") for word in hypothesis.split()[1:_MOST] if word[0].isupper()]
    return [
        covered,
        telling,
        _mean(near),
        _mean([pair in pairs for pair in pairwise(hs)]),
        _mean([s in there for s in hs]),
        float(any(number not in p for number in digits)),
        float(no_h),
        float(no_h != no_p),
        float(no_p),
        _mean([name not in premise for name in names]),
        min(found.count(False), 6) / 6,
        common,
        log(1 + len(p)) / 5,
        log(1 + len(h)) / 4,
        min(len(h) / max(1, len(p)), 5.0),
        min(near, default=0.0),
        float(covered == 1),
        float(bool(digits)),
        covered * common,
        telling * telling,
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _nearest(content: Sequence[str], there: set[str]) -> list[float]:
    """How like the likest stem of the premise each of the hypothesis' is, by letters three at a time."""
    pieces = [_pieces(s) for s in sorted(there)]
    return [max((len(own & p) / len(own | p) for p in pieces), default=0.0) for own in map(_pieces, content)]


def _pieces(word: str) -> frozenset[str]:
    marked = f"<{word[:40]}>"
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest sequence that both have in this order."""
    row = [0] * (len(a) + 1)
    for item in b:
        before = 0
        for i, other in enumerate(a, 1):
            here = row[i]
            row[i] = before + 1 if item == other else max(here, row[i - 1])
            before = here
    return row[-1]


def fit(rows: Doubles, labels: npt.NDArray[np.int64], classes: int, penalty: float) -> Doubles:
    """Weights (features + 1) × classes of one logistic regression for each class, by Newton's method."""
    inputs = np.c_[rows, np.ones(len(rows))]
    found = np.zeros((inputs.shape[1], classes))
    ridge = penalty * np.eye(inputs.shape[1])
    for label in range(classes):
        right, weights = (labels == label).astype(float), np.zeros(inputs.shape[1])
        for _ in range(50):
            chance = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
            slope = inputs.T @ (chance - right) + penalty * weights
            step = np.linalg.solve((inputs * (chance * (1 - chance))[:, None]).T @ inputs + ridge, slope)
            weights -= step
            if np.abs(step).max() < 1e-9:
                break
        found[:, label] = weights
    return found
