"""Capitals where none were, or none where they were."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream, Streams
from unswayed.vary.columns import ManyEdits, characters_of
from unswayed.vary.operator import Change, Text, Texts
from unswayed.vary.surface import CASED, LONGEST, SurfaceOperator, base

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W\d_][\w'’]*")
_BEGINS = re.compile(r"[.!?…\u037e]\W*\s\W*$|\n\W*$")
_I = re.compile(r"I(?:['’]\w+)?")
_BEFORE = 8  # characters before a word in which a sentence ends, or none
_TURKIC = {"tr", "az"}
_OWN_RULES = {*_TURKIC, "el", "nl"}  # languages in which letters of ASCII have other capitals, or two have one
_FEW_TEXTS = 4  # for which arrays take longer


class Case(SurfaceOperator):
    """Writes the text in capitals, in small letters, in title case or in sentence case.

    `kind` is upper, lower, title or sentence; by default it is drawn.
    With `rate` 1, the default, the whole text changes; otherwise that share of its words.
    """

    version = 2
    languages = CASED
    kinds = ("upper", "lower", "title", "sentence")
    example = ("Play some jazz by Miles Davis", "Play some jazz by miles davis")

    def __init__(self, kind: str = "any", rate: float = 1.0) -> None:
        super().__init__(kind, rate)

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written, language = text.text[:LONGEST], base(text.language)
        places = []
        for word in _WORD.finditer(written):
            at = word.start()
            before = written[max(0, at - _BEFORE) : at]
            begins = not any(c.isalnum() for c in before) if at < _BEFORE else _BEGINS.search(before) is not None
            inner = before[-1:].isdigit() or (before[-1:] == "(" and before[-2:-1].isalnum())  # 17th, table(s)
            new = lower(word[0], language)
            if kind == "upper":
                new = [upper(c, language) for c in word[0]]
            elif kind == "sentence" and language == "en" and _I.fullmatch(word[0]):
                new = [word[0][0], *lower(word[0][1:], language)]
            elif (kind == "title" and not inner) or (kind == "sentence" and begins):
                head = 2 if language == "nl" and word[0][:2].lower() == "ij" else 1
                new[:head] = ["İ" if language in _TURKIC and c == "i" else c.title() for c in word[0][:head]]
            # one edit a character, so that labels may begin and end anywhere
            edits = [Edit(at + i, at + i + 1, c) for i, c in enumerate(new) if c != word[0][i]]
            places += [edits] if edits else []
        return places

    def note(self, kind: str, text: str, edits: Sequence[Edit]) -> str:
        return f"{kind} case"

    def change_many(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        language = base(texts.language)
        if self.rate < 1 or not language or language in _OWN_RULES or len(texts) < _FEW_TEXTS:
            return super().change_many(texts, streams)
        import numpy as np

        # What `change_one` does to plain texts: all kinds for a whole block at once. Text by text, blocks take twelve
        # times as long.
        codes, _, _ = texts.once(characters_of)
        owners = texts.once(_owners)
        cased = np.stack([texts.once(_CASED[kind, language == "en"]) for kind in self.tried])
        there = np.stack([np.bincount(owners[differ], minlength=len(texts)) > 0 for differ in cased != codes])
        orders, rows = self.orders(streams), np.arange(len(texts))
        able = there[orders.T, rows]  # by kind in the text's order
        chosen = orders[rows, able.argmax(0)]
        mine = cased[0] if len(cased) == 1 else cased[chosen[owners], np.arange(len(codes))]
        spans = {i: spared for i, found in texts.protected.items() if (spared := self.spares(found))}
        apart = set(spans)
        if codes.dtype != np.uint8 or len(codes) > LONGEST:
            apart |= {i for i, text in enumerate(texts.strings) if not text.isascii() or len(text) > LONGEST}
        tried = {i: [self.tried[k] for k in orders[i].tolist()] for i in apart}
        each = ((i, self.change_one(texts[i], streams[i], tried[i], spans.get(i, ()))) for i in apart)
        others = {i: change for i, change in each if change}
        stay = np.asarray(able.any(0))
        stay[list(apart)] = False
        places = np.flatnonzero((mine != codes) & stay[owners])
        names = [f"{self.tried[kind]} case" for kind in chosen.tolist()]
        return ManyEdits(texts, places, mine[places], lambda i, edits: names[i], others)


def _owners(texts: Texts) -> NDArray[np.int64]:
    return texts.once(characters_of).owners


def _small(texts: Texts) -> NDArray[np.bool_]:
    codes = texts.once(characters_of).codes
    return (codes >= 97) & (codes <= 122)


def _large(texts: Texts) -> NDArray[np.bool_]:
    codes = texts.once(characters_of).codes
    return (codes >= 65) & (codes <= 90)


def _firsts(texts: Texts) -> NDArray[np.int64]:
    """Where the words begin that `_WORD` finds in plain texts."""
    import numpy as np

    codes, starts, sizes = texts.once(characters_of)
    letter = texts.once(_small) | texts.once(_large)
    inside = letter | ((codes >= 48) & (codes <= 57)) | (codes == 95) | (codes == 39)  # as `[\w']`
    # A word goes from the first letter of such a stretch to its end.
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    begins[starts[sizes > 0]] |= inside[starts[sizes > 0]]
    at = np.flatnonzero(letter)
    stretch = np.cumsum(begins)[at]
    return at[np.append(True, stretch[1:] != stretch[:-1])] if len(at) else at


def _upper(texts: Texts) -> NDArray[Any]:
    import numpy as np

    codes = texts.once(characters_of).codes
    return np.asarray(codes - 32 * texts.once(_small).astype(codes.dtype))


def _lower(texts: Texts) -> NDArray[Any]:
    import numpy as np

    codes = texts.once(characters_of).codes
    return np.asarray(codes + 32 * texts.once(_large).astype(codes.dtype))


def _title(texts: Texts) -> NDArray[Any]:
    import numpy as np

    codes, starts, _ = texts.once(characters_of)
    firsts = texts.once(_firsts)
    own = starts[texts.once(_owners)[firsts]]
    one, two = (np.where(firsts - n >= own, codes[np.maximum(firsts - n, 0)], 32) for n in (1, 2))
    digit = (one >= 48) & (one <= 57)
    alnum = ((two >= 48) & (two <= 57)) | ((two >= 65) & (two <= 90)) | ((two >= 97) & (two <= 122))
    inner = digit | ((one == 40) & alnum)  # 17th, table(s)
    return _with_capitals(texts, firsts[~inner])


def _with_capitals(texts: Texts, at: NDArray[np.int64]) -> NDArray[Any]:
    """The texts in small letters, but for the letters at these places."""
    made = texts.once(_lower).copy()
    made[at] = texts.once(_upper)[at]
    return made


def _begins(texts: Texts) -> NDArray[np.int64]:
    """The first letters of sentences, as `of_kind` finds them."""
    import numpy as np

    codes, starts, _ = texts.once(characters_of)
    firsts = texts.once(_firsts)
    owners = texts.once(_owners)[firsts]
    own = firsts - starts[owners]
    alnum = np.append(0, np.cumsum(texts.once(_small) | texts.once(_large) | ((codes >= 48) & (codes <= 57))))
    early = (own < _BEFORE) & (alnum[firsts] == alnum[starts[owners]])
    ends = np.append(0, np.cumsum((codes == 46) | (codes == 33) | (codes == 63) | (codes == 10)))
    perhaps = (own >= _BEFORE) & (ends[firsts] > ends[np.maximum(firsts - _BEFORE, 0)])
    for k in np.flatnonzero(perhaps).tolist():
        text, at = texts.strings[owners[k]], int(own[k])
        early[k] = _BEGINS.search(text[at - _BEFORE : at]) is not None
    return np.asarray(firsts[early])


def _sentence(texts: Texts) -> NDArray[Any]:
    return _with_capitals(texts, texts.once(_begins))


def _english_sentence(texts: Texts) -> NDArray[Any]:
    """The same, with *I* as it is."""
    import numpy as np

    codes, starts, _ = texts.once(characters_of)
    at = texts.once(_firsts)
    at = at[codes[at] == 73]
    owners = texts.once(_owners)[at]
    own = (at - starts[owners]).tolist()
    both = zip(at.tolist(), owners.tolist(), own, strict=True)
    stays = [k for k, i, n in both if (word := _WORD.match(texts.strings[i], n)) and _I.fullmatch(word[0])]
    return _with_capitals(texts, np.append(texts.once(_begins), np.array(stays, np.int64)))


_CASED = {
    **{("upper", english): _upper for english in (True, False)},
    **{("lower", english): _lower for english in (True, False)},
    **{("title", english): _title for english in (True, False)},
    ("sentence", True): _english_sentence,
    ("sentence", False): _sentence,
}


def upper(c: str, language: str) -> str:
    """A letter's capital in this language: Turkish has İ for i, Greek drops the accent."""
    if language in _TURKIC and c == "i":
        return "İ"
    if language == "el":
        parts = unicodedata.normalize("NFD", c).replace("\u0301", "")
        return unicodedata.normalize("NFC", parts.upper())
    return c.upper()


def lower(word: str, language: str) -> list[str]:
    """The small letter of each letter of a word."""
    if language in _TURKIC:
        word = word.replace("I", "ı").replace("İ", "i")
    small = word.lower()
    return list(small) if len(small) == len(word) else [c.lower() for c in word]
