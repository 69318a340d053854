"""Clauses in another order or voice: times, sources and clauses moved, active for passive and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from unswayed.vary.english import BE, forms
from unswayed.vary.sentence import MONTHS, WEEKDAYS, Rewrite, Sentence, capital
from unswayed.vary.words import word_lists

_SUBORDINATORS = ("because", "although", "though", "when", "while", "after", "before", "if", "since", "unless", "until")
_TIME = re.compile(
    r"(?:in (?:(?:early|late|mid) )?(?:(?:MONTH) )?(?:1[0-9]|20)[0-9]{2}|on (?:DAY)|on (?:MONTH) [0-9]{1,2}"
    r"|(?:last|next|this) (?:week|month|year|summer|winter|spring|autumn)|yesterday|today)".replace(
        "MONTH", "|".join(sorted(MONTHS))
    ).replace("DAY", "|".join(sorted(WEEKDAYS))),
    re.I,
)
_TIME_STARTS = frozenset(("in", "on", "last", "next", "this", "yesterday", "today"))
_MOVED = _TIME_STARTS.union(_SUBORDINATORS)  # where a part begins that may go to the front
_SAID = ("said", "says", "reported", "reports", "announced", "announces", "claimed", "claims")
_SOURCES = frozenset((*_SAID, "according"))
_SHORT = 14  # words of a clause that something is put at the end of
_MARKS = re.compile(r"[\"“”`?:;()]|''|--")


def orders(sentence: Sentence) -> Iterator[Rewrite]:
    """The sentence with a part of it moved to the other end. Quotations and questions are left alone."""
    whole = sentence.text[sentence.start : sentence.end]
    if _MARKS.search(sentence.text[sentence.start : sentence.end + 3]) or len(sentence.words) < 5:
        return
    if not sentence.sure_of_case:
        return
    commas = [i for i in range(1, len(sentence.words)) if "," in sentence.gap(i)] if "," in whole else []
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
    if commas or sentence.lower.isdisjoint(_MOVED):
        return
    for i in range(2, n - 1):
        if words[i].lower in _SUBORDINATORS and sentence.joined(i) and _is_clause(sentence, i):
            opening = sentence.said(i, n)
            yield f"{capital(opening)}, {sentence.moved(0, i)}", f"“{opening}” in front"
            return
    for i in range(max(3, n - 4), n):
        if words[i].lower not in _TIME_STARTS:
            continue
        closing = sentence.said(i, n)
        if _TIME.fullmatch(closing) and sentence.joined(i) and _happened(sentence, i):
            yield f"{capital(closing)}, {sentence.moved(0, i)}", f"“{closing}” in front"
            return


def _happened(sentence: Sentence, i: int) -> bool:
    """Is what stands before this word one clause, whole and not in the perfect, which goes with no point in time?"""
    before = sentence.words[i - 1]
    perfect = any(word.lower in ("has", "have") for word in sentence.words[:i])
    whole = before.tag not in ("IN", "RB", "CC") and before.lower not in BE and sentence.has_verb(0, i)
    return whole and not perfect and _simple(sentence, 0, i)


def _is_clause(sentence: Sentence, i: int) -> bool:
    """Do a subject and a verb follow the subordinator, and does one verb stand before it?"""
    words = sentence.words
    end = sentence.noun_phrase(i + 1)
    follows = end is not None and end < len(words) and words[end].tag in ("VBZ", "VBD", "MD")
    measured = words[i - 1].lower in ("years", "months", "weeks", "days", "hours", "year", "month", "week", "day")
    alone = words[i - 1].tag not in ("IN", "RB", "CC", "CD") and not measured
    return follows and alone and sentence.has_verb(0, i) and _simple(sentence, 0, i)


def _sources(sentence: Sentence, commas: list[int]) -> Iterator[tuple[str, str]]:
    """*It rained, officials said* → *Officials said that it rained*; *According to X, …* → *…, according to X*."""
    words, n = sentence.words, len(sentence.words)
    if sentence.lower.isdisjoint(_SOURCES):
        return
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
        if words[that].lower in WEEKDAYS or words[that].lower in ("today", "yesterday"):
            return
        if words[that].tag != "PRP" and sentence.noun_phrase(that) and sentence.has_verb(that, n):
            yield f"{capital(sentence.said(that, n))}, {sentence.moved(0, end + 1)}", "the source at the end"


_IN = word_lists(files("unswayed.vary.paraphrase") / "data" / "words.toml")
_SELVES = ("himself", "herself", "itself", "themselves", "each", "it")
_WAS = {"was": "VBD", "were": "VBD", "is": "VBZ", "are": "VBZ"}
_NOT_DOERS = WEEKDAYS | MONTHS | _IN["no_doers"]


def voices(sentence: Sentence) -> Iterator[Rewrite]:
    """The sentence's first clause in the other voice, where its parts are plain to see."""
    if sentence.lower.isdisjoint(_done()):
        return
    for first in _subjects(sentence):
        end = sentence.noun_phrase(first)
        if end is not None and end < len(sentence.words) and sentence.joined(end):
            yield from _passive(sentence, first, end)
            yield from _active(sentence, first, end)


