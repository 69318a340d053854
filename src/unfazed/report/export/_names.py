"""Names that other tools accept, made from names that may hold anything."""

from __future__ import annotations

import re
from collections.abc import Iterable

from unfazed.core.ids import content_id


def safe_names(names: Iterable[str], unsafe: str, longest: int = 100) -> dict[str, str]:
    """For each name one without the characters that `unsafe`, a pattern, matches; no two are alike.

    What the tool would not tell apart, or what had to be cut, gets an id of the whole name at its end.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(unsafe, "_", name)
        lost = re.sub("[_/]", "", plain) != re.sub("[_/]", "", name) or len(plain) > longest or not plain
        if lost or plain.casefold() in taken:
            plain = f"{plain[: longest - 9]}_{content_id(name, 4)}"
        taken.add(plain.casefold())
        found[name] = plain
    return found
