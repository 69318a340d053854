"""Where work is done: in this process, in processes on this machine, or on Ray; and the pools that do it."""

from __future__ import annotations

import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol

from unswayed.base import errors
from unswayed.base.errors import UnswayedError
from unswayed.base.own_code import is_debugging
from unswayed.base.secrets import masked
from unswayed.run.plan import Engine


class Work(Protocol):
    """What a process does to blocks, one after another or, where it may, from several threads."""

    def do(self, block: Any) -> Any: ...

    def close(self) -> None:
        """Lets go of what it holds, if anything."""
        return


class Job(Protocol):
    """Plain data that can be sent to another process, from which that process makes its work, once."""

    def start(self) -> Work: ...


class WorkerCrash(NamedTuple):
    """What is heard of a worker that died; it stands for the result of a block under which worker after worker did."""

    reason: str


class Raised(NamedTuple):
    """An error of a worker, as it can be sent: errors' constructors differ, their messages are all alike."""

    kind: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        name = type(error).__name__
        if is_debugging():  # the way that it came ends with this process
            sys.stderr.write(masked("".join(traceback.format_exception(error))))
        return cls(name, str(error) if isinstance(error, UnswayedError) else f"a worker failed: {name}: {error}")

    def error(self) -> UnswayedError:
        kind = getattr(errors, self.kind, UnswayedError)
        kind = kind if isinstance(kind, type) and issubclass(kind, UnswayedError) else UnswayedError
        error: UnswayedError = kind.__new__(kind)
        Exception.__init__(error, self.message)
        return error


def do_block(work: Work, block: Any) -> Any:
    """The result, or the error as it can be sent."""
    try:
        return work.do(block)
    except Exception as error:
        return Raised.of(error)


