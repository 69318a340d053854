"""A person reads a text aloud and a recogniser writes it down: which words are misheard, and what is written."""

from __future__ import annotations

import re
from bisect import bisect
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Seeds, Stream
from unswayed.vary.listeners import COMMON_RANK, NUMBER, ListenerProfile, accented, raisable, word_class
from unswayed.vary.speech._lattice import Lattice, lattice
from unswayed.vary.speech._writing import (
    CONTRACTED,
    DIGITS,
    LARGER,
    NUMERALS,
    ROMAN,
    as_said,
    mark_in,
    rewritten,
    with_capital,
)
from unswayed.vary.spoken._phones import CODES, LETTERS, sound_of

PIECE = re.compile(r"[$£€]?\d+(?:[.,:]\d+)*(?:%|['’]?[^\W\d_]+)?|[^\W_]+(?:['’][^\W_]+)*")
_STOPS = frozenset(".?!")
_HARD = 0.9  # chance that a word that is always misheard is misheard
_HABIT = 0.35  # share of the mishearings of rare words that such words are to blame for
_SHARED = 0.6  # share of these words that are so because the recogniser does not know them, whoever speaks
_TRIES = 5
_SPLIT = 16  # how much more each word costs where one word was said
_MOST_WORDS = 50_000  # kept


_Place = tuple[int, int, str]  # where a word stands, and the word


class Word(NamedTuple):
    """A word of a text as it is looked up: small letters, class, sound, and whether it is a name."""

    low: str
    kind: int
    sound: str
    name: bool
    rank: int


