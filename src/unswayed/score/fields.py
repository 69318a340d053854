"""Fields: the share of a gold object's fields that an answer has right, and the same of each field."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import ClassVar

from unswayed.base.chat import standard
from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.task.structured import object_in, standard_field
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer, Scorer

_MAX_PARTS = 30  # fields with a score of their own


class FieldScore(MeanScorer):
    """Fields inside objects have dotted names; a list is one field. A field that the gold has not is not looked at."""

    name = "fields"
    field: ClassVar[str] = ""  # the only one that is looked at; all where empty

    def key(self, value: Json, task: Task) -> Hashable:
        found = object_in(value)
        return None if value is None else canonical(value if found is None else found)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        due, said = fields_of(object_in(gold) or {}), fields_of(object_in(output) or {})
        names = [self.field] if self.field else list(due)
        return sum(name in due and said.get(name) == due[name] for name in names) / max(len(names), 1)

    def parts(self, golds: Iterable[Json], task: Task) -> list[Scorer]:
        if self.field:
            return []
        names: dict[str, None] = {}
        for gold in golds:
            names |= dict.fromkeys(fields_of(object_in(gold) or {}))
        found: list[Scorer] = []
        # Each part is a class of its own: a run's golds are read once for all scorers that share a `gold_key`.
        for field in list(names)[:_MAX_PARTS] if len(names) > 1 else ():

            def gold_key(self: Scorer, gold: Json, task: Task, field: str = field) -> Hashable:
                due = fields_of(object_in(gold) or {})
                return (field, due[field]) if field in due else None

            own = {"name": f"fields({field})", "field": field, "gold_key": gold_key, "__module__": __name__}
            found.append(type("FieldScore", (FieldScore,), own)())
        return found


def fields_of(value: Json, above: str = "") -> dict[str, bytes]:
    """The fields of an object by dotted name, each in its standard form; one that is null is as if it were absent."""
    found: dict[str, bytes] = {}
    for name, item in value.items():
        if isinstance(item, dict) and item:
            found |= fields_of(item, f"{above}{name}.")
        elif item is not None:
            found[f"{above}{name}"] = canonical(standard(item, standard_field))
    return found