class Pool(ABC):
    """Takes blocks while it has `room`, and gives their results as they come, each with its block's number."""

    ahead: int  # blocks that may be under way at once
    _given = 0
    _under_way = 0

    @property
    def room(self) -> bool:
        return self._under_way < self.ahead

    @property
    def idle(self) -> bool:
        return self._under_way == 0

    def give(self, block: Any, alone: bool = False) -> int:
        """Hands over a block, `alone` if workers are known to die near it; returns its number."""
        self._given += 1
        self._under_way += 1
        self._hand_over(self._given, block, alone)
        return self._given

    def take(self) -> tuple[int, Any]:
        """Waits for a result. An error in a worker is raised here."""
        result = self._next()
        self._under_way -= 1
        return result

    @abstractmethod
    def _hand_over(self, number: int, block: Any, alone: bool) -> None: ...

    @abstractmethod
    def _next(self) -> tuple[int, Any]: ...

    def ready(self) -> Iterator[tuple[int, Any]]:
        """Results that need not be waited for."""
        return iter(())

    @abstractmethod
    def finished(self) -> list[tuple[int, Any]]:
        """Results that are there already, for one who will wait for no more."""

    @abstractmethod
    def close(self) -> None:
        """Ends what the pool started; blocks under way are dropped."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OrderedResults:
    """Each block with its result, in the blocks' order; a slow one holds up at most a few that come after it.

    `next_block` gives None where there is none yet, or no more. Results that are bytes are held up to `most` of them,
    so that a pool is kept busy by one who wants no result yet.
    """

    def __init__(self, pool: Pool, next_block: Callable[[], Any], most: int = 0) -> None:
        self._pool, self._next_block, self._most = pool, next_block, most
        self._coming: dict[int, Any] = {}
        self._done: dict[int, Any] = {}
        self._held = 0  # bytes of results

    def go_on(self) -> None:
        """Gives the pool what it has room for, and waits for nothing."""
        for number, result in self._pool.ready():
            self._keep(number, result)
        self._give()

    def _give(self) -> None:
        while self._pool.room and (len(self._coming) < 2 * self._pool.ahead or self._held < self._most):
            block = self._next_block()
            if block is None:
                return
            self._coming[self._pool.give(block)] = block

    def _keep(self, number: int, result: Any) -> None:
        self._done[number] = result
        self._held += _size(result)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        while True:
            self._give()
            if not self._coming:
                return
            first = next(iter(self._coming))
            while first not in self._done:
                self._keep(*self._pool.take())
            result = self._done.pop(first)
            self._held -= _size(result)
            yield self._coming.pop(first), result


def _size(result: Any) -> int:
    return len(result) if isinstance(result, bytes) else 0


def results_in_order(pool: Pool, blocks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    source = iter(blocks)
    return iter(OrderedResults(pool, lambda: next(source, None)))


class InProcessPool(Pool):
    """Work done in this process; in several threads where the work waits for others, as requests over a wire do.

    Work may say that it bears more `threads` than it began with, as a function does that is seen to wait.
    """

    def __init__(self, work: Work, threads: int = 1) -> None:
        self._work, self._threads, self._started, self._closed = work, 1, 0, False
        self._blocks: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self._block: tuple[int, Any] | None = None
        self.ahead = 1
        self._widen(threads)

    def _widen(self, threads: int) -> None:
        if threads > self._threads:
            self._threads, self.ahead = threads, 2 * threads

    def _hand_over(self, number: int, block: Any, alone: bool) -> None:
        if self._threads == 1:
            self._block = number, block
            return
        self._blocks.put((number, block))
        if self._started < min(self._threads, self._under_way):  # daemons: an interrupted command ends at once
            self._started += 1
            Thread(target=self._do_blocks, name=f"unswayed {self._started}", daemon=True).start()

    def _do_blocks(self) -> None:
        while (given := self._blocks.get()) is not None and not self._closed:
            number, block = given
            try:
                self._results.put((number, self._work.do(block), None))
            except BaseException as error:
                self._results.put((number, None, error))

    def _next(self) -> tuple[int, Any]:
        if self._block is not None:
            (number, block), self._block = self._block, None
            result = self._work.do(block)
            self._widen(getattr(self._work, "threads", 1))
            return number, result
        number, result, error = self._results.get()
        if error is not None:
            raise error
        return number, result

    def finished(self) -> list[tuple[int, Any]]:
        found = []
        with suppress(Empty):
            while True:
                number, result, error = self._results.get_nowait()
                if error is None:
                    found.append((number, result))
        return found

    def close(self) -> None:
        self._closed = True
        for _ in range(self._started):
            self._blocks.put(None)


def raise_crashes(done: Iterable[tuple[Any, Any]], doing: Callable[[Any], str]) -> Iterator[tuple[Any, Any]]:
    """The same; an error if workers died of a block, where `doing` says what is done to it."""
    for block, result in done:
        if isinstance(result, WorkerCrash):
            raise UnswayedError(f"Workers die while they {doing(block)}: {result.reason}.")
        yield block, result


Map = Callable[[Iterable[Any]], Iterator[tuple[Any, Any]]]  # blocks → each with its result, in order


def open_pool(engine: Engine, job: Job, threads: int = 1) -> Pool:
    """Workers for a job; `threads` are how many blocks each of them may do at once."""
    if engine.here:
        return InProcessPool(job.start(), threads)
    if engine.name == "local":
        from unswayed.run.process_pool import ProcessPool

        return ProcessPool(job, engine.workers or 1, threads)
    from unswayed.run.ray_pool import RayPool

    address = engine.name if engine.name.startswith("ray://") else engine.name.partition(":")[2]
    return RayPool(address, job, engine.workers, threads, engine.gpus)


@contextmanager
def mapped_on(engine: Engine, job: Job, doing: Callable[[Any], str]) -> Iterator[Map]:
    """Does a job to a stream of blocks, whose results come in the blocks' order.

    `doing` says what is done to a block, for the error if workers die of it: `vary rows 1 to 512`.
    """
    with open_pool(engine, job) as pool:
        yield lambda blocks: raise_crashes(results_in_order(pool, blocks), doing)
