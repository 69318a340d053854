"""How a text was typed, from its log: commits, keys, times, and READIN's labels of what came out wrong."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from unswayed.base.errors import MissingExtra

Log = Sequence[dict[str, Any]]


def typed(log: Log) -> str:
    """The text that the log's commits make: nothing in it is ever taken back."""
    return "".join(str(event.get("d", "")) for event in log if event.get("e") == "commit")


def typing_seconds(log: Log) -> float:
    """From the first key to the last commit, by the log's own clock in milliseconds."""
    times = [float(event["t"]) for event in log if isinstance(event.get("t"), int | float)]
    ends = [float(e["t"]) for e in log if e.get("e") == "commit" and isinstance(e.get("t"), int | float)]
    return max(0.0, (max(ends) - min(times)) / 1000) if times and ends else 0.0


def without_keys(log: Log) -> int:
    """How many characters came with too few keys: a script, dictation or a paste brings them with none.

    A key that goes down, one that comes up without having gone down, and a change of the composition are each a sign of
    typing. A commit needs one sign for every `_CHARACTERS_A_SIGN` characters, since input methods complete phrases.
    """
    signs, found, down, preedit = 0, 0, set(), ""
    for event in log:
        kind, code = event.get("e"), str(event.get("c", ""))
        if kind == "down":
            down.add(code)
            signs += 1
        elif kind == "up":
            signs += code not in down
            down.discard(code)
        elif kind == "compose":
            signs += str(event.get("d", "")) not in ("", preedit)
            preedit = str(event.get("d", ""))
        elif kind == "commit":
            size = len(str(event.get("d", "")))
            found += max(0, size - signs * _CHARACTERS_A_SIGN)
            signs, preedit = 0, ""
    return found


_CHARACTERS_A_SIGN = 6


def distance(text: str, other: str) -> float:
    """How far two texts are from each other, from 0 to 1, by the letters that they are spelled with.

    Chinese is spelled by its sounds without tones, so that a wrong choice among homophones is no distance at all.
    """
    from rapidfuzz.distance import Levenshtein

    one, two = _letters(text), _letters(other)
    if not one or not two:  # nothing but marks
        return float(Levenshtein.normalized_distance(text, other))
    return float(Levenshtein.normalized_distance(one, two))


def _letters(text: str) -> str:
    if any("\u4e00" <= c <= "\u9fff" for c in text):
        text = "".join(found[0] for found in _pinyin(text, every=False))
    return "".join(c for c in text.casefold() if c.isalnum())


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


class TypedPiece(msgspec.Struct, frozen=True):
    """What one commit added, and the letters whose keys went down for it."""

    text: str
    keys: str


def pieces(log: Log) -> list[TypedPiece]:
    """The commits of a log with the letters that were typed for them.

    The letters are those that the composition showed. Where it showed none, they are the keys that went down, or, if an
    input method hides that, the keys that came up.
    """
    found: list[TypedPiece] = []
    keys: list[str] = []
    down: set[str] = set()
    shown = _Composition()
    for event in log:
        code = str(event.get("c", ""))
        if event.get("e") == "down":
            down.add(code)
            _press(keys, code)
        elif event.get("e") == "up":
            if code not in down:
                _press(keys, code)
            down.discard(code)
        elif event.get("e") == "compose":
            shown.show(str(event.get("d", "")))
        elif event.get("e") == "commit":
            found.append(TypedPiece(str(event.get("d", "")), shown.letters or "".join(keys)))
            keys, shown = [], _Composition()
    return found


class _Composition:
    """The letters of a composition. A part of them that was turned into characters is remembered as it was spelled."""

    def __init__(self) -> None:
        self._chosen: list[tuple[int, str]] = []  # how many characters stood there after each choice, and its letters
        self._open = ""

    @property
    def letters(self) -> str:
        return "".join(letters for _, letters in self._chosen) + self._open

    def show(self, preedit: str) -> None:
        latin = "".join(c for c in preedit.lower() if c.isascii() and c.isalpha())
        characters = sum("\u4e00" <= c <= "\u9fff" for c in preedit)
        if not preedit:  # begun, or emptied
            self._chosen, self._open = [], ""
            return
        while self._chosen and self._chosen[-1][0] > characters:  # a choice was taken back
            self._chosen.pop()
        before = self._chosen[-1][0] if self._chosen else 0
        if characters > before and self._open.endswith(latin):
            self._chosen.append((characters, self._open[: len(self._open) - len(latin)]))
        self._open = latin


def _press(keys: list[str], code: str) -> None:
    if code.startswith("Key") and len(code) == 4:
        keys.append(code[3].lower())
    elif code == "Backspace" and keys:
        keys.pop()


def typing_errors(text: str, log: Log) -> list[TypingError]:
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


def label(wanted: str, piece: TypedPiece, context: Sequence[tuple[str, ...]] = ()) -> tuple[Habit | None, Cause | None]:
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
        if _spells(piece.keys, spelled, full=True):
            return "Full", cause
        if _spells(piece.keys, spelled, full=False):
            return "Abbr", cause
    return _nearest_habit(piece.keys, anywhere), "WrongInput"


def _spells(keys: str, spelled: Sequence[tuple[str, ...]], full: bool) -> bool:
    """Do the keys spell the characters: each in full, or each in full or by its first sound?"""
    places = {0}  # in the keys, where the next character may begin
    for readings in spelled:
        options = set(readings)
        if not full:
            options |= {reading[0] for reading in readings}
            options |= {reading[:2] for reading in readings if reading[:2] in ("zh", "ch", "sh")}
        places = {at + len(option) for at in places for option in options if keys.startswith(option, at)}
    return len(keys) in places


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


def _pinyin(text: str, every: bool = True) -> list[list[str]]:
    """For each character its readings without tones, or the one that it has in its word; `ü` as the key `v`."""
    try:
        from pypinyin import Style, pinyin
    except ImportError as error:
        raise MissingExtra("Labelling typing errors", "collect") from error
    return pinyin(text, style=Style.NORMAL, heteronym=every, errors=list)  # type: ignore[arg-type]
