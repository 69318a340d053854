"""Frequent English words: how common each is, and how it is said."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class CommonWord(NamedTuple):
    """A word's rank by frequency, 0 for the commonest, and the ways to say it, one character a phone."""

    rank: int
    sounds: tuple[str, ...]


@cache
def common_words() -> dict[str, CommonWord]:
    """By spelling; from the table that `spoken/speako` has, whose notice is beside it."""
    data = files("unswayed.vary.spoken").joinpath("data", "speako_words.tsv.gz").read_bytes()
    rows = (line.split("\t") for line in gzip.decompress(data).decode().splitlines())
    return {row[0]: CommonWord(rank, tuple(row[2].split())) for rank, row in enumerate(rows)}
