"""Retype: a sentence is shown, and the person types it with their own input method, with nothing to take back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from unfazed.collect.kinds import About, Delivery, Flag, ItemText, Kind
from unfazed.core.errors import MissingExtra
from unfazed.core.values import Json


class RetypeItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: ItemText


class RetypeAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: ItemText


class RetypeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer slower than `slack` times the floor is significantly slower: it is kept, and asked for again."""

    chars_per_minute: float = 40
    slack: float = 0.75
    least_similar: float = 0.3  # share of the text's length; less than this is not an attempt at it


class Retype(Kind):
    name = "retype"
    item_type, answer_type, options_type = RetypeItem, RetypeAnswer, RetypeOptions
    about = About(
        "ime",
        "Which keyboard or input method do you type with, and which version?",
        "您使用哪种输入法？请写明名称和版本",
    )
    makes_text = True
    source = "keyboard"

    def flags(self, item: RetypeItem, answer: RetypeAnswer, delivery: Delivery) -> list[Flag]:
        flags = []
        seconds = typing_seconds(delivery.log)
        if typed(delivery.log) != answer.text:
            flags.append(Flag("log differs from text", again=True))
        elif seconds > delivery.elapsed + 5:
            flags.append(Flag("log is longer than the time that passed", again=True))
        floor = self.options.chars_per_minute * self.options.slack
        if seconds and len(answer.text) * 60 / seconds < floor:
            flags.append(Flag("slow", again=True))
        if not similar(item.text, answer.text, self.options.least_similar):
            flags.append(Flag("another text", again=True))
        kinds_of_event = {event.get("e") for event in delivery.log}
        flags += [Flag(name) for event, name in _EVENTS.items() if event in kinds_of_event]
        if delivery.shows > 1:
            flags.append(Flag("shown again"))
        return flags

    def details(self, asked: Json, log: list[dict[str, Json]]) -> list[Json]:
        """Each wrong stretch, with READIN's labels where the log shows them."""
        return msgspec.to_builtins(typing_errors(asked["text"], log))  # type: ignore[no-any-return]

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {}


_EVENTS = {"block": "tried to change", "restore": "changed and restored"}


def typed(log: list[dict[str, Any]]) -> str:
    """The text that the log's commits make: nothing in it is ever taken back."""
    return "".join(str(event.get("d", "")) for event in log if event.get("e") == "commit")


def typing_seconds(log: list[dict[str, Any]]) -> float:
    """From the first key to the last commit, by the log's own clock in milliseconds."""
    times = [float(event["t"]) for event in log if isinstance(event.get("t"), int | float)]
    ends = [float(e["t"]) for e in log if e.get("e") == "commit" and isinstance(e.get("t"), int | float)]
    return max(0.0, (max(ends) - min(times)) / 1000) if times and ends else 0.0


def similar(text: str, answer: str, least: float) -> bool:
    """An attempt at the text has about its length; which characters come out is what we want to know."""
    return min(len(text), len(answer)) >= least * max(len(text), len(answer))


# From a typing log to READIN's labels: was a wrong word spelled in full or abbreviated, mistyped or mis-selected?
# Each label comes from keys that the log shows. Where it does not show them, there is no label.

Habit = Literal["Full", "Abbr"]
Cause = Literal["WrongInput", "WrongSelection"]
_READINGS = 64  # spellings of one stretch that are tried; beyond it, names of many readings would multiply


class TypingError(msgspec.Struct, frozen=True):
    """A stretch that came out wrong. `habit` and `cause` are null where the log does not show them."""

    start: int
    wanted: str
    typed: str
    keys: str
    habit: Habit | None = None
    cause: Cause | None = None


class Piece(msgspec.Struct, frozen=True):
    """What one commit added, and the letters whose keys went down for it."""

    text: str
    keys: str


def pieces(log: Sequence[dict[str, Any]]) -> list[Piece]:
    """The commits of a log with their letters. An input method that hides its keys' going down shows them come up."""
    found: list[Piece] = []
    keys: list[str] = []
    down: set[str] = set()
    for event in log:
        code = str(event.get("c", ""))
        if event.get("e") == "down":
            down.add(code)
            _press(keys, code)
        elif event.get("e") == "up":
            if code not in down:
                _press(keys, code)
            down.discard(code)
        elif event.get("e") == "commit":
            found.append(Piece(str(event.get("d", "")), "".join(keys)))
            keys = []
    return found


