"""A simulated Mandarin recogniser: how words sound, the likeliest words for what was heard, and how it writes them."""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable
from functools import lru_cache
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from unfazed.core.seeds import Stream
from unfazed.vary.chinese import lexicon

_TONES = Path(__file__).parent / "data" / "tones.txt"
_INITIAL = re.compile(r"zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw]?")
_MARKED = re.compile(r"(.)(\d)")
NEUTRAL = 5


class Syllable(NamedTuple):
    """A syllable as it is spelled, and its tone from 1 to 5."""

    plain: str
    tone: int


@lru_cache(2_000)
def halves(plain: str) -> tuple[str, str]:
    """Initial and final. After j, q, x and y the letter u is ü; yi and wu have no initial of their own."""
    initial = _INITIAL.match(plain)[0]  # type: ignore[index]
    final = plain[len(initial) :]
    if initial in ("j", "q", "x", "y") and final.startswith("u"):
        final = "v" + final[1:]
    if initial == "y":
        final = final if final[0] in "iv" else "i" + final
        return "", {"ie": "ie", "ian": "ian"}.get(final, final)
    if initial == "w":
        return "", final if final[0] == "u" else "u" + {"ei": "i", "en": "n", "eng": "eng"}.get(final, final)
    if initial in ("zh", "ch", "sh", "r", "z", "c", "s") and final == "i":
        final = "-i"  # the buzzed vowel of zhi and zi
    return initial, final


@lru_cache(1)
def _tones() -> dict[tuple[str, str], int]:
    found = {}
    for line in _TONES.read_text(encoding="utf-8").splitlines():
        plain, marked = line.split("\t")
        for c, tone in _MARKED.findall(marked):
            found[c, plain] = int(tone)
    return found


@lru_cache(100_000)
def pronounced(word: str) -> tuple[Syllable, ...] | None:
    """The syllables of a word, or None if a character has no reading."""
    plain = lexicon().reading(word)
    return spoken(word, plain) if plain else None


def spoken(word: str, plain: tuple[str, ...]) -> tuple[Syllable, ...]:
    """The syllables of a word that is read so."""
    tones = _tones()
    return tuple(Syllable(p, tones.get((c, p), NEUTRAL)) for c, p in zip(word, plain, strict=True))


class Ear:
    """What is heard for what: costs, as negative logs of chances, of hearing one initial, final or tone for another.

    `heard` maps `n>l`, `an>ang` or `1>4` to a chance; what is not named is as likely as `_REST` of all that is unnamed.
    """

    _REST = 0.004

    def __init__(self, heard: dict[str, float]) -> None:
        self._heard = heard
        self._near: dict[str, list[tuple[str, float]]] = {}
        self._tone = {(a, b): self._cost(f"{a}>{b}", 0.0 if a == b else 3.0) for a in range(1, 6) for b in range(1, 6)}

    def _cost(self, pair: str, otherwise: float) -> float:
        chance = self._heard.get(pair)
        return otherwise if chance is None else -log(max(chance, 1e-4))

    def half(self, one: str, two: str) -> float:
        """The cost of hearing an initial or a final as another."""
        return self._cost(f"{one}>{two}", 0.3 if one == two else -log(self._REST))

    def tones(self, one: tuple[Syllable, ...], two: tuple[Syllable, ...]) -> float:
        """The cost of hearing the tones of one as those of the other."""
        tone = self._tone
        return sum([tone[a[1], b[1]] for a, b in zip(one, two, strict=True)])

    def near(self, plain: str, most: int) -> list[tuple[str, float]]:
        """The syllables that this one is likeliest heard as, itself among them, with their costs."""
        found = self._near.get(plain)
        if found is None:
            initial, final = halves(plain)
            rated = []
            for other in sorted(lexicon().syllables):
                i, f = halves(other)
                cost = self.half(initial, i) + self.half(final, f)
                if cost < 9.5:
                    rated.append((other, cost))
            found = self._near[plain] = sorted(rated, key=lambda pair: pair[1])
        return found[:most]


_PAIRS_FILE = Path(__file__).parent / "data" / "pairs.txt.xz"
_FOLLOWER = re.compile(r"(\D+)(\d+)")
_TOTAL = log(60_000_000)  # running words that the word list was counted in
_PAIRS = 0.6  # how much the pair of words counts against the word alone
_NEAR = (0, 24, 14, 7, 4)  # sounds looked at for each syllable of words of 1, 2, 3, 4 syllables
_DEEPEST = 7.5  # cost of sound beyond which a word is not looked at
_KEPT = (0, 24, 30, 24, 16)  # words kept for a stretch of so many syllables
_BEAM = 5


