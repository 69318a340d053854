"""A suite as a folder that Hugging Face `datasets` loads: Parquet files of two splits, and a card that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from unfazed.core.ids import canonical
from unfazed.core.parquet import Row, blocks, field, write_batches
from unfazed.core.suite import Suite
from unfazed.core.values import Example, Json, Variant
from unfazed.report.export._columns import Column, JsonText, Label, Named, Whole, column_for
from unfazed.report.export._exporter import FolderExporter
from unfazed.report.export._prompted import CLEAN
from unfazed.report.tables import escaped

_CARD = """---
configs:
- config_name: default
  data_files:
  - split: clean
    path: clean.parquet
  - split: variants
    path: variants.parquet
---
# A suite of unfazed

{examples:,} examples of the task {task} and {variants:,} variants of them: the same said another way by `source`, an
operator or a person. A variant has its example's `id`, its gold where labels moved with the words, and `meaning`, which
is `changed` for controls, after which the right answer is another.

{gold}

| source | variants |
|:---|---:|
{sources}

Suite `{id}`, made with unfazed {version}.
"""


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
    return (
        v.example_id,
        v.inputs,
        v.gold,
        groups.get(v.example_id),
        v.source,
        v.family,
        v.meaning,
        v.draw,
        v.note,
        v.row,
    )


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
    return _CARD.format(
        examples=manifest.examples,
        variants=manifest.variants,
        task=escaped(manifest.task),
        gold=said,
        sources="\n".join(f"| {escaped(source)} | {count:,} |" for source, count in suite.sources().items()),
        id=suite.id,
        version=manifest.unfazed,
    )
