"""Finds what must stay whole when a text is varied: addresses, code, data, marks, ids, fields, emoji and graphemes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from unswayed.base.edits import Edit, apply
from unswayed.base.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Protect = Literal["all", "typed", "none"]
PROTECT: tuple[str, ...] = get_args(Protect)


class Protected(NamedTuple):
    """Characters `start` up to `end` of a text, and what they are: a key of `_PATTERNS`, `json`, `emoji` or `grapheme`.

    Example: `Protected(3, 13, "email")`.
    """

    start: int
    end: int
    kind: str


# Marks on letters, joiners, jamo and pictures: ranges that hold all characters of more than one code point, and some
# others. `_graphemes` decides by the characters themselves.
_JOINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0700-\u109f\u1100-\u11ff"
    "\u135d-\u135f\u1700-\u1cff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ua66f-\ua67d\ua800-\uabff"
    "\ufe00-\ufe0f\ufe20-\ufe2f\U00010a00-\U00011fff\U0001e000-\U0001efff\U000e0000-\U000e0fff"
)
_PICTURES = "\u203c\u2049\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934-\u2b55\u3030\u303d\u3297\u3299"
_PICTURE = f"[\u00a9\u00ae\u2122{_PICTURES}\U0001f000-\U0001faff]"
_MODIFIED = "\ufe0f?[\U0001f3fb-\U0001f3ff]?\u20e3?[\U000e0020-\U000e007f]*"
# A text without any of these characters, which is found out in one quick scan, has nothing that must stay whole.
_ASCII = r"@#\\/{}<>_~*|$&`^=\[\]\r\n\d:;(%"
_POSSIBLE_ASCII = lazy_pattern(f"[{_ASCII}]", re.ASCII)  # a bit map, 5 times faster than what follows
_POSSIBLE = lazy_pattern(rf"[{_ASCII}＠＃{_JOINING}\u00a9\u00ae\u2122{_PICTURES}\U0001f000-\U0001faff]")
_DOTTED = lazy_pattern(r"\.\w")
_CAMEL = lazy_pattern(r"[a-z][A-Z]+[a-z]\w*[A-Z]")
# What is left then: numbers, marks and dots as plain sentences have them, too; 20th and 7pm are no ids.
_LIKELY_SIGNS = r"@#\\/{}<>_~*|$&`^=\[\]\r"
_LIKELY_REST = (
    r"|\w\.\w|\d(?!(?:st|nd|rd|th|s|am|pm)(?![\w-]))[^\W\d]|[^\W\d]\d|\d{6}"
    r"|[:;=8][-'’]?[()DPpOo|]|%[\d.(]*[sdf]|\d-\w|\d[ )]\(?\d\d|\w\(|[:;]\s*\n|;$"
    r"|(?:^|\n)\s*(?:[-+]|\d+[.)])\s|(?:^|\s)--?\w"
)
_LIKELY_ASCII = lazy_pattern(f"[{_LIKELY_SIGNS}]{_LIKELY_REST}", re.ASCII)
_LIKELY = lazy_pattern(
    rf"[{_LIKELY_SIGNS}＠＃{_JOINING}\u00a9\u00ae\u2122{_PICTURES}\U0001f000-\U0001faff]{_LIKELY_REST}"
)
_TAIL = lazy_pattern(
    r"[.,;:!?…'\"”’»)\]}>*_~。，；：！？、）】」』]+$"
)  # marks after an address, which are the sentence's
_SMILEY = r"(?<!\S)(?:[:;=8]-?['’]?[()DPpOo|*\\/\]\[]|<3|\^_*\^|[xX]D)(?![^\s.,!?])"
_SQL_END = r"(?:[^;.?!\n]|[.?!](?=\S)|\n(?!\s*\n))*;?"
_CODE_LINE = (
    r"^[ \t]*(?:def \w+\(|class \w+[(:]|(?:async )?function \w*\(|(?:const|let|var) \w+ ?=|import [\w.]+(?: as \w+)?;?$"
    r"|from [\w.]+ import |#include\s*[<\"]|(?:for|if|while|elif|else|try|with)\b.*:$|return\b.*;$|\}|>>> |\$ \w"
    r"|(?:\w+\.)+\w+\(|\w+ ?[-+*/]?= ?.+;$|public |print(?:ln)?\()[^\n]*"
)
# In the order in which they are looked for; what lies inside a thing that was found is part of it.
_PATTERNS: dict[str, re.Pattern[str]] = {
    "code": lazy_pattern(
        r"(?ms:^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z))"
        r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
        rf"|\$\$.+?\$\$|\$(?=[^\s\d])[^$\n]*[\\^_={{}}][^$\n]*\$|\\[A-Za-z]+(?:\{{[^{{}}]*\}})+|(?m:{_CODE_LINE})"
        r"|(?<![\w-])--?[A-Za-z][\w-]*(?:=\S+)?(?<![.,;:!?])|\w+(?:\.\w+)*\(\)",
    ),
    "sql": lazy_pattern(
        r"\b(?:(?:WITH\s+\w+\s+AS\s*\(\s*)?SELECT\s.+?\sFROM\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s"
        r"|(?:CREATE|ALTER|DROP)\s+(?:TABLE|INDEX|VIEW)\s" + rf"){_SQL_END}"
        r"|(?i:\bselect\s+(?:\*|(?:count|sum|avg|min|max)\()[^;]*?\sfrom\s" + rf"{_SQL_END})"
        r"|(?i:\bselect\s[^;?!\n]+?\sfrom\s+\w+\s+where\s+[\w.]+\s*(?:[<>=]|like\b|in\s*\()" + rf"{_SQL_END})",
        re.S,
    ),
    "field": lazy_pattern(
        r"\{\{.*?\}\}|\{%.*?%\}|\$?\{[^{}\s'\":]*\}|\{\w+:[^{}\s'\"]*\}|%\(\w+\)[sdf]|%[-+\d.]*[sdf](?!\w)"
        r"|\$[A-Za-z_]\w*|<\|[^|<>\n]*\|>|\[/?[A-Z][A-Z_\d]+\]|<<\w+>>|__\w+?__(?!\w)"
    ),
    "html": lazy_pattern(r"<!--.*?-->|</?[A-Za-z][^<>]*>|<![A-Z][^<>]*>|&#?\w+;", re.S),
    "link": lazy_pattern(
        r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"]*\")?\)|\]\[[^\[\]]*\]|\[\^\w+\]:?|!?\[(?=[^\[\]\n]*\]\()"
    ),
    "url": lazy_pattern(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.|mailto:|data:\w+/)[^\s<>\"“”，。、；！？）】」』]+"),
    "email": lazy_pattern(r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+"),
    "emoji": lazy_pattern(
        rf"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{_PICTURE}{_MODIFIED}(?:\u200d{_PICTURE}{_MODIFIED})*"
        rf"|{_SMILEY}|:[a-z][a-z\d_+-]+:"
    ),
    "handle": lazy_pattern(r"(?<![\w&])[@＠][\w.-]*\w|(?<![\w&])[#＃][\w-]*\w"),
    "path": lazy_pattern(
        r"(?<![\w/\\])(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}[\\/])(?:[\w.@+*-]+[\\/]?)+|(?<![\w/\\])[\w.@+-]+(?:[\\/][\w.@+*-]+){2,}[\\/]?"
        r"|(?<![\w/\\])[\w.@+-]+[\\/][\w-]*\.\w+|(?<![\w/\\])[\w-]+[\\/](?=[\s,.;:!?)]|$)"
        r"|(?<![\w.])\.[A-Za-z]\w+(?:\.\w+)*"
        r"|(?<![\w.])(?=[a-zA-Z\d_.-]*[a-zA-Z])(?=[\w.-]*\w\w)[a-zA-Z\d_-]+(?:\.[a-zA-Z\d_-]+)+(?![\w-])(?:[/:]\S*)?"
        # Scripts without spaces write on both sides of a number: there, a point between two figures is a decimal one.
        r"|(?<![\w.])(?=[\w.-]*[^\W\d])(?=[\w.-]*\w\w)[\w-]+(?:\.(?!(?<=\d\.)\d)[\w-]+)+(?:[/:]\S*)?",
    ),
    "id": lazy_pattern(
        r"(?<![\w-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
        r"|\d+(?:\.\d+){2,}|[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){3,}"
        r"|(?=\+?(?:[ /()-]?[ (]?\d){6})\+?\(?\d[\d()]*(?:[ /-]?\(?\d{2,}\)?){2,}(?=\D|$)|\d{6,}"
        r"|(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*"
        r"|(?=\w*\d)[a-z]+\d+[a-z]+\w*|\d+[a-z]+\d\w*|(?=[a-f\d]*\d)(?=[a-f\d]*[a-f])[a-f\d]{7,}"
        r"|[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+|_+[A-Za-z]\w*|[a-z]+[A-Z]+[a-z]\w*(?:[A-Z]\w*)+)(?![\w])",
        re.ASCII,
    ),
    "markdown": lazy_pattern(
        r"(?m:^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
        r"|[-*_=](?:[ \t]*[-*_=]){2,}[ \t]*$"
        r"|\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$))"
        r"|\|{1,2}"
        r"|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)|==(?=\S)|(?<=\S)=="
    ),
}
# A text without any of these, in small letters, has nothing of the kind; to search it for all kinds takes 40 µs.
_NEEDED: dict[str, tuple[str, ...]] = {
    "code": (*"`~$\\-=(}>:;#", "import ", "public "),
    "sql": ("select", "insert", "update", "delete", "create", "alter", "drop"),
    "field": tuple("{%$<[_"),
    "html": tuple("<&"),
    "link": tuple("[]"),
    "url": tuple(":."),
    "email": ("@",),
    "emoji": (*":;=8<^", "xd"),
    "handle": tuple("@＠#＃"),
    "path": tuple("/\\."),
    "markdown": tuple("#>-*+|~_=.)"),
}
_ENTIRE = frozenset(("url", "email", "handle", "path"))  # marks at their end are the sentence's
_OPENS_JSON = lazy_pattern(r"\{\s*(?:[\"'{\[]|\w+\s*:|\})|\[\s*(?:[\"'{\[\d]|true|false|null)")
_PAIRS = {"{": "}", "[": "]"}
_decode = JSONDecoder().raw_decode
_LONGEST_JSON = 100_000
_FEW_TEXTS = 4  # which are looked at one by one


def protected_spans(text: str) -> tuple[Protected, ...]:
    """What must stay whole in a text, in order and without overlap."""
    scan, likely = (_POSSIBLE_ASCII, _LIKELY_ASCII) if text.isascii() else (_POSSIBLE, _LIKELY)
    possible = scan.search(text) or "-" in text or ("." in text and _DOTTED.search(text))
    if (possible and likely.search(text)) or (not text.islower() and _CAMEL.search(text)):
        return _found_in(text)
    return ()


def texts_with_protected(texts: Sequence[str]) -> dict[int, tuple[Protected, ...]]:
    """What must stay whole, by the place of the text in a block; texts without any are left out."""
    return {i: found for i in _doubtful(texts) if (found := protected_spans(texts[i]))}


def _doubtful(texts: Sequence[str]) -> Sequence[int]:
    """The texts of a block at which `protected_spans` must look: all but ASCII in which nothing can be `_LIKELY`."""
    if len(texts) < _FEW_TEXTS:
        return range(len(texts))
    import numpy as np

    # Pairs of neighbours tell it for nearly all texts. A look at the pairs of a whole block takes 0.2 microseconds a
    # text, and a search text by text five.
    joined = "\0".join(("", *texts, ""))
    kinds, likely = _pairs()
    plain = joined.encode("ascii", "replace")
    coded = plain.translate(kinds)
    codes = np.frombuffer(coded, np.uint8)
    found = likely[(codes[:-1] << 4) | codes[1:]]  # by its second character, so a text's first stands behind its "\0"
    digits = codes == _DIGIT
    found[2:-1] |= digits[1:-3] & ((codes[2:-2] == _SPACE) | (codes[2:-2] == _CLOSING)) & digits[3:-1] & digits[4:]
    found[4:] |= digits[5:] & digits[:-5]
    places = [
        at
        for at in np.flatnonzero(found).tolist()
        if plain[at + 1 : at + 3] not in _AFTER_NUMBER or coded[at + 3] in _GOES_ON or coded[at] != _DIGIT
    ]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    doubtful = {*ends.searchsorted(places, "right").tolist()}
    if not joined.isascii():
        doubtful.update(i for i, text in enumerate(texts) if not text.isascii())
    return sorted(doubtful)


_KINDS = ("\0", " ", "9", "a", "A", ".", "-", "(", ")", ":", "'", "%", "@")  # one character stands for each kind
_SPACE, _DIGIT, _CLOSING = map(_KINDS.index, " 9)")
_AFTER_NUMBER = frozenset((b"st", b"nd", b"rd", b"th", b"am", b"pm"))  # as in `_LIKELY`
_GOES_ON = frozenset(map(_KINDS.index, "9aA-@"))
_ANY = "".join(_KINDS)
# What `_LIKELY` and `_CAMEL` look for has one of these pairs, or digits that are two or five places apart: first kinds,
# then second kinds. `@` stands for all signs that are enough by themselves.
_LIKELY_PAIRS = (
    (_ANY, "@"), (".", "9aA"), ("9", "aA-.()'"), ("aA", "9("), (":", "-'()aA"), ("%", "9.(aA"), ("(", "9"),
    ("\0 ", "-"), ("a", "A"),
)  # fmt: skip


@cache
def _pairs() -> tuple[bytes, NDArray[np.bool_]]:
    """The kind of each character of ASCII; and for 16 times a first kind plus a second, whether they are likely."""
    import numpy as np

    kinds, likely = bytearray(256), np.zeros(256, bool)
    for code, c in enumerate(map(chr, range(128))):
        kind = "9" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else " " if c.isspace() else c
        kind = "@" if c in "@#\\/{}<>_~*|$&`^=[]\r\n;" else "-" if c == "+" else kind
        kinds[code] = _KINDS.index(kind if kind in _KINDS else "\0")
    for firsts, seconds in _LIKELY_PAIRS:
        likely[[_KINDS.index(a) << 4 | _KINDS.index(b) for a in firsts for b in seconds]] = True
    return bytes(kinds), likely


@lru_cache(4_096)
def _found_in(text: str) -> tuple[Protected, ...]:
    found: list[Protected] = []
    taken = bytearray(len(text))  # places of what was found

    def add(start: int, end: int, kind: str) -> None:
        if start < end and not any(taken[start:end]):
            found.append(Protected(start, end, kind))
            taken[start:end] = b"\1" * (end - start)

    low, ascii = text.casefold(), text.isascii()
    for kind, pattern in _PATTERNS.items():
        possible = kind not in _NEEDED or any(part in low for part in _NEEDED[kind]) or (kind == "emoji" and not ascii)
        for match in pattern.finditer(text) if possible else ():
            start, end = match.span()
            if kind in _ENTIRE and (tail := _TAIL.search(text, start, end)):
                end = tail.start()
                # a bracket that the address opens is its own
                end += text[start:end].count("(") > 0 and text[end : end + 1] == ")"
            add(start, end, kind)
        if kind == "sql":  # after code, in which braces are others', and before fields, which JSON may hold
            at = 0
            while opening := _OPENS_JSON.search(text, at):
                start = opening.start()
                at = start + 1
                if not taken[start] and (end := _end_of_data(text, start)):
                    for inner in range(start, end):
                        taken[inner] = 0
                    found[:] = [one for one in found if not start <= one.start < end]
                    add(start, end, "json")
                    at = end
    found += [Protected(a, b, "grapheme") for a, b in _graphemes(text) if not any(taken[a:b])]
    return tuple(sorted(found))


def _end_of_data(text: str, start: int) -> int:
    """Where the JSON, or a literal like it, that begins at a bracket ends; 0 if it never does."""
    try:
        value, end = _decode(text[start : start + _LONGEST_JSON])
        return start + end if isinstance(value, (dict, list)) else 0
    except (JSONDecodeError, RecursionError):
        pass
    if text[start] == "[":
        return 0
    stack, quote = [], ""
    for at in range(start, min(len(text), start + _LONGEST_JSON)):
        c = text[at]
        if quote:
            quote = "" if c == quote and text[at - 1] != "\\" else quote
        elif c in "\"'" and not text[at - 1].isalnum():
            quote = c
        elif c in _PAIRS:
            stack.append(_PAIRS[c])
        elif stack and c == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1 if ":" in text[start:at] else 0
    return 0


def _graphemes(text: str) -> list[tuple[int, int]]:
    """Where characters stand that are made of several code points: letters with marks, syllables, line ends."""
    if text.isascii():
        return [(m.start(), m.end()) for m in re.finditer("\r\n", text)]
    spans, start = [], 0
    for at in range(1, len(text) + 1):
        if at < len(text):
            here, before = text[at], text[at - 1]
            if here <= "\u02ff" and before <= "\u02ff":
                joins = here == "\n" and before == "\r"
            else:
                marks = _joins(here)
                tied = before == "\u200d" or (unicodedata.combining(before) == 9 and here.isalpha())
                syllable = "\u1160" <= here <= "\u11ff" and "\u1100" <= before <= "\u11ff"
                tone = "\U0001f3fb" <= here <= "\U0001f3ff" or "\U000e0020" <= here <= "\U000e007f"
                joins = ((marks or tied or tone) and not before.isspace()) or syllable
            if joins:
                continue
        if at - start > 1:
            spans.append((start, at))
        start = at
    return spans


def _joins(c: str) -> bool:
    """Is it a mark or joiner, part of the letter before it?"""
    return unicodedata.category(c)[0] == "M" or c in "\u200c\u200d\u0e33\u0eb3"


def touching(text: str, spans: Sequence[Protected], edits: Sequence[Edit]) -> list[bool]:
    """For each edit, would it damage a thing that must stay whole: cut into it, or write letters against it?"""
    return [any(_damages(text, span, edit) for span in spans) for edit in edits]


def _damages(text: str, span: Protected, edit: Edit) -> bool:
    first, last, kind = span
    start, end, new = edit
    if end < first or start > last:
        return False
    if kind == "grapheme" and text[first] != "\r":  # it may be replaced, but not in part; a line end stays
        # Another sign on the same letter, as a neighbouring key of Hindi's or Thai's writes it, makes it no fragment.
        signs = first < start < end <= last and bool(new) and all(map(_joins, new))
        return not signs and ((first < start < last) or (first < end < last))
    if start < last and end > first:
        return True
    if kind == "emoji" and not text[first].isascii():
        return False
    # What then stands beside it: white space or nothing instead of a letter is no harm, except for Markdown's marks,
    # which stand against words; a letter against a letter is none where one was there before, as in Chinese.
    left = end == first
    old = text[first - 1 : first] if left else text[last : last + 1]
    after = (text[:start] + new)[-1:] if left else (new + text[end : end + 1])[:1]
    if after == old:
        return False
    if not after.strip():
        return kind == "markdown" and bool(old.strip())
    if kind == "markdown" and not left and text[last - 1].isspace():  # a bullet or heading, after which all may come
        return False
    return not (old.isalnum() and after.isalnum())


def keeps_protected(text: str, spans: Sequence[Protected], edits: Sequence[Edit]) -> bool:
    """Is all that must stay whole still there after the edits, also if it moved?"""
    if not any(touching(text, spans, edits)):
        return True
    after = apply(text, edits)
    there = Counter(after[start:end] for start, end, _ in protected_spans(after))
    there.subtract(Counter(text[start:end] for start, end, _ in spans))
    return min(there.values(), default=0) >= 0


def outside(spans: Sequence[Protected], kinds: Collection[str]) -> tuple[Protected, ...]:
    """The spans that are of none of these kinds."""
    return tuple(span for span in spans if span.kind not in kinds)
