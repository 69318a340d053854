"""Scoring in other processes: pairs of an output and a gold in, their rows of statistics out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec
import numpy as np

from unfazed.core.errors import UnfazedError
from unfazed.core.task import Task, task_named
from unfazed.core.values import Json
from unfazed.run.engines import Engine
from unfazed.run.pool import Lost, Pool, in_order
from unfazed.score import scorers
from unfazed.score._scorer import Array, Pair, Scorer, Stats, stats_here

_BLOCK = 512  # pairs: translations take a tenth of a second
_FEW = 4 * _BLOCK  # that are scored sooner than a process starts


class Scoring(msgspec.Struct, frozen=True):
    """All that another process needs to score the same pairs."""

    scorer: str
    task: str

    def start(self) -> ScoringWork:
        return ScoringWork(scorers.get(self.scorer)(), task_named(self.task))


class ScoringWork:
    def __init__(self, scorer: Scorer, task: Task) -> None:
        self._scorer, self._task = scorer, task

    def do(self, pairs: Sequence[tuple[Json, Json]]) -> Array:
        return stats_here(self._scorer, pairs, self._task)

    def close(self) -> None:
        """Scorers hold nothing that needs to be let go of."""


@contextmanager
def scored_by(engine: Engine) -> Iterator[Stats]:
    """What makes rows of statistics on this engine; workers start when there is enough for them to do."""
    if engine.here:
        yield stats_here
        return
    with ExitStack() as open_pools:
        pools: dict[str, Pool] = {}

        def stats(scorer: Scorer, pairs: Sequence[Pair], task: Task) -> Array:
            if not scorer.apart or len(pairs) <= _FEW:
                return stats_here(scorer, pairs, task)
            if scorer.name not in pools:
                pools[scorer.name] = open_pools.enter_context(engine.pool(Scoring(scorer.name, task.name)))
            blocks = (pairs[at : at + _BLOCK] for at in range(0, len(pairs), _BLOCK))
            return np.concatenate([_rows(found) for _, found in in_order(pools[scorer.name], blocks)])

        yield stats


def _rows(found: Array | Lost) -> Array:
    if isinstance(found, Lost):
        raise UnfazedError(f"Workers die while they score: {found.reason}.")
    return found
