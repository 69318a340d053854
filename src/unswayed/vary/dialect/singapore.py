"""Colloquial Singapore English, feature by feature: verbs, questions, what is left out, what is added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import ClassVar

from unswayed.base.edits import Edit
from unswayed.vary.dialect import Edits, FeatureOperator, Rule, base_form_rule, indian_english as shared, word_rule
from unswayed.vary.english import forms
from unswayed.vary.sentence import Sentence
from unswayed.vary.words import cased, word_lists

_IN = word_lists(files("unswayed.vary.dialect") / "data" / "singapore.toml")
_CLOSED = re.compile(r"\s*(?:[.!]|$)")
_HELPING = "is|are|was|were|do|does|did|has|have|ca|could|wo|would"
_TAG = re.compile(rf", (?:{_HELPING})n[’']t (?:it|he|she|they|we|you|I)(?=\?)")


def zero_copula(s: Sentence) -> Iterator[Edits]:
    """*she is busy* → *she busy*."""
    for i in range(1, len(s.words) - 1):
        subject = s.word_at(i - 1) in ("he", "she", "they", "we", "you") or s.noun_phrase(0, of=False) == i
        follows = s.tag_at(i + 1) in ("JJ", "VBG") or s.word_at(i + 1) in ("very", "so", "too")
        subject = subject and s.word_at(i - 1) not in ("there", "this", "that", "it") and not s.is_question
        if s.word_at(i) in ("is", "are") and subject and follows and s.after_space(i) and s.after_space(i + 1):
            yield (s.drop_word(i),)


def already_completive(s: Sentence) -> Iterator[Edits]:
    """*I have eaten* → *I ate already*: *already* for an action that is completed."""
    if not _is_one_clause(s) or any(word.lower in ("already", "ever", "never", "not") for word in s.words):
        return
    for i in range(1, len(s.words) - 1):
        perfect = s.word_at(i) in ("has", "have") and s.tag_at(i + 1) in ("VBN", "VBD") and _is_pronoun(s, i - 1)
        past = forms().inflected(forms().lemma(s.word_at(i + 1), "VBN"), "VBD") if perfect else None
        whole = i + 2 == len(s.words) or s.noun_phrase(i + 2) == len(s.words)
        if past and whole and s.word_at(i + 1) not in ("been", "had", "got"):
            yield (Edit(s.words[i].start, s.words[i + 1].end, past), Edit(s.end, s.end, " already"))


def _is_past(s: Sentence, i: int) -> bool:
    """Does another word say when, and does the verb stand alone after its subject?"""
    when = any(w.lower in _IN["past"] or (w.lower.isdigit() and len(w.lower) == 4) for w in s.words)
    helped = any(s.word_at(k) in _IN["be"] for k in range(max(0, i - 2), i))
    return when and not helped and not s.is_question and (_is_pronoun(s, i - 1) or s.noun_phrase(0, of=False) == i)


def _is_counted(s: Sentence, i: int) -> bool:
    """Does the word before say how many?"""
    before = s.word_at(i - 1)
    year = len(before) == 4 and before.isdigit()
    return not year and (before in _IN["many"] or (s.tag_at(i - 1) == "CD" and before not in ("1", "one")))


def never_past(s: Sentence) -> Iterator[Edits]:
    """*he didn't come* → *he never come*."""
    for i in range(1, len(s.words) - 1):
        if s.word_at(i) == "didn't" and s.tag_at(i + 1) == "VB" and not s.is_question:
            yield (s.replace_word(i, "never"),)
        elif (s.word_at(i), s.word_at(i + 1)) == ("did", "not") and s.tag_at(i + 2) == "VB":
            yield (Edit(s.words[i].start, s.words[i + 1].end, "never"),)


def ever_experience(s: Sentence) -> Iterator[Edits]:
    """*I have been to Japan* → *I ever go Japan before*."""
    for i in range(1, len(s.words) - 3):
        been = (s.word_at(i + 1), s.word_at(i + 2)) == ("been", "to") and s.word_at(i) in ("have", "has")
        if been and _is_pronoun(s, i - 1) and s.noun_phrase(i + 3) == len(s.words) and not s.is_question:
            yield (Edit(s.words[i].start, s.words[i + 2].end, "ever go"), Edit(s.end, s.end, " before"))


def can_or_not(s: Sentence) -> Iterator[Edits]:
    """*Can you help me?* → *You can help me or not?*"""
    asked = s.is_question and s.word_at(0) in ("can", "could") and (s.tag_at(1), s.tag_at(2)) == ("PRP", "VB")
    if asked and _has_no_break(s):
        said = cased(s.said(1, 2), s.text[s.start])
        yield (Edit(s.start, s.words[1].end, f"{said} can"), Edit(s.end, s.end, " or not"))


def wh_in_situ(s: Sentence) -> Iterator[Edits]:
    """*Where are you going?* → *You going where?*; *What do you want?* → *You want what?*"""
    first, helps = s.word_at(0), s.word_at(1)
    if not s.is_question or first not in ("where", "what", "who", "when") or not _has_no_break(s) or len(s.words) > 8:
        return
    end = s.noun_phrase(2, of=False)
    if end is None or end >= len(s.words) or s.word_at(2) in ("a", "an"):
        return
    helped = {"do": "VB", "does": "VB", "is": "VBG", "are": "VBG"}.get(helps) == s.tag_at(end)
    last = first in ("where", "when") or end == len(s.words) - 1
    if helped and last and s.tag_at(2) in ("PRP", "DT", "PRP$", "NNP"):
        opening = cased(s.text[s.words[2].start], s.text[s.start])
        yield (Edit(s.start, s.words[2].start + 1, opening), Edit(s.end, s.end, f" {first}"))


