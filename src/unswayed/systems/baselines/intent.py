"""A small classifier of utterances, with slot tags where the data has them, that trains in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unswayed.base.progress import Progress
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Inputs, Json
from unswayed.systems.linear import (
    Floats,
    Rows,
    TokenFeatures,
    UtteranceFeatures,
    Vocabulary,
    best_labels,
    train_softmax,
)
from unswayed.systems.saved import Arrays, Quiet, SavedCard, SavedSystem, numbered
from unswayed.systems.system import Failed

_NEVER = np.float32(-1e6)
_GRAIN = 1024.0
_MOST_LOSS = 100.0  # of a label that was never learnt
_WINDOW = 256  # tokens decoded as one sequence; longer texts come in pieces, so that memory stays bounded

Tags = npt.NDArray[np.int64]


class Tagger:
    """Weights of (feature, tag) and of (tag, tag before); the last column of `pairs` is the beginning."""

    def __init__(self, tags: Sequence[str], vocabulary: Vocabulary, weights: Floats, pairs: Floats) -> None:
        self.tags = list(tags)
        self.vocabulary = vocabulary
        self.weights = weights
        self.pairs = pairs
        self._allowed = pairs + _forbidden(self.tags)
        self._features = TokenFeatures(vocabulary)

    @classmethod
    def train(
        cls, sentences: Sequence[list[str]], golds: Sequence[Sequence[str]], epochs: int, rng: np.random.Generator,
        done: Callable[[int], None],
    ) -> Tagger:  # fmt: skip
        tags = sorted({tag for gold in golds for tag in gold} | {"O"})
        number = {tag: i for i, tag in enumerate(tags)}
        hashes = TokenFeatures()
        vocabulary = Vocabulary(dict.fromkeys(h for s in sentences for token in hashes(s) for h in token))
        rows = TokenFeatures(vocabulary)
        data = [
            (np.array(rows(s), dtype=np.int32), np.array([number[tag] for tag in gold]))
            for s, gold in zip(sentences, golds, strict=True)
        ]
        weights, pairs = _perceptron(data, tags, len(vocabulary), epochs, rng, done)
        used = np.asarray(weights.any(axis=1))  # most features of rare words never made a difference
        kept = Vocabulary(h for h, row in vocabulary.rows.items() if used[row])
        used[0] = True
        return cls(tags, kept, np.ascontiguousarray(weights[used]), pairs)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for each token of each sentence."""
        pieces: list[Rows] = []
        owners: list[int] = []
        for owner, sentence in enumerate(sentences):
            rows = np.array(self._features(sentence), dtype=np.int32)
            for start in range(0, len(rows), _WINDOW):
                pieces.append(rows[start : start + _WINDOW])
                owners.append(owner)
        out: list[list[str]] = [[] for _ in sentences]
        for owner, best in zip(owners, self._decode(pieces), strict=True):
            out[owner] += [self.tags[i] for i in best]
        return out

    def loss(self, sentence: Sequence[str], gold: Sequence[str]) -> float:
        """How much higher another tag scores than the right one, with right ones around it, where that is most."""
        number = {tag: i for i, tag in enumerate(self.tags)}
        if any(tag not in number for tag in gold):
            return _MOST_LOSS
        right, places = np.array([number[tag] for tag in gold]), np.arange(len(gold))
        before = np.concatenate(([len(self.tags)], right[:-1]))
        scores = _scores(self.weights, np.array(self._features(sentence), dtype=np.int32)) + self._allowed[:, before].T
        scores[:-1] += self._allowed[right[1:], : len(self.tags)]
        own = scores[places, right].copy()
        scores[places, right] = -np.inf
        return float((scores.max(axis=1) - own).max())

    def _decode(self, pieces: list[Rows]) -> list[list[int]]:
        """The best tags of each piece: all pieces go forward together, longest first, each until it ends."""
        found: list[list[int]] = [[] for _ in pieces]
        order = sorted(range(len(pieces)), key=lambda i: -len(pieces[i]))
        for start in range(0, len(order), 64):
            together = order[start : start + 64]
            emissions = [_scores(self.weights, pieces[i]) for i in together]
            for i, best in zip(together, _viterbi(emissions, self._allowed), strict=True):
                found[i] = best
        return found


