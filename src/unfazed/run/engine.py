"""Asks a system about every request of a suite that has no answer yet, and stores the answers as they come."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from unfazed.core.errors import Interrupted, SystemBroken, UsageError
from unfazed.core.files import write_atomically
from unfazed.core.progress import Progress
from unfazed.core.suite import Suite
from unfazed.core.task import Task
from unfazed.core.values import Inputs, Json, Output
from unfazed.core.version import VERSION
from unfazed.run.record import Run, RunManifest
from unfazed.run.store import Key, Store, keyer
from unfazed.systems.opening import open_system
from unfazed.systems.system import Failed, System

_LOOK_AHEAD = 4096  # requests looked at together, to batch those of like length

Request = tuple[Key, Inputs]


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a system is asked. None leaves a choice to the system."""

    batch_size: int | None = None
    concurrency: int | None = None
    retries: int | None = None
    backoff: float = 0.1  # seconds before the first retry of an item; doubled each time
    give_up: int = 20  # items that fail one after another before the system counts as broken


def run_system(
    suite: Suite | str | Path, system: System | Callable[..., Any] | str, to: str | Path, asking: Asking | None = None
) -> Run:
    """Makes or continues the run in folder `to`: nothing that has an answer there is asked again.

    `system` is a function from a list of inputs to a list of outputs, or whatever `--system` takes.
    """
    suite = suite if isinstance(suite, Suite) else Suite(suite)
    if not isinstance(system, System):
        with closing(open_system(system)) as opened:
            return run_system(suite, opened, to, asking)
    folder = Path(to)
    _refuse_other(folder, suite)
    system.prepare(suite)
    with Store.writer(folder) as store:
        _write_manifest(folder, suite, system)
        total = suite.manifest.examples + suite.manifest.variants
        engine = _Engine(suite, system, store, asking or Asking(), Progress("asked", total))
        try:
            with engine.progress, _counting(store, system):
                engine.run()
        except KeyboardInterrupt:
            store.commit()
            raise Interrupted(
                f"Stopped. {engine.stored:,} new outputs are kept in {folder}; the same command goes on from there."
            ) from None
    return Run(folder)


@contextmanager
def _counting(store: Store, system: System) -> Iterator[None]:
    """Whatever happens, what was used up to then is counted."""
    try:
        yield
    finally:
        store.use(system.used())


