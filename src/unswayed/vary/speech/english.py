"""A person reads an English text aloud and a recogniser writes it down, words misheard and all."""

from __future__ import annotations

import re
from bisect import bisect
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

import msgspec

from unswayed.base.edits import Edit
from unswayed.base.errors import UnknownName
from unswayed.base.ids import content_id
from unswayed.base.seeds import Stream
from unswayed.base.values import Json
from unswayed.vary import people as profiles
from unswayed.vary.operator import UNALTERED, Change, Operator, Text
from unswayed.vary.sentence import capital
from unswayed.vary.speech import HardWords, mishearing_chance, noted_change, other_digit, word_hardness
from unswayed.vary.speech._english_lattice import lattice
from unswayed.vary.spoken._speako import CODES, LETTERS, sound_of
from unswayed.vary.words import draw_key

PIECE = re.compile(r"[$£€]?\d+(?:[.,:]\d+)*(?:%|['’]?[^\W\d_]+)?|[^\W_]+(?:['’][^\W_]+)*")
_STOPS = frozenset(".?!")
_HARD = HardWords(share=0.35, chance=0.9)  # share of the mishearings of rare words
_MAX_TRIES = 5
_SPLIT_COST = 16  # how much more each word costs where one word was said
_MAX_HABITS = 50_000  # kept

