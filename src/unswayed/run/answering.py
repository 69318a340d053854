"""Who answers, the system here or the same one opened in other processes; and which stored answers are asked again."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import takewhile

import msgspec
import numpy as np

from unswayed.base.errors import SystemBroken, UsageError, option
from unswayed.base.options import Asking
from unswayed.base.task import Task
from unswayed.base.values import Inputs, Json, Output
from unswayed.run.order import Order
from unswayed.run.plan import Engine
from unswayed.run.workers import Pool, WorkerCrash, results_in_order
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key, Keyer
from unswayed.storage.suite import Manifest, Suite
from unswayed.systems.asking import Answers, Asker, Canary
from unswayed.systems.opening import open_system
from unswayed.systems.system import System
from unswayed.systems.template import PROMPT

_EXAMPLES_AT_ONCE = 64  # of which stored answers are looked up together


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """All that another process needs to ask the same system about the same suite."""

    system: str
    options: dict[str, Json]
    identity: str
    suite: str
    manifest: Manifest
    asking: Asking
    part_compared: bool = False
    worked: bool = False  # is it known to answer?

    def start(self) -> Asker:
        suite = Suite.known(self.suite, self.manifest)
        system = open_system(self.system, **self.options)
        system.part_compared = self.part_compared
        system.prepare(suite)
        if system.identity != self.identity:
            raise SystemBroken(
                f"{self.system} is another system in a worker: {system.identity!r} there, {self.identity!r} here. "
                f"Give the workers the same files, or use one process."
            )
        asker = asker_of(system, suite, self.asking)
        asker.worked = self.worked
        return asker


def asker_of(system: System, suite: Suite, asking: Asking) -> Asker:
    """Asks a system about a suite: what the task can't read, or a label outside its set, is a failure.

    Where only a part of an answer is compared, the whole need not have the task's form, and is stored as it is.
    """
    if system.part_compared:
        return Asker(system, asking)
    task, labels = suite.task, set(suite.manifest.labels) if suite.manifest.labels else None

    def problem(value: Json, inputs: Inputs) -> str | None:
        found = task.output_problem(value, inputs)
        if found or labels is None or (label := task.label(value)) is None or label in labels:
            return found
        return f"the label {label!r} is not in the set: {', '.join(sorted(labels))}"

    # Most tasks read outputs as they are, and some have nothing to say against any: then nothing is called for each.
    reads = type(task).read is not Task.read
    checks = labels is not None or type(task).output_problem is not Task.output_problem
    return Asker(system, asking, problem if checks else None, read=task.read if reads else None)


def placed_options(engine: Engine, options: dict[str, Json]) -> dict[str, Json]:
    """What opens a system on Ray, whose workers see the GPUs that they have for themselves, and no other.

    This machine may have others, so that `auto` would be another device here than there.
    """
    if engine.name == "local" or options.get("device", "auto") != "auto":
        return options
    return {**options, "device": "cuda" if engine.gpus else "cpu"}


def require_prompt(suite: Suite, system: System) -> None:
    """Raises where variants differ in the prompt and the system has none, so that all would be asked the same."""
    made = [str(op.get("name")) for op in suite.manifest.operators]
    if "prompt" in system.prompts or not any(name.startswith("prompt/") for name in made):
        return
    found = next((v for v in suite.variants() if PROMPT in v.inputs), None)
    if found is not None:
        raise UsageError(
            f"{found.source} varies the prompt, and {system.name} has none. Set {option('prompt')} to its file; a "
            f"function or a program then gets the filled prompt as the input 'prompt'."
        )


def stored_canaries(order: Order, system: System, store: AnswerStore, wanted: int) -> list[Canary]:
    """The stored answers to ask again, others each time: one of each example, of examples at random; then others."""
    sessions = store.sessions().values()
    if wanted == 0 or not any(session.identity == system.stored_as for session in sessions):
        return []
    # The numbers of a run don't depend on which answers are checked, so this needs no seed.
    key, rng = Keyer(system.stored_as), np.random.default_rng(list(os.urandom(16)))
    places, found = rng.permutation(len(order.places)), dict[Key, Inputs]()
    for each in (1, wanted):
        for at in range(0, len(places), step := max(_EXAMPLES_AT_ONCE, 2 * wanted)):
            if len(found) >= wanted:
                break
            groups = order.groups_at(np.sort(places[at : at + step]))
            keyed = [dict(zip(key.each(group), group, strict=True)) for group in groups]
            answered = store.answered([k for requests in keyed for k in requests])
            for i in rng.permutation(len(keyed)).tolist():
                known = [k for k in keyed[i] if k in answered and k not in found]
                chosen = rng.permutation(len(known))[: min(each, wanted - len(found))].tolist()
                found |= {known[c]: keyed[i][known[c]] for c in chosen}
        if not found:
            break
    stored = store.get(list(found))
    return [Canary(inputs, stored[k]) for k, inputs in found.items()]


def ask_again(
    pool: Pool, size: int, give_up: int, pay: Callable[[Answers], object], inputs: list[Inputs]
) -> list[Output]:
    """An output for each, none of which is stored. Gives up where as many as that fail and none is answered."""
    outputs: list[Output] = []
    batches = (inputs[at : at + size] for at in range(0, len(inputs), size))
    due = takewhile(lambda _: len(outputs) < give_up or any(output.ok for output in outputs), batches)
    for batch, result in results_in_order(pool, due):
        if isinstance(result, WorkerCrash):
            outputs.extend([Output(None, f"the worker died: {result.reason}")] * len(batch))
        else:
            pay(result)
            outputs.extend(result.outputs)
    return outputs + [Output(error="not asked")] * (len(inputs) - len(outputs))
