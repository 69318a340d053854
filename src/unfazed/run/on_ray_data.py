"""Varying and scoring on Ray Data: blocks become rows of datasets, and their results come back in the blocks' order."""

from __future__ import annotations

import logging
import os
import sys
import uuid
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from unfazed.core.version import VERSION
from unfazed.run.on_ray import Hand, connected
from unfazed.run.pool import Job, Lost, Raised

_WINDOW = 32  # blocks for each worker in one dataset: enough to make up for its start, few enough for a stream
_A_TASK = 4  # blocks for one task of Ray's


class DataMap:
    """Does a job to streams of blocks. A dataset is of a known length, so a stream is cut into several of them."""

    def __init__(self, address: str, job: Job, size: int | None) -> None:
        self._ray, self._ours = connected(address, size)
        self._size = size or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._do = partial(_do, (uuid.uuid4().hex, job, VERSION, os.getcwd(), sys.path))
        from ray import data

        self._data = data
        logging.getLogger("ray.data").setLevel(logging.ERROR)  # which its import sets to more

    def in_order(self, blocks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Each block with its result."""
        source = iter(blocks)
        while window := list(islice(source, _WINDOW * self._size)):
            done = 0
            try:
                for block, result in zip(window, self._results(window), strict=True):
                    if isinstance(result, Raised):
                        raise result.error()
                    yield block, result
                    done += 1
            except self._ray.exceptions.RayError as error:  # after Ray has tried again by itself
                yield window[done], Lost(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")

    def _results(self, window: list[Any]) -> Iterator[Any]:
        tasks = -(-len(window) // _A_TASK)
        rows = self._data.from_items([{"block": Sealed(block)} for block in window], override_num_blocks=tasks)
        rows.context.execution_options.preserve_order = True
        rows.context.enable_progress_bars = False
        done = rows.map(self._do, num_cpus=1, compute=self._data.TaskPoolStrategy(min(self._size, tasks)))
        return (row["result"].inside for row in done.iter_rows())

    def close(self) -> None:
        if self._ours:
            self._ray.shutdown()

    def __enter__(self) -> DataMap:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Sealed:
    """A block or a result that travels as it is: Arrow makes columns of what it can look into, and others of tuples."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside


_hands: dict[str, tuple[Hand, Raised | None]] = {}  # of this process, by the map that it works for


def _do(told: tuple[str, Job, str, str, list[str]], row: dict[str, Any]) -> dict[str, Any]:
    """What a task does to a row. Ray keeps its processes, so that the work is made once in each of them."""
    token, job, version, folder, path = told
    if token not in _hands:
        _hands.clear()
        hand = Hand(version, folder, path)
        _hands[token] = hand, hand.start(job)
    hand, failed = _hands[token]
    return {"result": Sealed(failed or hand.do(row["block"].inside))}
