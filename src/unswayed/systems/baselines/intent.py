"""A small classifier of utterances, with slot tags where the data has them, that trains in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unswayed.base.progress import Progress
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Inputs, Json
from unswayed.systems.baselines import (
    Arrays,
    Floats,
    Quiet,
    Rows,
    SavedCard,
    SavedSystem,
    Vocabulary,
    best_labels,
    first_places,
    hashed,
    numbered,
)
from unswayed.systems.system import Failed

_TOKENS = 1000  # as much of a text as the intent is read from
_LETTERS = 40  # as much of a word
_CACHED_WORDS = 50_000  # words and word pairs remembered; typing errors would otherwise fill the memory


def utterance_features(inputs: Inputs) -> list[int]:
    """The hashed features that an intent is read from: words, pairs of words, and letters three to five at a time.

    Those of several fields are kept apart.
    """
    found = [hashed("always")]
    for name in sorted(inputs):
        field = f"{name} " if len(inputs) > 1 else ""
        words = [word[:_LETTERS] for word in inputs[name].lower().split(None, _TOKENS)[:_TOKENS]]
        before = "<"
        for word in words:
            found += _word_features(field, word)
            found.append(hashed(f"{field}2 {before} {word}"))
            before = word
        if words:
            found.append(hashed(f"{field}2 {before} >"))
    return found


@lru_cache(_CACHED_WORDS)
def _word_features(field: str, word: str) -> tuple[int, ...]:
    marked = f"<{word}>"
    letters = {marked[i : i + n] for n in (3, 4, 5) for i in range(len(marked) - n + 1)}
    return (hashed(f"{field}1 {word}"), *(hashed(f"{field}c {part}") for part in sorted(letters)))


class TokenFeatures:
    """The features that a slot tag is read from: the token, its beginning and end, and its neighbours.

    Called with tokens, it gives 18 numbers for each: rows of the vocabulary, or hashes where there is none yet.
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self._row: Callable[[int], int] = (lambda h: vocabulary.rows.get(h, 0)) if vocabulary else int
        self._word = lru_cache(_CACHED_WORDS)(self._word_rows)
        self._pair = lru_cache(_CACHED_WORDS)(lambda pair: self._row(hashed(pair)))

    def __call__(self, tokens: Sequence[str]) -> list[list[int]]:
        words = ["<<", "<", *(token.lower()[:_LETTERS] for token in tokens), ">", ">>"]
        # As a neighbour two before, one before, one after, two after; then the features of the word itself.
        alone = [self._word(word) for word in words]
        pairs = [self._pair(f"pair {a} {b}") for a, b in pairwise(words[1:])]
        found = []
        for i in range(2, len(words) - 2):
            near = (alone[i - 2][0], alone[i - 1][1], alone[i + 1][2], alone[i + 2][3])
            paired = (pairs[i - 2], pairs[i - 1], self._pair(f"around {words[i - 1]} {words[i + 1]}"))
            found.append([*alone[i][4:], *near, *paired])
        return found

    def _word_rows(self, word: str) -> tuple[int, ...]:
        shape = "".join("0" if c.isdigit() else "a" if c.isalpha() else c for c in word[:8])
        ends = [f"p{n} {word[:n]}" for n in (1, 2, 3, 4)] + [f"s{n} {word[-n:]}" for n in (1, 2, 3, 4)]
        names = [*(kind + word for kind in ("-2 ", "-1 ", "+1 ", "+2 ", "w ")), *ends, f"shape {shape}", "always"]
        return tuple(self._row(hashed(name)) for name in names)


_BATCH = 64  # examples a step
_RATE = 0.5
_DECAY = 1e-5
_GRAIN = 4096.0  # weights are multiples of 1/4096: sums are exact, so they are the same in a batch of any make-up


