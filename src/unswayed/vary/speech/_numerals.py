"""How a Mandarin recogniser writes what it heard right: numerals, times and marks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

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
