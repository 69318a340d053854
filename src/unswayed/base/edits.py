"""Edits to a text, and how labels move with them.

Operators say only what they change: `Edit(start, end, new)` in characters of the original. Token tags and
character spans are then moved here, in one place, so that no operator can get labels wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def _move_tokens(text: str, tags: list[str], edits: Sequence[Edit]) -> Tagged:
    """The same for any edits."""
    out_tokens: list[str] = []
    out_tags: list[str] = []
    done = 0  # tokens of the original already copied
    tokens = text.split(" ")
    for first, last, pieces in _windows(text, edits):
        out_tokens += tokens[done:first]
        out_tags += tags[done:first]
        new_tokens, new_tags = _retag(pieces, tags, first)
        out_tokens += new_tokens
        out_tags += new_tags
        done = last
    out_tokens += tokens[done:]
    out_tags += tags[done:]
    _check_slots(out_tags, tags)
    _begin_slots(out_tags)
    if not out_tokens:
        raise LabelsLost("nothing is left of the text")
    return " ".join(out_tokens), out_tags


def move_tags_each(
    texts: Iterable[str], tags: Iterable[list[str]], edits: OneEach
) -> tuple[list[str | None], list[list[str]]]:
    """What `move_tags` gives for each text; a text is None where it raises LabelsLost, or there is no edit.

    The common cases are done here and without looking at all tokens: letters of a token replaced, tokens inserted, and
    several put in place of one that has no label.
    """
    afters: list[str | None] = []
    moved: list[list[str]] = []
    known: dict[str, tuple[bool, list[str]]] = {}
    for text, its, start, end, new in zip(texts, tags, *edits, strict=True):
        changed = None
        if new is None:
            pass
        elif " " not in new:
            changed = text[:start] + new + text[end:]
            if not changed or "  " in changed or changed[0] == " " or changed[-1] == " " or " " in text[start:end]:
                changed, its = _moved(text, its, start, end, new)
        elif start < end:
            changed, its = _several_for_one(text, its, start, end, new)
        else:
            behind, added = known[new] if new in known else known.setdefault(new, _tokens_to_insert(new))
            beside, place = text[start : start + 1] if behind else text[start - 1 : start], -1
            if added and text and beside in _BETWEEN:
                place = text.count(" ", 0, start) + behind
            if place < 0:
                changed, its = _moved(text, its, start, end, new)
            elif place == len(its) or its[place] == "O" or its[place][:2] != "I-":  # else they would stand in a slot
                changed, its = f"{text[:start]}{new}{text[start:]}", its.copy()
                if len(added) == 1:
                    its.insert(place, "O")
                else:
                    its[place:place] = added
        afters.append(changed)
        moved.append(its)
    return afters, moved


def _tokens_to_insert(new: str) -> tuple[bool, list[str]]:
    """Does it go behind a token? And the tags of its tokens; none if it is not whole tokens."""
    behind = new[0] == " "
    return behind, ["O"] * new.count(" ") if behind != (new[-1] == " ") and "  " not in new else []


def _several_for_one(text: str, tags: list[str], start: int, end: int, new: str) -> tuple[str | None, list[str]]:
    """What `_moved` gives, sooner where tokens are put in place of one that has no label."""
    after = f" {text[:start]}{new}{text[end:]} "
    if " " not in text[start:end] and text[start - 1 : start] in _BETWEEN and text[end : end + 1] in _BETWEEN:
        place = text.count(" ", 0, start)
        if tags[place] == "O" and "  " not in after:
            return after[1:-1], [*tags[:place], *["O"] * new.count(" "), *tags[place:]]
    return _moved(text, tags, start, end, new)


def _moved(text: str, tags: list[str], start: int, end: int, new: str) -> tuple[str | None, list[str]]:
    try:
        return _move_tokens(text, tags, (Edit(start, end, new),))
    except LabelsLost:
        return None, tags


# One piece of an edited stretch: its characters, and the original tokens (first to last) that they stand for.
_Piece = tuple[str, int, int]


def _windows(text: str, edits: Sequence[Edit]) -> list[tuple[int, int, list[_Piece]]]:
    """Groups edits that touch the same tokens: (first token, token after the last, edited pieces)."""
    windows: list[tuple[int, int, list[_Piece]]] = []
    reached = -1  # character up to which the last window goes
    at = 0
    for edit in edits:
        if edit.start < at or edit.end < edit.start:
            raise ValueError(f"edits overlap or are out of order at character {edit.start}")
        low = text.rfind(" ", 0, edit.start) + 1
        high = text.find(" ", edit.end)
        high = len(text) if high < 0 else high
        if low > reached:
            if windows:
                windows[-1][2].extend(_pieces(text, at, reached))
            windows.append((text.count(" ", 0, low), 0, []))
            at = low
        first, _, pieces = windows[-1]
        pieces.extend(_pieces(text, at, edit.start))
        if edit.new:
            pieces.append((edit.new, *_replaced(text, edit)))
        at, reached = edit.end, high
        windows[-1] = (first, text.count(" ", 0, reached) + 1, pieces)
    if windows:
        windows[-1][2].extend(_pieces(text, at, reached))
    return windows


def _pieces(text: str, start: int, end: int) -> list[_Piece]:
    """Untouched characters, split where tokens meet, each with its own token's number."""
    token = text.count(" ", 0, start)
    pieces: list[_Piece] = []
    for i, part in enumerate(text[start:end].split(" ")):
        if i:
            pieces.append((" ", -1, -1))
        if part:
            pieces.append((part, token + i, token + i))
    return pieces


