"""Mandarin as it is said and written in Taiwan, by OpenCC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import MissingExtra
from unswayed.base.seeds import Stream
from unswayed.vary.dialect import MAX_CHARACTERS, FeatureEdit, change_some, read_table
from unswayed.vary.operator import Change, Operator, Text, whole_text
from unswayed.vary.words import checked_choice, checked_rate

_HAN = re.compile(r"[\u3400-\u9fff]+")
_WORD = 8  # characters of the longest words
_WHOLE_NOTE = "script and vocabulary: traditional, Taiwan"
_QUOTES = str.maketrans("“”‘’", "「」『』")


class Taiwan(Operator):
    """Replaces words of mainland Mandarin by those of Taiwan, such as 软件 by 软体, also in traditional script.

    With `rate` 0, the default, one word changes. Otherwise each word changes with that probability, and at least one.
    With `script=traditional` the whole text changes. Words that Taiwan's translators mostly keep stay as they are;
    `words=opencc` replaces all that OpenCC has another word for.
    """

    languages = ("zh",)
    distinct = True
    example = ("这个软件的默认打印机是什么？", "这个软件的预设打印机是什么？")

    def __init__(self, script: str = "simplified", rate: float = 0.0, words: str = "translators") -> None:
        self.words = checked_choice("words", words, "translators", "opencc")
        self.script, self.rate = checked_choice("script", script, "simplified", "traditional"), checked_rate(rate)
        _open_converter("s2twp")  # raises here if OpenCC is not installed

    def change(self, text: Text, rng: Stream) -> Change | None:
        said = text.text[:MAX_CHARACTERS]
        if self.script == "traditional":
            worded = apply(said, [place.edit for place in self._places(said)])
            in_taiwan = _open_converter("s2tw").convert(worded).translate(_QUOTES)
            return whole_text(text.text, in_taiwan + text.text[MAX_CHARACTERS:], _WHOLE_NOTE)
        return change_some(text.text, self._places(said), self.rate, rng)

    def _places(self, text: str) -> Iterator[FeatureEdit]:
        """The words that Taiwan has others for, the longest first from the left."""
        for stretch in _HAN.finditer(text):
            said, at = stretch[0], 0
            differs = _in_taiwan(said) != said
            while differs and at < len(said):
                rest, start = said[at : at + _WORD], stretch.start() + at
                size = next((n for n in range(len(rest), 1, -1) if _is_other_word(rest[:n])), 0)
                word = rest[:size]
                at += size or 1
                stays = word in _table_words("leave") or in_another_sense(word, text)
                if size and (self.words == "opencc" or not stays):
                    yield FeatureEdit(Edit(start, start + size, _in_taiwan(word)), "vocabulary")


def in_another_sense(word: str, text: str) -> bool:
    """Is this a word that differs in computing only, such as 程序, in a text about something else?"""
    return word in _table_words("computing") and not any(cue in text for cue in _table_words("about_computing"))


@cache
def _open_converter(name: str) -> Any:
    try:
        from opencc import OpenCC
    except ImportError as error:
        raise MissingExtra("Taiwan's Mandarin", "zh") from error
    return OpenCC(name)


def _is_other_word(word: str) -> bool:
    """Does Taiwan say this otherwise, and not only because it says a part of it otherwise?"""
    new = _in_taiwan(word)
    if new == word or _open_converter("t2s").convert(new) != new:
        return False
    return all(_in_taiwan(word[:k]) + _in_taiwan(word[k:]) != new for k in range(1, len(word)))


@cache
def _table_words(name: str) -> frozenset[str]:
    """A list of the table."""
    return frozenset(read_table("taiwan")[name].split())


@lru_cache(65536)
def _in_taiwan(mainland: str) -> str:
    """Taiwan's words in simplified script."""
    said: str = _open_converter("tw2s").convert(_open_converter("s2twp").convert(mainland))
    return said
