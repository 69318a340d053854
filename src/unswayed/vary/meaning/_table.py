"""What a language exchanges to change the meaning: words from `data/LANGUAGE.toml`, numbers and names."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.words import cased, sounds_as_vowel

LANGUAGES = ("en", "pt", "zh")


class MeaningChange(NamedTuple):
    """One way to change the meaning: where, what kind of change, and a note for people."""

    edits: tuple[Edit, ...]
    kind: str
    note: str


class Substitutes(NamedTuple):
    """What may stand for a word, in which sense of it (a letter, see the table), and what kind of change that is."""

    words: tuple[str, ...]
    sense: str
    kind: str


_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_BEFORE_NAMES = "in on at by the from since during until before after of to em no na de do da desde até a o os as"
_OPENS = frozenset(_BEFORE_NAMES.split())

Fits = Callable[[int, str], bool]  # is the word at this place meant in this sense?


class Token(NamedTuple):
    """A word of a text, and where it stands."""

    start: int
    end: int
    text: str


def tokens(text: str) -> list[Token]:
    """The words of a text, with hyphens and apostrophes inside them."""
    return [Token(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]


class MeaningTable:
    """A language's table. Words are found as they stand there, names with their capitals."""

    def __init__(self, language: str) -> None:
        self.language = language
        text = files("unswayed.vary.meaning").joinpath(f"data/{language}.toml").read_text(encoding="utf-8")
        self.raw = tomllib.loads(text)
        self.others: dict[str, list[Substitutes]] = {}
        sets: list[tuple[str, list[str], str]] = []  # a word, what may stand for it, and what kind of change that is
        for pair in shlex.split(self.raw["opposites"]):
            one, mark, other = re.split(r"([/>])", pair)
            sets += [(one, [other], "opposite")] + ([(other, [one], "opposite")] if mark == "/" else [])
        for words in map(str.split, self.raw["sets"]):
            sets += [(word, [other for other in words if other != word], "another") for word in words]
        for word, others, kind in sets:
            plain, _, sense = word.partition("_")
            made = Substitutes(tuple(other.partition("_")[0] for other in others), sense, kind)
            self.others.setdefault(plain, []).append(made)
        phrases = (line.split(" > ") for line in self.raw["phrases"])
        self.phrases = {before.strip(): after.strip() for before, after in phrases}
        self.acts = frozenset(self.raw["acts"].split())
        self.leave_before = frozenset(self.raw["leave_before"].split())
        self.motion = frozenset(self.raw["motion"].split())
        self.unless = re.compile(self.raw["unless"], re.IGNORECASE)
        self.together = re.compile(self.raw.get("together", "(?!)"), re.IGNORECASE)
        self._protected = [re.compile(pattern, re.IGNORECASE) for pattern in self.raw["protect"]]
        self.deletions = [
            (re.compile(pattern, re.IGNORECASE), kind)
            for kind, patterns in self.raw.get("delete", {}).items()
            for pattern in patterns
        ]

    def exchanges(self, text: str, rng: Stream, fits: Fits) -> Iterator[MeaningChange]:
        """Every word that has others to stand for it, with one of these."""
        words = tokens(text)
        present = {word.text.lower() for word in words}
        for i, word in enumerate(words):
            before = words[i - 1] if i else None
            if before and (before.text.lower() in self.leave_before or text[word.start - 1] in "-’'."):
                continue
            for others in self._substitutes(text, words, i):
                choices = [other for other in others.words if other.lower() not in present]
                if choices and fits(i, others.sense):
                    new = cased(rng.choice(choices), word.text)
                    edit = Edit(word.start, word.end, new)
                    if self.language == "en" and before and before.text.lower() in ("a", "an"):
                        article = cased("an" if sounds_as_vowel(new) else "a", before.text)
                        if article != before.text and text[before.end : word.start] == " ":
                            edit = Edit(before.start, word.end, f"{article} {new}")
                    yield MeaningChange((edit,), others.kind, f"{word.text} → {new}")

    def _substitutes(self, text: str, words: list[Token], i: int) -> list[Substitutes]:
        """What the table has for a word; of words with capitals only names, and what begins the text."""
        word = words[i].text
        if word.islower():
            return self.others.get(word, [])
        first = i == 0 or text[: words[i].start].rstrip()[-1:] in (".", "!", "?")
        name_follows = i + 1 < len(words) and words[i + 1].text[0].isupper()
        if first and word[1:].islower():
            return [] if name_follows else self.others.get(word, []) or self.others.get(word.lower(), [])
        # Part of a longer name, as *China* in *Air China*, is left.
        before = i and words[i - 1].text[0].isupper() and words[i - 1].text.lower() not in _OPENS
        after = name_follows and text[words[i].end : words[i + 1].start] == " "
        of = i > 1 and words[i - 1].text in ("of", "de", "do", "da") and words[i - 2].text[0].isupper()
        return [] if before or after or of else self.others.get(word, [])

    def unprotected(self, text: str, found: Iterable[MeaningChange]) -> list[MeaningChange]:
        """Those that leave fixed expressions, titles and longer names alone."""
        kept = [match.span() for pattern in self._protected for match in pattern.finditer(text)]
        return [one for one in found if not any(start <= edit.start < end for edit in one.edits for start, end in kept)]


