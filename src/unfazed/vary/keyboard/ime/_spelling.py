"""How many keys a candidate stands for, for engines that do not say."""

from __future__ import annotations

from functools import lru_cache
from os.path import commonprefix

from unfazed.vary.keyboard._explain import sounds


@lru_cache(100_000)
def used_keys(keys: str, text: str) -> int:
    """The keys that these characters take up, each as much of its reading as was typed, and one at least."""
    at = 0
    for c in text:
        if keys[at : at + 1] == "'":
            at += 1
        at += max([len(commonprefix((keys[at : at + 6], sound))) for sound in sounds(c)], default=0) or 1
    return min(at, len(keys))
