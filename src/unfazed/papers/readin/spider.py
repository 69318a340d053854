"""Text-to-SQL as Spider and CSpider have it: questions with their SQL, beside `tables.json` with the schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unfazed.core import DataError, Example, Json, decode_json, nearest_name
from unfazed.data import Reader, ReadOptions, open_bytes
from unfazed.papers.readin.sql_task import schema_of

_TABLES = "tables.json"


class Spider(Reader):
    """A JSON list of questions in the folder of its `tables.json`, or a folder with just one such list.

    Where a question is given in several languages, Chinese is taken; `--input en` takes another.
    """

    def accepts(self, path: Path) -> bool:
        return bool(_lists(path)) if path.is_dir() else _is_list(path)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        path = _only_list(path) if path.is_dir() else path
        self.file = path
        schemas = read_schemas(path.parent / _TABLES)
        for row, record in enumerate(_records(path)):
            self.line = row + 1
            db_id = _text(record, "db_id", self)
            if db_id not in schemas:
                near = nearest_name(db_id, schemas)
                hint = f" Did you mean {near!r}?" if near else ""
                raise DataError(f"{_TABLES} has no database {db_id!r}.{hint}", path, self.line)
            inputs = {"question": _question(record, options, self), "db_id": db_id}
            sql = record["mr"].get("sql") if isinstance(record.get("mr"), dict) else record.get("query")
            if not isinstance(sql, str):
                raise DataError("there is no SQL in `query` or `mr.sql`.", path, self.line)
            inputs["schema"] = _shown(schemas[db_id])
            yield Example(row, "", inputs, {"sql": sql, "db_id": db_id, "schema": schemas[db_id]})


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
        language = options.inputs[0] if options.inputs else "zh" if "zh" in question else next(iter(question), "")
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
    if not (path.parent / _TABLES).is_file():
        return False
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