def is_it_tag(s: Sentence) -> Iterator[Edits]:
    """*You like it, don't you?* → *You like it, is it?*"""
    for match in _TAG.finditer(s.text, s.start, min(len(s.text), s.end + 2)):
        yield (Edit(match.start(), match.end(), ", is it"),)


def existential_got(s: Sentence) -> Iterator[Edits]:
    """*there are many cars here* → *got many cars here*."""
    for i in range(len(s.words) - 2):
        opens = i == 0 or s.word_at(i - 1) in ("because", "and", "but", "so")
        exists = s.word_at(i) == "there" and s.word_at(i + 1) in ("is", "are", "was", "were")
        thing = s.tag_at(i + 2) in ("CD", "DT", "JJ", "NN", "NNS") and s.word_at(i + 2) != "no"
        if opens and exists and thing and not s.is_question:
            start = s.words[i].start
            yield (Edit(start, s.words[i + 1].end, cased("got", s.text[start])),)


def no_if(s: Sentence) -> Iterator[Edits]:
    """*If you come late, you stand outside* → *You come late, you stand outside*."""
    if s.word_at(0) == "if" and _is_pronoun(s, 1) and s.word_at(2) != "were" and "," in s.text[s.start : s.end]:
        yield (s.drop_word(0),)


def subject_drop(s: Sentence) -> Iterator[Edits]:
    """*I don't know* → *Don't know*."""
    if len(s.words) < 3 or s.word_at(0) not in ("i", "we", "they", "it") or not s.after_space(1) or s.is_question:
        return
    if s.tag_at(1) in ("VBD", "VB", "VBZ", "MD") and s.word_at(1) not in _IN["be"]:
        yield (s.drop_word(0),)


def particle(s: Sentence) -> Iterator[Edits]:
    """*It is too late.* → *It is too late lah.*, *lor* or *leh*."""
    short = 3 <= len(s.words) <= 15 and s.has_verb(0, len(s.words)) and not s.is_question
    if "." in s.word_at(len(s.words) - 1):
        return  # *a.m.*: its dot is no end
    if short and _CLOSED.match(s.text, s.end) and s.word_at(len(s.words) - 1) not in _IN["particles"]:
        for said in ("lah", "lor", "leh"):
            yield (Edit(s.end, s.end, f" {said}"),)


def final_one(s: Sentence) -> Iterator[Edits]:
    """*He is always late* → *He is always late one*."""
    last = len(s.words) - 1
    stressed = s.word_at(last - 1) in ("always", "very", "so", "usually", "quite") and s.tag_at(last) == "JJ"
    if _is_one_clause(s) and stressed and _is_pronoun(s, 0) and s.word_at(last) not in ("many", "much", "few"):
        yield (Edit(s.end, s.end, " one"),)


def _is_pronoun(s: Sentence, i: int) -> bool:
    return i >= 0 and s.word_at(i) in ("i", "he", "she", "it", "they", "we", "you")


def _has_no_break(s: Sentence) -> bool:
    return not any(mark in s.text[s.start : s.end] for mark in ',;:("')


def _is_one_clause(s: Sentence) -> bool:
    """One short clause, so that what is said at its end belongs to its verb."""
    linked = any(word.tag in ("W", "CC") or word.lower in ("if", "that", "because", "since") for word in s.words)
    return len(s.words) <= 14 and _has_no_break(s) and not linked and not s.is_question


class Singapore(FeatureOperator):
    """Rewrites a text with a feature of Colloquial Singapore English, such as *lah*. The note names the feature.

    `feature` chooses one or more, separated by commas. By default, the operator takes one at random of those that fit.
    With `rate`, each place changes with that probability. Not validated against texts by speakers.
    """

    example = ("there are many people here", "got many people here")
    features: ClassVar[Mapping[str, Rule]] = {
        "discourse particle": particle,
        "already for completed action": already_completive,
        "zero copula": zero_copula,
        "zero past tense": base_form_rule("VBD", _is_past),  # *yesterday we walked home* → *yesterday we walk home*
        "zero third person -s": base_form_rule(  # *he works here* → *he work here*
            "VBZ", lambda s, i: s.word_at(i - 1) in ("he", "she", "it") or s.noun_phrase(0, of=False) == i
        ),
        "zero plural": base_form_rule("NNS", _is_counted),  # *two books* → *two book*
        "zero article": shared.article_omission,
        "subject pronoun drop": subject_drop,
        "object pronoun drop": shared.object_drop,
        "topic fronting": shared.object_fronting,
        "existential got": existential_got,
        "is it tag": is_it_tag,
        "can or not": can_or_not,
        "wh-word in place": wh_in_situ,
        "never for past denial": never_past,
        "kena passive": word_rule(  # *he was fined* → *he kena fined*, of what nobody wants done to them
            dict.fromkeys(("was", "were", "got"), "kena"),
            lambda s, i: (
                i > 0
                and s.word_at(i + 1) in _IN["suffered"]
                and s.after_space(i + 1)
                and (_is_pronoun(s, i - 1) or s.tag_at(i - 1) in ("NN", "NNS", "NNP"))
            ),
        ),
        "ever for experience": ever_experience,
        "condition without if": no_if,
        "sentence-final one": final_one,
        "mass nouns as count nouns": shared.mass_as_count,
    }