def train_softmax(
    features: Sequence[Rows], labels: npt.NDArray[np.int64], shape: tuple[int, int], epochs: int,
    rng: np.random.Generator, done: Callable[[int], None],
) -> Floats:  # fmt: skip
    """Weights (features × labels), by stochastic gradient steps of AdaGrad.

    `features` are the rows that are set in each example, with repeats.
    """
    weights = np.zeros(shape, dtype=np.float32)
    squares = np.full(shape, 1e-6, dtype=np.float32)
    for _ in range(epochs):
        order = rng.permutation(len(features))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            rows, lengths = np.concatenate([features[i] for i in chosen]), np.array([len(features[i]) for i in chosen])
            scale = 1.0 / np.sqrt(lengths)
            sums = np.add.reduceat(weights[rows], first_places(lengths), axis=0, dtype=np.float64)
            scores = sums * scale[:, None]
            error = np.exp(scores - scores.max(axis=1, keepdims=True))
            error /= error.sum(axis=1, keepdims=True)
            error[np.arange(len(chosen)), labels[chosen]] -= 1.0
            # The gradient of a row is the sum over its occurrences: sort them together, then add up each stretch.
            occurrence = np.repeat((error * scale[:, None]).astype(np.float32), lengths, axis=0)
            by_row = np.argsort(rows, kind="stable")
            touched, first = np.unique(rows[by_row], return_index=True)
            gradient = np.add.reduceat(occurrence[by_row], first, axis=0) + _DECAY * weights[touched]
            squares[touched] += gradient * gradient
            weights[touched] -= _RATE * gradient / np.sqrt(squares[touched])
            done(len(chosen))
    weights[0] = 0.0  # features that were never seen say nothing
    return (np.round(weights * _GRAIN) / _GRAIN).astype(np.float32)


_NEVER = np.float32(-1e6)
_TAG_GRAIN = 1024.0
_MOST_LOSS = 100.0  # of a label that was never learnt
_WINDOW = 256  # tokens decoded as one sequence; longer texts come in pieces, so that memory stays bounded


