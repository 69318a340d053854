"""Keyboard layouts of the world: all by name, the one that writers of a language are likely to have, and their keys.

Keys are named by their ISO 9995 positions: D03 is the third key of the upper row of letters. The table comes from CLDR,
under the licence beside it; `tools/make_layouts.py` makes it.
"""

from __future__ import annotations

import json
import lzma
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from math import hypot
from typing import NamedTuple

from unswayed.base.errors import UnknownName
from unswayed.vary.keyboard.layouts.composing import (
    hangul_keys,
    hangul_text,
    kana_text,
    romaji_keys,
    to_hiragana,
    to_katakana,
)

_FOLDER = files("unswayed.vary.keyboard.layouts")
_CHOSEN = tomllib.loads((_FOLDER / "languages.toml").read_text("utf-8"))
_OWN_LAYOUTS = _CHOSEN["own"].split()
_DEFAULTS = {tag: name for name, tags in _CHOSEN["layouts"].items() for tag in tags.split()}
_ALIASES = _CHOSEN["names"]
LANGUAGES = tuple(dict.fromkeys(["en", *_OWN_LAYOUTS, *(tag for tag in _DEFAULTS if "-" not in tag), "uz-Cyrl"]))
_HANGUL = re.compile(r"[\uac00-\ud7a3\u3131-\u3163]+|[\u1100-\u11ff]+")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fc]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa]")
_KANA_RUN = re.compile(r"[\u30a1-\u30faー\u3099\u309a]+|[\u3041-\u3096ー\u3099\u309a]+")
SPACE = "A03"
_ROWS = {"E": 0, "D": 1, "C": 2, "B": 3, "A": 4}  # from the digits down
_SET_IN = (0.0, 0.5, 0.75, 1.25, 3.5)  # how far each row is set in, in keys
_SPACE_REACH = 3.0  # half of the space bar's width
_FINGERS = ("little", "ring", "middle", "index", "index", "index", "index", "middle", "ring", "little")


def key_row(key: str) -> int:
    """0 is the row of the digits, 3 the lowest with letters, 4 that of the space bar."""
    return _ROWS[key[0]]


def key_position(key: str) -> tuple[float, int]:
    """The middle of a key, in keys from the left and rows from the top."""
    return int(key[1:]) + _SET_IN[key_row(key)], key_row(key)


def key_distance(a: str, b: str) -> float:
    """How far two keys are apart; the space bar is as near as its nearest part."""
    (x, y), (x2, y2) = key_position(a), key_position(b)
    across = abs(x - x2)
    return hypot(max(0.0, across - _SPACE_REACH) if SPACE in (a, b) else across, y - y2)


def key_hand(key: str) -> str:
    """`left` or `right`, as taught for touch typing; the space bar is for `either` thumb."""
    return "either" if key == SPACE else "left" if int(key[1:]) <= 5 else "right"


def key_finger(key: str) -> str:
    """`little`, `ring`, `middle`, `index` or `thumb`."""
    return "thumb" if key == SPACE else _FINGERS[min(max(int(key[1:]), 1), 10) - 1]


def keys_touch(a: str, b: str) -> bool:
    """Do two keys touch, or nearly?"""
    (x, y), (x2, y2) = key_position(a), key_position(b)
    reach = 1 + _SPACE_REACH if SPACE in (a, b) else 1
    return a != b and abs(x - x2) <= reach and abs(y - y2) <= 1


class Stroke(NamedTuple):
    """A key by its ISO position, such as D03, and its level: 0 plain, 1 shift, 2 AltGr, 3 both."""

    key: str
    level: int = 0


class Near(NamedTuple):
    """A key beside another, and how far their middles are apart, in keys."""

    key: str
    distance: float


class KeyRun(NamedTuple):
    """Characters `start` to `end` of a text, and the strokes that write them together."""

    start: int
    end: int
    strokes: tuple[Stroke, ...]


