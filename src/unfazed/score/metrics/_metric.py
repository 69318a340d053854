"""The contract of a metric under test, and the cache through which it is asked."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

from unfazed.core.errors import DataError, SystemBroken, UsageError
from unfazed.core.ids import content_id
from unfazed.core.json import decode

BATCH = 1024  # items that a metric is given at once


class Item(NamedTuple):
    """What is scored: a candidate, with what the metric may compare it to, and the tag of a language or dialect."""

    candidate: str
    reference: str | None = None
    source: str | None = None
    tag: str | None = None


class Metric:
    """Extend, and put in `score/metrics/NAME.py`, or behind the entry point `unfazed.metrics`.

    `__init__`'s keyword arguments are the metric's parameters, as in `yisi1:alpha=0.5`. A score that is no finite
    number is counted as missing.
    """

    name: str = ""
    version: ClassVar[int] = 1
    uses: tuple[str, ...] = ("reference",)  # of reference, source and tag; the others make no difference
    tags: tuple[str, ...] | None = None  # the tags that it has learnt, where it uses them; None: any

    def learn(self, references: Sequence[str]) -> None:
        """Takes in all references of a language before any is scored, where their frequencies matter."""

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        """A score for each item, higher for better."""
        raise NotImplementedError

    def identity(self) -> object:
        """Everything that decides the scores."""
        return [self.name, self.version]


class Scores:
    """Asks a metric in batches, nothing twice; with a file, not in a later run either."""

    def __init__(self, metric: Metric, file: Path | None = None) -> None:
        self.metric = metric
        self._file = file
        self._known: dict[str, float | None] = _read(file) if file and file.exists() else {}
        self._identity = metric.identity()  # once, as it may read weights
        self._learnt = ""

    def learn(self, references: Sequence[str]) -> None:
        if type(self.metric).learn is not Metric.learn:
            self.metric.learn(references)
            self._learnt = content_id([list(references)])

    def score(self, items: Iterable[Item]) -> list[float]:
        """The scores, NaN where the metric gave no finite number."""
        items = list(items)
        kept = [self._key(item) for item in items]
        asked = {key: item for key, item in zip(kept, items, strict=True) if key not in self._known}
        pending = list(asked.items())
        for at in range(0, len(pending), BATCH):
            self._ask(pending[at : at + BATCH])
        return [math.nan if (score := self._known[key]) is None else score for key in kept]

    def _key(self, item: Item) -> str:
        seen = [item.candidate, *(getattr(item, name) if name in self.metric.uses else None for name in _COMPARED)]
        return content_id([self._identity, self._learnt, seen], size=16)

    def _ask(self, batch: Sequence[tuple[str, Item]]) -> None:
        items = [item for _, item in batch]
        for item in items:
            _check(item, self.metric)
        found = list(self.metric.scores(items))
        if len(found) != len(items):
            raise SystemBroken(f"{self.metric.name} gave {len(found)} scores for {len(items)} items.")
        new = {key: _finite(score, self.metric.name) for (key, _), score in zip(batch, found, strict=True)}
        self._known |= new
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as file:
                file.write(b"".join(msgspec.json.encode(pair) + b"\n" for pair in new.items()))


_COMPARED = ("reference", "source", "tag")


def _check(item: Item, metric: Metric) -> None:
    for name in metric.uses:
        if getattr(item, name) is None:
            raise UsageError(f"The metric {metric.name} needs a {name}, and there is none for {item.candidate!r:.60}.")


def _finite(score: object, name: str) -> float | None:
    try:
        value = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise SystemBroken(f"{name} gave {score!r:.60} where a score was due.") from error
    return value if math.isfinite(value) else None


def _read(file: Path) -> dict[str, float | None]:
    """What was scored before; a last line that was cut off is taken away, for it is asked again."""
    content = file.read_bytes()
    lines = content.split(b"\n")
    if lines[-1]:
        os.truncate(file, len(content) - len(lines[-1]))  # or what is added next would be joined to it
    try:
        return dict(decode(line, tuple[str, float | None]) for line in lines[:-1])
    except msgspec.MsgspecError as error:
        raise DataError(f"this is not a file of scores ({error}). Remove it.", file) from error
