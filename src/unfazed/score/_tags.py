"""Reading the tags of a spoken-language gold or output."""

from __future__ import annotations

from unfazed.core.values import Json


def tags_of(value: Json) -> tuple[str, ...] | None:
    """The tags, or None where there is no list of texts."""
    slots = value.get("slots") if isinstance(value, dict) else None
    if not isinstance(slots, (list, tuple)) or not all(isinstance(tag, str) for tag in slots):
        return None
    return tuple(slots)
