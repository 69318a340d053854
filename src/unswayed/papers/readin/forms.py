"""The rows of READIN's files: a loader for each task, told by the fields of the first row.

AFQMC has pairs, WMT2021 segments; CMRC2018 and CSpider come as JSON lines, as the authors release them, or in SQuAD's
and Spider's own form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base import DataError, Example, Json, nearest_name
from unswayed.data import Jsonl, ReadOptions, Squad, answer_at, is_squad, read_lines
from unswayed.papers.readin.spider import Spider, example_of, find_tables, is_list, read_schemas

_SIDES = {"1": "positive", "0": "negative"}

Row = tuple[Example, int]  # an example, and the line that it is on


def rows_of(file: Path) -> Iterator[Row]:
    """The examples of one file of any of the tasks, with the lines they are on."""
    if is_squad(file):
        return _read(Squad(), file, ReadOptions())
    if is_list(file):
        return _read(Spider(), file, ReadOptions())
    first = _first(file)
    for fields, load in _LOADERS.items():
        if set(fields) <= first.keys():
            return load(file)
    known = "; ".join(", ".join(fields) for fields in _LOADERS)
    raise DataError(f"this is not a file of READIN: its first row has {', '.join(first)}. Known fields: {known}.", file)


def afqmc(file: Path) -> Iterator[Row]:
    """Pairs of questions: `sentence1`, `sentence2`, `label`."""
    for example, line in _read(Jsonl(), file, ReadOptions(input=("sentence1", "sentence2"), gold="label")):
        yield msgspec.structs.replace(example, groups=side(example.gold)), line


def nmt(file: Path) -> Iterator[Row]:
    """Segments: `id`, `zh`, `en`. They are named as the task `translate` has them."""
    for example, line in _read(Jsonl(), file, ReadOptions(input=("zh",), gold="en", id="id")):
        gold = example.gold.rstrip("\r\n") if isinstance(example.gold, str) else example.gold
        yield msgspec.structs.replace(example, inputs={"source": example.inputs["zh"]}, gold=gold), line


def cmrc(file: Path) -> Iterator[Row]:
    """Questions on paragraphs: `id`, `context`, `question`, `answers`."""
    for row, (line, record) in enumerate(_records(file)):
        context, question = (_text(record, name, file, line) for name in ("context", "question"))
        answers = [answer_at(text, start, context) for text, start in _answers(record.get("answers"), file, line)]
        gold = {"answers": answers} if answers else None
        yield Example(row, str(record["id"]), {"question": question, "context": context}, gold), line


def cspider(file: Path) -> Iterator[Row]:
    """Questions on databases: `db_id`, `question`, `query`; the schemas are in a `tables.json` near the file."""
    schemas = read_schemas(find_tables(file))
    for row, (line, record) in enumerate(_records(file)):
        db_id, question, query = (_text(record, name, file, line) for name in ("db_id", "question", "query"))
        if db_id not in schemas:
            near = nearest_name(db_id, schemas)
            hint = f" Did you mean {near!r}?" if near else ""
            raise DataError(f"tables.json has no database {db_id!r}.{hint}", file, line)
        yield msgspec.structs.replace(example_of(row, question, db_id, query, schemas[db_id]), id=_id(record)), line


_LOADERS: dict[tuple[str, ...], Callable[[Path], Iterator[Row]]] = {
    ("sentence1", "sentence2", "label"): afqmc,
    ("id", "zh", "en"): nmt,
    ("id", "context", "question", "answers"): cmrc,
    ("db_id", "question", "query"): cspider,
}


def side(label: object) -> dict[str, str]:
    """The slice of a pair by its label."""
    return {"pair": _SIDES[label]} if isinstance(label, str) and label in _SIDES else {}


def _read(reader: Any, file: Path, options: ReadOptions) -> Iterator[Row]:
    return ((example, reader.line) for example in reader.read(file, options))


def _first(file: Path) -> dict[str, Json]:
    _, record = next(_records(file), (0, {}))
    return record


def _records(file: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """The lines that are not blank, with their numbers, as objects."""
    for number, line in enumerate(read_lines(file), 1):
        if line.strip():
            try:
                record = msgspec.json.decode(line)
            except msgspec.MsgspecError as error:
                raise DataError(f"this line is not valid JSON: {error}.", file, number) from error
            if not isinstance(record, dict):
                raise DataError(f"this line must be an object, not {record!r:.60}.", file, number)
            yield number, record


def _id(record: dict[str, Json]) -> str:
    return str(record["id"]) if isinstance(record.get("id"), (str, int)) else ""


def _text(record: dict[str, Json], name: str, file: Path, line: int) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name} must be a text, not {value!r:.60}.", file, line)
    return value


def _answers(value: Json, file: Path, line: int) -> Iterator[tuple[str, int]]:
    """Answers as texts, as SQuAD's objects, or as datasets have them: lists of texts and of starts."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        starts = value.get("answer_start") or [-1] * len(value["text"])
        value = [{"text": text, "answer_start": at} for text, at in zip(value["text"], starts, strict=False)]
    if not isinstance(value, list):
        raise DataError(f"answers must be a list, not {value!r:.60}.", file, line)
    for answer in value:
        text = answer.get("text") if isinstance(answer, dict) else answer
        start = answer.get("answer_start", -1) if isinstance(answer, dict) else -1
        if not isinstance(text, str) or not isinstance(start, int):
            raise DataError(
                f"an answer must be a text, or have a `text` and an `answer_start`: {answer!r:.60}.", file, line
            )
        yield text, start
