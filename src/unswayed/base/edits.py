"""Edits to a text, and how labels move with them.

Operators say only what they change: `Edit(start, end, new)` in characters of the original. Token tags and
character spans are then moved here, in one place, so that no operator can get labels wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple


class Edit(NamedTuple):
    """Characters `start` to `end` of the original become `new`; start == end inserts.

    Example: `Edit(0, 4, "tunr")`.
    """

    start: int
    end: int
    new: str


class OneEach(NamedTuple):
    """One edit for each of many texts, as columns; `news` has None where there is none."""

    starts: Sequence[int]
    ends: Sequence[int]
    news: Sequence[str | None]


Tagged = tuple[str, list[str]]  # a text, and a BIO tag for each of its tokens
_Part = tuple[str, Iterable[int]]  # of a token of an edited text, and the tokens of the original that it stands for
_BETWEEN = ("", " ")  # what is beside a token that is inserted, where it stands against no other


class LabelsLost(ValueError):
    """The edits would leave a label that no longer says what is in the text."""


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text after the edits, which must be in order and must not overlap."""
    if len(edits) == 1:
        start, end, new = edits[0]
        return text[:start] + new + text[end:]
    parts, at = [], 0
    for start, end, new in edits:
        if start < at or end < start:
            raise ValueError(f"edits overlap or are out of order at character {start}")
        parts += [text[at:start], new]
        at = end
    parts.append(text[at:])
    return "".join(parts)


def apply_each(texts: Iterable[str], edits: OneEach) -> list[str | None]:
    """The texts after their edits; None where there is none."""
    return [
        None if new is None else text[:start] + new + text[end:]
        for text, start, end, new in zip(texts, *edits, strict=True)
    ]


