"""A small classifier of utterances, with slot tags where the data has them, that trains in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from unfazed.core.ids import content_id
from unfazed.core.progress import Progress
from unfazed.core.seeds import Seeds
from unfazed.core.values import Example, Inputs, Json
from unfazed.systems.baselines._features import Floats, Rows, UtteranceFeatures, Vocabulary
from unfazed.systems.baselines._saved import Arrays, Card, Quiet, SavedSystem, numbered
from unfazed.systems.baselines._softmax import best_labels, train_softmax
from unfazed.systems.baselines._tagger import Tagger
from unfazed.systems.system import Failed

NAME = "baselines/intent"
VERSION_OF_MODEL = 1
_SOFTMAX_EPOCHS = 12
_TAGGER_EPOCHS = 8


class IntentCard(Card, frozen=True, kw_only=True):
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
        card = IntentCard(
            system=NAME,
            version=VERSION_OF_MODEL,
            task=task,
            labels=labels,
            tags=tagger.tags if tagger else None,
            seed=seed,
            examples=len(examples),
            data=content_id([[e.inputs, e.gold] for e in examples], 16),
        )
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

    @classmethod
    def sample(cls) -> Intent:
        said = {"play some jazz": ("play", "O O B-genre"), "play loud rock": ("play", "O O B-genre")}
        said |= {"will it rain today": ("weather", "O O O B-day"), "rain on monday": ("weather", "O O B-day")}
        golds = [{"intent": intent, "slots": tags.split(" ")} for intent, tags in said.values()]
        examples = [Example(i, str(i), {"text": text}, golds[i]) for i, text in enumerate(said)]
        return cls.train(examples, "slu")
