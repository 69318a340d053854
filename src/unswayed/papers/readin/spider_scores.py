"""Scores of files in Spider's format."""

from __future__ import annotations

from pathlib import Path

import msgspec

from unswayed.base import DataError, Json, nearest_name, task_named
from unswayed.data import read_lines
from unswayed.measure import check_lengths, file_id, score_values
from unswayed.papers.readin.scores import SqlMatch, SqlMatchFirst
from unswayed.papers.readin.spider import read_schemas
from unswayed.papers.readin.sql_compare import LEVELS, Rule, hardness
from unswayed.papers.readin.sql_parser import Unparseable, parse
from unswayed.stats import Resampling


class HardnessScore(msgspec.Struct, frozen=True):
    """The queries of one hardness, as gold has it: how many, and the share that matches; None of none."""

    n: int
    exact: float | None


class SqlScores(msgspec.Struct, frozen=True, kw_only=True):
    """The share of queries that match, its interval, and the levels of hardness; `unreadable` count as empty ones."""

    exact: float | None
    low: float | None
    high: float | None
    n: int
    unreadable: int
    rule: str
    hardness: dict[str, HardnessScore]
    signature: str


def score_sql_files(
    gold: str | Path, predicted: str | Path, tables: str | Path, rule: Rule = "current",
    settings: Resampling | None = None,
) -> SqlScores:  # fmt: skip
    """`gold` has SQL, a tab and the database a line, `predicted` SQL a line, `tables` is Spider's `tables.json`."""
    golds, levels = _read_gold(Path(gold), Path(tables))
    outputs = [line.split("\t")[0].strip() for line in _lines(Path(predicted), len(golds))]
    check_lengths(gold, len(golds), predicted, len(outputs))
    scorer, task = (SqlMatchFirst() if rule == "first" else SqlMatch()), task_named("sql")
    files = {"gold": file_id(gold), "outputs": file_id(predicted), "tables": file_id(tables)}
    whole = score_values(scorer, golds, outputs, task, files, settings)
    matches = scorer.stats(outputs, golds, task)[:, 0]
    found = {}
    for level in LEVELS:
        inside = [match for match, of in zip(matches, levels, strict=True) if of == level]
        found[level] = HardnessScore(len(inside), float(sum(inside) / len(inside)) if inside else None)
    return SqlScores(
        exact=whole.value,
        low=whole.low,
        high=whole.high,
        n=whole.n,
        unreadable=sum(not _readable(sql, true) for sql, true in zip(outputs, golds, strict=True)),
        rule=rule,
        hardness=found,
        signature=whole.signature,
    )


def _read_gold(path: Path, tables: Path) -> tuple[list[Json], list[str]]:
    """The golds as the task `sql` has them, and the hardness of each."""
    schemas = read_schemas(tables)
    golds, levels = [], []
    for number, line in enumerate(_lines(path), 1):
        sql, tab, db_id = line.strip().partition("\t")
        if not tab:
            raise DataError("a line must be SQL, a tab and the name of its database.", path, number)
        if db_id not in schemas:
            near = nearest_name(db_id, schemas)
            hint = f" Did you mean {near!r}?" if near else ""
            raise DataError(f"{tables} has no database {db_id!r}.{hint}", path, number)
        try:
            levels.append(hardness(parse(sql, schemas[db_id]["tables"])))
        except Unparseable as error:
            raise DataError(f"this query can't be read as Spider's scorer does: {error}.", path, number) from error
        golds.append({"sql": sql, "db_id": db_id, "schema": schemas[db_id]})
    return golds, levels


def _readable(sql: str, gold: Json) -> bool:
    try:
        return bool(parse(sql, gold["schema"]["tables"]))
    except Unparseable:
        return False


def _lines(path: Path, least: int = 0) -> list[str]:
    """The lines without blank ones at the end beyond `least`; any other blank one is an empty query."""
    lines = [line.rstrip("\r\n") for line in read_lines(path)]
    while len(lines) > least and not lines[-1].strip():
        lines.pop()
    return lines
