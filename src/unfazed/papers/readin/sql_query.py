"""A parsed SQL query as Spider's scorer sees it: what is selected from where, under which conditions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column, `table.column` or `*`, and the function over it."""

    name: str
    function: str = ""
    distinct: bool = False


@dataclass(frozen=True)
class Unit:
    """One column, or two with an arithmetic sign between them."""

    left: Column
    sign: str = ""
    right: Column | None = None


@dataclass(frozen=True)
class Condition:
    """`unit comparison first`, or `unit between first and second`."""

    negated: bool
    comparison: str
    unit: Unit
    first: Query | Column | float | str | None
    second: Query | Column | float | str | None = None

    def queries(self) -> list[Query]:
        return [value for value in (self.first, self.second) if isinstance(value, Query)]


# Conditions with "and" or "or" between them, as they stand.
Conditions = tuple[Condition | str, ...]


@dataclass(frozen=True)
class Query:
    """`select` has (function, unit); `tables` names or queries; `order` (direction, units), None without ORDER BY."""

    select: tuple[tuple[str, Unit], ...] = ()
    distinct: bool = False
    tables: tuple[str | Query, ...] = ()
    joins: Conditions = ()
    where: Conditions = ()
    group: tuple[Column, ...] = ()
    having: Conditions = ()
    order: tuple[str, tuple[Unit, ...]] | None = None
    limit: bool = False
    intersect: Query | None = None
    union: Query | None = None
    except_: Query | None = None

    def conditions(self) -> list[Condition]:
        """All conditions, those of joins and HAVING too."""
        parts = (*self.joins, *self.where, *self.having)
        return [part for part in parts if isinstance(part, Condition)]

    def operators(self) -> list[str]:
        """All ANDs and ORs."""
        return [part for part in (*self.joins, *self.where, *self.having) if isinstance(part, str)]


def terms(conditions: Conditions) -> list[Condition]:
    return [part for part in conditions if isinstance(part, Condition)]
