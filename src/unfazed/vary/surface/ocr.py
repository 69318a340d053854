"""Characters that a scanner takes for others of the same shape."""

from __future__ import annotations

import re

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.surface import CYRILLIC, LATIN, LONGEST, Fixed, another_word, base, joined, noted
from unfazed.vary.words import checked_rate, some

# No digit for a digit and no common letter for a letter alone: the text must stay readable as what it was.
_LATIN = {
    "rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv", "li": "h", "h": "li", "ri": "n",
    "l": "1 I |", "I": "l 1 |", "O": "0 Q", "o": "0", "0": "O", "1": "l I", "S": "5", "5": "S", "B": "8", "8": "B",
    "Z": "2", "G": "6", "g": "9 q", "b": "6", "i": "l 1", "e": "c", "c": "e", "t": "f", "f": "t", "fi": "ﬁ", "fl": "ﬂ",
    "ü": "ii",
}  # fmt: skip
_RISKY = set("ectfg")  # a letter for a letter: only where English says that no other word results
_CYRILLIC = {"ш": "щ", "щ": "ш", "ь": "ъ", "о": "0", "О": "0", "з": "3", "З": "3", "б": "6", "ы": "ьі", "ю": "іо",
    "0": "О", "3": "З"}  # fmt: skip
_GREEK = {"ν": "v", "ο": "0", "ρ": "p", "υ": "u", "ω": "w", "ι": "i", "τ": "r", "0": "Ο"}
_HAN = (
    "己已巳 未末 土士 日曰 人入 天夭 千干于 免兔 戊戌戍 拔拨 侯候 辨辩辫 折拆 治冶 贷货 晴睛 "
    "氏民 斤斥 今令 午牛 自白 师帅 历厉 住往 孤狐 壁璧 宫官 间问 享亨 徒徙 刺剌 管菅 茶荼 亳毫 祟崇 竞竟 拢扰 "
    "抄炒 梢稍 玲铃 贝见 侍待 微徵 末木 木本 田由甲 目且 力刀 几凡 乌鸟 王玉 万方 体休 "
    "貸貨 間問 侯候 師帥 見貝 烏鳥 東束 遺遣"
)
_KANA = (
    "カ力 ロ口 ニ二 ハ八 エ工 タ夕 ト卜 ー一 へヘ ソン シツ ノメ クワ コユ ウワ スヌ "
    "ばぱ ビピ ベペ ボポ バパ さき ねれわ るろ はほ めぬ"
)


def _groups(listed: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for group in listed.split():
        for c in group:
            found[c] = " ".join([*found.get(c, "").split(), *group.replace(c, "")])
    return found


_ZH = _groups(_HAN)
_JA = {**_groups(_KANA), **{c: other for c, other in _ZH.items() if c not in _groups(_KANA)}}
_WORD = re.compile(r"\w+")
_LONG = 40  # letters of what is no word


class Ocr(Operator):
    """Takes characters for others of the same shape, as a scanner does: *rn* for *m*, *0* for *O*, 末 for 未.

    No digit becomes another digit. In English, no other word results. With `rate` 0, the default, one place changes.
    Otherwise each place changes with that probability, and at least one.
    """

    languages = (*LATIN, *CYRILLIC, "el", "zh", "ja")
    presets = ("surface",)
    example = ("turn off the lights in the kitchen", "turn off the liglits in the kitchen")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        written = text.text[:LONGEST]
        edits = tuple(
            Edit(start, end, rng.choice(new))
            for start, end, new in some(_places(written, text.language), self.rate, rng)
        )
        return Change(edits, noted(written, edits)) if edits and text.keeps(edits) else None


def _places(text: str, language: str) -> list[tuple[int, int, list[str]]]:
    """Stretches that can be misread, in order and apart, each with what may be read."""
    shapes, fixed = _shapes(base(language)), Fixed(text)
    found = []
    for word in _WORD.finditer(text):
        at = word.start()
        while at < word.end():
            size = 2 if text[at : at + 2] in shapes and at + 2 <= word.end() else 1
            old = text[at : at + size]
            if old in shapes and at not in fixed and not joined(text, at + size):
                head, tail = text[word.start() : at], text[at + size : word.end()]
                new = _readings(old, shapes[old], head, tail, language)
                if new:
                    found.append((at, at + size, new))
            at += size
    return found


def _shapes(language: str) -> dict[str, str]:
    if language in ("zh", "ja"):
        return _ZH if language == "zh" else _JA
    return _CYRILLIC if language in CYRILLIC else _GREEK if language == "el" else _LATIN


def _readings(old: str, shape: str, head: str, tail: str, language: str) -> list[str]:
    if old in _RISKY and (base(language) != "en" or len(head + tail) < 2):
        return []
    if len(head) + len(tail) > _LONG:
        return shape.split()
    return [new for new in shape.split() if not another_word(head + new + tail, language)]
