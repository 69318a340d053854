"""Keyboard layouts of the world: all by name, the one that writers of a language are likely to have, and their keys.

Some come with an input method that composes: Hangul from the jamo of a two-set keyboard, kana from Latin letters.

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
from itertools import product
from typing import NamedTuple

from unswayed.base.errors import UnknownName

_FOLDER = files("unswayed.vary.keyboard.layouts")
_CHOSEN = tomllib.loads((_FOLDER / "languages.toml").read_text("utf-8"))
_OWN_LAYOUTS = _CHOSEN["own"].split()
_DEFAULTS = {tag: name for name, tags in _CHOSEN["layouts"].items() for tag in tags.split()}
_ALIASES = _CHOSEN["names"]
OTHER_SCRIPT: dict[str, str] = _CHOSEN["other_script"]
LANGUAGES = tuple(dict.fromkeys(["en", *_OWN_LAYOUTS, *(tag for tag in _DEFAULTS if "-" not in tag), "uz-Cyrl"]))
_HANGUL = re.compile(r"[\uac00-\ud7a3\u3131-\u3163]+|[\u1100-\u11ff]+")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fc]")
_KATAKANA = re.compile(r"[\u30a1-\u30fa]")
_KANA_RUN = re.compile(r"[\u30a1-\u30faー\u3099\u309a]+|[\u3041-\u3096ー\u3099\u309a]+")
# Hangul: the jamo that begin a syllable, its vowels, and those that end it.
_LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_TAILS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
# Letters that take two keys.
_TWO_KEYS = {
    "ㅘ": "ㅗㅏ", "ㅙ": "ㅗㅐ", "ㅚ": "ㅗㅣ", "ㅝ": "ㅜㅓ", "ㅞ": "ㅜㅔ", "ㅟ": "ㅜㅣ", "ㅢ": "ㅡㅣ",
    "ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ", "ㄾ": "ㄹㅌ",
    "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ", "ㅄ": "ㅂㅅ",
}  # fmt: skip
_FROM_TWO_KEYS = {keys: letter for letter, keys in _TWO_KEYS.items()}
_FIRST_SYLLABLE = 0xAC00
# A syllable: a consonant, a vowel, and a consonant that no vowel follows; or a vowel alone. Two keys are one letter.
_PAIRS = {kind: [keys for keys in _FROM_TWO_KEYS if keys[0] in kind] for kind in (_VOWELS, _LEADS)}
_VOWEL = "|".join([*_PAIRS[_VOWELS], *_VOWELS])
_TAIL = "|".join([*_PAIRS[_LEADS], *(c for c in _LEADS if c in _TAILS)])
_SYLLABLE = re.compile(f"([{_LEADS}])({_VOWEL})(?:({_TAIL})(?![{_VOWELS}]))?|({_VOWEL})")

# Kana in Latin letters.
_KANA_CONSONANTS = ["", *"kstnhmrgzdbpx"]  # of those below, in fives
_PLAIN_KANA = (
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもらりるれろ"
    "がぎぐげござじずぜぞだぢづでどばびぶべぼぱぴぷぺぽぁぃぅぇぉ"
)
# Spelled as in Hepburn, which most people type; the regular spelling is understood too.
_HEPBURN = {"し": "shi", "ち": "chi", "つ": "tsu", "ふ": "fu", "じ": "ji"}
_OTHER_KANA = {
    "ya": "や", "yu": "ゆ", "yo": "よ", "wa": "わ", "wo": "を", "nn": "ん", "-": "ー", "vu": "ゔ", "xtu": "っ",
    "xya": "ゃ", "xyu": "ゅ", "xyo": "ょ", "xwa": "ゎ", "fa": "ふぁ", "fi": "ふぃ", "fe": "ふぇ", "fo": "ふぉ",
    "je": "じぇ", "she": "しぇ", "che": "ちぇ", "thi": "てぃ", "dhi": "でぃ", "twu": "とぅ", "dwu": "どぅ",
    "wi": "うぃ", "we": "うぇ", "va": "ゔぁ", "vi": "ゔぃ", "ve": "ゔぇ", "vo": "ゔぉ", "tsa": "つぁ", "dhu": "でゅ",
}  # fmt: skip
_GLIDES = {f"{start}y": c for start, c in zip("kstnhmrgzbp", "きしちにひみりぎじびぴ", strict=True)}
_GLIDES |= {"sh": "し", "ch": "ち", "j": "じ"}
_FULL_WIDTH = str.maketrans({chr(c): chr(c + 0xFEE0) for c in range(ord("!"), ord("~") + 1)})
TO_KATAKANA = {c: c + 0x60 for c in range(0x3041, 0x3097)}  # of hiragana
_TO_HIRAGANA = {katakana: c for c, katakana in TO_KATAKANA.items()}

SPACE = "A03"
_ROWS = {"E": 0, "D": 1, "C": 2, "B": 3, "A": 4}  # from the digits down
_SET_IN = (0.0, 0.5, 0.75, 1.25, 3.5)  # how far each row is set in, in keys
_SPACE_REACH = 3.0  # half of the space bar's width


def key_row(key: str) -> int:
    """0 is the row of the digits, 3 the lowest with letters, 4 that of the space bar."""
    return _ROWS[key[0]]


def key_position(key: str) -> tuple[float, int]:
    """The middle of a key, in keys from the left and rows from the top."""
    return int(key[1:]) + _SET_IN[key_row(key)], key_row(key)


def key_hand(key: str) -> str:
    """`left` or `right`, as taught for touch typing; the space bar is for `either` thumb."""
    return "either" if key == SPACE else "left" if int(key[1:]) <= 5 else "right"


def keys_touch(a: str, b: str) -> bool:
    """Do two keys touch, or nearly?"""
    (x, y), (x2, y2) = key_position(a), key_position(b)
    reach = 1 + _SPACE_REACH if SPACE in (a, b) else 1
    return a != b and abs(x - x2) <= reach and abs(y - y2) <= 1


class Stroke(NamedTuple):
    """A key by its ISO position, such as D03, and its level: 0 plain, 1 shift, 2 AltGr, 3 both."""

    key: str
    level: int = 0


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
        each = [(w, Stroke(k, n)) for n in range(4) for k, levels in self.keys.items() for w in levels[n : n + 1]]
        # Where several strokes write the same, the one of the lowest level counts, and the first key; the last if dead.
        self._direct = {w: (stroke,) for w, stroke in reversed(each) if w and w + " " not in dead}
        self._silent = dict(sorted(each, key=lambda pair: -pair[1].level))
        shortest_last = sorted(dead.items(), key=lambda pair: len(pair[0]))[::-1]
        self._dead_for = {char: typed for typed, char in shortest_last}
        self._known: dict[str, tuple[Stroke, ...] | None] = {}

    def written(self, stroke: Stroke) -> str:
        """What one stroke writes; nothing if the key has nothing at that level."""
        levels = self.keys.get(stroke.key, ())
        return levels[stroke.level] if stroke.level < len(levels) else ""

    def neighbours(self, key: str) -> tuple[str, ...]:
        """The keys beside this one, row by row from the top."""
        return tuple(other for other in self.keys if keys_touch(key, other))

    def strokes(self, char: str) -> tuple[Stroke, ...] | None:
        """The strokes that write a character: a key, dead keys and a key, or its parts; None if the layout has none."""
        if char not in self._known:
            found: tuple[Stroke, ...] | None = self._direct.get(char)
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
            text = text.translate(TO_KATAKANA)
        if len(like) > 1 and like != unicodedata.normalize("NFC", like):
            return unicodedata.normalize("NFD", text)
        return unicodedata.normalize("NFC", text) if len(strokes) > 1 else text

    def runs(self, text: str) -> Iterator[KeyRun]:
        """The stretches of a text that are typed together: characters, or words of syllables and kana."""
        pattern = {"hangul": _HANGUL, "romaji": _KANA_RUN, "kana": _KANA_RUN}.get(self.input)
        spans = [found.span() for found in pattern.finditer(text)] if pattern else []
        at = 0
        for start, end in [*spans, (len(text), len(text))]:
            while at < start:
                run = self.run_at(text, at)
                if run:
                    yield run
                at = run.end if run else at + 1
            yield from self._composed(text, start, end)
            at = end

    def _composed(self, text: str, start: int, end: int) -> Iterator[KeyRun]:
        """Syllables or kana together if they come back as they were, otherwise one by one."""
        said = text[start:end]
        plain = unicodedata.normalize("NFC", said)
        typed = plain.translate(_TO_HIRAGANA) if self.input == "kana" else plain
        if said and self.input != "kana":
            typed = hangul_keys(plain) if self.input == "hangul" else romaji_keys(plain) or ""
        found = [self.strokes(c) for c in typed]
        known = tuple(stroke for strokes in found if strokes for stroke in strokes)
        if known and all(found) and self.compose(known, said) == said:
            yield KeyRun(start, end, known)
        elif end - start > 1 and plain == said:
            for at in range(start, end):
                yield from self._composed(text, at, at + 1)

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


def hangul_keys(text: str) -> str:
    """The letters typed for a text of syllables and single jamo, one for each key."""
    typed = []
    for c in text:
        at = ord(c) - _FIRST_SYLLABLE
        syllable = 0 <= at < 11172
        letters = _LEADS[at // 588] + _VOWELS[at % 588 // 28] + _TAILS[at % 28].strip() if syllable else c
        typed += [_TWO_KEYS.get(letter, letter) for letter in letters]
    return "".join(typed)


def hangul_text(typed: str) -> str:
    """What the input method makes of typed jamo: a consonant before a vowel begins the next syllable."""

    def write(found: re.Match[str]) -> str:
        first, vowel, last, alone = [_FROM_TWO_KEYS.get(part, part) for part in found.groups("")]
        if alone:
            return alone
        at = (_LEADS.index(first) * 21 + _VOWELS.index(vowel)) * 28
        return chr(_FIRST_SYLLABLE + at + (_TAILS.index(last) if last else 0))

    return _SYLLABLE.sub(write, typed)


@lru_cache(1)
def _kana_tables() -> tuple[dict[str, str], dict[str, str]]:
    """Keys by kana, as people type them, and kana by keys."""
    spelled = map("".join, product(_KANA_CONSONANTS, "aiueo"))
    kana = _OTHER_KANA | dict(zip(spelled, _PLAIN_KANA, strict=True))
    small = dict(zip("auo", "ゃゅょ", strict=True))
    kana |= {start + vowel: c + small[vowel] for start, c in _GLIDES.items() for vowel in small}
    keys = {c: typed for typed, c in kana.items()} | _HEPBURN  # the last spelling of two is the one people use
    return keys, kana | {typed: c for c, typed in _HEPBURN.items()}


def romaji_keys(text: str) -> str | None:
    """The keys that people press for these kana, or None where one can't be typed so."""
    table, _ = _kana_tables()
    text = text.translate(_TO_HIRAGANA)
    typed, at = "", 0
    while at < len(text):
        if text[at] == "っ":
            after = romaji_keys(text[at + 1 : at + 3]) or romaji_keys(text[at + 1 : at + 2]) or ""
            if after and after[0] not in "aiueon-x":
                typed, at = typed + after[0], at + 1
                continue
        if text[at] == "ん":
            after = romaji_keys(text[at + 1 : at + 2]) or ""
            typed, at = typed + ("n" if after and after[0] not in "aiueony" else "nn"), at + 1
            continue
        size = 2 if text[at : at + 2] in table else 1
        if text[at : at + size] not in table:
            return None
        typed, at = typed + table[text[at : at + size]], at + size
    return typed


