"""A suite as a folder that Hugging Face datasets loads: Parquet files of two splits, and a card that describes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.ids import canonical
from unswayed.base.values import Example, Json, Variant
from unswayed.report.export._exporter import FolderExporter
from unswayed.report.export._prompted import CLEAN
from unswayed.report.tables import escaped
from unswayed.storage.parquet import Row, blocks, field, write_batches
from unswayed.storage.suite import Suite


class Column:
    """Whole numbers or truth values (`int64`, `bool`), or, as here, texts. Values may be missing."""

    dtype = "string"

    def feature(self) -> Json:
        return {"dtype": self.dtype, "_type": "Value"}

    def type(self) -> Any:
        from arro3.core import DataType

        return {"string": DataType.utf8, "int64": DataType.int64, "bool": DataType.bool}[self.dtype]()

    def array(self, values: Sequence[Json]) -> Any:
        from arro3.core import Array

        return Array([None if value is None else self.stored(value) for value in values], self.type())

    def stored(self, value: Json) -> Json:
        return value


class Whole(Column):
    dtype = "int64"


class Truth(Column):
    dtype = "bool"


class JsonText(Column):
    """Values of no common form, each as its JSON."""

    def stored(self, value: Json) -> Json:
        return canonical(value).decode()


class Label(Whole):
    """Texts out of a known set, stored as their places in it."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self._places = {name: place for place, name in enumerate(self.names)}

    def feature(self) -> Json:
        return {"names": self.names, "_type": "ClassLabel"}

    def stored(self, value: Json) -> Json:
        return self._places[value]


class Many(Column):
    """Lists of one kind of value."""

    def __init__(self, item: Column) -> None:
        self.item = item

    def feature(self) -> Json:
        return {"feature": self.item.feature(), "_type": "List"}

    def type(self) -> Any:
        return self.array([]).type

    def array(self, values: Sequence[Json]) -> Any:
        from arro3.core import Array, DataType, list_array

        lists = [value or [] for value in values]
        ends = Array([0, *accumulate(map(len, lists))], DataType.int32())
        return list_array(ends, self.item.array([item for one in lists for item in one]), mask=_absent(values))


class Named(Column):
    """Values by name: the same names in all of them."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self.columns = dict(columns)

    def feature(self) -> Json:
        return {name: column.feature() for name, column in self.columns.items()}

    def type(self) -> Any:
        return self.array([]).type

    def array(self, values: Sequence[Json]) -> Any:
        from arro3.core import struct_array

        arrays = [c.array([(value or {}).get(name) for value in values]) for name, c in self.columns.items()]
        fields = [field(name, a.type) for name, a in zip(self.columns, arrays, strict=True)]
        return struct_array(arrays, fields=fields, mask=_absent(values))


def _absent(values: Sequence[Json]) -> Any:
    from arro3.core import Array, DataType

    return Array([value is None for value in values], DataType.bool())


def column_for(values: Iterable[Json]) -> Column:
    """The column that holds these values as they are, or as JSON where they have no common form."""
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    if not kinds or kinds == {str}:
        return Column()
    if kinds == {bool}:
        return Truth()
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in known):
        return Whole()
    if kinds == {list}:
        item = column_for(item for value in known for item in value)
        return item if isinstance(item, JsonText) else Many(item)
    if kinds == {dict} and _can_be_columns(known[0]) and all(value.keys() == known[0].keys() for value in known):
        columns = {name: column_for(value[name] for value in known) for name in known[0]}
        if not any(isinstance(column, JsonText) for column in columns.values()):
            return Named(columns)
    return JsonText()


def _can_be_columns(names: Collection[str]) -> bool:
    """Is there a name, and none with a NUL, which Arrow can't hold?"""
    return bool(names) and not any("\0" in name for name in names)


class Datasets(FolderExporter):
    """A folder for `datasets.load_dataset(FOLDER)`, with the splits `clean` and `variants`."""

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        columns = _columns(suite)
        groups = {example.id: example.groups for example in suite.examples()} if "groups" in columns else {}
        _write(folder / "clean.parquet", columns, map(_of_example, suite.examples()))
        _write(folder / "variants.parquet", columns, (_of_variant(v, groups) for v in suite.variants()))
        gold = columns["gold"]
        (folder / "README.md").write_text(_card(suite, gold), encoding="utf-8")
        said = " Gold has no common form, so it stands as JSON." if isinstance(gold, JsonText) else ""
        return f'Load it with: datasets.load_dataset("FOLDER").{said}', {}


def _columns(suite: Suite) -> dict[str, Column]:
    """What there is, found by looking at all of it."""
    text, whole = Column(), Whole()
    inputs = dict.fromkeys(name for thing in _things(suite) for name in thing.inputs)
    groups = dict.fromkeys(name for example in suite.examples() for name in example.groups)
    columns: dict[str, Column] = {"id": text, "inputs": Named(dict.fromkeys(inputs, text)), "gold": _gold(suite)}
    if groups:
        columns["groups"] = Named(dict.fromkeys(groups, text))
    columns |= {"source": text, "family": text, "meaning": text, "draw": whole, "note": text, "row": whole}
    return columns


def _things(suite: Suite) -> Iterator[Example | Variant]:
    yield from suite.examples()
    yield from suite.variants()


def _gold(suite: Suite) -> Column:
    golds = list({canonical(thing.gold): thing.gold for thing in _things(suite) if thing.gold is not None}.values())
    column = column_for(golds)
    if type(column) is Column and golds and all(suite.task.label(gold) == gold for gold in golds):
        return Label(dict.fromkeys([*(suite.manifest.labels or ()), *sorted(golds)]))
    return column


def _of_example(e: Example) -> Row:
    return e.id, e.inputs, e.gold, e.groups, CLEAN, CLEAN, "same", 0, "", e.row


def _of_variant(v: Variant, groups: dict[str, dict[str, str]]) -> Row:
    about = groups.get(v.example_id)
    return v.example_id, v.inputs, v.gold, about, v.source, v.family, v.meaning, v.draw, v.note, v.row


_ORDER = ("id", "inputs", "gold", "groups", "source", "family", "meaning", "draw", "note", "row")


def _write(file: Path, columns: dict[str, Column], rows: Iterable[Row]) -> None:
    from arro3.core import RecordBatch, Schema

    features = {name: column.feature() for name, column in columns.items()}
    about = msgspec.json.encode({"info": {"features": features}}).decode()
    fields = [field(name, column.type()) for name, column in columns.items()]
    schema = Schema(fields, metadata={"huggingface": about})
    places = [_ORDER.index(name) for name in columns]

    def batches() -> Iterator[object]:
        for block in blocks(rows):
            arrays = [c.array([row[i] for row in block]) for c, i in zip(columns.values(), places, strict=True)]
            yield RecordBatch.from_arrays(arrays, schema=schema)

    write_batches(file, schema, batches())


def _card(suite: Suite, gold: Column) -> str:
    manifest = suite.manifest
    said = "Gold values have no common form and stand as JSON." if isinstance(gold, JsonText) else ""
    template = (files("unswayed.report.export") / "card.md").read_text("utf-8")
    return template.format(
        examples=manifest.examples,
        variants=manifest.variants,
        task=escaped(manifest.task),
        gold=said,
        sources="\n".join(f"| {escaped(source)} | {count:,} |" for source, count in suite.sources().items()),
        id=suite.id,
        version=manifest.unswayed,
    )