def _press(keys: list[str], code: str) -> None:
    if code.startswith("Key") and len(code) == 4:
        keys.append(code[3].lower())
    elif code == "Backspace" and keys:
        keys.pop()


def typing_errors(text: str, log: Sequence[dict[str, Any]]) -> list[TypingError]:
    """Every commit that did not bring the characters which the text has at its place."""
    made = pieces(log)
    borders = _borders(text, "".join(piece.text for piece in made))
    spelled = _in_context(text)
    errors, at = [], 0
    for piece in made:
        start, end = borders[at], borders[at + len(piece.text)]
        at += len(piece.text)
        wanted = text[start:end]
        if wanted != piece.text:
            found = label(wanted, piece, spelled[start:end])
            errors.append(TypingError(start, wanted, piece.text, piece.keys, *found))
    return errors


def _borders(text: str, typed: str) -> list[int]:
    """For each place in what was typed, the place in the text that it stands at."""
    from rapidfuzz.distance import Levenshtein

    borders = [0] * (len(typed) + 1)
    for op in Levenshtein.opcodes(text, typed):
        size = op.src_end - op.src_start
        for n in range(op.dest_end - op.dest_start + 1):
            borders[op.dest_start + n] = op.src_start + min(n, size) if op.tag != "insert" else op.src_start
        borders[op.dest_end] = op.src_end
    return borders


def label(wanted: str, piece: Piece, context: Sequence[tuple[str, ...]] = ()) -> tuple[Habit | None, Cause | None]:
    """READIN's two labels of one wrong commit. `context` is how each character is read where it stands.

    Keys that spell a character by a reading which it has only elsewhere may be a slip or another way to find it: no
    cause is given.
    """
    if not piece.keys or not wanted or not all("\u4e00" <= c <= "\u9fff" for c in wanted + piece.text):
        return None, None
    here = list(context or _in_context(wanted))
    anywhere = [_readings(character) for character in wanted]
    if not all(anywhere):
        return None, None
    ways: list[tuple[list[tuple[str, ...]], Cause | None]] = [(here, "WrongSelection"), (anywhere, None)]
    for spelled, cause in ways:
        if _spells(piece.keys, spelled, 0, full=True):
            return "Full", cause
        if _spells(piece.keys, spelled, 0, full=False):
            return "Abbr", cause
    return _nearest_habit(piece.keys, anywhere), "WrongInput"


def _spells(keys: str, spelled: list[tuple[str, ...]], at: int, full: bool) -> bool:
    """Do the keys spell the characters from `at` on: each in full, or each in full or by its first sound?"""
    if at == len(spelled):
        return not keys
    options = set(spelled[at])
    if not full:
        options |= {reading[0] for reading in spelled[at]}
        options |= {reading[:2] for reading in spelled[at] if reading[:2] in ("zh", "ch", "sh")}
    return any(keys.startswith(o) and _spells(keys[len(o) :], spelled, at + 1, full) for o in options)


def _nearest_habit(keys: str, spelled: list[tuple[str, ...]]) -> Habit | None:
    """What the keys are nearer to, by letters and then by length: the full spelling, its first letters, or neither."""
    from rapidfuzz.distance import OSA

    full, short = [""], [""]
    for readings in spelled:
        full = [a + b for a in full for b in readings][:_READINGS]
        short = [a + b for a in short for b in sorted({r[0] for r in readings})][:_READINGS]
    to_full, to_short = (
        min((OSA.distance(keys, way), abs(len(keys) - len(way))) for way in ways) for ways in (full, short)
    )
    if to_full == to_short:
        return None
    return "Full" if to_full < to_short else "Abbr"


def _in_context(text: str) -> list[tuple[str, ...]]:
    """How each character may be read in this text: as in its word, or in any way where it is a word by itself."""
    return [tuple(dict.fromkeys(reading for reading in found if reading)) for found in _pinyin(text)]


@lru_cache(maxsize=8192)
def _readings(character: str) -> tuple[str, ...]:
    """Every reading of a character."""
    return next(iter(_in_context(character)), ())


def _pinyin(text: str) -> list[list[str]]:
    """For each character its readings without tones, `ü` as the key `v`."""
    try:
        from pypinyin import Style, pinyin
    except ImportError as error:
        raise MissingExtra("Labelling typing errors", "collect") from error
    return pinyin(text, style=Style.NORMAL, heteronym=True, errors=list)  # type: ignore[arg-type]
