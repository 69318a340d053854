"""SQL as Spider's scorer reads it: the parts of a query, and the parser."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SqlColumn:
    """A column, `table.column` or `*`, and the function over it."""

    name: str
    function: str = ""
    distinct: bool = False


@dataclass(frozen=True)
class Unit:
    """One column, or two with an arithmetic sign between them."""

    left: SqlColumn
    sign: str = ""
    right: SqlColumn | None = None


@dataclass(frozen=True)
class Condition:
    """`unit comparison first`, or `unit between first and second`."""

    negated: bool
    comparison: str
    unit: Unit
    first: SqlQuery | SqlColumn | float | str | None
    second: SqlQuery | SqlColumn | float | str | None = None

    def queries(self) -> list[SqlQuery]:
        return [value for value in (self.first, self.second) if isinstance(value, SqlQuery)]


# Conditions with "and" or "or" between them, as they stand.
Conditions = tuple[Condition | str, ...]


@dataclass(frozen=True)
class SqlQuery:
    """`select` has (function, unit); `tables` names or queries; `order` (direction, units), None without ORDER BY."""

    select: tuple[tuple[str, Unit], ...] = ()
    distinct: bool = False
    tables: tuple[str | SqlQuery, ...] = ()
    joins: Conditions = ()
    where: Conditions = ()
    group: tuple[SqlColumn, ...] = ()
    having: Conditions = ()
    order: tuple[str, tuple[Unit, ...]] | None = None
    limit: bool = False
    intersect: SqlQuery | None = None
    union: SqlQuery | None = None
    except_: SqlQuery | None = None

    def conditions(self) -> list[Condition]:
        """All conditions, those of joins and HAVING too."""
        parts = (*self.joins, *self.where, *self.having)
        return [part for part in parts if isinstance(part, Condition)]

    def operators(self) -> list[str]:
        """All ANDs and ORs."""
        return [part for part in (*self.joins, *self.where, *self.having) if isinstance(part, str)]


def terms(conditions: Conditions) -> list[Condition]:
    return [part for part in conditions if isinstance(part, Condition)]


_ALONE = re.compile(r'\.{2,}|--|`+|[;@#$%&?!*\[\](){}<>"«»“”‘’„]')
_SEPARATOR = re.compile(r"[:,](?!\d)")  # a comma before a digit belongs to a number
_LAST_STOP = re.compile(r"(?<=[^.])\.(?=[\])}>\"'»”’\s]*$)")


def words_of(text: str) -> list[str]:
    """The words of a text. `=`, `+`, `/` and single `-` are not separated from what they touch."""
    for pattern in (_LAST_STOP, _SEPARATOR, _ALONE):
        text = pattern.sub(r" \g<0> ", text)
    return text.split()


CLAUSES = frozenset(("select", "from", "where", "group", "order", "limit", "intersect", "union", "except"))
_JOINS = frozenset(("join", "on", "as"))
_CLOSING = frozenset((")", ";"))
_ENDS_CLAUSE = CLAUSES | _CLOSING
_ENDS_CONDITIONS = CLAUSES | _JOINS | _CLOSING
_ENDS_VALUE = CLAUSES | _JOINS | {",", ")", "and"}
_COMPARISONS = frozenset(("not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists"))
_FUNCTIONS = {"none": "", **{name: name for name in ("max", "min", "count", "sum", "avg")}}
_SIGNS = {"none": "", **{sign: sign for sign in "-+*/"}}
_SET_OPERATIONS = {"intersect": "intersect", "union": "union", "except": "except_"}

Tables = Mapping[str, Sequence[str]]


class Unparseable(Exception):
    """The query is not understood."""


def parse(sql: str, tables: Tables) -> SqlQuery:
    """The query over a database's tables; raises Unparseable."""
    try:
        words = sql_words(sql)
        return _SqlParser(words, _names(words, tables), tables).query()
    except RecursionError:
        raise Unparseable("it is nested too deeply") from None


