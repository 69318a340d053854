"""Input methods that compose: Hangul from the jamo of a two-set keyboard, and kana from Latin letters, both ways."""

from __future__ import annotations

from functools import lru_cache

# Hangul: the jamo that begin a syllable, its vowels, and those that end it.
_LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_TAILS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
# Letters that take two keys.
_TWO_KEYS = {
    "ㅘ": "ㅗㅏ", "ㅙ": "ㅗㅐ", "ㅚ": "ㅗㅣ", "ㅝ": "ㅜㅓ", "ㅞ": "ㅜㅔ", "ㅟ": "ㅜㅣ", "ㅢ": "ㅡㅣ",
    "ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ", "ㄾ": "ㄹㅌ",
    "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ", "ㅄ": "ㅂㅅ",
}  # fmt: skip
_FROM_TWO_KEYS = {keys: letter for letter, keys in _TWO_KEYS.items()}
_FIRST_SYLLABLE = 0xAC00

# Kana in Latin letters.
_KANA_ROWS = {
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
_HEPBURN = {"し": "shi", "ち": "chi", "つ": "tsu", "ふ": "fu", "じ": "ji"}
_OTHER_KANA = {
    "ya": "や", "yu": "ゆ", "yo": "よ", "wa": "わ", "wo": "を", "nn": "ん", "-": "ー", "vu": "ゔ", "xtu": "っ",
    "xya": "ゃ", "xyu": "ゅ", "xyo": "ょ", "xwa": "ゎ", "fa": "ふぁ", "fi": "ふぃ", "fe": "ふぇ", "fo": "ふぉ",
    "je": "じぇ", "she": "しぇ", "che": "ちぇ", "thi": "てぃ", "dhi": "でぃ", "twu": "とぅ", "dwu": "どぅ",
    "wi": "うぃ", "we": "うぇ", "va": "ゔぁ", "vi": "ゔぃ", "ve": "ゔぇ", "vo": "ゔぉ", "tsa": "つぁ", "dhu": "でゅ",
}  # fmt: skip
_GLIDES = dict(zip("kstnhmrgzbp", "きしちにひみりぎじびぴ", strict=True))
_FULL_WIDTH = str.maketrans({chr(c): chr(c + 0xFEE0) for c in range(ord("!"), ord("~") + 1)})
_TO_KATAKANA = {c: c + 0x60 for c in range(0x3041, 0x3097)}
_TO_HIRAGANA = {c + 0x60: c for c in range(0x3041, 0x3097)}


def hangul_keys(text: str) -> str:
    """The letters typed for a text of syllables and single jamo, one for each key."""
    typed = []
    for c in text:
        at = ord(c) - _FIRST_SYLLABLE
        letters = c
        if 0 <= at < 11172:
            letters = _LEADS[at // 588] + _VOWELS[at % 588 // 28] + _TAILS[at % 28].strip()
        typed += [_TWO_KEYS.get(letter, letter) for letter in letters]
    return "".join(typed)


def hangul_text(typed: str) -> str:
    """What the input method makes of typed jamo: a consonant before a vowel begins the next syllable."""
    out: list[str] = []
    first = vowel = last = ""

    def close() -> None:
        nonlocal first, vowel, last
        if first and vowel:
            at = (_LEADS.index(first) * 21 + _VOWELS.index(vowel)) * 28
            out.append(chr(_FIRST_SYLLABLE + at + (_TAILS.index(last) if last else 0)))
        else:
            out.append(first + vowel)
        first = vowel = last = ""

    for c in typed:
        if c in _VOWELS:
            if last:  # its consonant, or the second half of it, begins this syllable
                halves = _TWO_KEYS.get(last, last)
                last, moved = halves[:-1], halves[-1]
                close()
                first, vowel = moved, c
            elif vowel and vowel + c in _FROM_TWO_KEYS:
                vowel = _FROM_TWO_KEYS[vowel + c]
            else:
                if vowel:
                    close()
                vowel = c
        elif c in _LEADS:
            if first and vowel and c in _TAILS and not last:
                last = c
            elif last + c in _FROM_TWO_KEYS and last:
                last = _FROM_TWO_KEYS[last + c]
            else:
                if first or vowel:
                    close()
                first = c
        else:
            close()
            out.append(c)
    close()
    return "".join(out)


@lru_cache(1)
def _kana_tables() -> tuple[dict[str, str], dict[str, str]]:
    """Keys by kana, as people type them, and kana by keys."""
    kana = dict(_OTHER_KANA)
    for consonant, row in _KANA_ROWS.items():
        kana |= {consonant + vowel: c for vowel, c in zip("aiueo", row, strict=True)}
    for consonant, c in _GLIDES.items():
        kana |= {f"{consonant}y{vowel}": c + small for vowel, small in zip("auo", "ゃゅょ", strict=True)}
    for start, c in (("sh", "し"), ("ch", "ち"), ("j", "じ")):
        kana |= {start + vowel: c + small for vowel, small in zip("auo", "ゃゅょ", strict=True)}
    keys = {c: typed for typed, c in kana.items()} | _HEPBURN  # the last spelling of two is the one people use
    return keys, kana | {typed: c for c, typed in _HEPBURN.items()}


def to_katakana(text: str) -> str:
    """The text with its hiragana as katakana."""
    return text.translate(_TO_KATAKANA)


def to_hiragana(text: str) -> str:
    """The text with its katakana as hiragana."""
    return text.translate(_TO_HIRAGANA)


def romaji_keys(text: str) -> str | None:
    """The keys that people press for these kana, or None where one can't be typed so."""
    table, _ = _kana_tables()
    text = to_hiragana(text)
    typed, at = "", 0
    while at < len(text):
        if text[at] == "っ":
            after = romaji_keys(text[at + 1 : at + 3]) or romaji_keys(text[at + 1 : at + 2]) or ""
            if after and after[0] not in "aiueon-x":
                typed, at = typed + after[0], at + 1
                continue
        if text[at] == "ん":
            after = romaji_keys(text[at + 1 : at + 2]) or ""
            typed, at = typed + ("n" if after and after[0] not in "aiueony" else "nn"), at + 1
            continue
        size = 2 if text[at : at + 2] in table else 1
        if text[at : at + size] not in table:
            return None
        typed, at = typed + table[text[at : at + size]], at + size
    return typed


def kana_text(typed: str) -> str:
    """What the input method writes for these keys. Letters that make no kana stay, in full width."""
    _, table = _kana_tables()
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
