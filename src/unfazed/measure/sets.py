"""The sets that measures are taken over: all, each operator's, each family's, each slice's, and operator × slice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unfazed.core.errors import UnknownName
from unfazed.measure.measures import Scope, scope_of
from unfazed.measure.table import Bools, Part, Table

MOST_VALUES = 50  # of one slice; more would drown the report and slow the intervals


@dataclass(frozen=True)
class Slice:
    """The examples with one value of one slice."""

    key: str  # as it is shown
    value: str
    group: str  # as it is in the data
    code: int

    @property
    def name(self) -> str:
        return f"{self.key}={self.value}"

    def inside(self, part: Part) -> Bools:
        inside: Bools = part.groups[self.group] == self.code
        return inside


def operator_scopes(part: Part) -> Iterator[tuple[str, Scope]]:
    for code, name in enumerate(part.operators):
        yield name, scope_of(part, part.operator == code)


def family_scopes(part: Part) -> Iterator[tuple[str, Scope]]:
    for code, name in enumerate(part.families):
        yield name, scope_of(part, part.family == code)


def slices_of(table: Table, wanted: list[str] | None) -> tuple[list[Slice], list[str]]:
    """The slices of the wanted keys, all by default, and a sentence for each key that was cut short."""
    for key in wanted or ():
        if key not in table.values:
            raise UnknownName("slice", key, table.values)
    slices: list[Slice] = []
    warnings: list[str] = []
    for key in table.values if wanted is None else wanted:
        values, sizes = table.values[key], table.sizes(key)
        largest = sorted(range(len(values)), key=lambda code: (-sizes[code], values[code]))[:MOST_VALUES]
        name = f"slice {key}" if key in ("operator", "family") else key
        slices += [Slice(name, values[code], key, code) for code in sorted(largest)]
        if len(values) > MOST_VALUES:
            warnings.append(
                f"The slice {key!r} has {len(values):,} values; the {MOST_VALUES} with the most examples are shown."
            )
    return slices, warnings
