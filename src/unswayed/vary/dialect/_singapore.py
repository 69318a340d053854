"""Features of Colloquial Singapore English, one a function: verbs, questions, what is left out, what is added."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.vary.dialect._features import Edits, asks, dropped, joined, lower, replaced, tag
from unswayed.vary.english import forms
from unswayed.vary.sentence import Sentence
from unswayed.vary.words import word_lists

_IN = word_lists(files("unswayed.vary.dialect") / "data" / "singapore.toml")
_CLOSED = re.compile(r"\s*(?:[.!]|$)")
_HELPING = "is|are|was|were|do|does|did|has|have|ca|could|wo|would"
_TAG = re.compile(rf", (?:{_HELPING})n[’']t (?:it|he|she|they|we|you|I)(?=\?)")


def zero_copula(s: Sentence) -> Iterator[Edits]:
    """*she is busy* → *she busy*."""
    for i in range(1, len(s.words) - 1):
        subject = lower(s, i - 1) in ("he", "she", "they", "we", "you") or s.noun_phrase(0, of=False) == i
        follows = tag(s, i + 1) in ("JJ", "VBG") or lower(s, i + 1) in ("very", "so", "too")
        subject = subject and lower(s, i - 1) not in ("there", "this", "that", "it") and not asks(s)
        if lower(s, i) in ("is", "are") and subject and follows and joined(s, i) and joined(s, i + 1):
            yield (dropped(s, i),)


def already_completive(s: Sentence) -> Iterator[Edits]:
    """*I have eaten* → *I ate already*: *already* for an action that is completed."""
    if not _simple(s) or any(word.lower in ("already", "ever", "never", "not") for word in s.words):
        return
    for i in range(1, len(s.words) - 1):
        perfect = lower(s, i) in ("has", "have") and tag(s, i + 1) in ("VBN", "VBD") and _pronoun(s, i - 1)
        past = forms().inflected(forms().lemma(lower(s, i + 1), "VBN"), "VBD") if perfect else None
        whole = i + 2 == len(s.words) or s.noun_phrase(i + 2) == len(s.words)
        if past and whole and lower(s, i + 1) not in ("been", "had", "got"):
            yield (Edit(s.words[i].start, s.words[i + 1].end, past), Edit(s.end, s.end, " already"))


def zero_past(s: Sentence) -> Iterator[Edits]:
    """*yesterday we walked home* → *yesterday we walk home*, where another word says when."""
    when = any(w.lower in _IN["past"] or (w.lower.isdigit() and len(w.lower) == 4) for w in s.words)
    for i in range(1, len(s.words)) if when and not asks(s) else ():
        lemma = forms().lemma(lower(s, i), "VBD")
        known = tag(s, i) == "VBD" and lemma != lower(s, i) and lower(s, i) not in ("was", "were", "had", "did")
        helped = any(lower(s, k) in _IN["be"] for k in range(max(0, i - 2), i))
        if known and joined(s, i) and not helped and (_pronoun(s, i - 1) or s.noun_phrase(0, of=False) == i):
            yield (replaced(s, i, lemma),)


def zero_third_person(s: Sentence) -> Iterator[Edits]:
    """*he work here*: no *-s* on the verb."""
    for i in range(1, len(s.words)):
        lemma = forms().lemma(lower(s, i), "VBZ")
        known = tag(s, i) == "VBZ" and lemma != lower(s, i) and lower(s, i) not in ("is", "has", "does")
        if known and joined(s, i) and (lower(s, i - 1) in ("he", "she", "it") or s.noun_phrase(0, of=False) == i):
            yield (replaced(s, i, lemma),)


def never_past(s: Sentence) -> Iterator[Edits]:
    """*he didn't come* → *he never come*."""
    for i in range(1, len(s.words) - 1):
        if lower(s, i) == "didn't" and tag(s, i + 1) == "VB" and not asks(s):
            yield (replaced(s, i, "never"),)
        elif (lower(s, i), lower(s, i + 1)) == ("did", "not") and tag(s, i + 2) == "VB":
            yield (Edit(s.words[i].start, s.words[i + 1].end, "never"),)


def kena_passive(s: Sentence) -> Iterator[Edits]:
    """*he was fined* → *he kena fined*: the passive of what one would rather not have done to oneself."""
    for i in range(1, len(s.words) - 1):
        suffered = lower(s, i) in ("was", "were", "got") and lower(s, i + 1) in _IN["suffered"] and joined(s, i + 1)
        if suffered and (_pronoun(s, i - 1) or tag(s, i - 1) in ("NN", "NNS", "NNP")):
            yield (replaced(s, i, "kena"),)


def ever_experience(s: Sentence) -> Iterator[Edits]:
    """*I have been to Japan* → *I ever go Japan before*."""
    for i in range(1, len(s.words) - 3):
        been = (lower(s, i + 1), lower(s, i + 2)) == ("been", "to") and lower(s, i) in ("have", "has")
        if been and _pronoun(s, i - 1) and s.noun_phrase(i + 3) == len(s.words) and not asks(s):
            yield (Edit(s.words[i].start, s.words[i + 2].end, "ever go"), Edit(s.end, s.end, " before"))