@cache
def _done() -> frozenset[str]:
    """All forms of verbs that take an object."""
    tags = ("VB", "VBD", "VBN", "VBG", "VBZ")
    found = {form for lemma in _IN["transitive"] for tag in tags if (form := forms().inflected(lemma, tag))}
    return frozenset(found | _IN["transitive"])


def _subjects(sentence: Sentence) -> list[int]:
    """The first word; and the one after an opening *In 2011,*."""
    words = sentence.words
    if words[0].tag != "IN" or "," not in sentence.text:
        return [0]
    comma = next((i for i in range(1, min(8, len(words))) if "," in sentence.gap(i)), None)
    return [0] if comma is None else [0, comma]


def _verb(sentence: Sentence, i: int, plural: bool) -> tuple[int, str, str] | None:
    """Of an active clause: the word after its verb, the verb's lemma, and what stands before the participle."""
    words = sentence.words
    verb, after = words[i], words[i + 1] if i + 1 < len(words) else None
    if after is None:
        return None
    if verb.lower in ("has", "have", "had") and after.tag in ("VBN", "VBD") and sentence.joined(i + 1):
        return i + 2, forms().lemma(after.lower, "VBN"), "had been" if verb.lower == "had" else "HAVE been"
    if verb.tag == "MD" and after.tag == "VB" and sentence.joined(i + 1):
        return i + 2, after.lower, f"{verb.lower} be"
    past = forms().lemma(verb.lower, "VBD")
    if verb.tag in ("VBD", "VBN") and forms().inflected(past, "VBD") == verb.lower:
        return i + 1, past, "WAS"
    if verb.tag == "VBZ" and not plural:
        return i + 1, forms().lemma(verb.lower, "VBZ"), "IS"
    return (i + 1, verb.lower, "IS") if verb.tag == "VB" and plural else None


def _passive(sentence: Sentence, first: int, end: int) -> Iterator[Rewrite]:
    found = _verb(sentence, end, sentence.plural(first, end))
    if found is None:
        return
    at, lemma, aux = found
    participle = forms().inflected(lemma, "VBN")
    last = sentence.noun_phrase(at) if at < len(sentence.words) and sentence.joined(at) else None
    if lemma not in _IN["transitive"] or participle is None or last is None or not _closes(sentence, last):
        return
    if sentence.words[first].tag == "PRP" or (first == 0 and not sentence.sure_of_case):
        return  # *by him* is said for a reason
    if sentence.words[at].lower in _SELVES or sentence.words[at].tag == "PRP$":
        return
    if {word.lower for word in sentence.words[at:last]} & _NOT_DOERS:
        return
    head = sentence.words[last - 1]
    if head.tag == "NN" and head.lower.endswith("s") and sentence.words[at].tag != "DT":
        return  # *teens* and *news*: one, or many?
    many = sentence.plural(at, last)
    aux = aux.replace("WAS", "were" if many else "was").replace("IS", "are" if many else "is")
    aux = aux.replace("HAVE", "have" if many else "has")
    thing = sentence.subject_form(at, last)
    new = f"{capital(thing) if first == 0 else thing} {aux} {participle} by {sentence.object_form(first, end)}"
    yield Rewrite(sentence.words[first].start, sentence.words[last - 1].end, new, "passive")


