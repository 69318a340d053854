"""Columns of nested values, as Arrow has them and as Hugging Face `datasets` describes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from unfazed.core.parquet import field
from unfazed.core.values import Json


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
        from unfazed.core.ids import canonical

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