class SimulatedRecogniser:
    """Turns syllables into words. Its choices are drawn, so that what comes out is likely, not always the likeliest."""

    # Chosen on the even rows of READIN's speech, so that what comes out has words as long and as common as there.
    fluency = 0.72  # weight of a word's frequency, and of its neighbours, against its sound
    word_cost = 15.0  # of every word, so that one long word goes before two short ones
    spread = 0.5  # how far choices stray from the best
    reluctance = 1.3  # how unlikely a character that was said is to come out where something was misheard

    def __init__(self, ear: Ear) -> None:
        self.ear = ear
        self._found: dict[tuple[Syllable, ...], list[tuple[str, float]]] = {}

    def misheard(
        self, said: str, heard: tuple[Syllable, ...], before: str, after: str, rng: Stream, most: int = 4
    ) -> str:
        """Other words than `said` for these syllables, between the words before and after."""
        n = len(heard)
        aligned = n == len(said)
        beams: list[list[tuple[float, str, str]]] = [[(0.0, "", before)], *([] for _ in heard)]
        for at in range(n):
            here = sorted(beams[at], reverse=True)[:_BEAM]
            for size in range(1, min(most, n - at) + 1):
                end = at + size
                for word, score in self._words(heard[at:end]):
                    drawn = score - self.spread * log(-log(rng.random() + 1e-12) + 1e-12)
                    if aligned:
                        drawn -= self.reluctance * sum([a == b for a, b in zip(word, said[at:end], strict=True)])
                    beams[end] += [(s + drawn + self.fluency * follows(w, word), t + word, word) for s, t, w in here]
        ends = [(score + self.fluency * follows(word, after), text) for score, text, word in beams[n] if text != said]
        return max(ends)[1] if ends else ""

    def _words(self, heard: tuple[Syllable, ...]) -> list[tuple[str, float]]:
        """Words that sound like these syllables, best first, with their scores."""
        found = self._found.get(heard)
        if found is None:
            rated: dict[str, float] = {}
            lookup = lexicon().words
            for reading, cost in self._readings(heard):
                plain = tuple(reading.split("'"))
                for word, frequency in lookup(reading)[:12]:
                    score = (
                        self.fluency * frequency - self.word_cost - cost - self.ear.tones(heard, spoken(word, plain))
                    )
                    if score > rated.get(word, -1e9):
                        rated[word] = score
            found = sorted(rated.items(), key=lambda pair: (-pair[1], pair[0]))[: _KEPT[len(heard)]]
            self._found[heard] = found
        return found

    def _readings(self, heard: tuple[Syllable, ...]) -> list[tuple[str, float]]:
        """Readings of words that these syllables may be heard as, with the cost of that."""
        words = lexicon()
        ways = [("", 0.0)]
        for syllable in heard:
            near = self.ear.near(syllable.plain, _NEAR[len(heard)])
            ways = [
                (f"{reading}'{plain}" if reading else plain, cost + more)
                for reading, cost in ways
                for plain, more in near
                if cost + more < _DEEPEST
            ]
        return [way for way in ways if way[0] in words]


@lru_cache(1)
def _followers() -> dict[str, tuple[int, str]]:
    rows = lzma.decompress(_PAIRS_FILE.read_bytes()).decode("utf-8").split("\n")
    return {one: (int(count), rest) for one, count, rest in (row.split("\t") for row in rows)}


@lru_cache(20_000)
def _after(word: str) -> dict[str, float]:
    count, rest = _followers().get(word, (1, ""))
    return {two: int(n) / count for two, n in _FOLLOWER.findall(rest)}


def follows(one: str, two: str) -> float:
    """By how much, in logs, a word is likelier after another one than by itself."""
    share = _after(one).get(two) if one and two else None
    if share is None:
        return 0.0
    alone = exp(max(lexicon().frequency.get(two, 0.0), 0.0) - _TOTAL)
    return log((1 - _PAIRS) + _PAIRS * share / alone)


WRITINGS = ("clock", "fraction", "numeral", "ordinal", "few", "myriad", "thousands", "small")
MARKS = ("stop", "ask", "semi", "colon", "comma", "list", "quote", "title", "bracket", "space", "dot", "dash", "other")

_DIGIT = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_UNIT = {"十": 10, "百": 100, "千": 1000}
_SMALL = {"1": "一", "2": "两", "3": "三", "4": "四", "5": "五", "6": "六", "7": "七", "8": "八", "9": "九"}
_COUNTED = "个名家人份次届项部门年月天位种款条起例支座场颗架升级大"
_ONE = "[一二三四五六七八九]"
_CN = "[一二三四五六七八九十百千两零]"


class Writing(NamedTuple):
    """Characters `start` to `end` may be written as `new`; `kind` is one of `WRITINGS`."""

    start: int
    end: int
    kind: str
    new: str


