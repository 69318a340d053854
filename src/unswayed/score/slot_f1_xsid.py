"""Slot F1 by the rule of xSID's own script, as its shared tasks print it."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.values import Json
from unswayed.score._scorer import tags_of
from unswayed.score.slot_f1 import SlotF1, Span


class SlotF1Xsid(SlotF1):
    """A slot begins at a B tag and goes on over all I tags, whatever their type; an I tag without a B is no slot.

    The script compares where the slot stops, so that a slot of a text's last two tokens equals one that stops before
    the last token.
    """

    name = "slot_f1_xsid"

    def span_sets(self, output: Json, gold: Json) -> tuple[set[Span], set[Span]]:
        return _spans(tags_of(output) or ()), _spans(tags_of(gold) or ())


def _spans(tags: Sequence[str]) -> set[Span]:
    found, last = set[Span](), len(tags) - 1
    for begin, tag in enumerate(tags):
        if tag.startswith("B"):
            stop = begin if begin == last else begin + 1
            while stop < last and tags[stop].startswith("I"):
                stop += 1
            found.add((tag[2:], begin, stop))
    return found