def sql_words(sql: str) -> list[str]:
    """The words of a query in lower case; a quoted text is one word and keeps its quotation marks."""
    pieces = sql.replace("'", '"').split('"')
    if len(pieces) % 2 == 0:
        raise Unparseable("a quotation mark is not closed")
    texts = {f"__text_{i}__": f'"{text}"' for i, text in enumerate(pieces[1::2])}
    pieces[1::2] = texts
    words = [word.lower() for word in words_of("".join(pieces))]
    joined: list[str] = []
    for word in words:
        if word == "=" and joined and joined[-1] in ("!", ">", "<"):
            joined[-1] += "="
        else:
            joined.append(texts.get(word, word))
    return joined


def _names(words: Sequence[str], tables: Tables) -> dict[str, str]:
    """What each name in the query stands for: tables for themselves, aliases for the word before AS."""
    if words and words[-1] == "as":
        raise Unparseable("nothing follows AS")
    names = {words[i + 1]: words[i - 1] for i, word in enumerate(words) if word == "as"}
    clash = next((name for name in tables if name in names), None)
    if clash is not None:
        raise Unparseable(f"the alias {clash} is a table's name")
    return {**names, **{name: name for name in tables}}


class _SqlParser:
    def __init__(self, words: Sequence[str], names: Mapping[str, str], tables: Tables) -> None:
        self.words, self.names, self.tables = words, names, tables
        self.at = 0

    @property
    def word(self) -> str:
        """The word that is next; empty at the end, which nothing accepts."""
        return self.words[self.at] if self.at < len(self.words) else ""

    @property
    def more(self) -> bool:
        return self.at < len(self.words)

    def next(self) -> str:
        word = self.word
        self.at += 1
        return word

    def take(self, word: str) -> bool:
        """Passes over the word, if it is next."""
        found = self.more and self.word == word
        self.at += found
        return found

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise Unparseable(f"expected {word!r}, found {self.word!r}")

    def query(self) -> SqlQuery:
        bracket = self.take("(")
        start = self.at
        tables, joins, known = self.sources()
        after, self.at = self.at, start
        distinct, select = self.selection(known)
        self.at = after
        where = self.conditions(known) if self.take("where") else ()
        group = self.grouping(known) if self.take("group") else ()
        having = self.conditions(known) if self.take("having") else ()
        order = self.ordering(known) if self.take("order") else None
        limit = self.take("limit")
        if limit and not self.next():
            raise Unparseable("nothing follows LIMIT")
        self.skip_semicolons()
        if bracket:
            self.expect(")")
        self.skip_semicolons()
        combined = {}
        if self.word in _SET_OPERATIONS:
            combined = {_SET_OPERATIONS[self.next()]: self.query()}
        return SqlQuery(select, distinct, tables, joins, where, group, having, order, limit, **combined)

    def sources(self) -> tuple[tuple[str | SqlQuery, ...], Conditions, list[str]]:
        """The tables after the next FROM, the conditions that join them, and the tables whose columns need no name."""
        while self.more and self.word != "from":
            self.at += 1
        self.expect("from")
        tables: list[str | SqlQuery] = []
        joins: list[Condition | str] = []
        known: list[str] = []
        while self.more:
            bracket = self.take("(")
            if self.word == "select":
                tables.append(self.query())
            else:
                self.take("join")
                known.append(self.table())
                tables.append(known[-1])
            if self.take("on"):
                joins += (["and"] if joins else []) + list(self.conditions(known))
            if bracket:
                self.expect(")")
            if self.word in _ENDS_CLAUSE:
                break
        return tuple(tables), tuple(joins), known

    def table(self) -> str:
        name = self.names.get(self.word, "")
        if name not in self.tables:
            raise Unparseable(f"there is no table {self.word!r}")
        self.at += 1
        if self.word == "as":
            self.at += 2
        return name

    def selection(self, known: Sequence[str]) -> tuple[bool, tuple[tuple[str, Unit], ...]]:
        self.expect("select")
        distinct = self.take("distinct")
        units = []
        while self.more and self.word not in CLAUSES:
            function = _FUNCTIONS[self.next()] if self.word in _FUNCTIONS else ""
            units.append((function, self.unit(known)))
            self.take(",")
        return distinct, tuple(units)

    def conditions(self, known: Sequence[str]) -> Conditions:
        found: list[Condition | str] = []
        while self.more:
            unit = self.unit(known)
            negated = self.take("not")
            comparison = self.next()
            if comparison not in _COMPARISONS:
                raise Unparseable(f"expected a comparison, found {comparison!r}")
            first, second = self.value(known), None
            if comparison == "between":
                self.expect("and")
                second = self.value(known)
            found.append(Condition(negated, comparison, unit, first, second))
            if self.word in _ENDS_CONDITIONS or not self.more:
                break
            if self.word not in ("and", "or"):
                raise Unparseable(f"found {self.word!r} between two conditions")
            found.append(self.next())
        return tuple(found)

    def value(self, known: Sequence[str]) -> SqlQuery | SqlColumn | float | str:
        start = self.at
        bracket = self.take("(")
        value: SqlQuery | SqlColumn | float | str
        if self.word == "select":
            value = self.query()
        elif '"' in self.word:
            value = self.next()
        else:
            try:
                value = float(self.word)
                self.at += 1
            except ValueError:
                value = self.column_value(start, known)
        if bracket:
            self.expect(")")
        return value

    def column_value(self, start: int, known: Sequence[str]) -> SqlColumn:
        """The column at the start of a value; what else stands before the value's end is passed over."""
        while self.more and self.word not in _ENDS_VALUE:
            self.at += 1
        return _SqlParser(self.words[start : self.at], self.names, self.tables).column(known)

    def grouping(self, known: Sequence[str]) -> tuple[SqlColumn, ...]:
        self.expect("by")
        columns = []
        while self.more and self.word not in _ENDS_CLAUSE:
            columns.append(self.column(known))
            if not self.take(","):
                break
        return tuple(columns)

    def ordering(self, known: Sequence[str]) -> tuple[str, tuple[Unit, ...]]:
        """The last direction that is named holds for all."""
        self.expect("by")
        units, direction = [], "asc"
        while self.more and self.word not in _ENDS_CLAUSE:
            units.append(self.unit(known))
            if self.word in ("asc", "desc"):
                direction = self.next()
            if not self.take(","):
                break
        return direction, tuple(units)

    def unit(self, known: Sequence[str]) -> Unit:
        bracket = self.take("(")
        unit = Unit(self.column(known))
        if self.word in _SIGNS:
            unit = Unit(unit.left, _SIGNS[self.next()], self.column(known))
        if bracket:
            self.expect(")")
        return unit

    def column(self, known: Sequence[str]) -> SqlColumn:
        bracket = self.take("(")
        if self.word in _FUNCTIONS:
            function = _FUNCTIONS[self.next()]
            self.expect("(")
            distinct = self.take("distinct")
            column = SqlColumn(self.column_name(known), function, distinct)
            self.expect(")")
            return column  # a bracket before the function is not closed here, but by the unit, if at all
        distinct = self.take("distinct")
        column = SqlColumn(self.column_name(known), "", distinct)
        if bracket:
            self.expect(")")
        return column

    def column_name(self, known: Sequence[str]) -> str:
        word = self.next()
        if word == "*":
            return word
        table, dot, column = word.partition(".")
        if dot:
            name = self.names.get(table, "")
            if column in self.tables.get(name, ()):
                return f"{name}.{column}"
        else:
            for name in known:
                if word in self.tables[name]:
                    return f"{name}.{word}"
        raise Unparseable(f"there is no column {word!r}")

    def skip_semicolons(self) -> None:
        while self.take(";"):
            pass
