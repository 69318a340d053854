"""Spider and CSpider: the task and the reader."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base import DataError, Example, Inputs, Json, Task, decode_json, nearest_name
from unswayed.data import Reader, ReadOptions, open_bytes


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

    def right(self, gold: Json) -> Json:
        return gold["sql"]

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


_TABLES = "tables.json"
_ABOVE = 4  # folders in which it is looked for


class Spider(Reader):
    """A JSON list of questions in the folder of its `tables.json`, or a folder with just one such list.

    Where a question is given in several languages, Chinese is taken; `--input en` takes another.
    """

    def accepts(self, path: Path) -> bool:
        return bool(_lists(path)) if path.is_dir() else _is_list(path)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        path = _only_list(path) if path.is_dir() else path
        self.file = path
        schemas = read_schemas(find_tables(path))
        for row, record in enumerate(_records(path)):
            self.line = row + 1
            db_id = _text(record, "db_id", self)
            if db_id not in schemas:
                near = nearest_name(db_id, schemas)
                hint = f" Did you mean {near!r}?" if near else ""
                raise DataError(f"{_TABLES} has no database {db_id!r}.{hint}", path, self.line)
            question = _question(record, options, self)
            sql = record["mr"].get("sql") if isinstance(record.get("mr"), dict) else record.get("query")
            if not isinstance(sql, str):
                raise DataError("there is no SQL in `query` or `mr.sql`.", path, self.line)
            yield example_of(row, question, db_id, sql, schemas[db_id])


def example_of(row: int, question: str, db_id: str, sql: str, schema: Json) -> Example:
    inputs = {"question": question, "db_id": db_id, "schema": _shown(schema)}
    return Example(row, "", inputs, {"sql": sql, "db_id": db_id, "schema": schema})


def find_tables(file: Path) -> Path:
    """The `tables.json` of a file: beside it, in a folder above it, or in a folder `clean` there."""
    for folder in list(file.parents)[:_ABOVE]:
        clean = folder / "clean"
        for place in (folder / _TABLES, clean / _TABLES, clean / file.parent.name / _TABLES):
            if place.is_file():
                return place
    raise DataError(f"there is no {_TABLES} next to this file or above it. Spider's has the schemas.", file)


def read_schemas(path: Path) -> dict[str, Json]:
    """The schemas in a `tables.json`, by database."""
    entries = _decoded(path)
    try:
        return {str(entry["db_id"]): schema_of(entry) for entry in entries}
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise DataError(f"this is not a list of schemas as Spider has them ({error!r}).", path) from error


def _shown(schema: Json) -> str:
    """The schema as a text for systems to read: a table a line with its columns."""
    return "\n".join(f"{table}({', '.join(columns)})" for table, columns in schema["tables"].items())


def _question(record: dict[str, Any], options: ReadOptions, reader: Spider) -> str:
    question = record.get("question")
    if isinstance(question, dict):
        language = options.input[0] if options.input else "zh" if "zh" in question else next(iter(question), "")
        if language not in question:
            known = ", ".join(question)
            raise DataError(f"there is no question in {language!r}, only in {known}.", reader.file, reader.line)
        question = question[language]
    return _text({"question": question}, "question", reader)


def _text(record: dict[str, Any], name: str, reader: Spider) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name} must be a text, not {value!r:.60}.", reader.file, reader.line)
    return value


def _records(path: Path) -> list[dict[str, Any]]:
    records = _decoded(path)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError("this must be a list of objects, one for each question.", path)
    return records


def _decoded(path: Path) -> Any:
    with open_bytes(path) as file:
        content = file.read()
    try:
        return decode_json(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DataError(f"this is not valid JSON: {error}.", path) from error


def _is_list(path: Path) -> bool:
    if not path.is_file() or path.suffix.lower() != ".json" or path.name == _TABLES:
        return False
    return (path.parent / _TABLES).is_file() and is_list(path)


def is_list(path: Path) -> bool:
    """Does the file begin as a JSON list?"""
    with open_bytes(path) as file:
        return file.read(64).lstrip().startswith(b"[")


def _lists(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.json") if _is_list(file))


def _only_list(folder: Path) -> Path:
    found = _lists(folder)
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "no list of questions"
        raise DataError(f"this folder holds {names}. Name one file.", folder)
    return found[0]
