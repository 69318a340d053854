"""Numbers that belong to entries of a table, in arrays that are filled as entries are read."""

from __future__ import annotations

from typing import Any

import numpy as np


class Rows:
    """Rows of numbers of all entries that were read, those of one entry together."""

    def __init__(self, most: int, entries: int, **columns: type) -> None:
        self._columns: dict[str, Any] = {name: np.zeros(most, kind) for name, kind in columns.items()}
        self._starts, self._sizes = np.zeros(entries, int), np.zeros(entries, int)
        self._entries = self._filled = 0
        self._new: dict[str, list[Any]] = {name: [] for name in columns}  # not yet in the arrays, nor are the sizes
        self._new_sizes: list[int] = []

    def add(self, **values: list[Any]) -> int:
        """Adds an entry; gives back its number."""
        for name, its in values.items():
            self._new[name] += its
        self._new_sizes.append(len(its))
        return self._entries + len(self._new_sizes) - 1

    def _store(self) -> None:
        """Puts what is new into the arrays; many entries at once cost little more than one."""
        sizes = np.array(self._new_sizes)
        now = slice(self._entries, self._entries + len(sizes))
        self._starts[now], self._sizes[now] = self._filled + sizes.cumsum() - sizes, sizes
        for name, its in self._new.items():
            self._columns[name][self._filled : self._filled + len(its)] = its
            its.clear()
        self._entries, self._filled = now.stop, self._filled + int(sizes.sum())
        self._new_sizes = []

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def of(self, entries: Any) -> tuple[Any, Any, Any]:
        """The rows of these entries; for each row the place of its entry among them; and where each entry begins."""
        if self._new_sizes:
            self._store()
        sizes = self._sizes[entries]
        starts = sizes.cumsum() - sizes
        of = np.repeat(np.arange(len(entries)), sizes)
        return (self._starts[entries] - starts)[of] + np.arange(len(of)), of, starts
