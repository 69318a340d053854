"""A table of replacements in the form in which `tokenizers` and SentencePiece keep one: a double-array trie."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from typing import Any

_BLOCK = 256  # children of a node are one XORed byte away from its base, so they stand in the base's block
_RECENT = 8 * _BLOCK
_LEAF, _VALUE, _OFFSET = 1 << 8, 1 << 31, 10

Node = dict[int, Any]  # byte → node; 0 → where the replacement stands


def charsmap(replacements: Mapping[str, str]) -> bytes:
    """The table for `tokenizers.normalizers.Precompiled`. No side may hold a NUL."""
    pool = bytearray()
    root: Node = {}
    for old, new in sorted(replacements.items()):
        node = root
        for byte in old.encode():
            node = node.setdefault(byte, {})
        node[0] = len(pool)
        pool += new.encode() + b"\0"
    units = _Units(root).units
    if sys.byteorder == "big":
        units.byteswap()
    return len(units.tobytes()).to_bytes(4, "little") + units.tobytes() + bytes(pool)


class _Units:
    """The trie's nodes: a node's children stand at its base XOR their bytes, and no two nodes share a base."""

    def __init__(self, root: Node) -> None:
        self.units = array("I")
        self._taken, self._base = bytearray(), bytearray()
        self._hole = 0
        self._grow()
        self._taken[0] = self._base[0] = 1
        waiting = [(0, root)]
        while waiting:
            at, node = waiting.pop()
            base = self._free_base(node)
            self.units[at] |= (at ^ base) << _OFFSET | (_LEAF if 0 in node else 0)
            for byte, child in node.items():
                self._taken[base ^ byte] = 1
                self.units[base ^ byte] = _VALUE | child if byte == 0 else byte
                if byte:
                    waiting.append((base ^ byte, child))

    def _free_base(self, node: Node) -> int:
        """A base whose places are free. Nodes with one child fill the holes; others look in the last blocks only."""
        labels = list(node)
        start = self._hole if len(labels) == 1 else max(0, len(self.units) - _RECENT)
        for base in range(start, len(self.units) + _BLOCK):
            if base == len(self.units):
                self._grow()
            if not self._base[base] and not any(self._taken[base ^ label] for label in labels):
                self._base[base] = 1
                if len(labels) == 1:
                    self._hole = base
                return base
        raise AssertionError("an empty block has room for any node")

    def _grow(self) -> None:
        self.units.extend([0] * _BLOCK)
        self._taken.extend(bytes(_BLOCK))
        self._base.extend(bytes(_BLOCK))
