"""The reader contract: does this path look like mine, and which examples are in it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec

from unfazed.core.errors import option
from unfazed.core.registry import Registry
from unfazed.core.values import Example, Variant


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a user says about their data; what they leave out is guessed."""

    format: str | None = None  # a reader's name
    task: str | None = None
    inputs: tuple[str, ...] = ()  # fields that hold the texts
    gold: str | None = None
    id: str | None = None
    groups: tuple[str, ...] = ()  # fields whose values are slices
    labels: tuple[str, ...] | None = None  # all labels that there may be

    def chosen_fields(self) -> list[str]:
        """The options that choose fields, as far as the caller set them, in the caller's spelling."""
        chosen = {
            option("input"): self.inputs,
            option("gold"): self.gold,
            option("id"): self.id,
            option("group", "groups"): self.groups,
        }
        return [name for name, value in chosen.items() if value]


class Reader:
    """Extend, and put in `data/NAME.py` or behind the entry point `unfazed.readers`. One is made for each reading.

    Before it yields an example, `read` sets `file` and `line` to where the example stands, so that whatever is
    found wrong with it later can be said with its place. Examples without an id of their own get `id=""`.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()  # in lower case, with the dot
    has_fields: ClassVar[bool] = True  # False: there are no named fields to choose from

    file: Path
    line: int = 0  # 1-based, as editors count

    def accepts(self, path: Path) -> bool:
        """Does the path look like this format? Only the name, and the start of what is there, are looked at."""
        return path.is_file() and path.suffix.lower() in self.suffixes

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        """The examples as they stand, in order, without holding all of them. `row` counts them from 0."""
        raise NotImplementedError

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        """The examples said another way, where the data has that, in the order of the examples and with their ids."""
        return iter(())


readers: Registry[Reader] = Registry("reader", Reader, "unfazed.data")
