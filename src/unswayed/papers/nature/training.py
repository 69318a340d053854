"""The systems of the NATURE study: trained with and without augmentation, two at a time, and the one that selects."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from unswayed.base import Example, StoredFileError, UnswayedError, UsageError, content_id
from unswayed.mitigate import augment_examples
from unswayed.papers.nature.corpora import SluCorpus, examples_in
from unswayed.papers.nature.strategies import STRATEGIES, strategies
from unswayed.systems import Intent, systems
from unswayed.vary import OperatorSpec

_AT_ONCE = 2
LINEAR = "linear"  # the embedded classifier, which needs no torch and trains in seconds


class Training(NamedTuple):
    """One model to train, and where to save it. It goes on where it was stopped, and ends at once where it is done."""

    corpus: SluCorpus
    augmented: bool
    to: Path
    model: str
    encoder: str | None
    seed: int
    epochs: int | None
    lr: float | None = None
    limit: int | None = None  # utterances to learn from, of those in train
    masked_lm: str | None = None  # for the strategies `synonym` and `context` of augmentation

    @property
    def name(self) -> str:
        with_ = " with augmentation" if self.augmented else ""
        return f"{self.corpus.name}{with_}, {self.model}, seed {self.seed}"


def train_all(trainings: Sequence[Training]) -> None:
    """Trains each in a process of its own, one thread each, so that the weights are those of a training alone."""
    if not trainings:
        return
    workers = min(_AT_ONCE, len(trainings), os.cpu_count() or 1)
    largest_first = sorted(trainings, key=lambda t: (-t.augmented, t.seed, t.corpus.name))
    with get_context("spawn").Pool(workers, maxtasksperchild=1) as pool:  # leaving it ends what still trains
        for problem in pool.imap_unordered(_train, largest_first, chunksize=1):
            if problem is not None:
                raise UsageError(problem)


def _train(training: Training) -> str | None:
    """What went wrong, or None. Errors cross processes as text, since not all of them can be rebuilt."""
    if training.model == LINEAR:
        _linear(_learnt(training.corpus.train, training), training.to, training.seed)
        return None
    corpus, cls = training.corpus, systems.get(f"slu/{training.model}")
    settings = {"seed": training.seed, "epochs": training.epochs, "lr": training.lr, "threads": 1}
    if training.augmented:  # twice the data, so half the epochs: as many steps as without
        settings["epochs"] = -(-(training.epochs or cls.defaults.epochs) // 2)  # type: ignore[attr-defined]
    try:
        learn = _learnt(corpus.train, training)
        dev = None if corpus.valid is None else _learnt(corpus.valid, training)
        with redirect_stderr(_Named(f"{training.name}: ")):
            cls.train(  # type: ignore[attr-defined]
                learn, dev, encoder=training.encoder, to=training.to, progress=True, **settings
            )
    except UnswayedError as error:
        return f"{training.name}: {error}"
    return None


def _learnt(part: Path, training: Training) -> list[Example]:
    """The examples of a part; with augmentation, each with a copy by one of the six strategies."""
    examples = list(examples_in(part))
    if training.limit is not None and part == training.corpus.train and training.limit < len(examples):
        step = len(examples) / training.limit  # evenly spaced, since files may be sorted by intent
        examples = [examples[int(n * step)] for n in range(training.limit)]
    if not training.augmented:
        return examples
    learnt_from = lambda: examples_in(training.corpus.train)  # noqa: E731  strategies learn from training data alone
    names: list[str | OperatorSpec] = list(STRATEGIES)
    if training.masked_lm is not None:
        names[names.index("synonym")] = OperatorSpec("spoken/synonym_any", {"model": training.masked_lm})
    chosen = strategies(names, learnt_from, training.masked_lm)
    return list(augment_examples(examples, chosen, training.seed, task="slu", language="en"))


class _Named(io.TextIOBase):
    """Standard error with a name before each line, since several processes write there."""

    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, text: str) -> int:
        return sys.__stderr__.write(self.name + text) if sys.__stderr__ and text.strip() else 0


def selector_of(corpus: SluCorpus, to: Path, seed: int) -> Intent:
    """The embedded classifier of the data set, which is not among the systems under test; trained once."""
    return _linear(list(examples_in(corpus.train)), to, seed)


def _linear(examples: list[Example], to: Path, seed: int) -> Intent:
    try:
        saved = Intent.load(to)
        if (saved.card.data, saved.card.seed) == (content_id([[e.inputs, e.gold] for e in examples], 16), seed):
            return saved
    except StoredFileError:
        pass
    system = Intent.train(examples, "slu", seed=seed, progress=True)
    system.save(to, overwrite=True)
    return system
