"""A person reads a text aloud and a recogniser writes it down: which words are misheard, and what is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from unswayed.base.edits import Edit
from unswayed.base.seeds import Seeds, Stream
from unswayed.vary.chinese import lexicon
from unswayed.vary.people import SpeakerProfile, normal, rare_character, spoken_class
from unswayed.vary.speech._numerals import LETTERS, SPOKEN, Writing, closing, mark_class, rewrites
from unswayed.vary.speech._recogniser import SimulatedRecogniser
from unswayed.vary.speech._sounds import NEUTRAL, Ear, Syllable, pronounced

_HAN = "\u4e00-\u9fff"
_FOREIGN = rf"(?:(?![{_HAN}])[^\W\d_])+"
_PIECE = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<number>\d+(?:[.,:]\d+)*%?)|(?P<foreign>{_FOREIGN}(?:[ .'’-]+{_FOREIGN})*)|(?P<mark>.)",
    re.S,
)
EARLY = 4  # characters that count as the beginning of a text: recognisers have no context there yet
_HARD = 0.85  # chance that a word that this speaker is always misheard on is misheard
_SHARED = 0.6  # share of hard words that are so because the recogniser does not know them, whoever speaks
_HABIT = 0.7  # share of mishearings that hard words are to blame for
_NAME = 4  # characters of the longest name that is misheard as one word
_LONGEST = 10  # syllables that are misheard in one piece
_STRAY = ("的", "一", "了", "是", "我", "你", "这", "就", "有", "在", "儿", "嗯")
_EXTRA = ("er", "yi", "de", "a", "le", "shi")
_STRONG = ("，", "。", "？", "！")


@dataclass(slots=True)
class Piece:
    """A word, number, foreign stretch or mark, and what is written for it."""

    start: int
    end: int
    kind: str
    text: str
    new: str
    wrong: bool = False  # misheard or lost, not only written otherwise


class Speaker:
    """One person, one recogniser. What goes wrong for a word goes wrong again."""

    def __init__(self, profile: SpeakerProfile) -> None:
        self.profile = profile
        self.recogniser = _recogniser(tuple(profile.heard.items()))

    def say(self, text: str, rng: Stream) -> list[Edit]:
        """What the recogniser writes, as edits; none for a text without Chinese characters."""
        writes = self.profile.writes
        pieces = split(text, [way for way in rewrites(text) if rng.random() < writes.get(way.kind, 0.0)])
        if not any(piece.kind == "word" for piece in pieces):
            return []
        pace = exp(self.profile.pace * normal(rng) - self.profile.pace**2 / 2)
        runs = _runs(pieces)
        for run in runs:
            self._hear(run, runs[0][0].start + EARLY, pace, rng)
        for piece in pieces:
            if piece.kind == "foreign":
                self._hear_foreign(piece, rng)
            elif piece.kind == "number" and not piece.wrong and rng.random() < self.profile.digits * pace:
                piece.new, piece.wrong = _other_number(piece.new, rng), True
        self._skip(pieces, pace, rng)
        self._mark(pieces, rng)
        self._close(pieces, rng)
        edits = [Edit(p.start, p.end, p.new) for p in pieces if p.new != p.text]
        return edits if "".join([p.new for p in pieces]) not in ("", text) else []

    def _hear(self, run: list[Piece], early: int, pace: float, rng: Stream) -> None:
        """Decides which words of a run are misheard or lost, and what comes out instead; more so of early ones."""
        profile, at, n = self.profile, 0, len(run)
        single = [len(piece.text) == 1 for piece in run]
        while at < n:
            c = spoken_class(run[at].text, (at > 0 and single[at - 1]) or (at + 1 < n and single[at + 1]))
            end = at + _name_length(run, at)
            word = "".join([piece.text for piece in run[at:end]])
            haste = pace * profile.start if run[at].start < early else pace
            drawn, lost = rng.random(), profile.lost[c] * haste
            if drawn < lost:
                while end < n and rng.random() < profile.gap:
                    end += 1
                _replace(run[at:end], "")
            elif drawn < lost + self._chance(word, profile.misheard[c], haste, rng):
                source = rng.habit(f"as\0{word}") if rng.random() < profile.same else rng
                while end < n and run[end].end - run[at].start < _LONGEST and source.random() < profile.spread:
                    end += 1
                self._mishear(run, at, end, source)
            elif rng.random() < profile.stray * pace:
                run[at].new += rng.choice(_STRAY)
            at = end

    def _chance(self, word: str, rate: float, pace: float, rng: Stream) -> float:
        """The chance of mishearing a word: most of it falls to words that are hard for this speaker, or for all."""
        hard, habit = rate * _HABIT / _HARD, rng.habit(f"hard\0{word}")
        own = habit.random()
        if (_unknown(word) if habit.random() < _SHARED else own) < hard:
            return _HARD
        return min(0.95, pace * rate * (1 - _HABIT) / (1 - hard))

    def _mishear(self, run: list[Piece], at: int, end: int, rng: Stream) -> None:
        said = "".join([piece.text for piece in run[at:end]])
        sounds = [pronounced(piece.text) for piece in run[at:end]]
        if None in sounds:
            return
        heard = [syllable for part in sounds if part for syllable in part]
        before = run[at - 1].text if at else ""
        after = run[end].text if end < len(run) else ""
        _replace(run[at:end], self.recogniser.misheard(said, self._slurred(heard, rng), before, after, rng))

    def _slurred(self, heard: list[Syllable], rng: Stream) -> tuple[Syllable, ...]:
        """Syllables may run together or come apart."""
        if len(heard) > 1 and rng.random() < self.profile.shrink * (0.5 if len(heard) == 2 else 1.3):
            del heard[rng.below(len(heard))]
        elif rng.random() < self.profile.grow:
            heard.insert(rng.below(len(heard) + 1), Syllable(rng.choice(_EXTRA), NEUTRAL))
        return tuple(heard)

    def _hear_foreign(self, piece: Piece, rng: Stream) -> None:
        """Latin words are announced as English, lost, or heard as the Chinese names of their letters."""
        drawn, foreign = rng.habit(f"foreign\0{piece.text}").random(), self.profile.foreign
        piece.wrong = True
        if drawn < foreign["english"]:
            piece.new = "英文"
        elif drawn < foreign["english"] + foreign["lost"]:
            piece.new = ""
        else:
            named = [LETTERS[c] for c in piece.text.lower()[:6] if c in LETTERS]
            heard = tuple(Syllable(plain, 1) for name in named for plain in name)
            piece.new = self.recogniser.misheard("", heard, "", "", rng) if heard else ""

    def _skip(self, pieces: list[Piece], pace: float, rng: Stream) -> None:
        """Whole clauses are left out now and then, never all of them."""
        clauses: list[list[Piece]] = [[]]
        for piece in pieces:
            clauses[-1].append(piece)
            if piece.kind == "mark" and mark_class(piece.text) in ("comma", "semi", "stop", "ask", "colon"):
                clauses.append([])
        spoken = [clause for clause in clauses if any(piece.kind == "word" for piece in clause)]
        for clause in spoken[1:]:
            if rng.random() < self.profile.clause * pace:
                _replace(clause[:-1], "")

    def _mark(self, pieces: list[Piece], rng: Stream) -> None:
        """Marks as the recogniser puts them: some lost, most others commas, and commas where there were none."""
        profile, written, fresh = self.profile, 0, True
        for i, piece in enumerate(pieces):
            if piece.kind == "mark":
                kind = mark_class(piece.text)
                mute = fresh or (kind == "other" and piece.text not in SPOKEN)
                piece.new = "" if mute else _as_heard(piece.text, profile.marks[kind], rng)
                if piece.new in _STRONG:
                    fresh = True
                continue
            if not piece.new:
                continue
            fresh = False
            written += 1
            after = pieces[i + 1] if i + 1 < len(pieces) else None
            if after is not None and after.kind == "word" and piece.kind != "number":
                beside = piece.wrong != after.wrong
                if written > 1 and rng.random() < profile.commas["beside" if beside else "plain"]:
                    piece.new += "，"
                    written, fresh = 0, True

    def _close(self, pieces: list[Piece], rng: Stream) -> None:
        """A recogniser ends what it hears with a full stop or a question mark."""
        last = next((piece for piece in reversed(pieces) if piece.new), None)
        if last is None:
            return
        bare = last.new.rstrip("，。？！,.?!、；：;: ")
        if last.kind == "mark" and last.new != bare:
            last.new = bare or closing("".join([piece.new for piece in pieces]))
        elif rng.random() < self.profile.end:
            last.new = bare + closing("".join([piece.new for piece in pieces]))


@lru_cache(32)
def _recogniser(heard: tuple[tuple[str, float], ...]) -> SimulatedRecogniser:
    """The recogniser of a way of speaking, which speakers of one group share, and with it what it remembers."""
    return SimulatedRecogniser(Ear(dict(heard)))


@lru_cache(20_000)
def _unknown(word: str) -> float:
    """A number from 0 to 1 for every word, low for those that the recogniser knows least."""
    return Seeds(0, "speech/recogniser", 1).stream(word, 0).random()


def _name_length(run: list[Piece], at: int) -> int:
    """How many words from here on are one: rare single characters side by side, which are mostly a name."""
    end = at
    while end < at + _NAME and end < len(run) and rare_character(run[end].text):
        end += 1
    return end - at or 1


def _replace(pieces: list[Piece], new: str) -> None:
    for piece in pieces:
        piece.new, piece.wrong = "", True
    if pieces:
        pieces[0].new = new


def _as_heard(mark: str, chances: dict[str, float], rng: Stream) -> str:
    drawn = rng.random()
    for outcome, new in (("lost", ""), ("comma", "，"), ("stop", "。")):
        drawn -= chances[outcome]
        if drawn < 0:
            return new
    return mark


def _other_number(number: str, rng: Stream) -> str:
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
    return number[:place] + str((int(number[place]) + 1 + rng.below(9)) % 10) + number[place + 1 :]


def split(text: str, written: Sequence[Writing] = ()) -> list[Piece]:
    """The text as words, numbers, foreign stretches and single marks; what is written otherwise counts as a number."""
    pieces, at = [], 0
    for start, end, _, new in written:
        pieces += _pieces(text, at, start)
        pieces.append(Piece(start, end, "number", text[start:end], new))
        at = end
    return pieces + _pieces(text, at, len(text))


def _pieces(text: str, start: int, end: int) -> list[Piece]:
    pieces = []
    for found in _PIECE.finditer(text, start, end):
        at, kind = found.start(), found.lastgroup or "mark"
        if kind != "han":
            pieces.append(Piece(at, found.end(), kind, found[0], found[0]))
            continue
        for word in lexicon().segment(found[0]):
            pieces.append(Piece(at, at + len(word), "word", word, word))
            at += len(word)
    return pieces


def _runs(pieces: list[Piece]) -> list[list[Piece]]:
    """Words that stand side by side."""
    runs: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind == "word":
            runs[-1].append(piece)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
