"""Order: clauses, times and sources that can stand at the beginning or at the end of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unfazed.vary.paraphrase._sentence import MONTHS, WEEKDAYS, Rewrite, Sentence, capital

_SUBORDINATORS = ("because", "although", "though", "when", "while", "after", "before", "if", "since", "unless", "until")
_TIME = re.compile(
    r"(?:in (?:(?:early|late|mid) )?(?:(?:MONTH) )?(?:1[0-9]|20)[0-9]{2}|on (?:DAY)|on (?:MONTH) [0-9]{1,2}"
    r"|(?:last|next|this) (?:week|month|year|summer|winter|spring|autumn)|yesterday|today)".replace(
        "MONTH", "|".join(sorted(MONTHS))
    ).replace("DAY", "|".join(sorted(WEEKDAYS))),
    re.I,
)
_SAID = ("said", "says", "reported", "reports", "announced", "announces", "claimed", "claims")
_SHORT = 14  # words of a clause that something is put at the end of
_MARKS = re.compile(r"[\"“”`?:;()]|''|--")


def orders(sentence: Sentence) -> Iterator[Rewrite]:
    """The sentence with a part of it moved to the other end. Quotations and questions are left alone."""
    whole = sentence.text[sentence.start : sentence.end]
    if _MARKS.search(sentence.text[sentence.start : sentence.end + 3]) or len(sentence.words) < 5:
        return
    commas = [i for i in range(1, len(sentence.words)) if "," in sentence.gap(i)]
    for new, note in (*_front_to_end(sentence, commas), *_end_to_front(sentence, commas), *_sources(sentence, commas)):
        if new != whole:
            yield Rewrite(sentence.start, sentence.end, new, note)


def _front_to_end(sentence: Sentence, commas: list[int]) -> Iterator[tuple[str, str]]:
    """*After the war, he left* → *He left after the war*."""
    n = len(sentence.words)
    if len(commas) != 1 or not sentence.has_verb(commas[0], n):
        return
    [at] = commas
    opening, rest = sentence.said(0, at), sentence.said(at, n)
    clause = sentence.words[0].lower in _SUBORDINATORS
    if not clause and not _TIME.fullmatch(opening):
        return
    if sentence.words[at].tag in ("CC", "CD") or sentence.words[at].lower == "then" or not _simple(sentence, at, n):
        return
    yield f"{capital(rest)} {opening[0].lower()}{opening[1:]}", f"“{opening}” at the end"


def _simple(sentence: Sentence, first: int, end: int) -> bool:
    """One short clause: what is put at its end can belong to nothing else in it."""
    inside = sentence.words[first:end]
    verbs = sum(word.tag in ("VBD", "VBZ", "MD") for word in inside)
    nested = any(word.tag in ("W", "TO", "VBG") or word.lower in (*_SUBORDINATORS, "that", "as") for word in inside)
    return len(inside) <= _SHORT and verbs <= 1 and not nested


def _end_to_front(sentence: Sentence, commas: list[int]) -> Iterator[tuple[str, str]]:
    words, n = sentence.words, len(sentence.words)
    if commas:
        return
    for i in range(2, n - 1):
        if words[i].lower in _SUBORDINATORS and sentence.joined(i) and _is_clause(sentence, i):
            opening = sentence.said(i, n)
            yield f"{capital(opening)}, {sentence.moved(0, i)}", f"“{opening}” in front"
            return
    for i in range(max(3, n - 4), n):
        closing = sentence.said(i, n)
        if _TIME.fullmatch(closing) and sentence.joined(i) and _happened(sentence, i):
            yield f"{capital(closing)}, {sentence.moved(0, i)}", f"“{closing}” in front"
            return


def _happened(sentence: Sentence, i: int) -> bool:
    """Is what stands before this word one clause, whole and not in the perfect, which goes with no point in time?"""
    before = sentence.words[i - 1]
    perfect = any(word.lower in ("has", "have") for word in sentence.words[:i])
    whole = before.tag not in ("IN", "RB", "CC") and sentence.has_verb(0, i)
    return whole and not perfect and _simple(sentence, 0, i)


def _is_clause(sentence: Sentence, i: int) -> bool:
    """Do a subject and a verb follow the subordinator, and does one verb stand before it?"""
    words = sentence.words
    end = sentence.noun_phrase(i + 1)
    follows = end is not None and end < len(words) and words[end].tag in ("VBZ", "VBD", "VB", "MD")
    measured = words[i - 1].lower in ("years", "months", "weeks", "days", "hours", "year", "month", "week", "day")
    alone = words[i - 1].tag not in ("IN", "RB", "CC", "CD") and not measured
    return follows and alone and sentence.has_verb(0, i) and _simple(sentence, 0, i)


def _sources(sentence: Sentence, commas: list[int]) -> Iterator[tuple[str, str]]:
    """*It rained, officials said* → *Officials said that it rained*; *According to X, …* → *…, according to X*."""
    words, n = sentence.words, len(sentence.words)
    if commas and words[-1].lower in _SAID and sentence.noun_phrase(commas[-1]) == n - 1:
        at = commas[-1]
        yield f"{capital(sentence.said(at, n))} that {sentence.moved(0, at)}", "the source in front"
    if len(commas) == 1 and [w.lower for w in words[:2]] == ["according", "to"] and sentence.has_verb(commas[0], n):
        source = sentence.said(2, commas[0])
        yield f"{capital(sentence.said(commas[0], n))}, according to {source}", "the source at the end"
    end = sentence.noun_phrase(0)
    if end is not None and end + 3 < n and words[end].lower in _SAID and not commas:
        that = end + 1 + (words[end + 1].lower == "that")
        if that == end + 1 and words[end].lower not in ("said", "says"):
            return
        if words[that].tag != "PRP" and sentence.noun_phrase(that) and sentence.has_verb(that, n):
            yield f"{capital(sentence.said(that, n))}, {sentence.moved(0, end + 1)}", "the source at the end"