class SlotTagger:
    """Weights of (feature, tag) and of (tag, tag before); the last column of `pairs` is the beginning."""

    def __init__(self, tags: Sequence[str], vocabulary: Vocabulary, weights: Floats, pairs: Floats) -> None:
        self.tags = list(tags)
        self.vocabulary = vocabulary
        self.weights = weights
        self.pairs = pairs
        self._allowed = pairs + _transition_costs(self.tags)
        self._features = TokenFeatures(vocabulary)

    @classmethod
    def train(
        cls, sentences: Sequence[list[str]], golds: Sequence[Sequence[str]], epochs: int, rng: np.random.Generator,
        done: Callable[[int], None],
    ) -> SlotTagger:  # fmt: skip
        tags = sorted({tag for gold in golds for tag in gold} | {"O"})
        number = {tag: i for i, tag in enumerate(tags)}
        hashes = TokenFeatures()
        vocabulary = Vocabulary(dict.fromkeys(h for s in sentences for token in hashes(s) for h in token))
        rows = TokenFeatures(vocabulary)
        data = [
            (np.array(rows(s), dtype=np.int32), np.array([number[tag] for tag in gold]))
            for s, gold in zip(sentences, golds, strict=True)
        ]
        # Averaged weights: each step's are counted as often as they were in use, by the usual running sums.
        count, step = len(tags), 0
        forbidden = _transition_costs(tags)
        weights, late = (np.zeros((len(vocabulary), count), np.float32) for _ in range(2))
        pairs, late_pairs = (np.zeros((count, count + 1), np.float32) for _ in range(2))
        for _ in range(epochs):
            for chosen in rng.permutation(len(data)).tolist():
                row, gold = data[chosen]
                step += 1
                guess = np.array(_viterbi([weights[row].sum(axis=1)], pairs + forbidden)[0])
                if not np.array_equal(guess, gold):
                    for path, by in ((gold, 1.0), (guess, -1.0)):
                        before = np.concatenate(([count], path[:-1]))
                        np.add.at(pairs, (path, before), by)
                        np.add.at(late_pairs, (path, before), by * step)
                    for i in np.flatnonzero(gold != guess).tolist():
                        for tag, by in ((gold[i], 1.0), (guess[i], -1.0)):
                            weights[row[i], tag] += by
                            late[row[i], tag] += by * step
                done(1)
        weights -= late / max(step, 1)
        pairs -= late_pairs / max(step, 1)
        weights[0] = 0.0
        weights, pairs = ((np.round(a * _TAG_GRAIN) / _TAG_GRAIN).astype(np.float32) for a in (weights, pairs))
        used = np.asarray(weights.any(axis=1))  # most features of rare words never made a difference
        kept = Vocabulary(h for h, row in vocabulary.rows.items() if used[row])
        used[0] = True
        return cls(tags, kept, np.ascontiguousarray(weights[used]), pairs)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for each token of each sentence."""
        rows = [np.array(self._features(sentence), dtype=np.int32) for sentence in sentences]
        starts = [(owner, at) for owner, row in enumerate(rows) for at in range(0, len(row), _WINDOW)]
        pieces = [rows[owner][at : at + _WINDOW] for owner, at in starts]
        found: list[list[int]] = [[] for _ in pieces]
        # All pieces go forward together, longest first, each until it ends.
        order = sorted(range(len(pieces)), key=lambda i: -len(pieces[i]))
        for start in range(0, len(order), 64):
            together = order[start : start + 64]
            emissions = [self.weights[pieces[i]].sum(axis=1) for i in together]
            for i, best in zip(together, _viterbi(emissions, self._allowed), strict=True):
                found[i] = best
        out: list[list[str]] = [[] for _ in sentences]
        for (owner, _), best in zip(starts, found, strict=True):
            out[owner] += [self.tags[i] for i in best]
        return out

    def loss(self, sentence: Sequence[str], gold: Sequence[str]) -> float:
        """How much higher another tag scores than the right one, with right ones around it, where that is most."""
        number = {tag: i for i, tag in enumerate(self.tags)}
        if any(tag not in number for tag in gold):
            return _MOST_LOSS
        right, places = np.array([number[tag] for tag in gold]), np.arange(len(gold))
        before = np.concatenate(([len(self.tags)], right[:-1]))
        rows = np.array(self._features(sentence), dtype=np.int32)
        scores = np.asarray(self.weights[rows].sum(axis=1)) + self._allowed[:, before].T
        scores[:-1] += self._allowed[right[1:], : len(self.tags)]
        own = scores[places, right].copy()
        scores[places, right] = -np.inf
        return float((scores.max(axis=1) - own).max())


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
    paths = []
    for i in range(count):
        path = [int(scores[i].argmax())]
        for t in range(lengths[i] - 1, 0, -1):
            path.append(int(back[t, i, path[-1]]))
        paths.append(path[::-1])
    return paths


def _transition_costs(tags: list[str]) -> Floats:
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

    def __init__(self, card: IntentCard, vocabulary: Vocabulary, weights: Floats, tagger: SlotTagger | None) -> None:
        self.card = card
        self._vocabulary = vocabulary
        self._weights = weights
        self._tagger = tagger

    @classmethod
    def train(cls, examples: Iterable[Example], task: str, seed: int = 0, progress: bool = False) -> Intent:
        """A model of these examples; the same for the same examples, in the same order, and seed."""
        examples = cls.checked_examples(examples, task, "classify", "slu")
        labels, numbers = numbered([e.gold["intent"] if task == "slu" else e.gold for e in examples])
        epochs = _SOFTMAX_EPOCHS + (_TAGGER_EPOCHS if task == "slu" else 0)
        stream = Seeds(seed, NAME, VERSION_OF_MODEL).stream("", 0)
        with Progress("training", epochs * len(examples)) if progress else Quiet() as counted:
            featured = [utterance_features(e.inputs) for e in examples]
            vocabulary = Vocabulary(dict.fromkeys(h for hashes in featured for h in hashes))
            rows = [np.array([vocabulary.rows[h] for h in hashes], dtype=np.int32) for hashes in featured]
            shape = (len(vocabulary), len(labels))
            weights = train_softmax(rows, np.array(numbers), shape, _SOFTMAX_EPOCHS, stream.numpy(), counted.add)
            tagger = None
            if task == "slu":
                sentences = [e.inputs["text"].split(" ") for e in examples]
                golds = [e.gold["slots"] for e in examples]
                tagger = SlotTagger.train(sentences, golds, _TAGGER_EPOCHS, stream.numpy(), counted.add)
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
        return np.array([get(h, 0) for h in utterance_features(inputs)], dtype=np.int32)

    def arrays(self) -> Arrays:
        arrays: dict[str, Any] = {"features": self._vocabulary.hashes(), "weights": self._weights}
        if self._tagger:
            arrays |= {"tag_features": self._tagger.vocabulary.hashes(), "tag_weights": self._tagger.weights}
            arrays["tag_pairs"] = self._tagger.pairs
        return arrays

    @classmethod
    def rebuilt(cls, card: IntentCard, arrays: Arrays) -> Self:
        tagger = card.tags and SlotTagger(
            card.tags, Vocabulary(arrays["tag_features"].tolist()), arrays["tag_weights"], arrays["tag_pairs"]
        )
        return cls(card, Vocabulary(arrays["features"].tolist()), arrays["weights"], tagger or None)