def _scores(weights: Floats, rows: Rows) -> Floats:
    return np.asarray(weights[rows].sum(axis=1))


def _viterbi(emissions: list[Floats], pairs: Floats) -> list[list[int]]:
    """The best sequence of tags for each; `emissions` come longest first. `pairs[tag, before]`."""
    lengths = [len(e) for e in emissions]
    count, tags = len(emissions), pairs.shape[0]
    inner, first = np.ascontiguousarray(pairs[:, :tags]), pairs[:, tags]
    scores = np.stack([e[0] for e in emissions]) + first
    back = np.zeros((lengths[0], count, tags), dtype=np.int16)
    active = count
    for t in range(1, lengths[0]):
        while lengths[active - 1] <= t:
            active -= 1
        for i in range(active):
            reached = inner + scores[i]
            best = reached.argmax(axis=1)
            back[t, i] = best
            scores[i] = reached[np.arange(tags), best] + emissions[i][t]
    return [_traced(back[: lengths[i], i], int(scores[i].argmax())) for i in range(count)]


def _traced(back: npt.NDArray[np.int16], last: int) -> list[int]:
    path = [last]
    for t in range(len(back) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1]


def _perceptron(
    data: list[tuple[Rows, Tags]], tags: list[str], features: int, epochs: int, rng: np.random.Generator,
    done: Callable[[int], None],
) -> tuple[Floats, Floats]:  # fmt: skip
    """Averaged weights: each step's are counted as often as they were in use, by the usual running sums."""
    count = len(tags)
    forbidden = _forbidden(tags)
    weights, late = np.zeros((features, count), np.float32), np.zeros((features, count), np.float32)
    pairs, late_pairs = np.zeros((count, count + 1), np.float32), np.zeros((count, count + 1), np.float32)
    step = 0
    for _ in range(epochs):
        for chosen in rng.permutation(len(data)).tolist():
            rows, gold = data[chosen]
            step += 1
            guess = np.array(_viterbi([_scores(weights, rows)], pairs + forbidden)[0])
            if not np.array_equal(guess, gold):
                _move(weights, late, pairs, late_pairs, rows, gold, guess, step)
            done(1)
    averages = (weights - late / max(step, 1), pairs - late_pairs / max(step, 1))
    averages[0][0] = 0.0
    first, second = (np.round(a * _GRAIN) / _GRAIN for a in averages)
    return first.astype(np.float32), second.astype(np.float32)


def _move(
    weights: Floats, late: Floats, pairs: Floats, late_pairs: Floats, rows: Rows, gold: Tags, guess: Tags, step: int
) -> None:
    start = pairs.shape[0]
    for tags, by in ((gold, 1.0), (guess, -1.0)):
        before = np.concatenate(([start], tags[:-1]))
        np.add.at(pairs, (tags, before), by)
        np.add.at(late_pairs, (tags, before), by * step)
    for i in np.flatnonzero(gold != guess).tolist():
        for tag, by in ((gold[i], 1.0), (guess[i], -1.0)):
            weights[rows[i], tag] += by
            late[rows[i], tag] += by * step


def _forbidden(tags: list[str]) -> Floats:
    """`I-x` follows only `B-x` or `I-x`."""
    costs = np.zeros((len(tags), len(tags) + 1), dtype=np.float32)
    for i, tag in enumerate(tags):
        if tag.startswith("I-"):
            costs[i] = [0.0 if b[:2] in ("B-", "I-") and b[2:] == tag[2:] else _NEVER for b in [*tags, "O"]]
    return costs


NAME = "baselines/intent"
VERSION_OF_MODEL = 1
_SOFTMAX_EPOCHS = 12
_TAGGER_EPOCHS = 8


class IntentCard(SavedCard, frozen=True, kw_only=True):
    """The labels in the order of the weights, and the tags where there are slots."""

    labels: list[Json]
    tags: list[str] | None


