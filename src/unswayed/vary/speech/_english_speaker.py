"""English read aloud by one person to one recogniser: which words are misheard, and how all of them are written."""

from __future__ import annotations

import re
from bisect import bisect
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Seeds, Stream
from unswayed.vary.people import ACCENTS, COMMON_RANK, NUMBER, ListenerProfile, add_accent, raisable, word_class
from unswayed.vary.speech._english_lattice import Lattice, lattice
from unswayed.vary.spoken._phones import CODES, LETTERS, sound_of

PIECE = re.compile(r"[$£€]?\d+(?:[.,:]\d+)*(?:%|['’]?[^\W\d_]+)?|[^\W_]+(?:['’][^\W_]+)*")
_STOPS = frozenset(".?!")
_HARD_CHANCE = 0.9  # chance that a word that is always misheard is misheard
_HABIT_SHARE = 0.35  # share of the mishearings of rare words that such words are to blame for
_UNKNOWN_SHARE = 0.6  # share of these words that are so because the recogniser does not know them, whoever speaks
_MAX_TRIES = 5
_SPLIT_COST = 16  # how much more each word costs where one word was said
_MAX_HABITS = 50_000  # kept
_Found = tuple[int, int, str]  # where a word stands, and the word

# How recognisers write words that they heard right: numbers, capitals and contractions.
_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
DIGITS = {word: str(k) for k, word in enumerate(_UNITS)}
LARGER = {word: str(10 + k) for k, word in enumerate(_TEENS)} | {word: str(20 + 10 * k) for k, word in enumerate(_TENS)}
SPELLED = {digit: word for word, digit in DIGITS.items()}
_ORDINALS = "third 3rd fourth 4th fifth 5th sixth 6th seventh 7th eighth 8th ninth 9th tenth 10th twelfth 12th"
ORDINALS = dict(zip(_ORDINALS.split()[::2], _ORDINALS.split()[1::2], strict=True))
ROMAN = re.compile(r"(?=[IVXL]{2})X{0,3}L?X{0,3}(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50}
NUMERALS = {"II": "two", "III": "three", "IV": "four", "VI": "six", "VII": "seven", "VIII": "eight", "IX": "nine"}
_REIGNS = {"2": "the second", "3": "the third", "4": "the fourth"}
_CONTRACTED = """
i am/i'm, it is/it's, that is/that's, there is/there's, he is/he's, she is/she's, they are/they're, we are/we're,
you are/you're, i have/i've, i will/i'll, i would/i'd, what is/what's, who is/who's, do not/don't, does not/doesn't,
did not/didn't, can not/can't, is not/isn't, was not/wasn't, let us/let's
"""
_PAIRS = [pair.strip().split("/") for pair in _CONTRACTED.split(",")]
CONTRACTED = {(long.split()[0], long.split()[1]): short for long, short in _PAIRS}
EXPANDED = {short: " ".join(long) for long, short in CONTRACTED.items()}
_CAPITAL_I = re.compile(r"\bi(?=\b)")


class ReadWord(NamedTuple):
    """A word of a text as it is looked up: small letters, class, sound, and whether it is a name."""

    low: str
    kind: int
    sound: str
    name: bool
    rank: int


class EnglishSpeaker:
    """One person who reads aloud, and one recogniser."""

    def __init__(self, profile: ListenerProfile, accent: str, plain: bool = False) -> None:
        self.profile, self.plain = profile, plain
        self._words_by: Lattice = lattice()
        self._each = round(profile.each)
        self._habits: dict[str, float] = {}
        heard = add_accent(profile.heard, ACCENTS[accent])
        self._heard = {code: _outcomes(heard, name) for name, code in CODES.items()}
        self._added = _outcomes(heard, "")

    def say(self, text: str, borders: list[tuple[int, int]], rng: Stream) -> list[Edit]:
        """What the recogniser writes, as edits. A mishearing never takes in words on both sides of a border."""
        found = [(m.start(), m.end(), m[0]) for m in PIECE.finditer(text)]
        if not found:
            return []
        words = [look_up_word(piece) for _, _, piece in found]
        regions = [next((k for k, (start, end) in enumerate(borders, 1) if start <= at < end), 0) for at, _, _ in found]
        cased = text.lower() != text and not self.plain
        new = self._hear(found, words, regions, text, cased, rng)
        return self._edits(text, found, new, cased, rng)

    def _hear(
        self, found: list[_Found], words: list[ReadWord], regions: list[int], text: str, cased: bool, rng: Stream
    ) -> list[str]:  # fmt: skip
        profile, n = self.profile, len(words)
        haste = rng.choice(profile.haste)
        new = [""] * n
        at, last = 0, ""
        while at < n:
            word = words[at]
            end = at + 1
            if rng.random() < self._chance(word, haste * profile.places[text_place(at, n)], rng):
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
                new[at] = capitalise_i(short)
                end += 1
            else:
                gap = text[found[at - 1][1] : found[at][0]] if at else "."
                new[at] = self._right(word, found[at][2], gap, cased, rng)
            if rng.random() < profile.stray * haste and regions[at] == 0:
                stray = rng.weighted(list(profile.strays), list(profile.strays.values()))
                new[at] += " " + capitalise_i(stray)
            last, at = word.low, end
        return new

    def _chance(self, word: ReadWord, haste: float, rng: Stream) -> float:
        """The chance of mishearing a word: part of it falls to words that are hard for this speaker, or for all."""
        rate = self.profile.misheard[word.kind]
        if 0 <= word.rank < COMMON_RANK:
            return min(0.95, haste * rate)
        hard = min(0.9, rate * _HABIT_SHARE / _HARD_CHANCE)
        # A number from 0 to 1 for each word, low for those that this speaker is always misheard on.
        found = self._habits.get(word.low)
        if found is None:
            if len(self._habits) > _MAX_HABITS:
                self._habits.clear()
            habit = rng.habit(f"hard\0{word.low}")
            own = habit.random()
            found = self._habits[word.low] = unknown_share(word.low) if habit.random() < _UNKNOWN_SHARE else own
        if found < hard:
            return _HARD_CHANCE
        return min(0.95, haste * rate * (1 - _HABIT_SHARE) / (1 - hard))

    def _misheard(self, words: list[ReadWord], at: int, end: int, before: str, rng: Stream) -> list[str] | None:
        """What is written for these words; None if nothing else sounds like them."""
        profile, word = self.profile, words[at]
        if end == at + 1:
            if word.kind == NUMBER:
                # Another one of the last two digits: centuries and thousands are heard right.
                number = word.low
                k = rng.choice([k for k, c in enumerate(number) if c.isdigit()][-2:])
                return [number[:k] + str((int(number[k]) + 1 + rng.below(9)) % 10) + number[k + 1 :]]
            if rng.random() < profile.lost[word.kind] and len(words) > 1:
                return []
            swaps = profile.swaps.get(word.low)
            if swaps and rng.random() < profile.swapped:
                return [rng.weighted(list(swaps), list(swaps.values()))]
            if not 0 <= word.rank < COMMON_RANK and rng.random() < profile.inflected:
                forms = other_forms(word.low)
                if forms:
                    return [rng.choice(forms)]
        said = " ".join([w.low for w in words[at:end]])
        sound = "".join([w.sound for w in words[at:end]])
        after = words[end].low if end < len(words) else ""
        each = self._each + (_SPLIT_COST if end == at + 1 else 0)
        level = rng.choice(profile.levels)
        for _ in range(_MAX_TRIES):
            made = self._words_by.draw_words(self._noisy(sound, level, rng), before, after, each, rng)
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

    def _right(self, word: ReadWord, piece: str, gap: str, cased: bool, rng: Stream) -> str:
        """A word that was heard right after this gap, as the recogniser writes it."""
        writes = self.profile.writes
        other = rewrite_word(piece, word.low)
        if other and rng.random() < writes.get(other[0], 0.0):
            return capitalise_i(other[1]) if cased else other[1]
        if not cased:
            return word.low if self.plain else piece
        if piece == word.low:
            raised = raisable(piece, word.rank) and rng.random() < writes.get("raised", 0.0)
            return capitalise(piece) if raised else capitalise_i(piece)
        if gap != " " and find_mark(gap) in _STOPS and not (word.name or is_initials(piece)):
            return capitalise_i(word.low)
        kind = "initials_lowered" if is_initials(piece) else "name_lowered" if word.name else "common_lowered"
        return capitalise_i(word.low if rng.random() < writes.get(kind, 0.0) else piece)

    def _new_word(self, word: str, cased: bool, rng: Stream) -> str:
        """A word that was not said, as the recogniser writes it."""
        writes, words = self.profile.writes, self._words_by
        kind, digits = ("digits", DIGITS.get(word)) if word in DIGITS else ("tens", LARGER.get(word))
        if digits and rng.random() < writes.get(kind, 0.0):
            return digits
        if not cased:
            return word
        if word in words.names:
            return capitalise(word)
        if raisable(word, words.ranks.get(word, 0)) and rng.random() < writes.get("new_raised", 0.0):
            return capitalise(word)
        return capitalise_i(word)

    def _edits(self, text: str, found: list[_Found], new: list[str], cased: bool, rng: Stream) -> list[Edit]:
        """Words and what stands between them, joined where they touch."""
        edits: list[Edit] = []
        reached, wrote, stopped, whole = 0, False, True, False
        for (start, end, _), word in zip(found, new, strict=True):
            gap = text[reached:start] if word and wrote else ""
            if gap and (gap != " " or self.profile.marks):
                hyphen = gap in "-–" and whole and rng.random() < self.profile.writes.get("hyphen", 0.0)
                # a hyphen is written only after a word that is still there
                gap = "-" if hyphen and not self.plain else self._mark(find_mark(gap), rng) + " "
            if gap:
                stopped = gap[0] in _STOPS
            if word and stopped and cased and rng.random() < self.profile.writes.get("sentence", 0.0):
                word = capitalise(word)
            _add_edit(edits, text, reached, start, gap)
            _add_edit(edits, text, start, end, word)
            reached, wrote, stopped, whole = end, wrote or bool(word), stopped and not word, bool(word)
        _add_edit(edits, text, reached, len(text), self._mark("end" + find_mark(text[reached:]), rng))
        return edits if wrote else []

    def _mark(self, kind: str, rng: Stream) -> str:
        """What is written for a pause."""
        marks = self.profile.marks.get(kind)
        return rng.weighted(list(marks), list(marks.values())) if marks and not self.plain else ""


@lru_cache(100_000)
def look_up_word(piece: str) -> ReadWord:
    """A word of a text as it is read aloud."""
    words, low = lattice(), piece.lower().replace("’", "'")
    rank = words.ranks.get(low, -1)
    base = low.removesuffix("'s")
    if rank < 0 and base != low:
        rank = words.ranks.get(base, -1)
    if len(piece) > 1 and ROMAN.fullmatch(piece):
        sound = words.sounds[NUMERALS.get(piece, "ten")]
    elif is_initials(piece):
        sound = "".join([LETTERS.get(letter, "") for letter in low])
    elif low in words.sounds:
        sound = words.sounds[low]
    elif base in words.sounds:
        sound = words.sounds[base] + CODES["Z"]
    else:
        sound = "" if low[0].isdigit() else sound_of(low)
    name = rank < 0 or base in words.names
    return ReadWord(low, word_class(low.lstrip("$£€") or low, rank), sound, name, rank)


def _add_edit(edits: list[Edit], text: str, start: int, end: int, new: str) -> None:
    """Adds an edit, joined to the one before where they touch."""
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


def text_place(at: int, words: int) -> int:
    """0 for the first word of a text, 1 for the last, 2 for others."""
    return 0 if not at else 1 if at == words - 1 else 2


def is_initials(piece: str) -> bool:
    """Is this read letter by letter, such as *BBC*?"""
    return len(piece) > 1 and piece.isupper() and piece.isalpha()


@lru_cache(100_000)
def unknown_share(word: str) -> float:
    """A number from 0 to 1 for every word, low for those that the recogniser knows least."""
    return Seeds(0, "speech/recogniser", 1).stream(word, 0).random()


@lru_cache(20_000)
def other_forms(word: str) -> tuple[str, ...]:
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


@cache
def rewrite_word(word: str, low: str) -> tuple[str, str] | None:
    """The other way to write a word that was heard right, if there is one: its kind, and the word."""
    if low in DIGITS:
        return ("digits", DIGITS[low])
    if low in LARGER:
        return ("tens", LARGER[low])
    if low in ORDINALS:
        return ("ordinals", ORDINALS[low])
    if low in SPELLED:
        return ("spelled", SPELLED[low])
    if low in EXPANDED:
        return ("expanded", EXPANDED[low])
    if re.fullmatch(r"\d+0['’]s", low):
        return ("decades", low[:-2] + "s")
    if len(word) > 1 and ROMAN.fullmatch(word):
        values = [_ROMAN_DIGITS[c] for c in word]
        number = str(sum(-v if v < max(values[k:]) else v for k, v in enumerate(values)))
        return ("roman", _REIGNS.get(number, number))
    return None


def capitalise(word: str) -> str:
    """The word with a capital, its other letters as they are."""
    return word[:1].upper() + word[1:]


def capitalise_i(word: str) -> str:
    """The word *I* and its contractions always have a capital."""
    return _CAPITAL_I.sub("I", word) if word[:1] == "i" and (word == "i" or word[1:2] == "'") else word


def find_mark(gap: str) -> str:
    """The mark that a pause between two words has: `.`, `?`, `!` or `,`, or none."""
    return next((c for c in gap if c in ".?!"), "," if set(gap) & set(",;:") else "")