def can_or_not(s: Sentence) -> Iterator[Edits]:
    """*Can you help me?* → *You can help me or not?*"""
    if asks(s) and lower(s, 0) in ("can", "could") and tag(s, 1) == "PRP" and tag(s, 2) == "VB" and _no_break(s):
        said = s.text[s.words[1].start : s.words[1].end]
        said = said[0].upper() + said[1:] if s.text[s.start].isupper() else said
        yield (Edit(s.start, s.words[1].end, f"{said} can"), Edit(s.end, s.end, " or not"))


def wh_in_situ(s: Sentence) -> Iterator[Edits]:
    """*Where are you going?* → *You going where?*; *What do you want?* → *You want what?*"""
    first, helps = lower(s, 0), lower(s, 1)
    if not asks(s) or first not in ("where", "what", "who", "when") or not _no_break(s) or len(s.words) > 8:
        return
    end = s.noun_phrase(2, of=False)
    if end is None or end >= len(s.words) or lower(s, 2) in ("a", "an"):
        return
    helped = {"do": "VB", "does": "VB", "is": "VBG", "are": "VBG"}.get(helps) == tag(s, end)
    last = first in ("where", "when") or end == len(s.words) - 1
    if helped and last and tag(s, 2) in ("PRP", "DT", "PRP$", "NNP"):
        opening = s.text[s.words[2].start]
        opening = opening.upper() if s.text[s.start].isupper() else opening
        yield (Edit(s.start, s.words[2].start + 1, opening), Edit(s.end, s.end, f" {first}"))


def is_it_tag(s: Sentence) -> Iterator[Edits]:
    """*You like it, don't you?* → *You like it, is it?*"""
    for match in _TAG.finditer(s.text, s.start, min(len(s.text), s.end + 2)):
        yield (Edit(match.start(), match.end(), ", is it"),)


def existential_got(s: Sentence) -> Iterator[Edits]:
    """*there are many cars here* → *got many cars here*."""
    for i in range(len(s.words) - 2):
        opens = i == 0 or lower(s, i - 1) in ("because", "and", "but", "so")
        if not opens or lower(s, i) != "there" or lower(s, i + 1) not in ("is", "are", "was", "were") or asks(s):
            continue
        if tag(s, i + 2) in ("CD", "DT", "JJ", "NN", "NNS") and lower(s, i + 2) != "no":
            said = "Got" if s.text[s.words[i].start].isupper() else "got"
            yield (Edit(s.words[i].start, s.words[i + 1].end, said),)


def no_if(s: Sentence) -> Iterator[Edits]:
    """*If you come late, you stand outside* → *You come late, you stand outside*."""
    if lower(s, 0) == "if" and _pronoun(s, 1) and lower(s, 2) != "were" and "," in s.text[s.start : s.end]:
        yield (dropped(s, 0),)


def subject_drop(s: Sentence) -> Iterator[Edits]:
    """*I don't know* → *Don't know*."""
    if len(s.words) < 3 or lower(s, 0) not in ("i", "we", "they", "it") or not joined(s, 1) or asks(s):
        return
    if tag(s, 1) in ("VBD", "VB", "VBZ", "MD") and lower(s, 1) not in _IN["be"]:
        yield (dropped(s, 0),)


def zero_plural(s: Sentence) -> Iterator[Edits]:
    """*two books* → *two book*, where another word says how many."""
    for i in range(1, len(s.words)):
        counted = (tag(s, i - 1) == "CD" and lower(s, i - 1) not in ("1", "one")) or lower(s, i - 1) in _IN["many"]
        one = forms().lemma(lower(s, i), "NNS")
        year = len(lower(s, i - 1)) == 4 and lower(s, i - 1).isdigit()
        if counted and not year and tag(s, i) == "NNS" and one != lower(s, i) and joined(s, i):
            yield (replaced(s, i, one),)


def particle(s: Sentence) -> Iterator[Edits]:
    """*It is too late.* → *It is too late lah.*, *lor* or *leh*."""
    short = 3 <= len(s.words) <= 15 and s.has_verb(0, len(s.words)) and not asks(s)
    if "." in lower(s, len(s.words) - 1):
        return  # *a.m.*: its dot is no end
    if short and _CLOSED.match(s.text, s.end) and lower(s, len(s.words) - 1) not in _IN["particles"]:
        for said in ("lah", "lor", "leh"):
            yield (Edit(s.end, s.end, f" {said}"),)


def final_one(s: Sentence) -> Iterator[Edits]:
    """*He is always late* → *He is always late one*."""
    last = len(s.words) - 1
    stressed = lower(s, last - 1) in ("always", "very", "so", "usually", "quite") and tag(s, last) == "JJ"
    if _simple(s) and stressed and _pronoun(s, 0) and lower(s, last) not in ("many", "much", "few"):
        yield (Edit(s.end, s.end, " one"),)


def _pronoun(s: Sentence, i: int) -> bool:
    return i >= 0 and lower(s, i) in ("i", "he", "she", "it", "they", "we", "you")


def _no_break(s: Sentence) -> bool:
    return not any(mark in s.text[s.start : s.end] for mark in ',;:("')


def _simple(s: Sentence) -> bool:
    """One short clause, so that what is said at its end belongs to its verb."""
    linked = any(word.tag in ("W", "CC") or word.lower in ("if", "that", "because", "since") for word in s.words)
    return len(s.words) <= 14 and _no_break(s) and not linked and not asks(s)
