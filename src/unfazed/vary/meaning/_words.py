"""Words exchanged for others by a table, in languages that put spaces between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from unfazed.core.edits import Edit
from unfazed.vary._words import cased
from unfazed.vary.meaning._table import Found, Others, Table

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NAME = r"[A-ZÀ-Ý][\w.’'-]*(?: [A-ZÀ-Ý][\w.’'-]*){0,3}"
_BEFORE_NAMES = "in on at by the from since during until before after of to em no na de do da desde até a o os as"
_OPENS = frozenset(_BEFORE_NAMES.split())

Fits = Callable[[int, str], bool]  # is the word at this place meant in this sense?


class Token(NamedTuple):
    start: int
    end: int
    text: str


def tokens(text: str) -> list[Token]:
    return [Token(match.start(), match.end(), match[0]) for match in _WORD.finditer(text)]


def exchanged(text: str, table: Table, draw: Callable[[int], int], fits: Fits) -> Iterator[Found]:
    """Every word that has others to stand for it, with one of these. `draw(n)` chooses one of n."""
    words = tokens(text)
    present = {word.text.lower() for word in words}
    for i, word in enumerate(words):
        if i and (words[i - 1].text.lower() in table.leave_before or text[word.start - 1] in "-’'."):
            continue
        for others in _known(text, table, words, i):
            choices = [other for other in others.words if other.lower() not in present]
            if choices and fits(i, others.sense):
                new = cased(choices[draw(len(choices))], word.text)
                note = f"{word.text} → {new}"
                yield Found((Edit(*_edit(text, words, i, new, table)),), others.kind, note)


def _known(text: str, table: Table, words: list[Token], i: int) -> list[Others]:
    """What the table has for a word; of words with capitals only names, and what begins the text."""
    word = words[i].text
    if word.islower():
        return table.others.get(word, [])
    first = i == 0 or text[: words[i].start].rstrip()[-1:] in (".", "!", "?")
    if first and word[1:].islower():
        following_name = i + 1 < len(words) and words[i + 1].text[0].isupper()
        return [] if following_name else table.others.get(word, []) or table.others.get(word.lower(), [])
    if word in table.others and not _in_name(words, i, text):
        return table.others[word]
    return []


def _in_name(words: list[Token], i: int, text: str) -> bool:
    """Is this name part of a longer one, as *China* in *Air China*?"""
    before = i and words[i - 1].text[0].isupper() and words[i - 1].text.lower() not in _OPENS
    after = i + 1 < len(words) and words[i + 1].text[0].isupper() and text[words[i].end : words[i + 1].start] == " "
    of = i and words[i - 1].text in ("of", "de", "do", "da") and i > 1 and words[i - 2].text[0].isupper()
    return bool(before or after or of)


def _edit(text: str, words: list[Token], i: int, new: str, table: Table) -> tuple[int, int, str]:
    """The edit, in English with *a* or *an* before it where the new word asks for the other."""
    word = words[i]
    before = words[i - 1] if i and table.language == "en" else None
    if before is None or before.text.lower() not in ("a", "an") or text[before.end : word.start] != " ":
        return word.start, word.end, new
    article = cased("an" if sounds_as_vowel(new) else "a", before.text)
    return (word.start, word.end, new) if article == before.text else (before.start, word.end, f"{article} {new}")


def sounds_as_vowel(word: str) -> bool:
    lower = word.lower()
    vowel = lower[:1] in "aeiou" and not lower.startswith(("uni", "eu", "one", "use", "ura"))
    return vowel or lower.startswith("hour")


def swapped(text: str, table: Table) -> Iterator[Found]:
    """Two names of which one does something to the other, or from one of which something goes to the other."""
    acts = "|".join(map(re.escape, sorted(table.acts)))
    motion = "|".join(map(re.escape, sorted(table.motion)))
    end = r"(?! d[aeo]s? | of | and | e |\w)"
    ways = rf"({_NAME}) (?:{acts}) ({_NAME}){end}|\b(?:{motion}) (?:from|de) ({_NAME}) (?:to|para) ({_NAME}){end}"
    for match in re.finditer(ways, text):
        one, other = (1, 2) if match[1] else (3, 4)
        if match[one] == match[other] or match[one].lower() in ("he", "she", "they", "it", "ele", "ela", "o", "a"):
            continue
        edits = (Edit(*match.span(one), match[other]), Edit(*match.span(other), match[one]))
        yield Found(edits, "names", f"{match[one]} ↔ {match[other]}")
