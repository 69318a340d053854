"""Kana as people type them in Latin letters: kana to keys, and keys to kana as input methods convert them."""

from __future__ import annotations

from functools import lru_cache

_ROWS = {
    "": "あいうえお",
    "k": "かきくけこ",
    "s": "さしすせそ",
    "t": "たちつてと",
    "n": "なにぬねの",
    "h": "はひふへほ",
    "m": "まみむめも",
    "r": "らりるれろ",
    "g": "がぎぐげご",
    "z": "ざじずぜぞ",
    "d": "だぢづでど",
    "b": "ばびぶべぼ",
    "p": "ぱぴぷぺぽ",
    "x": "ぁぃぅぇぉ",
}
# Spelled as in Hepburn, which most people type; the regular spelling is understood too.
_SPELLED = {"し": "shi", "ち": "chi", "つ": "tsu", "ふ": "fu", "じ": "ji"}
_MORE = {
    "ya": "や", "yu": "ゆ", "yo": "よ", "wa": "わ", "wo": "を", "nn": "ん", "-": "ー", "vu": "ゔ", "xtu": "っ",
    "xya": "ゃ", "xyu": "ゅ", "xyo": "ょ", "xwa": "ゎ", "fa": "ふぁ", "fi": "ふぃ", "fe": "ふぇ", "fo": "ふぉ",
    "je": "じぇ", "she": "しぇ", "che": "ちぇ", "thi": "てぃ", "dhi": "でぃ", "twu": "とぅ", "dwu": "どぅ",
    "wi": "うぃ", "we": "うぇ", "va": "ゔぁ", "vi": "ゔぃ", "ve": "ゔぇ", "vo": "ゔぉ", "tsa": "つぁ", "dhu": "でゅ",
}  # fmt: skip
_GLIDES = dict(zip("kstnhmrgzbp", "きしちにひみりぎじびぴ", strict=True))
_FULL_WIDTH = str.maketrans({chr(c): chr(c + 0xFEE0) for c in range(ord("!"), ord("~") + 1)})
_TO_KATAKANA = {c: c + 0x60 for c in range(0x3041, 0x3097)}
_TO_HIRAGANA = {c + 0x60: c for c in range(0x3041, 0x3097)}


@lru_cache(1)
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    """Keys by kana, as people type them, and kana by keys."""
    kana = dict(_MORE)
    for consonant, row in _ROWS.items():
        kana |= {consonant + vowel: c for vowel, c in zip("aiueo", row, strict=True)}
    for consonant, c in _GLIDES.items():
        kana |= {f"{consonant}y{vowel}": c + small for vowel, small in zip("auo", "ゃゅょ", strict=True)}
    for start, c in (("sh", "し"), ("ch", "ち"), ("j", "じ")):
        kana |= {start + vowel: c + small for vowel, small in zip("auo", "ゃゅょ", strict=True)}
    keys = {c: typed for typed, c in kana.items()} | _SPELLED  # the last spelling of two is the one people use
    return keys, kana | {typed: c for c, typed in _SPELLED.items()}


def katakana(text: str) -> str:
    return text.translate(_TO_KATAKANA)


def hiragana(text: str) -> str:
    return text.translate(_TO_HIRAGANA)


def keys(text: str) -> str | None:
    """The keys that people press for these kana, or None where one can't be typed so."""
    table, _ = _tables()
    text = hiragana(text)
    typed, at = "", 0
    while at < len(text):
        if text[at] == "っ":
            after = keys(text[at + 1 : at + 3]) or keys(text[at + 1 : at + 2]) or ""
            if after and after[0] not in "aiueon-x":
                typed, at = typed + after[0], at + 1
                continue
        if text[at] == "ん":
            after = keys(text[at + 1 : at + 2]) or ""
            typed, at = typed + ("n" if after and after[0] not in "aiueony" else "nn"), at + 1
            continue
        size = 2 if text[at : at + 2] in table else 1
        if text[at : at + size] not in table:
            return None
        typed, at = typed + table[text[at : at + size]], at + size
    return typed


def kana(typed: str) -> str:
    """What the input method writes for these keys. Letters that make no kana stay, in full width."""
    _, table = _tables()
    out, at = "", 0
    while at < len(typed):
        size = next((n for n in (3, 2, 1) if typed[at : at + n] in table), 0)
        if size:
            out, at = out + table[typed[at : at + size]], at + size
            continue
        c, after = typed[at], typed[at + 1 : at + 2]
        if c == "n" and after not in ("a", "i", "u", "e", "o", "y"):
            out += "ん"
        elif c == after and c.isalpha():
            out += "っ"
        else:
            out += c.translate(_FULL_WIDTH)
        at += 1
    return out
