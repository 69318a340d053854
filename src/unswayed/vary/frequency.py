"""How frequent English words are, by their rank in a list of fifty thousand."""

from __future__ import annotations

import gzip
from functools import lru_cache
from importlib.resources import files

_FILE = files("unswayed.vary") / "spoken" / "data" / "speako_words.tsv.gz"
FREQUENT = 150  # rank of words that are lost and added by themselves
CLASSES = (100, 1_000, 5_000, 20_000)  # ranks at which classes of frequency end; the last is for all other words


@lru_cache(1)
def ranks() -> dict[str, int]:
    """The rank of each word on the list, in small letters; the most frequent has 0."""
    lines = gzip.decompress(_FILE.read_bytes()).decode().splitlines()
    return {line[: line.index("\t")]: rank for rank, line in enumerate(lines)}


def frequency_class(rank: int | None) -> int:
    """0 for the most frequent words, 4 for the rarest and for words that are not on the list."""
    if rank is None:
        return len(CLASSES)
    return next((k for k, end in enumerate(CLASSES) if rank < end), len(CLASSES))
