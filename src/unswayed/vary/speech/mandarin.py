"""A person speaks Mandarin with an accent and a recogniser writes it down: READIN's speech noise, simulated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.vary import people as profiles
from unswayed.vary.chinese import han, lexicon
from unswayed.vary.operator import UNALTERED, Change, Operator, Text
from unswayed.vary.speech import HardWords, mishearing_chance, noted_change, other_digit, word_hardness
from unswayed.vary.speech._mandarin_recogniser import NEUTRAL, Ear, SimulatedRecogniser, Syllable, pronounce_word
from unswayed.vary.words import draw_key

_HAN = "\u4e00-\u9fff"
_FOREIGN = rf"(?:(?![{_HAN}])[^\W\d_])+"
_PIECES = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<number>\d+(?:[.,:]\d+)*%?)|(?P<foreign>{_FOREIGN}(?:[ .'’-]+{_FOREIGN})*)|(?P<mark>.)",
    re.S,
)
EARLY = 4  # characters that count as the beginning of a text: recognisers have no context there yet
_HARD = HardWords(share=0.7, chance=0.85)
_MAX_NAME = 4  # characters of the longest name that is misheard as one word
_MAX_SYLLABLES = 10  # syllables that are misheard in one piece
_STRAY_WORDS = ("的", "一", "了", "是", "我", "你", "这", "就", "有", "在", "儿", "嗯")
_EXTRA_SYLLABLES = ("er", "yi", "de", "a", "le", "shi")
_STRONG_MARKS = ("，", "。", "？", "！")

# How recognisers write what they heard right: numerals, times and marks.
MARKS = ("stop", "ask", "semi", "colon", "comma", "list", "quote", "title", "bracket", "space", "dot", "dash", "other")

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_SMALL = {"1": "一", "2": "两", "3": "三", "4": "四", "5": "五", "6": "六", "7": "七", "8": "八", "9": "九"}
_COUNTED = "个名家人份次届项部门年月天位种款条起例支座场颗架升级大"
_ONE_TO_NINE = "[一二三四五六七八九]"
_NUMERAL = "[一二三四五六七八九十百千两零]"


@dataclass(slots=True)
class SpokenPiece:
    """A word, number, foreign stretch or mark, and what is written for it."""

    start: int
    end: int
    kind: str
    text: str
    new: str
    wrong: bool = False  # misheard or lost, not only written otherwise


class MandarinSpeaker:
    """One person who reads aloud, and one recogniser. What goes wrong for a word goes wrong again."""

    def __init__(self, profile: profiles.SpeakerProfile) -> None:
        self.profile = profile
        self.recogniser = _shared_recogniser(tuple(profile.heard.items()))

    def say(self, text: str, rng: Stream) -> list[Edit]:
        """What the recogniser writes, as edits; none for a text without Chinese characters."""
        profile, ways = self.profile, other_writings(text)
        pieces = split_text(text, [way for way in ways if rng.random() < profile.writes.get(way.kind, 0.0)])
        if not any(piece.kind == "word" for piece in pieces):
            return []
        pace = profiles.near_one(rng, profile.pace)
        runs = [list(run) for spoken, run in groupby(pieces, lambda piece: piece.kind == "word") if spoken]
        for run in runs:
            self._hear(run, runs[0][0].start + EARLY, pace, rng)
        for piece in pieces:
            if piece.kind == "foreign":  # announced as English, lost, or heard as the Chinese names of its letters
                drawn, foreign = rng.habit(f"foreign\0{piece.text}").random(), profile.foreign
                piece.new, piece.wrong = "英文" if drawn < foreign["english"] else "", True
                if drawn >= foreign["english"] + foreign["lost"]:
                    named = [LETTERS[c] for c in piece.text.lower()[:6] if c in LETTERS]
                    heard = tuple(Syllable(plain, 1) for name in named for plain in name)
                    piece.new = self.recogniser.misheard("", heard, "", "", rng)
            elif piece.kind == "number" and not piece.wrong and rng.random() < profile.digits * pace:
                piece.new, piece.wrong = _mishear_number(piece.new, rng), True
        for clause in [clause for clause in split_clauses(pieces) if any(p.kind == "word" for p in clause)][1:]:
            if rng.random() < profile.clause * pace:  # whole clauses are left out now and then, never all of them
                _replace_pieces(clause[:-1], "")
        self._mark(pieces, rng)
        # A recogniser ends what it hears with a full stop or a question mark.
        last = next((piece for piece in reversed(pieces) if piece.new), None)
        if last is not None:
            bare = last.new.rstrip("，。？！,.?!、；：;: ")
            whole = "".join([piece.new for piece in pieces])
            if last.kind == "mark" and last.new != bare:
                last.new = bare or closing_mark(whole)
            elif rng.random() < profile.end:
                last.new = bare + closing_mark(whole)
        edits = [Edit(p.start, p.end, p.new) for p in pieces if p.new != p.text]
        return edits if "".join([p.new for p in pieces]) not in ("", text) else []

    def _hear(self, run: list[SpokenPiece], early: int, pace: float, rng: Stream) -> None:
        """Decides which words of a run are misheard or lost, and what comes out instead; more so of early ones."""
        profile, at, n = self.profile, 0, len(run)
        single = [len(piece.text) == 1 for piece in run]
        while at < n:
            c = profiles.spoken_class(run[at].text, (at > 0 and single[at - 1]) or (at + 1 < n and single[at + 1]))
            end = at  # rare single characters side by side are one word: they are mostly a name
            while end < min(at + _MAX_NAME, n) and profiles.rare_character(run[end].text):
                end += 1
            end = max(end, at + 1)
            word = "".join([piece.text for piece in run[at:end]])
            haste = pace * profile.start if run[at].start < early else pace
            drawn, lost = rng.random(), profile.lost[c] * haste
            if drawn < lost:
                while end < n and rng.random() < profile.gap:
                    end += 1
                _replace_pieces(run[at:end], "")
            elif drawn < lost + mishearing_chance(word_hardness(word, rng), profile.misheard[c], haste, _HARD):
                source = rng.habit(f"as\0{word}") if rng.random() < profile.same else rng
                while end < n and run[end].end - run[at].start < _MAX_SYLLABLES and source.random() < profile.spread:
                    end += 1
                sounds = [pronounce_word(piece.text) for piece in run[at:end]]
                if None not in sounds:  # other words are written, whose syllables may run together or come apart
                    heard = [syllable for part in sounds if part for syllable in part]
                    if len(heard) > 1 and source.random() < profile.shrink * (0.5 if len(heard) == 2 else 1.3):
                        del heard[source.below(len(heard))]
                    elif source.random() < profile.grow:
                        place = source.below(len(heard) + 1)
                        heard.insert(place, Syllable(source.choice(_EXTRA_SYLLABLES), NEUTRAL))
                    said = "".join([piece.text for piece in run[at:end]])
                    before, after = run[at - 1].text if at else "", run[end].text if end < n else ""
                    new = self.recogniser.misheard(said, tuple(heard), before, after, source)
                    _replace_pieces(run[at:end], new)
            elif rng.random() < profile.stray * pace:
                run[at].new += rng.choice(_STRAY_WORDS)
            at = end

    def _mark(self, pieces: list[SpokenPiece], rng: Stream) -> None:
        """Marks as the recogniser puts them: some lost, most others commas, and commas where there were none."""
        profile, written, fresh = self.profile, 0, True
        for i, piece in enumerate(pieces):
            if piece.kind == "mark":
                kind = mark_class(piece.text)
                if fresh or (kind == "other" and piece.text not in SPOKEN):
                    piece.new = ""
                    continue
                piece.new, drawn = piece.text, rng.random()
                for outcome, new in (("lost", ""), ("comma", "，"), ("stop", "。")):
                    drawn -= profile.marks[kind][outcome]
                    if drawn < 0:
                        piece.new = new
                        break
                fresh = piece.new in _STRONG_MARKS
                continue
            if not piece.new:
                continue
            fresh = False
            written += 1
            after = pieces[i + 1] if i + 1 < len(pieces) else None
            if after is not None and after.kind == "word" and piece.kind != "number":
                beside = "beside" if piece.wrong != after.wrong else "plain"
                if written > 1 and rng.random() < profile.commas[beside]:
                    piece.new += "，"
                    written, fresh = 0, True


@lru_cache(32)
def _shared_recogniser(heard: tuple[tuple[str, float], ...]) -> SimulatedRecogniser:
    """The recogniser of a way of speaking, which speakers of one group share, and with it what it remembers."""
    return SimulatedRecogniser(Ear(dict(heard)))


def _replace_pieces(pieces: list[SpokenPiece], new: str) -> None:
    """Writes something else for pieces that were misheard or lost."""
    for piece in pieces:
        piece.new, piece.wrong = "", True
    if pieces:
        pieces[0].new = new


def _mishear_number(number: str, rng: Stream) -> str:
    """A number misheard: four for ten and ten for four above all, which sound alike."""
    at = [i for i, c in enumerate(number) if c.isdigit()]
    way = rng.random()
    if number == "10":
        return "4"
    if number[-1] == "4" and len(at) > 1 and way < 0.5:
        return number[:-1] + "0"
    if number == "4":
        return "10" if way < 0.5 else "是"
    if way < 0.4 or not at:
        return ""
    place = rng.choice(at)
    if way < 0.7 and len(at) > 1:
        return number[:place] + number[place + 1 :]
    return other_digit(number, place, rng)


def split_clauses(pieces: Sequence[SpokenPiece]) -> list[list[SpokenPiece]]:
    """The pieces up to each mark that ends a clause, and those after the last."""
    clauses: list[list[SpokenPiece]] = [[]]
    for piece in pieces:
        clauses[-1].append(piece)
        if piece.kind == "mark" and mark_class(piece.text) in ("comma", "semi", "stop", "ask", "colon"):
            clauses.append([])
    return clauses


def split_text(text: str, written: Sequence[NumeralWriting] = ()) -> list[SpokenPiece]:
    """The text as words, numbers, foreign stretches and single marks; what is written otherwise counts as a number."""
    pieces: list[SpokenPiece] = []
    reached = 0
    for start, end, _, new in [*written, NumeralWriting(len(text), len(text), "", "")]:
        for found in _PIECES.finditer(text, reached, start):
            at, kind = found.start(), found.lastgroup or "mark"
            if kind != "han":
                pieces.append(SpokenPiece(at, found.end(), kind, found[0], found[0]))
                continue
            for word in lexicon().segment(found[0]):
                pieces.append(SpokenPiece(at, at + len(word), "word", word, word))
                at += len(word)
        if start < end:
            pieces.append(SpokenPiece(start, end, "number", text[start:end], new))
        reached = end
    return pieces


class NumeralWriting(NamedTuple):
    """Characters `start` to `end` may be written as `new`; `kind` is one of `WRITINGS`."""

    start: int
    end: int
    kind: str
    new: str


def numeral_value(numeral: str) -> int:
    """The number that a Chinese numeral below ten thousand stands for."""
    total = digit = 0
    for c in numeral:
        if c in _UNITS:
            total += (digit or 1) * _UNITS[c]
            digit = 0
        else:
            digit = _DIGITS[c]
    return total + digit


def _write_time(found: re.Match[str]) -> str:
    hour = int(found["h"]) if found["h"].isdigit() else numeral_value(found["h"])
    minute = 30 if found["half"] else int(found["m"] or 0)
    return f"{hour}:{minute:02d}" if hour <= 24 and minute < 60 else found[0]


def _write_fraction(found: re.Match[str]) -> str:
    part, whole = numeral_value(found["a"]), found["b"]
    return f"{part}%" if whole == "百" else f"{part}/{numeral_value(whole)}"


def _write_value(found: re.Match[str]) -> str:
    return str(numeral_value(found[0]))


_TEN = f"(?:{_ONE_TO_NINE}|十)"
_CLOCK = (
    rf"(?<![\d.:])(?P<h>\d{{1,2}}|{_NUMERAL}{{1,3}}(?=点[半钟]))[时点](?:(?P<m>\d{{1,2}})分|(?P<half>半)|钟|整)?"
    r"(?![\d多间代候期速评击赞内])"
)
# The kinds of writing, with where each may be and what is written instead.
_RULES = {
    "clock": (re.compile(_CLOCK), _write_time),
    "fraction": (re.compile(rf"(?P<b>{_NUMERAL}+)分之(?P<a>{_NUMERAL}+)"), _write_fraction),
    "numeral": (re.compile(rf"(?:{_ONE_TO_NINE}十{_ONE_TO_NINE}?|十{_ONE_TO_NINE})(?![百千万亿])"), _write_value),
    "ordinal": (re.compile(rf"(?<=第){_TEN}(?!{_NUMERAL})"), _write_value),
    "few": (re.compile(rf"(?<!{_NUMERAL})(?<!第){_TEN}(?=[{_COUNTED}余多])"), _write_value),
    "myriad": (re.compile(r"(?<![\d.,])[1-9]\d{0,3}0000(?![\d.,%])", re.ASCII), lambda m: f"{int(m[0][:-4])}万"),
    "thousands": (re.compile(r"(?<![\d.,])[1-9]\d{4,11}(?![\d.,%])", re.ASCII), lambda m: f"{int(m[0]):,}"),
    "small": (re.compile(rf"(?<![\d.,:])[1-9](?=[{_COUNTED}])(?!月)", re.ASCII), lambda m: _SMALL[m[0]]),
}
WRITINGS = tuple(_RULES)


def other_writings(text: str) -> list[NumeralWriting]:
    """Every place where a recogniser may write otherwise, in order; where two overlap, the one of the earlier rule."""
    found: list[NumeralWriting] = []
    for kind, (pattern, make) in _RULES.items():
        for match in pattern.finditer(text):
            new = make(match)
            apart = all(match.end() <= other.start or match.start() >= other.end for other in found)
            if new != match[0] and apart:
                found.append(NumeralWriting(match.start(), match.end(), kind, new))
    return sorted(found)


_CLASSED = ["。！!", "？?", "；;", "：:", "，,", "、", "“”‘’\"'「」『』", "《》〈〉", "（）()【】[]{}"]
_CLASSED += [" \u3000\t\u2003\xa0", "·•", "-—–….~～_"]  # in the order of `MARKS`
_MARK_CLASS = {mark: kind for kind, marks in zip(MARKS, _CLASSED, strict=False) for mark in marks}
SPOKEN = frozenset("%℃/+&")  # other marks that a recogniser may write; it knows no emoji and no asterisks


def mark_class(mark: str) -> str:
    """The kind of a mark, one of `MARKS`."""
    return _MARK_CLASS.get(mark, "other")


_ASKS = re.compile(
    r"[吗呢么]$|什么|怎么|怎样|如何|为何|为啥|哪[里儿个些位年天]|几[个天次点时]|多少|多久|多大|谁|"
    r"是否|是不是|能不能|可不可以|有没有"
)


def closing_mark(said: str) -> str:
    """The mark that a recogniser ends a text with."""
    return "？" if _ASKS.search(said.rstrip("。？！，.?! ")) else "。"


# The letters as Chinese speakers name them, from a to z; a stroke parts syllables.
_A_TO_M = "ei bi xi di yi ai/fu ji ai/qi ai zhei kai ai/lou ai/mu"
_N_TO_Z = "en ou pi kou a/er ai/si ti you wei da/bu/liu ai/ke/si wai zei"
LETTERS = {chr(ord("a") + i): name.split("/") for i, name in enumerate(f"{_A_TO_M} {_N_TO_Z}".split())}


class Mandarin(Operator):
    """Simulates Mandarin spoken with an accent, and a recogniser that mishears words and writes its own numerals.

    Each draw is one speaker for the whole suite. `accent` is the dialect group: northeastern, jilu, jin, jianghuai,
    southwestern or xiang. By default, each speaker has one of them. `profile` is a file that
    `unswayed calibrate speech` writes.
    """

    languages = ("zh",)
    people = True
    quick = True
    unaltered = True
    presets = ("speech",)
    slips = True
    example = ("新华时评：把优秀返乡农民工打造成乡村振兴生力军", "新华视频，把优秀返乡弄命中打造成乡村振兴胜利就。")

    def __init__(self, accent: str = "", profile: str = "") -> None:
        if accent and accent not in profiles.GROUPS:
            raise UnknownName("accent of speech/mandarin", accent, profiles.GROUPS)
        self._accent = accent
        self._people = profiles.speakers(profile).people
        self._speakers: dict[bytes, MandarinSpeaker] = {}

    def change(self, text: Text, rng: Stream) -> Change | None:
        speaker = self._speakers.get(rng.person)
        if speaker is None:  # each draw has one
            stream = rng.habit("who they are")
            stream.bits()  # not used any more; what follows it is
            shares = {name: group.share for name, group in profiles.GROUPS.items()}
            group = self._accent or draw_key(shares, stream)
            speaker = self._speakers[rng.person] = MandarinSpeaker(profiles.new_speaker(self._people, group, stream))
        edits = self.allowed(text, speaker.say(text.text, rng))
        if not edits:
            return UNALTERED if any(map(han, text.text)) else None
        return noted_change(text.text, edits)
