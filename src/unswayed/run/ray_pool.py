"""Workers on Ray: actors, each of which holds its work, such as operators, scorers or a model."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

from unswayed.base.errors import MissingExtra, UnswayedError, UsageError
from unswayed.base.gc_pause import collect_seldom
from unswayed.base.registry import VERSION
from unswayed.run.process_pool import READY, Ticket, Worker, WorkerPool
from unswayed.run.workers import Job, Raised, Work, WorkerCrash, do_block

_GRACE = 2.0  # seconds in which actors may let go of what they hold
_TRIES = 3  # to start a session
_PATIENCE = 30.0  # seconds after which a cluster that has no place for a worker is told of


class RayPool(WorkerPool):
    """Actors, one for each CPU of the cluster, or for its share of GPUs, unless something else is said."""

    def __init__(self, address: str, job: Job, size: int | None, threads: int = 1, gpus: float = 0.0) -> None:
        self._ray, self._ours = connected(address, size)
        has = self._ray.cluster_resources()
        fit = has.get("GPU", 0) / gpus if gpus else has.get("CPU", 0)
        super().__init__(size or max(1, int(fit)), threads)
        self._job = job
        self._hand = self._ray.remote(RayActor).options(
            num_cpus=1, num_gpus=gpus, max_concurrency=threads, max_restarts=0, scheduling_strategy="SPREAD"
        )
        self._under_way_at: dict[Any, tuple[Worker, int]] = {}
        self._told = False

    def _start_worker(self) -> Worker:
        worker = _Actor(self._hand.remote(VERSION, os.getcwd(), sys.path), self._ray, self._under_way_at)
        self._under_way_at[worker.actor.start.remote(self._job)] = worker, READY
        return worker

    def _receive(self, wait: bool) -> list[tuple[Worker, int, Any]]:
        if not self._under_way_at:
            return []
        ready, _ = self._ray.wait(list(self._under_way_at), num_returns=1, timeout=_PATIENCE if wait else 0)
        if wait and not ready and not self._told and not any(worker.ready for worker in self._workers):
            self._told = True
            free = self._ray.available_resources()
            room = f"{free.get('CPU', 0):g} CPUs and {free.get('GPU', 0):g} GPUs"
            sys.stderr.write(f"No worker has started on Ray yet; {self.size} are wanted, and {room} are free.\n")
        heard = []
        for ref in ready:
            try:
                said = self._ray.get(ref)
            except self._ray.exceptions.RayError as error:  # the actor or its node died, or its result did with them
                said = WorkerCrash(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")
            heard.append((*self._under_way_at.pop(ref), said))
        return heard

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._under_way_at.clear()
            if self._ours:
                self._ray.shutdown()


class _Actor(Worker):
    def __init__(self, actor: Any, ray: Any, under_way: dict[Any, tuple[Worker, int]]) -> None:
        super().__init__()
        self.actor, self._ray, self._under_way = actor, ray, under_way
        self._leaving: Any = None

    def send(self, ticket: Ticket) -> None:
        self._under_way[self.actor.do.remote(ticket.block)] = self, ticket.number

    def leave(self) -> None:
        if self.ready and not self.tickets:
            self._leaving = self.actor.close.remote()

    def end(self) -> None:
        for ref in [ref for ref, (worker, _) in self._under_way.items() if worker is self]:
            del self._under_way[ref]
        with suppress(self._ray.exceptions.RayError):
            if self._leaving is not None:
                self._ray.get(self._leaving, timeout=_GRACE)
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self.actor)


class RayActor:
    """What an actor is: it makes its work once, then does what it is given."""

    def __init__(self, version: str, folder: str, path: list[str]) -> None:
        self._version, self._folder, self._path = version, folder, path
        self._work: Work | None = None

    def start(self, job: Job) -> Raised | None:
        try:
            if self._version != VERSION:
                raise UsageError(f"A node of the Ray cluster has unswayed {VERSION}, this process {self._version}.")
            # A module or model is found as the driver finds it, where the node has it at the same place.
            sys.path += [place for place in self._path if place not in sys.path]
            with suppress(OSError):
                os.chdir(self._folder)
            collect_seldom()
            self._work = job.start()
        except Exception as error:
            return Raised.of(error)
        return None

    def do(self, block: Any) -> Any:
        assert self._work is not None
        return do_block(self._work, block)

    def close(self) -> None:
        if self._work is not None:
            self._work.close()


def connected(address: str, size: int | None) -> tuple[Any, bool]:
    """Ray, and whether it was we who connected to it. Without an address it is started here, or as RAY_ADDRESS says."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what it will be; unset, Ray warns of it
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("The engine ray", "ray") from error
    if ray.is_initialized():
        return ray, False
    address = address or os.environ.get("RAY_ADDRESS", "local")
    cpus = size or os.cpu_count()
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    options |= {"include_dashboard": False, "num_cpus": cpus} if address == "local" else {}
    handler = signal.getsignal(signal.SIGTERM)
    for tries_left in reversed(range(_TRIES)):
        try:
            ray.init(address, **options)
            break
        except Exception as error:  # whatever gRPC, sockets and Ray itself raise
            # A head that answers `ray://` fails to start a session now and then; the next time it does not.
            if not tries_left or not isinstance(error, ConnectionAbortedError):
                raise UnswayedError(f"Ray ({address}) can't be reached or started: {error}") from error
            ray.shutdown()
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)  # Ray's own would end the command without storing what is there
    return ray, True