def value(numeral: str) -> int:
    """The number that a Chinese numeral below ten thousand stands for."""
    total = digit = 0
    for c in numeral:
        if c in _UNIT:
            total += (digit or 1) * _UNIT[c]
            digit = 0
        else:
            digit = _DIGIT[c]
    return total + digit


def _clock(found: re.Match[str]) -> str | None:
    hour = int(found["h"]) if found["h"].isdigit() else value(found["h"])
    minute = 30 if found["half"] else int(found["m"] or 0)
    return f"{hour}:{minute:02d}" if hour <= 24 and minute < 60 else None


def _value(found: re.Match[str]) -> str | None:
    return str(value(found[0]))


_RULES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str | None]], ...] = (
    (
        "clock",
        re.compile(
            rf"(?<![\d.:])(?P<h>\d{{1,2}}|{_CN}{{1,3}}(?=点[半钟]))[时点](?:(?P<m>\d{{1,2}})分|(?P<half>半)|钟|整)?"
            r"(?![\d多间代候期速评击赞内])"
        ),
        _clock,
    ),
    ("fraction", re.compile(rf"(?P<b>{_CN}+)分之(?P<a>{_CN}+)"), lambda m: _fraction(m["a"], m["b"])),
    ("numeral", re.compile(rf"(?:{_ONE}十{_ONE}?|十{_ONE})(?![百千万亿])"), _value),
    ("ordinal", re.compile(rf"(?<=第)(?:{_ONE}|十)(?!{_CN})"), _value),
    ("few", re.compile(rf"(?<!{_CN})(?<!第)(?:{_ONE}|十)(?=[{_COUNTED}余多])"), _value),
    ("myriad", re.compile(r"(?<![\d.,])[1-9]\d{0,3}0000(?![\d.,%])", re.ASCII), lambda m: f"{int(m[0][:-4])}万"),
    ("thousands", re.compile(r"(?<![\d.,])[1-9]\d{4,11}(?![\d.,%])", re.ASCII), lambda m: f"{int(m[0]):,}"),
    ("small", re.compile(rf"(?<![\d.,:])[1-9](?=[{_COUNTED}])(?!月)", re.ASCII), lambda m: _SMALL[m[0]]),
)


def _fraction(a: str, b: str) -> str:
    if b == "百":
        return f"{value(a)}%"
    return f"{value(a)}/{value(b)}"


def rewrites(text: str) -> list[Writing]:
    """Every place where a recogniser may write otherwise, in order; where two overlap, the one of the earlier rule."""
    found: list[Writing] = []
    for kind, pattern, make in _RULES:
        for match in pattern.finditer(text):
            new = make(match)
            apart = all(match.end() <= other.start or match.start() >= other.end for other in found)
            if new is not None and new != match[0] and apart:
                found.append(Writing(match.start(), match.end(), kind, new))
    return sorted(found)


_MARK_CLASS = {
    **dict.fromkeys("。！!", "stop"),
    **dict.fromkeys("？?", "ask"),
    **dict.fromkeys("；;", "semi"),
    **dict.fromkeys("：:", "colon"),
    **dict.fromkeys("，,", "comma"),
    "、": "list",
    **dict.fromkeys("“”‘’\"'「」『』", "quote"),
    **dict.fromkeys("《》〈〉", "title"),
    **dict.fromkeys("（）()【】[]{}", "bracket"),
    **dict.fromkeys(" \u3000\t\u2003\xa0", "space"),
    **dict.fromkeys("·•", "dot"),
    **dict.fromkeys("-—–….~～_", "dash"),
}


SPOKEN = frozenset("%℃/+&")  # other marks that a recogniser may write; it knows no emoji and no asterisks


def mark_class(mark: str) -> str:
    return _MARK_CLASS.get(mark, "other")


_ASKS = re.compile(
    r"[吗呢么]$|什么|怎么|怎样|如何|为何|为啥|哪[里儿个些位年天]|几[个天次点时]|多少|多久|多大|谁|"
    r"是否|是不是|能不能|可不可以|有没有"
)


def closing(said: str) -> str:
    """The mark that a recogniser ends a text with."""
    return "？" if _ASKS.search(said.rstrip("。？！，.?! ")) else "。"


# The letters as Chinese speakers name them, from a to z; a stroke parts syllables.
_A_TO_M = "ei bi xi di yi ai/fu ji ai/qi ai zhei kai ai/lou ai/mu"
_N_TO_Z = "en ou pi kou a/er ai/si ti you wei da/bu/liu ai/ke/si wai zei"
LETTERS = {chr(ord("a") + i): name.split("/") for i, name in enumerate(f"{_A_TO_M} {_N_TO_Z}".split())}
