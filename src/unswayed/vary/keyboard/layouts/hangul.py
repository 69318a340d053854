"""Hangul as a two-set keyboard writes it: syllables to the jamo that are typed, and typed jamo to syllables."""

from __future__ import annotations

_FIRST = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_LAST = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
# Letters that take two keys.
_PAIRS = {
    "ㅘ": "ㅗㅏ", "ㅙ": "ㅗㅐ", "ㅚ": "ㅗㅣ", "ㅝ": "ㅜㅓ", "ㅞ": "ㅜㅔ", "ㅟ": "ㅜㅣ", "ㅢ": "ㅡㅣ",
    "ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ", "ㄾ": "ㄹㅌ",
    "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ", "ㅄ": "ㅂㅅ",
}  # fmt: skip
_JOINED = {keys: letter for letter, keys in _PAIRS.items()}
_BASE = 0xAC00


def jamo(text: str) -> str:
    """The letters typed for a text of syllables and single jamo, one for each key."""
    typed = []
    for c in text:
        at = ord(c) - _BASE
        letters = c
        if 0 <= at < 11172:
            letters = _FIRST[at // 588] + _VOWELS[at % 588 // 28] + _LAST[at % 28].strip()
        typed += [_PAIRS.get(letter, letter) for letter in letters]
    return "".join(typed)


def syllables(typed: str) -> str:
    """What the input method makes of typed jamo: a consonant before a vowel begins the next syllable."""
    out: list[str] = []
    first = vowel = last = ""

    def close() -> None:
        nonlocal first, vowel, last
        if first and vowel:
            at = (_FIRST.index(first) * 21 + _VOWELS.index(vowel)) * 28
            out.append(chr(_BASE + at + (_LAST.index(last) if last else 0)))
        else:
            out.append(first + vowel)
        first = vowel = last = ""

    for c in typed:
        if c in _VOWELS:
            if last:  # its consonant, or the second half of it, begins this syllable
                halves = _PAIRS.get(last, last)
                last, moved = halves[:-1], halves[-1]
                close()
                first, vowel = moved, c
            elif vowel and vowel + c in _JOINED:
                vowel = _JOINED[vowel + c]
            else:
                if vowel:
                    close()
                vowel = c
        elif c in _FIRST:
            if first and vowel and c in _LAST and not last:
                last = c
            elif last + c in _JOINED and last:
                last = _JOINED[last + c]
            else:
                if first or vowel:
                    close()
                first = c
        else:
            close()
            out.append(c)
    close()
    return "".join(out)
