"""Spaces lost, doubled, or put inside a word."""

from __future__ import annotations

import re

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import LONGEST, SurfaceOperator, another_word, fixed_places, joined

_SPACE = re.compile(r"(?<=\S) (?=\S)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEFT, _RIGHT = re.compile(r"[^\W\d_]+$"), re.compile(r"^[^\W\d_]+")
_NO_SPACES = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # Thai, Lao, kana, Han; Hangul
_LEADS = "เแโใไເແໂໃໄ"  # vowels that are written before their consonant
_FOLLOWS = "ะาำๅຯະາຳーぁぃぅぇぉゃゅょっァィゥェォャュョッ"
_LONG = 40  # letters of what is no word


class Spaces(SurfaceOperator):
    """Loses a space between words, doubles one, or puts one inside a word.

    `kind` is lost, doubled or inside; by default it is drawn. Two numbers are never joined. In English, neither are
    words that give another word (*not able*), nor is one parted into words (*now here*). Labelled words keep their
    spaces, so that an entity has as many words as before. Words in capitals are not parted.
    """

    version = 2
    kinds = ("lost", "doubled", "inside")
    example = ("turn off the lights in the kitchen", "turn off the lightsin the kitchen")

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written = text.text[:LONGEST]
        fixed = fixed_places(written)
        if kind == "inside":
            places = _within(written, fixed, text.language)
            return [[Edit(at, at, " ")] for at in places if not text.labelled(at)]
        places = [match.start() for match in _SPACE.finditer(written)]
        if kind == "doubled":
            return [[Edit(at, at + 1, "  ")] for at in places]
        joins = []  # where people join words, without another meaning
        for at in places:
            left, right = written[at - 1], written[at + 1]
            if at - 1 in fixed or at + 1 in fixed or left.isdigit() or right.isdigit():
                continue
            if not (right.isalpha() and (left.isalpha() or left in ",.;!?:،؟")):
                continue
            # a labelled word would take in another, or an entity have fewer words
            if text.labelled(at - 1) or text.labelled(at + 1):
                continue
            before, after = _LEFT.search(written[max(0, at - 40) : at]), _RIGHT.search(written[at + 1 : at + 41])
            if not (before and after and another_word(before[0] + after[0], text.language)):
                joins.append([Edit(at, at + 1, "")])
        return joins


def _within(text: str, fixed: set[int], language: str) -> list[int]:
    """Places inside words where a space may come."""
    found, plain = [], text.isascii()
    for word in _WORD.finditer(text):
        if word.start() in fixed or word[0].isupper():  # XXXIII and NASA are no words
            continue
        unspaced = not plain and _NO_SPACES.search(word[0]) is not None
        margin = 1 if unspaced else 2
        if len(word[0]) < (2 if unspaced else 4):
            continue
        for at in range(word.start() + margin, word.end() - margin + 1):
            if not plain and (joined(text, at) or text[at - 1] in _LEADS or text[at : at + 1] in _FOLLOWS):
                continue
            # if both parts are words, the space says something else
            both = len(word[0]) <= _LONG and another_word(text[word.start() : at], language)
            if not (both and another_word(text[at : word.end()], language)):
                found.append(at)
    return found
