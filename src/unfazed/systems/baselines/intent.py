"""A small classifier of utterances, with slot tags where the data has them, that trains in seconds."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import msgspec
import numpy as np

from unfazed.core.errors import DataError, StoredFileError, UsageError
from unfazed.core.ids import canonical, content_id, file_hash
from unfazed.core.progress import Progress
from unfazed.core.seeds import Seeds
from unfazed.core.task import task_named
from unfazed.core.values import Example, Inputs, Json
from unfazed.core.version import VERSION
from unfazed.systems.baselines._features import Floats, Rows, UtteranceFeatures, Vocabulary
from unfazed.systems.baselines._softmax import best_labels, train_softmax
from unfazed.systems.baselines._tagger import Tagger
from unfazed.systems.system import Failed, System

NAME = "baselines/intent"
VERSION_OF_MODEL = 1
_SOFTMAX_EPOCHS = 12
_TAGGER_EPOCHS = 8


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """`system.json`: what the model is, what it was trained on, and the hash of its weights' file."""

    system: str = NAME
    version: int = VERSION_OF_MODEL
    unfazed: str = VERSION
    task: str
    labels: list[Json]
    tags: list[str] | None
    seed: int
    examples: int
    data: str
    identity: str = ""
    weights: str = ""


class Intent(System):
    """Logistic regression over words and letters; for `slu` also an averaged perceptron over the tokens."""

    name = NAME
    batch_size = 256

    def __init__(self, card: Card, vocabulary: Vocabulary, weights: Floats, tagger: Tagger | None) -> None:
        self.card = card
        self._vocabulary = vocabulary
        self._weights = weights
        self._tagger = tagger
        self._features = UtteranceFeatures()

    @classmethod
    def train(cls, examples: Iterable[Example], task: str, seed: int = 0, progress: bool = False) -> Intent:
        """A model of these examples; the same for the same examples, in the same order, and seed."""
        examples = _checked(list(examples), task)
        labels, numbers = _numbered([e.gold["intent"] if task == "slu" else e.gold for e in examples])
        epochs = _SOFTMAX_EPOCHS + (_TAGGER_EPOCHS if task == "slu" else 0)
        stream = Seeds(seed, NAME, VERSION_OF_MODEL).stream("", 0)
        with Progress("training", epochs * len(examples)) if progress else _Quiet() as counted:
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
        card = Card(
            task=task,
            labels=labels,
            tags=tagger.tags if tagger else None,
            seed=seed,
            examples=len(examples),
            data=content_id([[e.inputs, e.gold] for e in examples], 16),
        )
        return cls(card, vocabulary, weights, tagger)

    @cached_property
    def _content(self) -> str:
        h = blake2b(
            canonical([NAME, VERSION_OF_MODEL, self.card.task, self.card.labels, self.card.tags]), digest_size=16
        )
        for name, array in sorted(self._arrays().items()):
            h.update(canonical([name, str(array.dtype), array.shape]))
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()

    @property
    def identity(self) -> str:
        return f"{NAME} {self._content}"

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

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {"features": self._vocabulary.hashes(), "weights": self._weights}
        if self._tagger:
            arrays |= {
                "tag_features": self._tagger.vocabulary.hashes(),
                "tag_weights": self._tagger.weights,
                "tag_pairs": self._tagger.pairs,
            }
        return arrays

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Writes `system.json` and `weights.npz`; the folder appears only when both are whole."""
        folder = Path(folder)
        if _holds(folder, self.identity):
            return folder
        _refuse_existing(folder, overwrite)
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir()
            np.savez_compressed(partial / "weights.npz", **self._arrays())
            card = msgspec.structs.replace(
                self.card, identity=self.identity, weights=file_hash(partial / "weights.npz")
            )
            (partial / "system.json").write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
            if folder.exists():
                shutil.rmtree(folder)
            partial.rename(folder)
        except OSError as error:
            raise StoredFileError(f"{folder}: the system can't be written ({error.strerror or error}).") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Intent:
        """The model that `save` wrote; raises if a file is missing, changed or of another version."""
        folder = Path(folder)
        card = _read_card(folder / "system.json")
        file = folder / "weights.npz"
        try:
            content = file.read_bytes()
            if file_hash(file) != card.weights:
                raise ValueError("it is not the file that was saved")
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                vocabulary = Vocabulary(arrays["features"].tolist())
                weights = arrays["weights"]
                tagger = card.tags and Tagger(
                    card.tags, Vocabulary(arrays["tag_features"].tolist()), arrays["tag_weights"], arrays["tag_pairs"]
                )
        except (OSError, ValueError, KeyError, BadZipFile) as error:
            raise StoredFileError(
                f"{file}: the weights can't be read ({error}). Train and save the system again."
            ) from error
        return cls(card, vocabulary, weights, tagger or None)

    @classmethod
    def sample(cls) -> Intent:
        said = {"play some jazz": ("play", "O O B-genre"), "play loud rock": ("play", "O O B-genre")}
        said |= {"will it rain today": ("weather", "O O O B-day"), "rain on monday": ("weather", "O O B-day")}
        golds = [{"intent": intent, "slots": tags.split(" ")} for intent, tags in said.values()]
        examples = [Example(i, str(i), {"text": text}, golds[i]) for i, text in enumerate(said)]
        return cls.train(examples, "slu")


class _Quiet:
    """Counts for nobody."""

    def __enter__(self) -> _Quiet:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add(self, count: int = 1) -> None:
        pass


def _checked(examples: list[Example], task: str) -> list[Example]:
    if task not in ("slu", "classify"):
        raise UsageError(f"{NAME} learns the tasks classify and slu, not {task!r}.")
    if not examples:
        raise UsageError(f"{NAME} was given no examples to learn from.")
    problem_of = task_named(task).gold_problem
    for example in examples:
        if problem := problem_of(example):
            raise DataError(f"example {example.id!r} (row {example.row}) can't be learnt from: {problem}")
    return examples


def _numbered(golds: list[Json]) -> tuple[list[Json], list[int]]:
    """The labels in a fixed order, and the number of each gold's. Told apart as JSON, in which 1 is not true."""
    keys = [canonical(gold) for gold in golds]
    label_of = dict(zip(keys, golds, strict=True))
    number = {key: i for i, key in enumerate(sorted(label_of))}
    return [label_of[key] for key in number], [number[key] for key in keys]


def _holds(folder: Path, identity: str) -> bool:
    """Is this very system saved there already, whole?"""
    try:
        return Intent.load(folder).identity == identity
    except StoredFileError:
        return False


def _refuse_existing(folder: Path, overwrite: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / "system.json").is_file():
        raise UsageError(f"{folder} exists and is not a saved system. Choose another place.")
    if not overwrite:
        raise UsageError(f"{folder} holds another system. Say overwrite, or choose another place.")


def _read_card(file: Path) -> Card:
    try:
        card = msgspec.json.decode(file.read_bytes(), type=Card)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoredFileError(
            f"{file}: this can't be read as a saved {NAME} ({error}). Train and save it again."
        ) from error
    if (card.system, card.version) != (NAME, VERSION_OF_MODEL):
        raise StoredFileError(
            f"{file}: this is {card.system} version {card.version}, and {NAME} version {VERSION_OF_MODEL} is needed. "
            f"Train and save it again."
        )
    return card