class Layout:
    """A keyboard layout.

    Example: `layout("de").strokes("é")` is the dead key for ´, then the key for e.
    """

    def __init__(
        self, name: str, title: str, source: str, keys: dict[str, list[str]], dead: dict[str, str], input: str = ""
    ) -> None:
        self.name, self.title, self.source, self.input = name, title, source, input
        self.keys = {key: tuple(keys[key]) for key in sorted(keys, key=lambda k: (key_row(k), k))}
        self.dead = dead
        self._begun = {typed[:n] for typed in dead for n in range(1, len(typed))}
        self._direct: dict[str, tuple[Stroke, ...]] = {}
        for level in range(4):
            for key, written in self.keys.items():
                if level < len(written) and written[level] and written[level] + " " not in dead:
                    self._direct.setdefault(written[level], (Stroke(key, level),))
        self._silent = {written[0]: Stroke(key) for key, written in self.keys.items()}
        for level in range(3, -1, -1):
            self._silent |= {w[level]: Stroke(key, level) for key, w in self.keys.items() if level < len(w)}
        self._dead_for: dict[str, str] = {}
        for typed, char in sorted(dead.items(), key=lambda pair: len(pair[0])):
            self._dead_for.setdefault(char, typed)
        self._known: dict[str, tuple[Stroke, ...] | None] = {}
        self._near: dict[str, tuple[Near, ...]] = {}

    def written(self, stroke: Stroke) -> str:
        """What one stroke writes; nothing if the key has nothing at that level."""
        levels = self.keys.get(stroke.key, ())
        return levels[stroke.level] if stroke.level < len(levels) else ""

    def neighbours(self, key: str) -> tuple[Near, ...]:
        """The keys beside this one, row by row from the top."""
        if key not in self._near:
            self._near[key] = tuple(
                Near(other, key_distance(key, other)) for other in self.keys if keys_touch(key, other)
            )
        return self._near[key]

    def strokes(self, char: str) -> tuple[Stroke, ...] | None:
        """The strokes that write a character: a key, dead keys and a key, or its parts; None if the layout has none."""
        if char not in self._known:
            found = self._direct.get(char)
            silent = [self._silent.get(part) for part in self._dead_for.get(char, "")]
            if not found and silent and all(silent):
                found = tuple(stroke for stroke in silent if stroke)
            parts = unicodedata.normalize("NFD", char)
            if not found and len(parts) > 1 and parts != char:
                first = self.strokes(unicodedata.normalize("NFC", parts[:-1]))
                last = self._direct.get(parts[-1])
                found = first + last if first and last else None
            self._known[char] = found or None
        return self._known[char]

    def compose(self, strokes: Sequence[Stroke], like: str = "") -> str:
        """The text that strokes write. `like` is the text they wrote before: its katakana or decomposed form is kept."""
        parts = [self.written(stroke) for stroke in strokes]
        if self.input == "hangul":
            text = hangul_text("".join(parts))
        elif self.input == "romaji" and _KANA.match(like):
            text = kana_text("".join(parts))
        else:
            text, held = "", ""  # what dead keys have begun is held until it is a character, or can't become one
            for part in parts:
                if held + part in self._begun or held + part in self.dead:
                    held += part
                    continue
                text += self.dead.get(held, held)
                held = part if part in self._begun else ""
                text += "" if held else part
            text += self.dead.get(held, held)
        if self.input in ("romaji", "kana") and _KATAKANA.search(like):
            text = to_katakana(text)
        if len(like) > 1 and like != unicodedata.normalize("NFC", like):
            return unicodedata.normalize("NFD", text)
        return unicodedata.normalize("NFC", text) if len(strokes) > 1 else text

    def runs(self, text: str) -> Iterator[KeyRun]:
        """The stretches of a text that are typed together: characters, or words of syllables and kana."""
        pattern = {"hangul": _HANGUL, "romaji": _KANA_RUN, "kana": _KANA_RUN}.get(self.input)
        at = 0
        for found in pattern.finditer(text) if pattern else ():
            yield from self._characters(text, at, found.start())
            yield from self._run(text, found.start(), found.end())
            at = found.end()
        yield from self._characters(text, at, len(text))

    def _run(self, text: str, start: int, end: int) -> Iterator[KeyRun]:
        """Syllables or kana together if they come back as they were, otherwise one by one."""
        said = text[start:end]
        plain = unicodedata.normalize("NFC", said)
        typed = {"hangul": hangul_keys, "romaji": romaji_keys, "kana": to_hiragana}[self.input](plain)
        found = [self.strokes(c) for c in typed or ""]
        known = tuple(stroke for strokes in found if strokes for stroke in strokes)
        if known and all(found) and self.compose(known, said) == said:
            yield KeyRun(start, end, known)
        elif end - start > 1 and plain == said:
            for at in range(start, end):
                yield from self._run(text, at, at + 1)

    def _characters(self, text: str, start: int, end: int) -> Iterator[KeyRun]:
        """The characters from `start` to `end` that have strokes, one by one."""
        at = start
        while at < end:
            run = self.run_at(text, at)
            if run:
                yield run
            at = run.end if run else at + 1

    def run_at(self, text: str, at: int) -> KeyRun | None:
        """The character at a place, with the marks on it where a key or dead key writes both."""
        end = at + 1
        while end < len(text) and "\u0300" <= text[end] <= "\u036f":
            end += 1
        if end > at + 1:
            strokes = self.strokes(unicodedata.normalize("NFC", text[at:end]))
            if strokes:
                return KeyRun(at, end, strokes)
        strokes = self.strokes(text[at])
        return KeyRun(at, at + 1, strokes) if strokes else None


@lru_cache(1)
def _layout_lines() -> dict[str, str]:
    """The table's line of each layout, by name, read once a process and decoded one at a time."""
    lines = lzma.decompress((_FOLDER / "table.jsonl.xz").read_bytes()).decode().splitlines()
    return {line[9 : line.index('"', 9)]: line for line in lines}


def layout_names() -> list[str]:
    """All layouts, by name."""
    return sorted(_layout_lines())


def languages_of(name: str) -> list[str]:
    """The languages whose writers are taken to have this layout."""
    return [language for language in LANGUAGES if layout_for(language).name == name]


@lru_cache(64)
def layout(name: str) -> Layout:
    """The layout of this name, such as `de`, `fr-CH` or `en-dvorak`."""
    known = _layout_lines()
    line = known.get(_ALIASES.get(name, name))
    if line is None:
        raise UnknownName("keyboard layout", name, [*known, *_ALIASES], "unswayed list layouts")
    return Layout(**json.loads(line))


@lru_cache(256)
def layout_for(language: str) -> Layout:
    """The layout that writers of a language are likely to have: `de-CH` has one of its own, `de-LU` has that of `de`."""
    parts = language.split("-")
    for n in range(len(parts), 0, -1):
        tag = "-".join(parts[:n])
        if tag in _DEFAULTS or tag in _layout_lines():
            return layout(_DEFAULTS.get(tag, tag))
    raise UnknownName("language with a keyboard layout", language, LANGUAGES)
