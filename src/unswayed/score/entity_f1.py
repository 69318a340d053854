"""Entity F1 as seqeval counts it: an entity is right if its type and both its ends are; also by type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from unswayed.base.edits import slots_of
from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import Scorer, tags_of
from unswayed.score.slot_f1 import SlotF1, Span

_MAX_TYPES = 20  # types that are reported by themselves, the commonest first


class EntityF1(SlotF1):
    """Of all types; or, as `entity_f1(PER)`, of one. Ends are tokens where gold is tags, and else characters."""

    name = "entity_f1"

    def __init__(self, kind: str | None = None) -> None:
        self.kind = kind
        if kind is not None:
            self.name = f"entity_f1({kind})"  # type: ignore[misc]

    def key(self, value: Json, task: Task) -> Hashable:
        tags, entities = tags_of(value), _entity_spans(value)
        return None if tags is None and entities is None else (tags, entities)

    def span_sets(self, output: Json, gold: Json) -> tuple[set[Span], set[Span]]:
        true = _entity_spans(gold)
        if true is None:
            predicted, due = super().span_sets(output, gold)
        else:
            predicted, due = set(_entity_spans(output) or ()), set(true)
        if self.kind is None:
            return predicted, due
        return {one for one in predicted if one[0] == self.kind}, {one for one in due if one[0] == self.kind}

    def parts(self, golds: Iterable[Json], task: Task) -> list[Scorer]:
        counts: Counter[str] = Counter()
        for gold in golds:
            entities = _entity_spans(gold)
            counts.update(kind for kind, _, _ in (slots_of(tags_of(gold) or ()) if entities is None else entities))
        common = sorted(counts, key=lambda kind: (-counts[kind], kind))[:_MAX_TYPES]
        return [] if self.kind is not None else [EntityF1(kind) for kind in sorted(common)]


def _entity_spans(value: Json) -> tuple[Span, ...] | None:
    """Type, start and end of each entity, or None where there is no list of entities."""
    entities = value.get("entities") if isinstance(value, dict) else None
    if not isinstance(entities, list):
        return None
    try:
        return tuple((entity["label"], entity["start"], entity["end"]) for entity in entities)
    except (TypeError, KeyError):
        return None
