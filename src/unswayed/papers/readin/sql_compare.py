"""Spider's exact set match of two parsed queries, and how hard it calls one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from unswayed.papers.readin.sql_parser import Condition, Conditions, SqlColumn, SqlQuery, Unit, terms

Rule = Literal["current", "first"]
Keys = Mapping[str, str]
LEVELS = ("easy", "medium", "hard", "extra")


def same(predicted: SqlQuery, gold: SqlQuery, keys: Keys, rule: Rule = "current") -> bool:
    """Do both ask for the same, clause by clause? Values and DISTINCT are left out, columns of one key are one.

    A subquery inside a condition must be the same word for word but for its values; one in FROM even in these. `rule`
    is how FROM is compared: `current` always, `first` as the script's first version did, only where gold joins tables.
    """
    return _same(_comparable(predicted, keys), _comparable(gold, keys), rule)


def _same(predicted: SqlQuery, gold: SqlQuery, rule: Rule) -> bool:
    return all(part(predicted) == part(gold) for part in _PARTS) and (
        _same_from(predicted, gold, rule)
        and _same_or_none(predicted.intersect, gold.intersect, rule)
        and _same_or_none(predicted.union, gold.union, rule)
        and _same_or_none(predicted.except_, gold.except_, rule)
    )


def _same_from(predicted: SqlQuery, gold: SqlQuery, rule: Rule) -> bool:
    compared = len(gold.tables) >= (2 if rule == "first" else 1)
    return not compared or Counter(predicted.tables) == Counter(gold.tables)


def _same_or_none(predicted: SqlQuery | None, gold: SqlQuery | None, rule: Rule) -> bool:
    if predicted is None or gold is None:
        return predicted is gold
    return _same(predicted, gold, rule)


# The parts that must be equal, set operations and FROM apart. Spider also counts SELECT without functions and WHERE
# without comparisons, which follow from the whole ones.
_PARTS = (
    lambda q: Counter(q.select),
    lambda q: Counter(terms(q.where)),
    lambda q: set(q.where[1::2]),
    lambda q: Counter(column.name.rpartition(".")[2] for column in q.group),
    lambda q: ([column.name for column in q.group], q.having) if q.group else None,
    lambda q: (q.order, q.limit) if q.order else None,
    lambda q: _keywords(q),
)


def _keywords(query: SqlQuery) -> set[str]:
    found = {
        "where": query.where,
        "group": query.group,
        "having": query.having,
        "order": query.order,
        "limit": query.limit,
        "intersect": query.intersect,
        "union": query.union,
        "except": query.except_,
        "or": "or" in query.operators(),
        "not": any(condition.negated for condition in query.conditions()),
    }
    used = {condition.comparison for condition in query.conditions()} & {"in", "like"}
    return {word for word, there in found.items() if there} | used | ({query.order[0]} if query.order else set())


def _comparable(query: SqlQuery, keys: Keys) -> SqlQuery:
    tables = {table for table in query.tables if isinstance(table, str)}
    return _merged(_without_values(query), {c: first for c, first in keys.items() if c.partition(".")[0] in tables})


def _without_values(query: SqlQuery) -> SqlQuery:
    def valueless(conditions: Conditions) -> Conditions:
        return tuple(
            part if isinstance(part, str) else replace(part, first=_query(part.first), second=_query(part.second))
            for part in conditions
        )

    return replace(
        query,
        joins=valueless(query.joins),
        where=valueless(query.where),
        having=valueless(query.having),
        intersect=_query(query.intersect),
        union=_query(query.union),
        except_=_query(query.except_),
    )


def _query(value: object) -> SqlQuery | None:
    return _without_values(value) if isinstance(value, SqlQuery) else None


def _merged(query: SqlQuery, keys: Keys) -> SqlQuery:
    """The query without DISTINCT and with the columns that keys make the same as one; not inside conditions' values."""

    def column(c: SqlColumn) -> SqlColumn:
        return SqlColumn(keys.get(c.name, c.name), c.function)

    def unit(u: Unit) -> Unit:
        return Unit(column(u.left), u.sign, column(u.right) if u.right else None)

    def conditions(parts: Conditions) -> Conditions:
        return tuple(replace(part, unit=unit(part.unit)) if isinstance(part, Condition) else part for part in parts)

    def other(q: SqlQuery | None) -> SqlQuery | None:
        return None if q is None else _merged(q, keys)

    return replace(
        query,
        select=tuple((function, unit(u)) for function, u in query.select),
        distinct=False,
        joins=conditions(query.joins),
        where=conditions(query.where),
        group=tuple(map(column, query.group)),
        having=conditions(query.having),
        order=(query.order[0], tuple(map(unit, query.order[1]))) if query.order else None,
        intersect=other(query.intersect),
        union=other(query.union),
        except_=other(query.except_),
    )


def hardness(query: SqlQuery) -> str:
    """One of LEVELS, by Spider's counts of clauses, of nested queries, and of what there is more than one of."""
    clauses, nested, more = _clauses(query), _nested(query), _more_than_one(query)
    if nested == 0:
        if clauses <= 1 and more == 0:
            return "easy"
        if (clauses <= 1 and more <= 2) or (clauses <= 2 and more < 2):
            return "medium"
        if (clauses <= 2 and more > 2) or (clauses == 3 and more <= 2):
            return "hard"
    return "hard" if clauses <= 1 and more == 0 and nested <= 1 else "extra"


def _clauses(query: SqlQuery) -> int:
    there = (query.where, query.group, query.order, query.limit)
    likes = sum(condition.comparison == "like" for condition in query.conditions())
    return sum(map(bool, there)) + max(len(query.tables) - 1, 0) + query.operators().count("or") + likes


def _nested(query: SqlQuery) -> int:
    combined = (query.intersect, query.union, query.except_)
    return sum(len(c.queries()) for c in query.conditions()) + sum(q is not None for q in combined)


def _more_than_one(query: SqlQuery) -> int:
    """How many of functions, selected columns, conditions and groups are more than one.

    The official count of functions takes a NOT in WHERE or HAVING, and an AND or OR in HAVING, for one.
    """
    ordered = [c for u in query.order[1] for c in (u.left, u.right) if c] if query.order else []
    functions = sum(bool(function) for function, _ in query.select)
    functions += sum(bool(column.function) for column in (*query.group, *ordered))
    functions += sum(c.negated for c in (*terms(query.where), *terms(query.having)))
    functions += sum(isinstance(part, str) for part in query.having)
    return (functions > 1) + (len(query.select) > 1) + (len(query.where) > 1) + (len(query.group) > 1)