class Listener:
    """One speaker and one recogniser."""

    def __init__(self, profile: ListenerProfile, accent: str, plain: bool = False) -> None:
        self.profile, self.plain = profile, plain
        self._words_by: Lattice = lattice()
        self._each = round(profile.each)
        self._habits: dict[str, float] = {}
        heard = accented(profile.heard, accent)
        self._heard = {code: _outcomes(heard, name) for name, code in CODES.items()}
        self._added = _outcomes(heard, "")

    def say(self, text: str, borders: list[tuple[int, int]], rng: Stream) -> list[Edit]:
        """What the recogniser writes, as edits. A mishearing never takes in words on both sides of a border."""
        found = [(m.start(), m.end(), m[0]) for m in PIECE.finditer(text)]
        if not found:
            return []
        words = [looked_up(piece) for _, _, piece in found]
        regions = [_region(start, borders) for start, _, _ in found] if borders else [0] * len(found)
        cased = text.lower() != text
        cased = cased and not self.plain
        new = self._hear(found, words, regions, text, cased, rng)
        return self._edits(text, found, new, cased, rng)

    def _hear(
        self, found: list[_Place], words: list[Word], regions: list[int], text: str, cased: bool, rng: Stream
    ) -> list[str]:  # fmt: skip
        profile, n = self.profile, len(words)
        haste = rng.choice(profile.haste)
        new = [""] * n
        at, last = 0, ""
        while at < n:
            word = words[at]
            end = at + 1
            if rng.random() < self._chance(word, haste * profile.places[place_of(at, n)], rng):
                while (
                    end < n
                    and regions[end] == regions[at]
                    and words[end].kind != NUMBER != word.kind
                    and rng.random() < profile.spread[min(end - at, len(profile.spread)) - 1]
                ):
                    end += 1
                heard = self._misheard(words, at, end, last, rng)
                if heard is not None:
                    new[at] = " ".join([self._new_word(w, cased, rng) for w in heard])
                    last = heard[-1] if heard else last
                    at = end
                    continue
                end = at + 1
            short = CONTRACTED.get((word.low, words[end].low)) if end < n and regions[end] == regions[at] else None
            if short and rng.random() < profile.writes.get("contracted", 0.0):
                new[at] = as_said(short)
                end += 1
            else:
                gap = text[found[at - 1][1] : found[at][0]] if at else "."
                new[at] = self._right(word, found[at][2], gap, cased, rng)
            if rng.random() < profile.stray * haste and regions[at] == 0:
                stray = rng.weighted(list(profile.strays), list(profile.strays.values()))
                new[at] += " " + as_said(stray)
            last, at = word.low, end
        return new

    def _chance(self, word: Word, haste: float, rng: Stream) -> float:
        """The chance of mishearing a word: part of it falls to words that are hard for this speaker, or for all."""
        rate = self.profile.misheard[word.kind]
        if 0 <= word.rank < COMMON_RANK:
            return min(0.95, haste * rate)
        hard = min(0.9, rate * _HABIT / _HARD)
        if self._habit(word.low, rng) < hard:
            return _HARD
        return min(0.95, haste * rate * (1 - _HABIT) / (1 - hard))

    def _habit(self, low: str, rng: Stream) -> float:
        """A number from 0 to 1 for each word, low for those that this speaker is always misheard on."""
        found = self._habits.get(low)
        if found is None:
            if len(self._habits) > _MOST_WORDS:
                self._habits.clear()
            habit = rng.habit(f"hard\0{low}")
            own = habit.random()
            found = self._habits[low] = _unknown(low) if habit.random() < _SHARED else own
        return found

    def _misheard(self, words: list[Word], at: int, end: int, before: str, rng: Stream) -> list[str] | None:
        """What is written for these words; None if nothing else sounds like them."""
        profile, word = self.profile, words[at]
        if end == at + 1:
            if word.kind == NUMBER:
                return [_other_number(word.low, rng)]
            if rng.random() < profile.lost[word.kind] and len(words) > 1:
                return []
            swaps = profile.swaps.get(word.low)
            if swaps and rng.random() < profile.swapped:
                return [rng.weighted(list(swaps), list(swaps.values()))]
            if not 0 <= word.rank < COMMON_RANK and rng.random() < profile.inflected:
                forms = inflections(word.low)
                if forms:
                    return [rng.choice(forms)]
        said = " ".join([w.low for w in words[at:end]])
        sound = "".join([w.sound for w in words[at:end]])
        after = words[end].low if end < len(words) else ""
        each = self._each + (_SPLIT if end == at + 1 else 0)
        level = rng.choice(profile.levels)
        for _ in range(_TRIES):
            made = self._words_by.written(self._noisy(sound, level, rng), before, after, each, rng)
            if made and " ".join(made) != said:
                return made
            level = 1.25 * level + 0.1
        return None

    def _noisy(self, sound: str, level: float, rng: Stream) -> str:
        """The sounds as they were heard."""
        heard = []
        added_sums, added = self._added
        more = added_sums[-1] * level if added else 0.0
        for phone in sound:
            sums, sounds = self._heard[phone]
            drawn = rng.random()
            if drawn < more:
                heard.append(added[bisect(added_sums, drawn / level)])
                drawn = rng.random()
            if sounds and drawn < sums[-1] * level:
                heard.append(sounds[min(bisect(sums, drawn / level), len(sounds) - 1)])
            else:
                heard.append(phone)
        return "".join(heard)

    def _right(self, word: Word, piece: str, gap: str, cased: bool, rng: Stream) -> str:
        """A word that was heard right after this gap, as the recogniser writes it."""
        writes = self.profile.writes
        other = rewritten(piece, word.low)
        if other and rng.random() < writes.get(other.kind, 0.0):
            return as_said(other.new) if cased else other.new
        if not cased:
            return word.low if self.plain else piece
        if piece == word.low:
            raised = raisable(piece, word.rank) and rng.random() < writes.get("raised", 0.0)
            return with_capital(piece) if raised else as_said(piece)
        if gap != " " and mark_in(gap) in _STOPS and not (word.name or initials(piece)):
            return as_said(word.low)
        kind = "initials_lowered" if initials(piece) else "name_lowered" if word.name else "common_lowered"
        return as_said(word.low if rng.random() < writes.get(kind, 0.0) else piece)

    def _new_word(self, word: str, cased: bool, rng: Stream) -> str:
        """A word that was not said, as the recogniser writes it."""
        writes, words = self.profile.writes, self._words_by
        kind, digits = ("digits", DIGITS.get(word)) if word in DIGITS else ("tens", LARGER.get(word))
        if digits and rng.random() < writes.get(kind, 0.0):
            return digits
        if not cased:
            return word
        if word in words.names:
            return with_capital(word)
        if raisable(word, words.ranks.get(word, 0)) and rng.random() < writes.get("new_raised", 0.0):
            return with_capital(word)
        return as_said(word)

    def _edits(self, text: str, found: list[_Place], new: list[str], cased: bool, rng: Stream) -> list[Edit]:
        """Words and what stands between them, joined where they touch."""
        edits: list[Edit] = []
        reached, wrote, stopped, whole = 0, False, True, False
        for (start, end, _), word in zip(found, new, strict=True):
            gap = self._gap(text[reached:start], whole, rng) if word and wrote else ""
            if gap:
                stopped = gap[0] in _STOPS
            if word and stopped and cased and rng.random() < self.profile.writes.get("sentence", 0.0):
                word = with_capital(word)
            _add(edits, text, reached, start, gap)
            _add(edits, text, start, end, word)
            reached, wrote, stopped, whole = end, wrote or bool(word), stopped and not word, bool(word)
        _add(edits, text, reached, len(text), self._mark("end" + mark_in(text[reached:]), rng))
        return edits if wrote else []

    def _gap(self, gap: str, whole: bool, rng: Stream) -> str:
        """What is written between two words; a hyphen only after a word that is still there."""
        if gap == " " and not self.profile.marks:
            return gap
        if gap in "-–" and whole and rng.random() < self.profile.writes.get("hyphen", 0.0) and not self.plain:
            return "-"
        return self._mark(mark_in(gap), rng) + " "

    def _mark(self, kind: str, rng: Stream) -> str:
        """What is written for a pause."""
        marks = self.profile.marks.get(kind)
        return rng.weighted(list(marks), list(marks.values())) if marks and not self.plain else ""