def _replaced(text: str, edit: Edit) -> tuple[int, int]:
    """The original tokens whose characters an edit replaces, or (-1, -1) if it only inserts.

    Characters inserted against a token, with no space between, belong to that token.
    """
    old = text[edit.start : edit.end]
    if old.strip(" "):
        first = text.count(" ", 0, edit.start + len(old) - len(old.lstrip(" ")))
        return first, text.count(" ", 0, edit.start + len(old.rstrip(" ")))
    return -1, -1


def _retag(pieces: list[_Piece], tags: Sequence[str], first: int) -> tuple[list[str], list[str]]:
    """Tokens and tags of an edited stretch, from the original tokens that each new token stands for."""
    tokens: list[str] = []
    sources: list[set[int]] = []
    joined = False
    for chars, low, high in pieces:
        for i, part in enumerate(chars.split(" ")):
            if i:
                joined = False
            if not part:
                continue
            if not joined:
                tokens.append("")
                sources.append(set())
                joined = True
            tokens[-1] += part
            if low >= 0:
                sources[-1].update(range(low, high + 1))
    used: set[int] = set()
    new_tags = []
    for source in sources:
        new_tags.append(_tag_of(source, used, tags))
        used |= source
    return tokens, new_tags


def _tag_of(source: set[int], used: set[int], tags: Sequence[str]) -> str:
    slots = [i for i in sorted(source) if tags[i] != "O"]
    if not slots:
        return "O"
    starts = {_slot_start(tags, i) for i in slots}
    if len(starts) > 1:
        raise LabelsLost("two slots were merged into one token")
    tag = tags[slots[0]]
    return "I-" + tag[2:] if starts & {_slot_start(tags, i) for i in used if tags[i] != "O"} else tag


def _slot_start(tags: Sequence[str], i: int) -> int:
    while i > 0 and tags[i][:2] == "I-" and tags[i - 1][2:] == tags[i][2:] and tags[i - 1] != "O":
        i -= 1
    return i


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


_SAME_PREFIX = {"L": "E", "U": "S", "M": "I"}  # of BILOU and BMES
_PREFIXES = frozenset("BIES")
NO_TYPE = "_"  # the type of tags such as B, which name none


def to_bio(tags: Iterable[str]) -> list[str]:
    """Tags of BIO, IOB1, BIOES or BILOU, each as BIO has it. Raises ValueError with the first that is none of these."""
    plain = [_plain_tag(tag) for tag in tags]
    out = ["O"] * len(plain)
    for kind, first, last in slots_of(plain):
        out[first:last] = [f"B-{kind}", *([f"I-{kind}"] * (last - first - 1))]
    return out


def _plain_tag(tag: str) -> str:
    if tag == "O":
        return tag
    prefix, _, name = tag.partition("-")
    prefix = _SAME_PREFIX.get(prefix, prefix)
    if prefix not in _PREFIXES or (not name and "-" in tag):
        raise ValueError(tag)
    return f"{prefix}-{name or NO_TYPE}"


def _begin_slots(tags: list[str]) -> None:
    """A slot whose first token was deleted begins with the next."""
    for i, tag in enumerate(tags):
        if tag[:2] == "I-" and (i == 0 or tags[i - 1][2:] != tag[2:]):
            tags[i] = "B-" + tag[2:]


def _check_slots(new: Sequence[str], old: Sequence[str]) -> None:
    if [s[0] for s in slots_of(new)] != [s[0] for s in slots_of(old)]:
        raise LabelsLost("the edits split, merge or delete a slot")


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
