"""Where work is done: in this process, in processes on this machine, or on Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec

from unfazed.core.errors import UsageError
from unfazed.run.pool import Here, Job, Pool, in_order

Map = Callable[[Iterable[Any]], Iterator[tuple[Any, Any]]]  # blocks → each with its result, in order


class Engine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How work is done, which changes the speed and nothing else.

    `name` is `local`; `ray`, started on this machine or found by RAY_ADDRESS; `ray:ADDRESS` from a machine of the
    cluster, as in `ray:auto`; or `ray://HOST:PORT` from outside it. `workers` is 1 locally, on Ray one for each CPU.
    `gpus` is what each worker on Ray has for itself; there are then as many workers as that allows.
    """

    name: str = "local"
    workers: int | None = None
    gpus: float = 0.0

    def __post_init__(self) -> None:
        kind, colon, _ = self.name.partition(":")
        if kind not in ("local", "ray") or (kind == "local" and colon):
            raise UsageError(f"There is no engine {self.name!r}: say local, ray, ray:ADDRESS or ray://HOST:PORT.")
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers must be 1 or more, not {self.workers}.")
        if self.gpus < 0 or (self.gpus and kind == "local"):
            raise UsageError('gpus must be 0 or more, and are dealt out by Ray alone: say name = "ray".')

    @property
    def here(self) -> bool:
        """Is all work done in this process?"""
        return self.name == "local" and (self.workers or 1) == 1

    def pool(self, job: Job, threads: int = 1) -> Pool:
        """Workers for a job; `threads` are how many blocks each of them may do at once."""
        if self.here:
            return Here(job.start(), threads)
        if self.name == "local":
            from unfazed.run.local import LocalCrew

            return LocalCrew(job, self.workers or 1, threads)
        from unfazed.run.on_ray import RayCrew

        return RayCrew(self._address, job, self.workers, threads, self.gpus)

    @contextmanager
    def map(self, job: Job) -> Iterator[Map]:
        """Does a job to a stream of blocks, for work that holds nothing dear; on Ray it is Ray Data that does it."""
        if self.name.startswith("ray") and not self._outside:
            from unfazed.run.on_ray_data import DataMap

            with DataMap(self._address, job, self.workers) as data:
                yield data.in_order
        else:
            with self.pool(job) as pool:
                yield partial(in_order, pool)

    @property
    def _outside(self) -> bool:
        """Is this process no part of the Ray cluster? Ray Data can't be used through a client, so actors are."""
        return (self._address or os.environ.get("RAY_ADDRESS", "")).startswith("ray://")

    @property
    def _address(self) -> str:
        return self.name if self.name.startswith("ray://") else self.name.partition(":")[2]