def kana_text(typed: str) -> str:
    """What the input method writes for these keys. Letters that make no kana stay, in full width."""
    _, table = _kana_tables()
    out, at = "", 0
    while at < len(typed):
        c, after = typed[at], typed[at + 1 : at + 2]
        size = next((n for n in (3, 2, 1) if typed[at : at + n] in table), 0)
        if size:
            out += table[typed[at : at + size]]
        elif c == "n" and after not in ("a", "i", "u", "e", "o", "y"):
            out += "ん"
        else:
            out += "っ" if c == after and c.isalpha() else c.translate(_FULL_WIDTH)
        at += size or 1
    return out


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


def layout_for(language: str, text: str = "") -> Layout:
    """The layout that writers of a language are likely to have: `de-CH` has one of its own, `de-LU` has that of `de`.

    A few languages are written in two scripts. The text's letters then tell which layout it was typed on.
    """
    board = _layout_of(language)
    other = OTHER_SCRIPT.get(board.name)
    if other is not None and text:
        letters = [c for c in text if c.isalpha()]
        if sum(board.strokes(c) is None for c in letters) * 2 > len(letters):
            return layout(other)
    return board


@lru_cache(256)
def _layout_of(language: str) -> Layout:
    parts = language.split("-")
    for n in range(len(parts), 0, -1):
        tag = "-".join(parts[:n])
        if tag in _DEFAULTS or tag in _layout_lines():
            return layout(_DEFAULTS.get(tag, tag))
    raise UnknownName("language with a keyboard layout", language, LANGUAGES)
