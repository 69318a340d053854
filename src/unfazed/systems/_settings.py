"""What decides a training besides the data, and what a network must know of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from unfazed.core.errors import UsageError, nearest


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a training. Each model has defaults of its own."""

    epochs: int = 30
    patience: int = 8  # epochs without a better score on dev before it stops
    batch_size: int = 32
    lr: float = 2e-3
    weight_decay: float = 0.0
    average: float = 0.999  # of the weights over steps; 0: the last ones are taken
    dropout: float = 0.5
    word_dropout: float = 0.1  # share of words hidden from training, so that unknown ones are met there too
    forcing: float = 0.9  # share of batches in which a decoder reads the right tags instead of its own
    min_count: int = 2  # words seen less often are known by their letters only
    words: int = 128
    letters: int = 32
    filters: int = 64
    hidden: int = 128
    layers: int = 1
    seed: int = 0
    threads: int = 1


class Labels(msgspec.Struct, frozen=True):
    """The intents and tags of the training data, in the order of the network's outputs."""

    intents: list[str]
    tags: list[str]


def changed(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings with these options; those that are None stay as they are."""
    given = {name: value for name, value in options.items() if value is not None}
    unknown = next((name for name in given if name not in Settings.__struct_fields__), None)
    if unknown is not None:
        near = nearest(unknown, Settings.__struct_fields__)
        raise UsageError(f"Training has no option {unknown!r}." + (f" Did you mean {near!r}?" if near else ""))
    try:
        new = msgspec.convert(msgspec.structs.asdict(settings) | given, Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"Training can't have these options: {error}.") from None
    at_least_one = ("epochs", "patience", "batch_size", "words", "letters", "filters", "hidden", "layers", "threads")
    low = next((name for name in at_least_one if getattr(new, name) < 1), None)
    if low is not None or new.lr <= 0:
        raise UsageError(f"Training needs {low or 'lr'} to be {'1 or more' if low else 'more than 0'}.")
    share = next((n for n in ("average", "dropout", "word_dropout") if not 0 <= getattr(new, n) < 1), None)
    if share is not None:
        raise UsageError(f"Training needs {share} to be 0 or more and less than 1.")
    return new
