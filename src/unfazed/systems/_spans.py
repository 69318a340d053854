"""Stretches of a text with names, as BIO tags of its tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Letters from `start` up to `end`, and what they are."""

    start: int
    end: int
    name: str


def bio(text: str, spans: Iterable[Span]) -> list[str]:
    """A tag for each token that single spaces separate. A token is of the first stretch that has letters of it."""
    tokens = text.split(" ")
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    tags, n = ["O"] * len(tokens), 0
    for span in sorted(spans):
        while n < len(tokens) and (starts[n] + len(tokens[n]) <= span.start or tags[n] != "O"):
            n += 1
        mark, at = "B-", n
        while at < len(tokens) and starts[at] < span.end:
            if tokens[at] and max(starts[at], span.start) < min(starts[at] + len(tokens[at]), span.end):
                tags[at], mark = mark + span.name, "I-"
            at += 1
    return tags
