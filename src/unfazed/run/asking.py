"""Asks a system about a batch: what fails is asked again, what the task can't read is a failure."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from unfazed.core.errors import StoredFileError, SystemBroken
from unfazed.core.suite import Suite
from unfazed.core.task import Task
from unfazed.core.values import Inputs, Json, Output
from unfazed.systems.opening import open_system
from unfazed.systems.system import Failed, System


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a system is asked. None leaves a choice to the system."""

    batch_size: int | None = None
    concurrency: int | None = None
    retries: int | None = None
    backoff: float = 0.1  # seconds before the first retry of an item; doubled each time
    give_up: int = 20  # items that fail one after another before the system counts as broken

    def tell(self, system: System) -> None:
        """Tells a system what was chosen for it."""
        system.concurrency = self.concurrency or system.concurrency
        system.retries = system.retries if self.retries is None else self.retries


class Answers(NamedTuple):
    """An output for each request of a batch, and what answering used."""

    outputs: list[Output]
    used: dict[str, float]


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """All that another process needs to ask the same system about the same suite."""

    system: str
    options: dict[str, Json]
    identity: str
    suite: str
    suite_id: str
    asking: Asking

    def start(self) -> Asker:
        suite = Suite(self.suite)
        if suite.id != self.suite_id:
            raise StoredFileError(f"{self.suite}: a worker finds another suite here than the one that is run.")
        system = open_system(self.system, **self.options)
        system.prepare(suite)
        if system.identity != self.identity:
            raise SystemBroken(
                f"{self.system} is another system in a worker: {system.identity!r} there, {self.identity!r} here. "
                f"Give the workers the same files, or use one process."
            )
        return Asker(system, suite, self.asking)


class Asker:
    """Asks one system in this process; batches may come from several threads."""

    def __init__(self, system: System, suite: Suite, asking: Asking) -> None:
        asking.tell(system)
        self.system, self.asking = system, asking
        self.task = suite.task
        self.labels = set(suite.manifest.labels) if suite.manifest.labels else None

    def do(self, batch: Sequence[Inputs]) -> Answers:
        outputs = self.ask(batch)
        return Answers(outputs, self.system.used())

    def close(self) -> None:
        self.system.close()

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """An output for each request. What fails in a batch is asked again by itself."""
        began = time.perf_counter()
        try:
            values = self.predict(batch)
        except Exception as error:
            if isinstance(error, SystemBroken):
                raise
            if len(batch) > 1:
                return self.ask_each(batch)
            values = [Failed(_describe(error))]
        seconds = (time.perf_counter() - began) / len(batch)
        outputs = [self.checked(value, item, seconds) for value, item in zip(values, batch, strict=True)]
        for i, value in enumerate(values):
            if isinstance(value, Failed) and not value.final:
                outputs[i] = self.ask_again(batch[i], outputs[i])
        return outputs

    def ask_each(self, batch: Sequence[Inputs]) -> list[Output]:
        """Each by itself, so that one bad item does not fail its neighbours; stops where all of them fail."""
        outputs: list[Output] = []
        for item in batch:
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
        process = os.getpid()
        try:
            values = self.system.predict(inputs)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # a system that calls exit() would end the command, as if all were well
            raise RuntimeError(f"the system left by {_describe(error)}") from error
        finally:
            if os.getpid() != process:
                os._exit(1)  # a fork of the system's that came back; what is under way is its parent's
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


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:2000]
    except Exception:
        return f"{type(error).__name__}, which can't be shown"


def _quote(inputs: Inputs) -> str:
    text = " | ".join(inputs.values())
    return repr(text if len(text) <= 60 else text[:57] + "…")