class _Engine:
    def __init__(self, suite: Suite, system: System, store: Store, asking: Asking, progress: Progress) -> None:
        self.suite, self.system, self.store, self.asking, self.progress = (
            suite,
            system,
            store,
            asking,
            progress,
        )
        self.labels = set(suite.manifest.labels) if suite.manifest.labels else None
        self.task = suite.task
        self.stored = 0
        self.failed_in_a_row = 0
        self.in_flight: set[Key] = set()

    def run(self) -> None:
        if self.asking.concurrency:
            self.system.concurrency = self.asking.concurrency
        if self.asking.retries is not None:
            self.system.retries = self.asking.retries
        concurrency = self.system.concurrency
        if concurrency <= 1:
            for batch in self.batches():
                self.keep(batch, self.ask(batch))
        else:
            self.run_concurrently(concurrency)

    def run_concurrently(self, concurrency: int) -> None:
        pool = ThreadPoolExecutor(concurrency)
        waiting: dict[Future[list[Output]], list[Request]] = {}

        def keep_done() -> None:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                self.keep(waiting.pop(future), future.result())

        try:
            for batch in self.batches():
                waiting[pool.submit(self.ask, batch)] = batch
                while len(waiting) >= 2 * concurrency:
                    keep_done()
            while waiting:
                keep_done()
        except BaseException:
            self.keep_finished(waiting)
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def keep_finished(self, waiting: dict[Future[list[Output]], list[Request]]) -> None:
        """Answers that came while something else went wrong are kept all the same."""
        for future, batch in waiting.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.store.put(zip((key for key, _ in batch), future.result(), strict=True))

    def batches(self) -> Iterator[list[Request]]:
        """What is still to be asked: each request once, those of like length together."""
        size = self.asking.batch_size or self.system.batch_size
        requests = self.requests()
        while block := list(islice(requests, _LOOK_AHEAD)):
            todo = dict(block)
            for key in self.store.answered(list(todo)) | (self.in_flight & todo.keys()):
                del todo[key]
            self.progress.skip(len(block) - len(todo))
            pending = sorted(todo.items(), key=lambda request: sum(map(len, request[1].values())))
            for at in range(0, len(pending), size):
                batch = pending[at : at + size]
                self.in_flight.update(key for key, _ in batch)
                yield batch

    def requests(self) -> Iterator[Request]:
        key = keyer(self.system.identity)
        for example, variants in self.suite.groups():
            yield key(example.inputs), example.inputs
            for variant in variants:
                yield key(variant.inputs), variant.inputs

    def keep(self, batch: Sequence[Request], outputs: Sequence[Output]) -> None:
        self.store.use(self.system.used())
        self.store.put((key, output) for (key, _), output in zip(batch, outputs, strict=True))
        self.in_flight.difference_update(key for key, _ in batch)
        self.stored += len(batch)
        self.progress.add(len(batch))
        for output in outputs:
            self.failed_in_a_row = 0 if output.error is None else self.failed_in_a_row + 1
        if self.failed_in_a_row >= self.asking.give_up:
            self.store.commit()
            raise SystemBroken(
                f"{self.system.name} failed on {self.failed_in_a_row} items one after another. The last error: "
                f"{outputs[-1].error} Mend it, then give the same command again; {self.stored:,} outputs are kept."
            )

    def ask(self, batch: Sequence[Request]) -> list[Output]:
        """An output for each request. What fails in a batch is asked again by itself."""
        inputs = [request[1] for request in batch]
        began = time.perf_counter()
        try:
            values = self.predict(inputs)
        except Exception as error:
            if isinstance(error, SystemBroken):
                raise
            if len(batch) > 1:
                return self.ask_each(inputs)
            values = [Failed(_describe(error))]
        seconds = (time.perf_counter() - began) / len(batch)
        outputs = [self.checked(value, item, seconds) for value, item in zip(values, inputs, strict=True)]
        for i, value in enumerate(values):
            if isinstance(value, Failed) and not value.final:
                outputs[i] = self.ask_again(inputs[i], outputs[i])
        return outputs

    def ask_each(self, inputs: Sequence[Inputs]) -> list[Output]:
        """Each by itself, so that one bad item does not fail its neighbours; stops where all of them fail."""
        outputs: list[Output] = []
        for item in inputs:
            failed = len(outputs) >= self.asking.give_up and all(not o.ok for o in outputs)
            outputs.append(outputs[-1] if failed else self.ask_again(item, None))
        return outputs

    def ask_again(self, item: Inputs, last: Output | None) -> Output:
        first = 1 if last is None else 2
        for attempt in range(first, self.system.retries + 2):
            if attempt > 1:
                time.sleep(self.asking.backoff * 2 ** (attempt - 2))
            began = time.perf_counter()
            try:
                value = self.predict([item])[0]
            except SystemBroken:
                raise
            except Exception as error:
                value = Failed(_describe(error))
            last = msgspec.structs.replace(self.checked(value, item, time.perf_counter() - began), attempts=attempt)
            if not isinstance(value, Failed) or value.final:
                break
        assert last is not None
        return last

    def predict(self, inputs: Sequence[Inputs]) -> Sequence[Json | Failed]:
        values = self.system.predict(inputs)
        if len(values) != len(inputs):
            raise SystemBroken(
                f"{self.system.name} returned {len(values)} outputs for {len(inputs)} inputs "
                f"(the first: {_quote(inputs[0])}). It must return one for each, in order."
            )
        return values

    def checked(self, value: Json | Failed, inputs: Inputs, seconds: float) -> Output:
        """The value as a stored output; one that the task can't read is an explicit failure."""
        if isinstance(value, Failed):
            return Output(None, value.error, seconds)
        problem = self.task.output_problem(value, inputs) or _label_problem(value, self.task, self.labels)
        return (
            Output(None, f"{problem} (input: {_quote(inputs)})", seconds) if problem else Output(value, None, seconds)
        )


def _label_problem(value: Json, task: Task, labels: set[str] | None) -> str | None:
    label = task.label(value) if labels is not None else None
    if labels is None or label is None or label in labels:
        return None
    return f"the label {label!r} is not in the set: {', '.join(sorted(labels))}"


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]


def _quote(inputs: Inputs) -> str:
    text = " | ".join(inputs.values())
    return repr(text if len(text) <= 60 else text[:57] + "…")


def _refuse_other(folder: Path, suite: Suite) -> None:
    if (folder / "run.json").exists():
        if Run(folder).manifest.suite_id != suite.id:
            raise UsageError(f"{folder} holds a run on another suite. Choose another place with -o.")
    elif folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file. Choose another place with -o.")
    elif folder.exists() and any(f.name not in _OWN for f in folder.iterdir()):
        raise UsageError(f"{folder} exists and is not a run. Choose another place with -o.")


_OWN = {"outputs.sqlite", "outputs.sqlite-wal", "outputs.sqlite-shm", "lock.sqlite", "lock.pid", "suite"}


def _write_manifest(folder: Path, suite: Suite, system: System) -> None:
    place = suite.path.resolve()
    try:
        shown = os.path.relpath(place, folder.resolve())
    except ValueError:  # another drive
        shown = str(place)
    manifest = RunManifest(
        unfazed=VERSION, suite=shown, suite_id=suite.id, system=system.name, identity=system.identity
    )
    write_atomically(folder / "run.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