# How recognisers write words that they heard right: numbers, capitals and contractions.
_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = "third/3rd fourth/4th fifth/5th sixth/6th seventh/7th eighth/8th ninth/9th tenth/10th twelfth/12th"
_ROMAN = re.compile(r"(?=[IVXL]{2})X{0,3}L?X{0,3}(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50}
_ROMAN_WORDS = {"II": "two", "III": "three", "IV": "four", "VI": "six", "VII": "seven", "VIII": "eight", "IX": "nine"}
_REIGNS = {"2": "the second", "3": "the third", "4": "the fourth"}
_CONTRACTED = """
i am/i'm, it is/it's, that is/that's, there is/there's, he is/he's, she is/she's, they are/they're, we are/we're,
you are/you're, i have/i've, i will/i'll, i would/i'd, what is/what's, who is/who's, do not/don't, does not/doesn't,
did not/didn't, can not/can't, is not/isn't, was not/wasn't, let us/let's
"""
_PAIRS = [pair.strip().split("/") for pair in _CONTRACTED.split(",")]
CONTRACTED = {(long.split()[0], long.split()[1]): short for long, short in _PAIRS}
# By word, how else it may be written: the kind of writing, and what is written.
_OTHERWISE = {
    **{word: ("digits", str(k)) for k, word in enumerate(_UNITS)},
    **{word: ("tens", str(k)) for k, word in enumerate(_TEENS, 10)},
    **{word: ("tens", str(10 * k)) for k, word in enumerate(_TENS, 2)},
    **{word: ("ordinals", new) for word, new in (pair.split("/") for pair in _ORDINALS.split())},
    **{str(k): ("spelled", word) for k, word in enumerate(_UNITS)},
    **{short: ("expanded", " ".join(long)) for long, short in CONTRACTED.items()},
}
_Span = tuple[int, int]  # where a word begins and ends
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

    def __init__(self, profile: profiles.ListenerProfile, accent: str, plain: bool = False) -> None:
        self.profile, self.plain = profile, plain
        self._lattice = lattice()
        self._habits: dict[str, float] = {}
        heard = profiles.add_accent(profile.heard, profiles.ACCENTS[accent])
        self._heard = {code: _sound_outcomes(heard, name) for name, code in CODES.items()}
        self._added = _sound_outcomes(heard, "")

    def say(self, text: str, borders: list[_Span], rng: Stream) -> list[Edit]:
        """What the recogniser writes, as edits. A mishearing never takes in words on both sides of a border."""
        spans = [m.span() for m in PIECE.finditer(text)]
        if not spans:
            return []
        profile, n = self.profile, len(spans)
        words = [look_up_word(text[start:end]) for start, end in spans]
        regions = [next((k for k, (start, end) in enumerate(borders, 1) if start <= at < end), 0) for at, _ in spans]
        cased = text.lower() != text and not self.plain
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
                    and words[end].kind != profiles.NUMBER != word.kind
                    and rng.random() < profile.spread[min(end - at, len(profile.spread)) - 1]
                ):
                    end += 1
                heard = self._misheard(words, at, end, last, rng)
                if heard is not None:
                    new[at] = " ".join([self._new_word(w, cased, rng) for w in heard])
                    last, at = heard[-1] if heard else last, end
                    continue
                end = at + 1
            short = CONTRACTED.get((word.low, words[end].low)) if end < n and regions[end] == regions[at] else None
            if short and rng.random() < profile.writes.get("contracted", 0.0):
                new[at] = capitalise_i(short)
                end += 1
            else:
                gap = text[spans[at - 1][1] : spans[at][0]] if at else "."
                new[at] = self._right(word, text[slice(*spans[at])], gap, cased, rng)
            if rng.random() < profile.stray * haste and regions[at] == 0:
                new[at] += " " + capitalise_i(draw_key(profile.strays, rng))
            last, at = word.low, end
        return self._edits(text, spans, new, cased, rng)

    def _chance(self, word: ReadWord, haste: float, rng: Stream) -> float:
        """The chance of mishearing a word; common ones are never hard."""
        rate = self.profile.misheard[word.kind]
        if 0 <= word.rank < profiles.COMMON_RANK:
            return min(0.95, haste * rate)
        hardness = self._habits.get(word.low)
        if hardness is None:
            if len(self._habits) > _MAX_HABITS:
                self._habits.clear()
            hardness = self._habits[word.low] = word_hardness(word.low, rng)
        return mishearing_chance(hardness, rate, haste, _HARD)

    def _misheard(self, words: list[ReadWord], at: int, end: int, before: str, rng: Stream) -> list[str] | None:
        """What is written for these words; None if nothing else sounds like them."""
        profile, word = self.profile, words[at]
        if end == at + 1:
            if word.kind == profiles.NUMBER:
                # Another one of the last two digits: centuries and thousands are heard right.
                return [other_digit(word.low, rng.choice([k for k, c in enumerate(word.low) if c.isdigit()][-2:]), rng)]
            if rng.random() < profile.lost[word.kind] and len(words) > 1:
                return []
            swaps = profile.swaps.get(word.low)
            if swaps and rng.random() < profile.swapped:
                return [draw_key(swaps, rng)]
            if not 0 <= word.rank < profiles.COMMON_RANK and rng.random() < profile.inflected:
                forms = other_forms(word.low)
                if forms:
                    return [rng.choice(forms)]
        said = " ".join([w.low for w in words[at:end]])
        sound = "".join([w.sound for w in words[at:end]])
        after = words[end].low if end < len(words) else ""
        each = round(profile.each) + (_SPLIT_COST if end == at + 1 else 0)
        level = rng.choice(profile.levels)
        added_sums, added = self._added
        for _ in range(_MAX_TRIES):
            heard = []  # the sounds as they came through
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
            made = self._lattice.draw_words("".join(heard), before, after, each, rng)
            if made and " ".join(made) != said:
                return made
            level = 1.25 * level + 0.1
        return None

    def _right(self, word: ReadWord, piece: str, gap: str, cased: bool, rng: Stream) -> str:
        """A word that was heard right after this gap, as the recogniser writes it."""
        writes = self.profile.writes
        other = rewrite_word(piece, word.low)
        if other and rng.random() < writes.get(other[0], 0.0):
            return capitalise_i(other[1]) if cased else other[1]
        if not cased:
            return word.low if self.plain else piece
        if piece == word.low:
            raised = profiles.raisable(piece, word.rank) and rng.random() < writes.get("raised", 0.0)
            return capital(piece) if raised else capitalise_i(piece)
        if gap != " " and find_mark(gap) in _STOPS and not (word.name or is_initials(piece)):
            return capitalise_i(word.low)
        kind = "initials_lowered" if is_initials(piece) else "name_lowered" if word.name else "common_lowered"
        return capitalise_i(word.low if rng.random() < writes.get(kind, 0.0) else piece)

    def _new_word(self, word: str, cased: bool, rng: Stream) -> str:
        """A word that was not said, as the recogniser writes it."""
        writes, words = self.profile.writes, self._lattice
        kind, digits = _OTHERWISE.get(word, ("", ""))
        if kind in ("digits", "tens") and rng.random() < writes.get(kind, 0.0):
            return digits
        if not cased:
            return word
        if word in words.names:
            return capital(word)
        if profiles.raisable(word, words.ranks.get(word, 0)) and rng.random() < writes.get("new_raised", 0.0):
            return capital(word)
        return capitalise_i(word)

    def _edits(self, text: str, spans: list[_Span], new: list[str], cased: bool, rng: Stream) -> list[Edit]:
        """Words and what stands between them, joined where they touch."""
        parts: list[Edit] = []
        reached, wrote, stopped, whole = 0, False, True, False
        for (start, end), word in zip(spans, new, strict=True):
            gap = text[reached:start] if word and wrote else ""
            if gap and (gap != " " or self.profile.marks):
                hyphen = gap in "-–" and whole and rng.random() < self.profile.writes.get("hyphen", 0.0)
                # a hyphen is written only after a word that is still there
                gap = "-" if hyphen and not self.plain else self._mark(find_mark(gap), rng) + " "
            if gap:
                stopped = gap[0] in _STOPS
            if word and stopped and cased and rng.random() < self.profile.writes.get("sentence", 0.0):
                word = capital(word)
            parts += [Edit(reached, start, gap), Edit(start, end, word)]
            reached, wrote, stopped, whole = end, wrote or bool(word), stopped and not word, bool(word)
        parts.append(Edit(reached, len(text), self._mark("end" + find_mark(text[reached:]), rng)))
        edits: list[Edit] = []
        for start, end, new_text in parts if wrote else ():
            if text[start:end] != new_text:
                joined = edits.pop() if edits and edits[-1].end == start else Edit(start, start, "")
                edits.append(Edit(joined.start, end, joined.new + new_text))
        return edits

    def _mark(self, kind: str, rng: Stream) -> str:
        """What is written for a pause."""
        marks = self.profile.marks.get(kind)
        return draw_key(marks, rng) if marks and not self.plain else ""


