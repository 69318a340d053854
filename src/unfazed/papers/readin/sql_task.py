"""Text-to-SQL: a question about a database in, a query out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from unfazed.core import Example, Inputs, Json, Task


class Sql(Task):
    """Gold is `{"sql": …, "db_id": …, "schema": …}`, so that it can be scored by itself; an output is SQL.

    The schema, as `schema_of` makes it, has the columns of each table and which columns are the same by foreign keys.
    """

    name = "sql"
    fields = ("question", "db_id")
    varied = ("question",)
    scores = ("sql_match",)

    def fits(self, example: Example) -> bool:
        return isinstance(example.gold, dict) and "sql" in example.gold

    def gold_problem(self, example: Example) -> str | None:
        gold = example.gold
        if not isinstance(gold, dict) or not isinstance(gold.get("sql"), str):
            return "gold must be {'sql': …, 'db_id': …, 'schema': …}"
        schema = gold.get("schema")
        if not isinstance(schema, dict) or not {"tables", "keys"} <= schema.keys():
            return "gold's schema must be {'tables': {table: [columns]}, 'keys': {column: column}}"
        return None

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        return None if isinstance(output, str) else f"an output must be SQL, not {output!r:.80}"

    def answer(self, output: Json) -> Hashable:
        """The query without regard to spaces, capitals and a closing semicolon."""
        return " ".join(output.replace(";", " ").split()).casefold()


def schema_of(entry: Mapping[str, Json]) -> Json:
    """The schema of a database from its entry in Spider's `tables.json`. All names are in lower case.

    `keys` leads from a column `table.column` to the first of those that foreign keys make the same. As in Spider's
    scorer, a key joins the first group that has either of its columns; groups that meet later stay apart.
    """
    names = [name.lower() for name in entry["table_names_original"]]
    columns = [
        "*" if table < 0 else f"{names[table]}.{column.lower()}" for table, column in entry["column_names_original"]
    ]
    tables: dict[str, list[str]] = {name: [] for name in names}
    for table, column in entry["column_names_original"]:
        if table >= 0:
            tables[names[table]].append(column.lower())
    return {"tables": tables, "keys": _merged(entry["foreign_keys"], columns)}


def _merged(pairs: Sequence[tuple[int, int]], columns: Sequence[str]) -> dict[str, str]:
    groups: list[set[int]] = []
    for pair in pairs:
        group = next((group for group in groups if not group.isdisjoint(pair)), None)
        if group is None:
            groups.append(group := set())
        group.update(pair)
    return {columns[member]: columns[min(group)] for group in groups for member in sorted(group)}