class Intent(SavedSystem):
    """Logistic regression over words and letters; for `slu` also an averaged perceptron over the tokens."""

    name = NAME
    version = VERSION_OF_MODEL
    card_type = IntentCard
    card: IntentCard
    batch_size = 256

    def __init__(self, card: IntentCard, vocabulary: Vocabulary, weights: Floats, tagger: Tagger | None) -> None:
        self.card = card
        self._vocabulary = vocabulary
        self._weights = weights
        self._tagger = tagger
        self._features = UtteranceFeatures()

    @classmethod
    def train(cls, examples: Iterable[Example], task: str, seed: int = 0, progress: bool = False) -> Intent:
        """A model of these examples; the same for the same examples, in the same order, and seed."""
        examples = cls.checked(examples, task, "classify", "slu")
        labels, numbers = numbered([e.gold["intent"] if task == "slu" else e.gold for e in examples])
        epochs = _SOFTMAX_EPOCHS + (_TAGGER_EPOCHS if task == "slu" else 0)
        stream = Seeds(seed, NAME, VERSION_OF_MODEL).stream("", 0)
        with Progress("training", epochs * len(examples)) if progress else Quiet() as counted:
            featured = [UtteranceFeatures()(e.inputs) for e in examples]
            vocabulary = Vocabulary(dict.fromkeys(h for hashes in featured for h in hashes))
            rows = [np.array([vocabulary.rows[h] for h in hashes], dtype=np.int32) for hashes in featured]
            shape = (len(vocabulary), len(labels))
            weights = train_softmax(rows, np.array(numbers), shape, _SOFTMAX_EPOCHS, stream.numpy(), counted.add)
            tagger = None
            if task == "slu":
                sentences = [e.inputs["text"].split(" ") for e in examples]
                golds = [e.gold["slots"] for e in examples]
                tagger = Tagger.train(sentences, golds, _TAGGER_EPOCHS, stream.numpy(), counted.add)
        card = cls.new_card(task, seed, examples, labels=labels, tags=tagger.tags if tagger else None)
        return cls(card, vocabulary, weights, tagger)

    def decides(self) -> Json:
        return [self.card.task, self.card.labels, self.card.tags]

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        if not batch:
            return []
        rows = [self._rows(inputs) for inputs in batch]
        labels = [self.card.labels[i] for i in best_labels(self._weights, rows)]
        if self._tagger is None:
            return labels
        slots = self._tagger.tag([inputs.get("text", "").split(" ") for inputs in batch])
        return [
            {"intent": label, "slots": tags} if "text" in inputs else Failed("the input has no 'text'", final=True)
            for inputs, label, tags in zip(batch, labels, slots, strict=True)
        ]

    def losses(self, batch: Sequence[Inputs], golds: Sequence[Json]) -> Sequence[float] | None:
        """How much higher the best other class, or tag, scores than the right one; below 0 if the answer is right.

        Scores, and not probabilities, which are the same for all that the model is sure of.
        """
        labels, found = self.card.labels, []
        for inputs, gold in zip(batch, golds, strict=True):
            scores = np.asarray(self._weights[self._rows(inputs)].sum(axis=0, dtype=np.float64))
            label = gold["intent"] if self._tagger else gold
            at = labels.index(label) if label in labels else None
            loss = _MOST_LOSS if at is None else float(np.delete(scores, at).max(initial=-_MOST_LOSS) - scores[at])
            if self._tagger:
                loss = max(loss, self._tagger.loss(inputs.get("text", "").split(" "), gold["slots"]))
            found.append(max(-_MOST_LOSS, min(_MOST_LOSS, loss)))
        return found

    def _rows(self, inputs: Inputs) -> Rows:
        get = self._vocabulary.rows.get
        return np.array([get(h, 0) for h in self._features(inputs)], dtype=np.int32)

    def arrays(self) -> Arrays:
        arrays: dict[str, Any] = {"features": self._vocabulary.hashes(), "weights": self._weights}
        if self._tagger:
            arrays |= {
                "tag_features": self._tagger.vocabulary.hashes(),
                "tag_weights": self._tagger.weights,
                "tag_pairs": self._tagger.pairs,
            }
        return arrays

    @classmethod
    def rebuilt(cls, card: IntentCard, arrays: Arrays) -> Self:
        tagger = card.tags and Tagger(
            card.tags, Vocabulary(arrays["tag_features"].tolist()), arrays["tag_weights"], arrays["tag_pairs"]
        )
        return cls(card, Vocabulary(arrays["features"].tolist()), arrays["weights"], tagger or None)