@lru_cache(100_000)
def look_up_word(piece: str) -> ReadWord:
    """A word of a text as it is read aloud."""
    words, low = lattice(), piece.lower().replace("’", "'")
    rank = words.ranks.get(low, -1)
    base = low.removesuffix("'s")
    if rank < 0 and base != low:
        rank = words.ranks.get(base, -1)
    if len(piece) > 1 and _ROMAN.fullmatch(piece):
        sound = words.sounds[_ROMAN_WORDS.get(piece, "ten")]
    elif is_initials(piece):
        sound = "".join([LETTERS.get(letter, "") for letter in low])
    elif low in words.sounds:
        sound = words.sounds[low]
    elif base in words.sounds:
        sound = words.sounds[base] + CODES["Z"]
    else:
        sound = "" if low[0].isdigit() else sound_of(low)
    name = rank < 0 or base in words.names
    return ReadWord(low, profiles.word_class(low.lstrip("$£€") or low, rank), sound, name, rank)


def _sound_outcomes(heard: dict[str, float], name: str) -> tuple[list[float], list[str]]:
    """What is heard for a sound, with running sums of the chances."""
    found = [(chance, change.split(">")[1]) for change, chance in heard.items() if change.split(">")[0] == name]
    return list(accumulate(chance for chance, _ in found)), [CODES.get(to, "") for _, to in found]


def text_place(at: int, words: int) -> int:
    """0 for the first word of a text, 1 for the last, 2 for others."""
    return 0 if not at else 1 if at == words - 1 else 2


def is_initials(piece: str) -> bool:
    """Is this read letter by letter, such as *BBC*?"""
    return len(piece) > 1 and piece.isupper() and piece.isalpha()


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
    if low in _OTHERWISE:
        return _OTHERWISE[low]
    if re.fullmatch(r"\d+0['’]s", low):
        return ("decades", low[:-2] + "s")
    if len(word) > 1 and _ROMAN.fullmatch(word):
        values = [_ROMAN_DIGITS[c] for c in word]
        number = str(sum(-v if v < max(values[k:]) else v for k, v in enumerate(values)))
        return ("roman", _REIGNS.get(number, number))
    return None


def capitalise_i(word: str) -> str:
    """The word *I* and its contractions always have a capital."""
    return _CAPITAL_I.sub("I", word) if word[:1] == "i" and (word == "i" or word[1:2] == "'") else word


def find_mark(gap: str) -> str:
    """The mark that a pause between two words has: `.`, `?`, `!` or `,`, or none."""
    return next((c for c in gap if c in ".?!"), "," if set(gap) & set(",;:") else "")


class English(Operator):
    """Simulates English read aloud, and a recogniser that mishears words and has its own capitals, marks and numbers.

    Each draw is one speaker for the whole suite. `accent` is american, british, indian, chinese or spanish; by default,
    each speaker has one of them. `profile` is noiseqa (the default), topicalchat_a, topicalchat_b, or a file that
    `unswayed calibrate listener` writes. `plain` writes small letters without marks.
    """

    languages = ("en",)
    people = True
    unaltered = True
    presets = ("speech",)
    slips = True
    example = (
        "Which player was criticized for not jumping into the pile?",
        "which player was criticized are not jumping into the piled",
    )

    def __init__(self, accent: str = "", profile: str = "noiseqa", plain: bool = False) -> None:
        if accent and accent not in profiles.ACCENTS:
            raise UnknownName("accent of speech/english", accent, profiles.ACCENTS)
        self._accent, self._plain = accent, plain
        self._profile = profiles.listener(profile)
        self._speakers: dict[int, EnglishSpeaker] = {}

    @classmethod
    def pinned(cls, params: dict[str, Json]) -> dict[str, Json]:
        """An id of the profile's file, which may change under the same name."""
        return {"profile_id": content_id(msgspec.json.encode(profiles.listener(str(params["profile"]))).decode())}

    def change(self, text: Text, rng: Stream) -> Change | None:
        if not PIECE.search(text.text):
            return None
        stream = rng.habit("who they are")
        mark = stream.bits()
        speaker = self._speakers.get(mark)
        if speaker is None:
            accent = self._accent or stream.choice(list(profiles.ACCENTS))
            speaker = self._speakers[mark] = EnglishSpeaker(self._profile, accent, self._plain)
        edits = self.allowed(text, speaker.say(text.text, text.marked, rng))
        if not edits:
            return UNALTERED
        if not text.keeps(edits):
            kept: list[Edit] = []
            for edit in edits:  # those that leave all labels true, added one by one
                kept += [edit] if text.keeps([*kept, edit]) else []
            edits = kept
        return noted_change(text.text, edits) if edits else None
