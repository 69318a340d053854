"""Which stored answers of a run are asked again before any is used, and the asking of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from unswayed.base.values import Inputs, Output
from unswayed.run.order import Order, seed_of
from unswayed.run.workers import Lost, Pool
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key, Keyer
from unswayed.storage.suite import Suite
from unswayed.systems.asking import Canary, canary_count, canary_rank
from unswayed.systems.system import System


def stored_answers(suite: Suite, order: Order, system: System, store: AnswerStore, wanted: int | None) -> list[Canary]:
    """The stored answers to ask again: one of each example, the first examples in the order of asking; then others."""
    sessions = store.sessions().values()
    if wanted == 0 or not any(session.identity == system.identity for session in sessions):
        return []
    wanted = canary_count(store.size, wanted, system.deterministic)
    key, seed = Keyer(system.identity), seed_of(suite)
    found: dict[Key, Inputs] = {}
    for each in (1, wanted):
        groups = order.groups()
        while len(found) < wanted and (block := list(islice(groups, 2 * wanted))):
            keyed = [dict(zip(key.each(group), group, strict=True)) for group in block]
            answered = store.answered([k for requests in keyed for k in requests])
            for requests in keyed:
                known = [k for k in requests if k in answered and k not in found]
                chosen = sorted(known, key=lambda k: canary_rank(seed, k))[: min(each, wanted - len(found))]
                found |= {k: requests[k] for k in chosen}
        if not found:
            break
    stored = store.get(list(found))
    return [Canary(inputs, stored[k]) for k, inputs in found.items()]


def asked_again(pool: Pool, size: int, give_up: int, store: AnswerStore, inputs: list[Inputs]) -> list[Output]:
    """An output for each, none of which is stored. Gives up where as many as that fail and none is answered."""
    batches = deque(inputs[at : at + size] for at in range(0, len(inputs), size))
    outputs: list[Sequence[Output]] = [[Output(error="not asked")] * len(batch) for batch in batches]
    place, failed, answered = 0, 0, False
    waiting: dict[int, int] = {}
    while batches or waiting:
        while batches and pool.room:
            waiting[pool.give(batches.popleft())] = place
            place += 1
        number, result = pool.take()
        at = waiting.pop(number)
        if isinstance(result, Lost):
            outputs[at] = [Output(None, f"the worker died: {result.reason}")] * len(outputs[at])
        else:
            store.use(result.used)
            outputs[at] = result.outputs
        failed += sum(not output.ok for output in outputs[at])
        answered = answered or any(output.ok for output in outputs[at])
        if failed >= give_up and not answered:
            batches.clear()
    return [output for part in outputs for output in part]
