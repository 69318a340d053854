"""One keyboard layout: which strokes write a text, and what strokes write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unswayed.vary.keyboard.layouts import hangul, romaji
from unswayed.vary.keyboard.layouts.geometry import beside, distance, row

_HANGUL = re.compile(r"[\uac00-\ud7a3\u3131-\u3163]+|[\u1100-\u11ff]+")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fc]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa]")
_KANA_RUN = re.compile(r"[\u30a1-\u30faー\u3099\u309a]+|[\u3041-\u3096ー\u3099\u309a]+")


class Stroke(NamedTuple):
    """A key by its ISO position, such as D03, and its level: 0 plain, 1 shift, 2 AltGr, 3 both."""

    key: str
    level: int = 0


class Near(NamedTuple):
    """A key beside another, and how far their middles are apart, in keys."""

    key: str
    distance: float


class Run(NamedTuple):
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
        self.keys = {key: tuple(keys[key]) for key in sorted(keys, key=lambda k: (row(k), k))}
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
            self._near[key] = tuple(Near(other, distance(key, other)) for other in self.keys if beside(key, other))
        return self._near[key]

    def strokes(self, char: str) -> tuple[Stroke, ...] | None:
        """The strokes that write a character: a key, dead keys and a key, or its parts; None if the layout has none."""
        if char not in self._known:
            self._known[char] = self._direct.get(char) or self._by_dead(char) or self._by_parts(char)
        return self._known[char]

    def _by_dead(self, char: str) -> tuple[Stroke, ...] | None:
        typed = self._dead_for.get(char)
        found = [self._silent.get(part) for part in typed or ""]
        return tuple(stroke for stroke in found if stroke) if found and all(found) else None

    def _by_parts(self, char: str) -> tuple[Stroke, ...] | None:
        parts = unicodedata.normalize("NFD", char)
        if len(parts) < 2 or parts == char:
            return None
        whole = unicodedata.normalize("NFC", parts[:-1])
        first, last = self.strokes(whole), self._direct.get(parts[-1])
        return first + last if first and last else None

    def compose(self, strokes: Sequence[Stroke], like: str = "") -> str:
        """The text that strokes write. `like` is the text they wrote before: its katakana or decomposed form is kept."""
        parts = [self.written(stroke) for stroke in strokes]
        if self.input == "hangul":
            text = hangul.syllables("".join(parts))
        elif self.input == "romaji" and _KANA.match(like):
            text = romaji.kana("".join(parts))
        else:
            text = self._with_dead(parts)
        if self.input in ("romaji", "kana") and _KATAKANA.search(like):
            text = romaji.katakana(text)
        if len(like) > 1 and like != unicodedata.normalize("NFC", like):
            return unicodedata.normalize("NFD", text)
        return unicodedata.normalize("NFC", text) if len(strokes) > 1 else text

    def _with_dead(self, parts: list[str]) -> str:
        out, held = "", ""
        for part in parts:
            if held + part in self._begun or held + part in self.dead:
                held += part
                continue
            out += self.dead.get(held, held)
            held = part if part in self._begun else ""
            out += "" if held else part
        return out + self.dead.get(held, held)

    def runs(self, text: str) -> Iterator[Run]:
        """The stretches of a text that are typed together: characters, or words of syllables and kana."""
        pattern = {"hangul": _HANGUL, "romaji": _KANA_RUN, "kana": _KANA_RUN}.get(self.input)
        at = 0
        for found in pattern.finditer(text) if pattern else ():
            yield from self._characters(text, at, found.start())
            yield from self._run(text, found.start(), found.end())
            at = found.end()
        yield from self._characters(text, at, len(text))

    def _run(self, text: str, start: int, end: int) -> Iterator[Run]:
        """Syllables or kana together if they come back as they were, otherwise one by one."""
        said = text[start:end]
        plain = unicodedata.normalize("NFC", said)
        typed = {"hangul": hangul.jamo, "romaji": romaji.keys, "kana": romaji.hiragana}[self.input](plain)
        found = [self.strokes(c) for c in typed or ""]
        known = tuple(stroke for strokes in found if strokes for stroke in strokes)
        if known and all(found) and self.compose(known, said) == said:
            yield Run(start, end, known)
        elif end - start > 1 and plain == said:
            for at in range(start, end):
                yield from self._run(text, at, at + 1)

    def _characters(self, text: str, start: int, end: int) -> Iterator[Run]:
        at = start
        while at < end:
            run = self.run_at(text, at)
            if run:
                yield run
            at = run.end if run else at + 1

    def run_at(self, text: str, at: int) -> Run | None:
        """The character at a place, with the marks on it where a key or dead key writes both."""
        end = at + 1
        while end < len(text) and "\u0300" <= text[end] <= "\u036f":
            end += 1
        if end > at + 1:
            strokes = self.strokes(unicodedata.normalize("NFC", text[at:end]))
            if strokes:
                return Run(at, end, strokes)
        strokes = self.strokes(text[at])
        return Run(at, at + 1, strokes) if strokes else None