def without(text: str, start: int, end: int, kind: str = "left out") -> MeaningChange:
    """A stretch left out; what then begins the text gets its capital."""
    said = text[start:end].strip()
    if start == 0 and text[0].isupper() and end < len(text):
        return MeaningChange((Edit(0, end + 1, text[end].upper()),), kind, f"without {said!r}")
    return MeaningChange((Edit(start, end, ""),), kind, f"without {said!r}")


_END = re.compile(r"[.!?](?=\s|$)|[。！？；\n]")


def is_clear(text: str, at: int, longest: int) -> bool:
    """Is the sentence around a place short enough for a denial to be clear, in characters?"""
    start = max((match.end() for match in _END.finditer(text, 0, at)), default=0)
    end = _END.search(text, at)
    return (end.start() if end else len(text)) - start <= longest


table = cache(MeaningTable)  # a language's, read once a process


# Not 3D, H1B, 4-4-2 or 12:30; a following s is that of decades.
_BEFORE, _AFTER = r"(?<![\w.,:/–—−-])", r"(?![A-Za-rt-z:/–—-]|[.,]\d)"
_NUMBER = re.compile(rf"{_BEFORE}\d{{1,3}}(?:,\d{{3}})+{_AFTER}|{_BEFORE}\d+(?:[.,]\d+)?(?=s\b|\D|$){_AFTER}")
_KEPT_NUMBERS = frozenset(["0", "1", "24", "100"])  # *24 hours*, *100%*: another would be silly
_BRACKET = re.compile(r"[\w /%°]{0,12}[(（]\D?\d")


def number_changes(text: str, rng: Stream) -> Iterator[MeaningChange]:
    """Each number with another in its place: years move a few years, other numbers change their first digit."""
    for match in _NUMBER.finditer(text):
        old = match[0]
        follows = text[match.end() :]
        # in brackets stands the same in other units, and what is before such brackets has them beside it
        opened, closed = (sum(text.count(mark, 0, match.start()) for mark in marks) for marks in ("(（", ")）"))
        if opened > closed or old in _KEPT_NUMBERS or _BRACKET.match(follows):
            continue
        new = _other_number(old, rng.bits(), follows)
        if new and not re.search(rf"(?<!\d){re.escape(new)}(?!\d)", text):
            yield MeaningChange((Edit(match.start(), match.end(), new),), "number", f"{old} → {new}")


def _other_number(old: str, draw: int, follows: str) -> str | None:
    """Another number before this text, by a draw: a month, a year, a day, or the first digit changed."""
    if re.match(" ?月", follows):
        return str((int(old) + draw % 10) % 12 + 1)
    if re.fullmatch(r"1\d{3}|20\d\d", old):
        return str(int(old) - (10 if follows.startswith(("s", " 年代")) else 1) * (3 + draw % 9))
    if re.match(r" ?(?:世纪|日|号)", follows) or re.match(r"(?:st|nd|rd|th)\b", follows):
        value = int(old) if old.isdigit() else 0
        new = (value + draw % 15) % 20 + 1
        return str(new) if 0 < value <= 31 and new != value else None
    first = next((i for i, c in enumerate(old) if c in "123456789"), None)
    if first is None:
        return None
    digit = (int(old[first]) + draw % 7) % 9 + 1
    if follows.lstrip().startswith(("%", "per", "por")) and len(old) > 2 and "." not in old and "," not in old:
        return None
    return old[:first] + str(digit) + old[first + 1 :] if str(digit) != old[first] else None
