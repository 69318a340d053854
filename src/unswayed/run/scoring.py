"""Scoring in other processes: pairs of an output and a gold in, their rows of statistics out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec
import numpy as np

from unswayed.base.dependencies import Dependencies
from unswayed.base.recorder import recorder_of
from unswayed.base.task import Task, task_named
from unswayed.run.plan import Engine
from unswayed.run.workers import Map, Work, mapped_on
from unswayed.score import Array, Pair, Scorer, Stats, scorer_named, scorers, stats_here

_BLOCK = 512  # pairs: translations take a tenth of a second
_FEW = 4 * _BLOCK  # that are scored sooner than a process starts


class Scoring(msgspec.Struct, frozen=True):
    """All that another process needs to score the same pairs."""

    task: str

    def start(self) -> ScoringWork:
        return ScoringWork(task_named(self.task))


class ScoringWork(Work):
    """Holds scorers as they are asked for; all share the workers, as there may be no room for more."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._scorers: dict[str, Scorer] = {}

    def do(self, block: tuple[str, Sequence[Pair]]) -> tuple[Array, Dependencies | None]:
        name, pairs = block
        if name not in self._scorers:
            self._scorers[name] = scorer_named(name)
        rows, recorder = stats_here(self._scorers[name], pairs, self._task), recorder_of(type(self._scorers[name]))
        return rows, None if recorder is None else recorder.news()


@contextmanager
def scored_by(engine: Engine) -> Iterator[Stats]:
    """What makes rows of statistics on this engine; workers start when there is enough for them to do."""
    if engine.here:
        yield stats_here
        return
    with ExitStack() as stack:
        scored: Map | None = None

        def stats(scorer: Scorer, pairs: Sequence[Pair], task: Task) -> Array:
            nonlocal scored
            apart = scorer.apart and len(pairs) > _FEW and not scorer.sees_inputs and scorer.name in scorers
            if not apart or scorers.get(scorer.name) is not type(scorer):  # another process would get another by name
                return stats_here(scorer, pairs, task)
            if scored is None:
                scored = stack.enter_context(mapped_on(engine, Scoring(task.name), lambda _: "score"))
            blocks = ((scorer.name, pairs[at : at + _BLOCK]) for at in range(0, len(pairs), _BLOCK))
            parts, recorder = [], recorder_of(type(scorer))
            for _, (rows, found) in scored(blocks):
                parts.append(rows)
                if found is not None and recorder is not None:
                    recorder.elsewhere.add(found)
            return np.concatenate(parts)

        yield stats
