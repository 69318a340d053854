"""The sets that measures are taken over: all, each operator's, each family's, each slice's, and operator × slice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unfazed.core.errors import UnknownName
from unfazed.measure.measures import Scope, scope_of
from unfazed.measure.table import Bools, Table

MOST_VALUES = 50  # of one slice; more would drown the report and slow the intervals


@dataclass(frozen=True)
class Slice:
    """The examples with one value of one slice."""

    key: str
    value: str
    inside: Bools

    @property
    def name(self) -> str:
        return f"{self.key}={self.value}"


def operator_scopes(table: Table) -> Iterator[tuple[str, Scope]]:
    for code, name in enumerate(table.operators):
        yield name, scope_of(table, table.operator == code)


def family_scopes(table: Table) -> Iterator[tuple[str, Scope]]:
    for code, name in enumerate(table.families):
        yield name, scope_of(table, table.family == code)


def slices_of(table: Table, wanted: list[str] | None) -> tuple[list[Slice], list[str]]:
    """The slices of the wanted keys, all by default, and a sentence for each key that was cut short."""
    for key in wanted or ():
        if key not in table.groups:
            raise UnknownName("slice", key, table.groups)
    slices: list[Slice] = []
    warnings: list[str] = []
    for key in table.groups if wanted is None else wanted:
        values, codes = table.groups[key]
        sizes = np.bincount(codes[codes >= 0], minlength=len(values))
        largest = sorted(range(len(values)), key=lambda code: (-sizes[code], values[code]))[:MOST_VALUES]
        name = f"slice {key}" if key in ("operator", "family") else key
        slices += [Slice(name, values[code], codes == code) for code in sorted(largest)]
        if len(values) > MOST_VALUES:
            warnings.append(
                f"The slice {key!r} has {len(values):,} values; the {MOST_VALUES} with the most examples are shown."
            )
    return slices, warnings
