"""A suite as a folder that Hugging Face datasets loads: Parquet files of two splits, and a card that describes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field as by_default
from importlib.resources import files
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal

import msgspec

from unswayed.base.ids import canonical
from unswayed.base.values import Example, Json, Variant
from unswayed.report.export import FolderExporter
from unswayed.report.export._prompted import CLEAN
from unswayed.report.tables import escaped
from unswayed.storage.parquet import Row, blocks, field, write_batches
from unswayed.storage.suite import Suite


@dataclass(frozen=True)
class Column:
    """How values are stored, of which some may be missing: of one type; `json`, texts for values of no common form;
    `label`, places among `names`; `list`, with the values' column in `parts`; or `struct`, by name as in `parts`."""

    kind: Literal["string", "int64", "bool", "json", "label", "list", "struct"] = "string"
    names: Sequence[str] = ()
    parts: Mapping[str, Column] = by_default(default_factory=dict)

    def feature(self) -> Json:
        """The column's type as `datasets` has it."""
        if self.kind == "struct":
            return {name: part.feature() for name, part in self.parts.items()}
        if self.kind == "list":
            return {"feature": self.parts["item"].feature(), "_type": "List"}
        if self.kind == "label":
            return {"names": list(self.names), "_type": "ClassLabel"}
        return {"dtype": "string" if self.kind == "json" else self.kind, "_type": "Value"}

    def array(self, values: Sequence[Json]) -> Any:
        """The values as an array of Arrow."""
        from arro3.core import Array, DataType, list_array, struct_array

        absent = Array([value is None for value in values], DataType.bool())
        if self.kind == "struct":
            arrays = {name: part.array([(v or {}).get(name) for v in values]) for name, part in self.parts.items()}
            return struct_array(
                list(arrays.values()), fields=[field(name, a.type) for name, a in arrays.items()], mask=absent
            )
        if self.kind == "list":
            lists = [value or [] for value in values]
            ends = Array([0, *accumulate(map(len, lists))], DataType.int32())
            return list_array(ends, self.parts["item"].array([item for one in lists for item in one]), mask=absent)
        places = {name: place for place, name in enumerate(self.names)}
        if self.kind in ("json", "label"):
            spelled = places.__getitem__ if self.kind == "label" else lambda value: canonical(value).decode()
            values = [None if value is None else spelled(value) for value in values]
        types = {"int64": DataType.int64, "label": DataType.int64, "bool": DataType.bool}
        return Array(values, types.get(self.kind, DataType.utf8)())


def column_for(values: Iterable[Json]) -> Column:
    """The column that holds these values as they are, or as JSON where they have no common form."""
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    if not kinds or kinds == {str}:
        return Column()
    if kinds == {bool}:
        return Column("bool")
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in known):
        return Column("int64")
    parts: dict[str, Column] = {}
    if kinds == {list}:
        parts = {"item": column_for(item for value in known for item in value)}
    elif kinds == {dict} and all(value.keys() == known[0].keys() for value in known):
        names = [] if any("\0" in name for name in known[0]) else list(known[0])  # Arrow can't hold a NUL
        parts = {name: column_for(value[name] for value in known) for name in names}
    if not parts or any(part.kind == "json" for part in parts.values()):
        return Column("json")
    return Column("list" if kinds == {list} else "struct", parts=parts)


_ORDER = ("id", "inputs", "gold", "groups", "source", "family", "meaning", "draw", "note", "row")


class Datasets(FolderExporter):
    """A folder for `datasets.load_dataset(FOLDER)`, with the splits `clean` and `variants`."""

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        columns = _columns(suite)
        groups = {example.id: example.groups for example in suite.examples()} if "groups" in columns else {}
        clean = ((e.id, e.inputs, e.gold, e.groups, CLEAN, CLEAN, "same", 0, "", e.row) for e in suite.examples())
        _write(folder / "clean.parquet", columns, clean)

        def row(v: Variant) -> Row:
            about = groups.get(v.example_id)
            return v.example_id, v.inputs, v.gold, about, v.source, v.family, v.meaning, v.draw, v.note, v.row

        _write(folder / "variants.parquet", columns, map(row, suite.variants()))
        as_json, manifest = columns["gold"].kind == "json", suite.manifest
        facts = {
            "examples": manifest.examples,
            "variants": manifest.variants,
            "task": escaped(manifest.task),
            "gold": "Gold values have no common form and stand as JSON." if as_json else "",
            "sources": "\n".join(f"| {escaped(source)} | {count:,} |" for source, count in suite.sources().items()),
            "id": suite.id,
            "version": manifest.unswayed,
        }
        card = (files("unswayed.report.export") / "card.md").read_text("utf-8").format(**facts)
        (folder / "README.md").write_text(card, encoding="utf-8")
        said = " Gold has no common form, so it stands as JSON." if as_json else ""
        return f'Load it with: datasets.load_dataset("FOLDER").{said}', {}


def _columns(suite: Suite) -> dict[str, Column]:
    """What there is, found by looking at all of it."""
    text, whole = Column(), Column("int64")
    things = chain[Example | Variant](suite.examples(), suite.variants())
    inputs = dict.fromkeys((name for thing in things for name in thing.inputs), text)
    groups = dict.fromkeys((name for example in suite.examples() for name in example.groups), text)
    things = chain[Example | Variant](suite.examples(), suite.variants())
    golds = list({canonical(thing.gold): thing.gold for thing in things if thing.gold is not None}.values())
    gold = column_for(golds)
    if gold.kind == "string" and golds and all(suite.task.label(one) == one for one in golds):
        gold = Column("label", list(dict.fromkeys([*(suite.manifest.labels or ()), *sorted(golds)])))
    columns = {"id": text, "inputs": Column("struct", parts=inputs), "gold": gold}
    if groups:
        columns["groups"] = Column("struct", parts=groups)
    return columns | {"source": text, "family": text, "meaning": text, "draw": whole, "note": text, "row": whole}


def _write(file: Path, columns: dict[str, Column], rows: Iterable[Row]) -> None:
    from arro3.core import RecordBatch, Schema

    features = {name: column.feature() for name, column in columns.items()}
    about = msgspec.json.encode({"info": {"features": features}}).decode()
    fields = [field(name, column.array([]).type) for name, column in columns.items()]
    schema = Schema(fields, metadata={"huggingface": about})
    places = [_ORDER.index(name) for name in columns]
    arrays = (
        [c.array([row[i] for row in block]) for c, i in zip(columns.values(), places, strict=True)]
        for block in blocks(rows)
    )
    write_batches(file, schema, (RecordBatch.from_arrays(own, schema=schema) for own in arrays))