def move_spans(spans: Sequence[tuple[int, int]], edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Where each character span lies after the edits; what is inserted at a span's border stays outside it."""
    moved = []
    for first, last in spans:
        start, end = first, last
        for edit in edits:
            grown = len(edit.new) - (edit.end - edit.start)
            if edit.end <= first:
                start, end = start + grown, end + grown
            elif edit.start < last:
                if edit.start < first or edit.end > last:
                    raise LabelsLost(f"the edit at {edit.start} crosses the border of a labelled span")
                end += grown
        if end <= start:
            raise LabelsLost("a labelled span was deleted whole")
        moved.append((start, end))
    return moved


def move_tags(text: str, tags: list[str], edits: Sequence[Edit]) -> Tagged:
    """The edited text and the BIO tags of its tokens. Tokens are what single spaces separate.

    An inserted token is `O`, and may not stand inside a slot; a replaced token keeps its tag; the tokens of a
    replacement continue its slot.
    """
    if len(edits) == 1:
        start, end, new = edits[0]
        ((changed,), (moved,)) = move_tags_each((text,), (tags,), OneEach((start,), (end,), (new,)))
        if changed is None:
            raise LabelsLost("the edit splits, merges or deletes a slot")
        return changed, moved
    if not any(" " in new or " " in text[start:end] for start, end, new in edits):
        changed = apply(text, edits)
        if changed and "  " not in changed and changed[0] != " " and changed[-1] != " ":
            return changed, tags  # letters changed inside tokens; every token is still there
    return _move_tokens(text, tags, edits)


def move_tags_each(
    texts: Iterable[str], tags: Iterable[list[str]], edits: OneEach
) -> tuple[list[str | None], list[list[str]]]:
    """What `move_tags` gives for each text; a text is None where it raises LabelsLost, or there is no edit.

    The common cases are done here and without looking at all tokens: letters of a token replaced, tokens inserted, and
    several put in place of one that has no label.
    """
    afters: list[str | None] = []
    moved: list[list[str]] = []
    known: dict[str, tuple[bool, list[str]]] = {}  # whether it goes behind a token, and its tags; fillers come often
    # This loop runs once for each variant with tags and is the hottest place of `vary` on tagged data. It knows three
    # cases by looking at the letters around the edit; whatever fits none of them goes to `_move_tokens`, which reads
    # the whole text.
    for text, its, start, end, new in zip(texts, tags, *edits, strict=True):
        changed = None
        if new is None:
            pass
        elif " " not in new:
            changed = text[:start] + new + text[end:]
            if not changed or "  " in changed or changed[0] == " " or changed[-1] == " " or " " in text[start:end]:
                changed, its = _moved(text, its, start, end, new)
        elif start < end:
            after, place = f" {text[:start]}{new}{text[end:]} ", text.count(" ", 0, start)
            whole = (
                " " not in text[start:end] and text[start - 1 : start] in _BETWEEN and text[end : end + 1] in _BETWEEN
            )
            if whole and its[place] == "O" and "  " not in after:
                changed, its = after[1:-1], [*its[:place], *["O"] * new.count(" "), *its[place:]]
            else:
                changed, its = _moved(text, its, start, end, new)
        else:
            if new not in known:
                whole = (new[0] == " ") != (new[-1] == " ") and "  " not in new
                known[new] = new[0] == " ", ["O"] * new.count(" ") if whole else []
            behind, added = known[new]
            if (
                not added
                or not text
                or (text[start : start + 1] if behind else text[start - 1 : start]) not in _BETWEEN
            ):
                changed, its = _moved(text, its, start, end, new)
            else:
                place = text.count(" ", 0, start) + behind
                if place == len(its) or its[place] == "O" or its[place][:2] != "I-":  # else they would stand in a slot
                    changed, its = f"{text[:start]}{new}{text[start:]}", its.copy()
                    its[place:place] = added
        afters.append(changed)
        moved.append(its)
    return afters, moved


def _moved(text: str, tags: list[str], start: int, end: int, new: str) -> tuple[str | None, list[str]]:
    try:
        return _move_tokens(text, tags, (Edit(start, end, new),))
    except LabelsLost:
        return None, tags


def _move_tokens(text: str, tags: list[str], edits: Sequence[Edit]) -> Tagged:
    """What `move_tags` gives, for any edits: a new token is tagged as the old ones that its letters stand for."""
    # Edits that touch the same token must be read together, so windows that share a token become one.
    windows: list[tuple[int, int, list[Edit]]] = []  # where tokens begin and end that are touched together, and by what
    done = 0
    for edit in edits:
        if edit.start < done or edit.end < edit.start:
            raise ValueError(f"edits overlap or are out of order at character {edit.start}")
        done = edit.end
        low, high = text.rfind(" ", 0, edit.start) + 1, text.find(" ", edit.end)
        high = len(text) if high < 0 else high
        if windows and low <= windows[-1][1]:
            low, _, before = windows.pop()
            windows.append((low, high, [*before, edit]))
        else:
            windows.append((low, high, [edit]))
    slots: list[int] = []  # for each token, the first one of its slot
    for i, tag in enumerate(tags):
        slots.append(slots[-1] if i and tag[:2] == "I-" and tags[i - 1][1:] == tag[1:] else i)
    tokens = text.split(" ")
    out_tokens: list[str] = []
    out_tags: list[str] = []
    seen: set[int] = set()  # slots that have a token already
    copied = 0  # tokens of the original
    for low, high, its in windows:
        first = text.count(" ", 0, low)
        out_tokens += tokens[copied:first]
        out_tags += tags[copied:first]
        copied = text.count(" ", 0, high) + 1
        sources: list[set[int]] = []  # for each new token, the old ones that its letters stand for
        at, apart = low, True
        for start, end, new in [*its, Edit(high, high, "")]:
            old, number = text[start:end], text.count(" ", 0, at)
            replaced: Iterable[int] = ()  # letters put against a token stand for none, and belong to it
            if old.strip(" "):
                first = text.count(" ", 0, start + len(old) - len(old.lstrip(" ")))
                replaced = range(first, text.count(" ", 0, start + len(old.rstrip(" "))) + 1)
            kept: list[_Part] = [(part, (number + i,)) for i, part in enumerate(text[at:start].split(" "))]
            put: list[_Part] = [(part, replaced) for part in new.split(" ")]
            for i, (part, source) in (*enumerate(kept), *enumerate(put)):
                apart = apart or i > 0  # a space was passed
                if part and apart:
                    out_tokens.append(part)
                    sources.append(set(source))
                    apart = False
                elif part:
                    out_tokens[-1] += part
                    sources[-1].update(source)
            at = end
        for of in sources:
            # A token that comes from two slots would need two tags. One that goes on with a slot that was seen before
            # is inside it, even if the first token of the slot is the one that was replaced.
            labelled = sorted(i for i in of if tags[i] != "O")
            its_slots = {slots[i] for i in labelled}
            if len(its_slots) > 1:
                raise LabelsLost("two slots were merged into one token")
            tag = tags[labelled[0]] if labelled else "O"
            out_tags.append(f"I-{tag[2:]}" if its_slots & seen else tag)
            seen |= its_slots
    out_tokens += tokens[copied:]
    out_tags += tags[copied:]
    if [kind for kind, *_ in slots_of(out_tags)] != [kind for kind, *_ in slots_of(tags)]:
        raise LabelsLost("the edits split, merge or delete a slot")
    for i, tag in enumerate(out_tags):  # a slot whose first token was deleted begins with the next
        if tag[:2] == "I-" and (i == 0 or out_tags[i - 1][2:] != tag[2:]):
            out_tags[i] = f"B-{tag[2:]}"
    if not out_tokens:
        raise LabelsLost("nothing is left of the text")
    return " ".join(out_tokens), out_tags


def slots_of(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """The slots that tags spell, as (type, first token, token after the last), by conlleval's reading.

    IOB1, BIO and BIOES are read alike.
    """
    slots: list[tuple[str, int, int]] = []
    kind, start, closed = "", 0, False
    for i, tag in enumerate(tags):
        prefix, _, name = tag.partition("-")
        inside = prefix in ("I", "E") and kind == name and bool(kind) and not closed
        if kind and not inside:
            slots.append((kind, start, i))
            kind = ""
        if not inside and tag != "O":
            kind, start = name, i
        closed = prefix in ("E", "S")
    if kind:
        slots.append((kind, start, len(tags)))
    return slots


def marked_tags(text: str, tags: Sequence[str]) -> list[tuple[int, int]]:
    """The characters of each slot, as `slots_of` reads them."""
    spans: list[tuple[int, int]] = []
    at, kind = 0, ""  # kind: of the slot that the token before is in
    for token, tag in zip(text.split(" "), tags, strict=True):
        end = at + len(token)
        if tag == "O":
            kind = ""
        elif kind and tag[0] in "IE" and tag[2:] == kind:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((at, end))
            kind = tag[2:]
        at = end + 1
    return spans


_SAME_PREFIX = {"L": "E", "U": "S", "M": "I"}  # of BILOU and BMES
_PREFIXES = frozenset("BIES")
_NO_TYPE = "_"  # the type of tags such as B, which name none


def to_bio(tags: Iterable[str]) -> list[str]:
    """Tags of BIO, IOB1, BIOES or BILOU, each as BIO has it. Raises ValueError with the first that is none of these."""
    plain = []
    for tag in tags:
        prefix, dash, name = tag.partition("-")
        prefix = _SAME_PREFIX.get(prefix, prefix)
        if tag != "O" and (prefix not in _PREFIXES or (dash and not name)):
            raise ValueError(tag)
        plain.append(tag if tag == "O" else f"{prefix}-{name or _NO_TYPE}")
    out = ["O"] * len(plain)
    for kind, first, last in slots_of(plain):
        out[first:last] = [f"B-{kind}", *([f"I-{kind}"] * (last - first - 1))]
    return out


class Span(NamedTuple):
    """Letters from `start` up to `end`, and what they are."""

    start: int
    end: int
    name: str


def bio(text: str, spans: Iterable[Span]) -> list[str]:
    """A tag for each token that single spaces separate. A token is of the first stretch that has letters of it."""
    tokens = text.split(" ")
    starts = list(accumulate((len(token) + 1 for token in tokens), initial=0))
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