def _closes(sentence: Sentence, i: int) -> bool:
    """Is the noun phrase whole at this word? What may follow goes with the verb, or ends the sentence.

    A verb that follows, as in *showed growth in sales slowed* or *buys food and sells it*, has lost its subject.
    """
    words, n = sentence.words, len(sentence.words)
    if i == n:
        return True
    if not sentence.joined(i) or not _goes_with_the_verb(sentence, i):
        return False
    for k in range(i, n):
        if not sentence.joined(k) and k > i:
            return not any(word.tag == "CC" for word in words[k : k + 1])
        if words[k].tag == "CC" or (words[k].tag in ("W", "VBD", "VBZ", "MD", "VB", "VBN") and k > i):
            return False
        if words[k].lower in _IN["clauses"]:
            return True
    return True


def _goes_with_the_verb(sentence: Sentence, i: int) -> bool:
    words, n = sentence.words, len(sentence.words)
    word, before = words[i].lower, words[i - 1].lower
    after = words[i + 1] if i + 1 < n else None
    if word not in _IN["loose"] or after is None or after.tag in ("W", "VB", "VBG"):
        return False
    timed = after.lower in WEEKDAYS or after.lower in MONTHS or after.tag == "CD"
    if word == "on":
        return timed
    return word != "in" or timed or before not in _IN["takes_in"]


def _active(sentence: Sentence, first: int, end: int) -> Iterator[Rewrite]:
    words, n = sentence.words, len(sentence.words)
    by = next((i for i in range(end + 1, min(end + 4, n)) if words[i].lower == "by"), None)
    if by is None or not all(sentence.joined(i) for i in range(end, by + 1)) or by + 1 >= n:
        return
    aux, participle = [word.lower for word in words[end : by - 1]], words[by - 1].lower
    last = sentence.noun_phrase(by + 1) if sentence.joined(by + 1) else None
    if last is None or words[by - 1].tag not in ("VBN", "VBD") or words[by + 1].tag == "CD":
        return
    if not _closes(sentence, last):
        return
    if {word.lower for word in words[by + 1 : last]} & _NOT_DOERS:
        return
    verb = _active_verb(aux, forms().lemma(participle, "VBN"), participle, sentence.plural(by + 1, last))
    if verb is None:
        return
    doer = sentence.subject_form(by + 1, last)
    new = f"{capital(doer) if first == 0 else doer} {verb} {sentence.object_form(first, end)}"
    yield Rewrite(words[first].start, words[last - 1].end, new, "active")


def _active_verb(aux: list[str], lemma: str, participle: str, plural: bool) -> str | None:
    if lemma not in _IN["transitive"]:
        return None
    if len(aux) == 1 and aux[0] in _WAS:
        tag = _WAS[aux[0]]
        return forms().inflected(lemma, "VB" if plural and tag == "VBZ" else tag)
    if aux[-1:] == ["been"] and aux[0] in ("has", "have", "had"):
        return f"{'had' if aux[0] == 'had' else 'have' if plural else 'has'} {participle}"
    if aux[-1:] == ["be"] and len(aux) == 2 and aux[0] in ("will", "would", "can", "could", "may", "might", "must"):
        return f"{aux[0]} {lemma}"
    return None