@lru_cache(100_000)
def looked_up(piece: str) -> Word:
    words, low = lattice(), piece.lower().replace("’", "'")
    rank = words.ranks.get(low, -1)
    base = low.removesuffix("'s")
    if rank < 0 and base != low:
        rank = words.ranks.get(base, -1)
    if len(piece) > 1 and ROMAN.fullmatch(piece):
        sound = words.sounds[NUMERALS.get(piece, "ten")]
    elif initials(piece):
        sound = "".join([LETTERS.get(letter, "") for letter in low])
    elif low in words.sounds:
        sound = words.sounds[low]
    elif base in words.sounds:
        sound = words.sounds[base] + CODES["Z"]
    else:
        sound = "" if low[0].isdigit() else sound_of(low)
    name = rank < 0 or base in words.names
    return Word(low, word_class(low.lstrip("$£€") or low, rank), sound, name, rank)


def _add(edits: list[Edit], text: str, start: int, end: int, new: str) -> None:
    if text[start:end] == new:
        return
    if edits and edits[-1].end == start:
        first = edits.pop()
        edits.append(Edit(first.start, end, first.new + new))
    else:
        edits.append(Edit(start, end, new))


def _outcomes(heard: dict[str, float], name: str) -> tuple[list[float], list[str]]:
    """What is heard for a sound, with running sums of the chances."""
    found = [(chance, change.split(">")[1]) for change, chance in heard.items() if change.split(">")[0] == name]
    return list(accumulate(chance for chance, _ in found)), [CODES.get(to, "") for _, to in found]


def place_of(at: int, words: int) -> int:
    """0 for the first word of a text, 1 for the last, 2 for others."""
    return 0 if not at else 1 if at == words - 1 else 2


def _region(at: int, borders: list[tuple[int, int]]) -> int:
    return next((k for k, (start, end) in enumerate(borders, 1) if start <= at < end), 0)


def initials(piece: str) -> bool:
    return len(piece) > 1 and piece.isupper() and piece.isalpha()


@lru_cache(100_000)
def _unknown(word: str) -> float:
    """A number from 0 to 1 for every word, low for those that the recogniser knows least."""
    return Seeds(0, "speech/recogniser", 1).stream(word, 0).random()


def _other_number(number: str, rng: Stream) -> str:
    """The number with another one of its last two digits: centuries and thousands are heard right."""
    k = rng.choice([k for k, c in enumerate(number) if c.isdigit()][-2:])
    return number[:k] + str((int(number[k]) + 1 + rng.below(9)) % 10) + number[k + 1 :]


@lru_cache(20_000)
def inflections(word: str) -> tuple[str, ...]:
    """Other forms of a word: the plural, the past, with 's, and the like."""
    ranks = lattice().ranks
    stem = word.removesuffix("'s")
    if stem not in ranks:  # an unknown word may lose its ending and gets no other
        return (stem,) if stem != word else (word[:-1],) if word[-1] == "s" else ()
    made = [stem] * 2 if stem != word else []
    for ending in ("s", "ed", "d", "ing", "er", "es", "ly", "al"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            made += [word[: -len(ending)], word[: -len(ending)] + "e"] if ending != "s" else [word[:-1]] * 2
        made += [word + ending] if ending not in ("s", "ed", "d") else [word + ending] * 2
    return tuple(form for form in made if form != word and ranks.get(form, 60_000) < 40_000)
