"""Slips that ask another question: a number, date, unit, negation or name that came out as another valid one."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from unswayed.base.edits import Edit, OneEach, apply
from unswayed.vary.words import common_names, word_ranks

FACTUAL = ("qa", "tools")  # tasks whose right answers depend on facts of the text, however they are compared
KINDS = ("number", "date", "unit", "negation", "name")
_TOKEN = re.compile(r"[^\W_]+(?:[-.,:/·'’–][^\W_]+)*|[%$€£¥¢₺￥]")
_NUMBER = re.compile(r"\d+(?:[.,:/·'’–-]\d+)*")
_SUFFIX = re.compile(r"(\d+(?:[.,:/·'’–-]\d+)*)([^\W\d_]{1,4})")  # 5km, 3rd, 1990s, 7pm
_DATE = re.compile(r"1\d{3}|20\d\d|\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2}:\d\d(?::\d\d)?")
_NO_SPACES = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))
_CHARACTERS = frozenset(("zh",))  # each of whose words is one character
_HUNDRED = 100
_MARKS = '.,;:!?"'  # around words


class _Fact(NamedTuple):
    """A kind of `KINDS`, and what it says: a value, or the first word of its group."""

    kind: str
    value: str


@cache
def _facts_of(language: str) -> dict[str, _Fact]:
    """The words of a language that decide answers; of an unknown one, those with signs and in figures alone."""
    lists = tomllib.loads((files("unswayed.vary") / "data" / "facts.toml").read_text("utf-8")).get(language, {})
    known, value = {}, -1
    for entry in lists.get("numbers", "").split():
        word, _, given = entry.partition("=")
        value = int(given) if given else value + 1
        known[word] = _Fact("number", str(value))
    for name, kind in (("dates", "date"), ("units", "unit"), ("not", "negation")):
        for group in lists.get(name, "").split():
            first = "not" if kind == "negation" else group.partition("/")[0]
            known |= {word: _Fact(kind, first) for word in group.split("/")}
    return known


@lru_cache(65_536)  # most are single words, and come again and again
def _read(part: str, language: str) -> tuple[list[_Fact], list[str], bool]:
    """The facts in a stretch of text, its words in small letters, and whether one of them is a name."""
    known, found = _facts_of(language), []
    tokens = list(part) if language in _CHARACTERS and not part.isascii() else _TOKEN.findall(part)
    tokens = [token.lower().replace("’", "'") for token in tokens]
    for low in tokens:
        whole = _NUMBER.fullmatch(low)
        if low in known:
            found.append(known[low])
        elif whole:
            found.append(_Fact("date" if _DATE.fullmatch(low) else "number", low.replace(",", "")))
        elif suffixed := _SUFFIX.fullmatch(low):
            found.append(_Fact("number", suffixed[1].replace(",", "")))
            if (unit := known.get(suffixed[2])) and unit.kind == "unit":
                found.append(unit)
        elif language == "en" and low.endswith("n't"):
            found.append(_Fact("negation", "not"))
        elif language in ("fr", "it", "de") and "-" in low:  # trente-deux
            found += [known[word] for word in low.split("-") if word in known]
    return found, tokens, not common_names().isdisjoint(tokens)


def _value(facts: Sequence[_Fact]) -> set[str]:
    """What numbers one after the other may stand for: `twenty five` is 25, `nineteen fifteen` 1915."""
    if not all(fact.value.isdecimal() for fact in facts):  # 12:30, or Monday
        return {" ".join(sorted(fact.value for fact in facts))}
    values = [int(fact.value) for fact in facts]
    total = group = 0
    for value in values:
        if value >= _HUNDRED:
            group = (group or 1) * value
            total, group = (total + group, 0) if value > _HUNDRED else (total, group)
        else:
            group += value
    return {str(total + group), "".join(map(str, values)), " ".join(sorted(map(str, values)))}


@lru_cache(65_536)
def changed_fact(old: str, new: str, language: str) -> str:
    """The kind of fact that came out as another valid one where a stretch of text did; empty if none."""
    (before, words, named), (after, others, named_too) = _read(old, language), _read(new, language)
    if not before and not after:
        if named and named_too and len(words) == len(others):
            both = zip(words, others, strict=True)
            return "name" if any(a != b and {a, b} <= common_names() for a, b in both) else ""
        return ""
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    figures = ("number", "date")
    numbers = [[fact for fact in its.elements() if fact.kind in figures] for its in (lost, gained)]
    if all(numbers) and _value(numbers[0]) & _value(numbers[1]):  # in figures or in words
        lost, gained = (Counter(f for f in its.elements() if f.kind not in figures) for its in (lost, gained))
    kinds = {fact.kind for fact in lost}, {fact.kind for fact in gained}
    if "negation" in kinds[1]:
        return "negation"
    # Without a list of words, as in most languages, nobody knows whether what came out is one.
    valid = language != "en" or all(word in word_ranks() for word in others)
    if "negation" in kinds[0] and (kinds[1] or valid):
        return "negation"
    if kinds[0] and (kinds[1] or not new.strip()):  # another one, or left out whole
        return next(kind for kind in KINDS if kind in kinds[0])
    figure = any(map(_NUMBER.fullmatch, set(others) - set(words)))  # one that nobody said, and not a letter's look
    return "number" if figure and not lost and not kinds[1].isdisjoint(figures) else ""


@lru_cache(65_536)
def _has_facts(part: str, language: str) -> bool:
    facts, _, named = _read(part, language)
    return bool(facts) or named


def _surely_plain(old: str, new: str, language: str) -> bool:
    """Is it clear at a glance that neither stretch has a fact, as it is for nearly all slips?"""
    made = new.lower().strip(_MARKS)
    known = _facts_of(language)
    return made.isalpha() and made not in known and language not in _NO_SPACES and not _has_facts(old, language)


def touching_each(texts: Sequence[str], edits: OneEach, language: str) -> dict[int, str]:
    """Of texts with one edit each, the places of those whose edit touches a fact, and its kind."""
    # A look at one word tells it for nearly all slips, and this loop runs for each of them: with `touched_facts` alone,
    # `keyboard/adjacent` takes four times as long as without notes on facts.
    main = language.partition("-")[0].lower()
    known, found = _facts_of(main), dict[int, str]()
    plain: dict[str, bool | None] = {}  # None: the part of a text may have a fact; is it a word in small letters?
    for i, (text, start, end, new) in enumerate(zip(texts, *edits, strict=True)):
        if new is None:
            continue
        low, high = text.rfind(" ", 0, start) + 1, text.find(" ", end)
        part = text[low:] if high < 0 else text[low:high]
        if part not in plain:
            facts = main in _NO_SPACES or _has_facts(part, main)
            plain[part] = None if facts else part.islower() and part.isalpha()
        if (small := plain[part]) is not None:
            made = part[: start - low] + new + part[end - low :]
            if not (small and new.islower()):
                made = made.lower().strip(_MARKS)
            if made not in known and made.isalpha():
                continue
        [kind] = touched_facts(text, (Edit(start, end, new),), main)
        if kind:
            found[i] = kind
    return found


def touched_facts(text: str, edits: Sequence[Edit], language: str) -> list[str]:
    """For each edit, the kind of fact that it, with the others in its words, turns into another; empty if none."""
    language = language.partition("-")[0].lower() if len(language) > 2 else language
    kinds = [""] * len(edits)
    k = 0
    while k < len(edits):
        low, high, last = edits[k].start, edits[k].end, k
        while True:  # the words that the edits touch, and further edits in these words
            if language not in _NO_SPACES:
                low, end = text.rfind(" ", 0, low) + 1, text.find(" ", high)
                high = len(text) if end < 0 else end
            if last + 1 == len(edits) or edits[last + 1].start > high:
                break
            last += 1
            high = max(high, edits[last].end)
        old = text[low:high]
        new = apply(old, [Edit(a - low, b - low, c) for a, b, c in edits[k : last + 1]])
        if old != new and not _surely_plain(old, new, language) and (kind := changed_fact(old, new, language)):
            kinds[k : last + 1] = [kind] * (last + 1 - k)
        k = last + 1
    return kinds


def left_out_sentences(left_out: dict[str, int]) -> list[str]:
    """`31 slips in numbers were left out`, for each kind."""
    plural = {"number": "numbers", "date": "dates", "unit": "units", "negation": "negations", "name": "names"}
    return [
        f"{left_out[kind]:,} {'slip' if left_out[kind] == 1 else 'slips'} in {plural[kind]} "
        f"{'was' if left_out[kind] == 1 else 'were'} left out"
        for kind in KINDS
        if left_out.get(kind)
    ]
