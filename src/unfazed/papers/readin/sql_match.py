"""Spider's exact set match: the share of queries that ask for the same as gold, clause by clause."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, ClassVar

import msgspec

from unfazed.core import Json, Task, canonical
from unfazed.papers.readin.sql_compare import Rule, same
from unfazed.papers.readin.sql_parser import Unparseable, parse
from unfazed.papers.readin.sql_query import Query
from unfazed.score import MeanScorer


class SqlMatch(MeanScorer):
    """Equal to Spider's official scorer: values and DISTINCT do not count; what can't be read is an empty query."""

    name = "sql_match"
    rule: ClassVar[Rule] = "current"

    def key(self, value: Json, task: Task) -> Hashable:
        if isinstance(value, str):
            return value
        return canonical(value) if _gold(value) else None

    def item(self, output: Json, gold: Json, task: Task) -> float:
        if not _gold(gold):
            return 0.0
        schema = canonical(gold["schema"])
        true = _parsed(gold["sql"], schema)
        said = _parsed(output, schema) if isinstance(output, str) else Query()
        return float(true != Query() and same(said, true, _schema(schema)["keys"], self.rule))


def _gold(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("sql"), str) and isinstance(value.get("schema"), dict)


@lru_cache(maxsize=1 << 12)
def _parsed(sql: str, schema: bytes) -> Query:
    try:
        return parse(sql, _schema(schema)["tables"])
    except Unparseable:
        return Query()


@lru_cache(maxsize=256)
def _schema(schema: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(schema)
    return decoded
