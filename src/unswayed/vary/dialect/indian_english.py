"""Indian English, feature by feature: verbs, questions and order of a clause; articles, pronouns and focus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.resources import files
from typing import ClassVar

from unswayed.base.edits import Edit
from unswayed.vary.dialect import Edits, FeatureOperator, Rule
from unswayed.vary.english import forms
from unswayed.vary.sentence import MONTHS, WEEKDAYS, Sentence
from unswayed.vary.words import cased, word_lists

_IN = word_lists(files("unswayed.vary.dialect") / "data" / "indian_english.toml")
_BE = {"VBZ": "is", "VB": "are"}
_VERBS = "is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should"
_TAG = re.compile(rf", (?:(?:{_VERBS})n[’']t (?:it|he|she|they|we|you|I)|right)(?=[?,])")


def progressive(s: Sentence, stative: bool) -> Iterator[Edits]:
    """*he has a television* → *he is having a television*; *must know* → *must be knowing*; *gets* → *is getting*."""
    if s.is_question:
        return
    for i in range(1, len(s.words)):
        word, before = s.words[i], s.words[i - 1]
        lemma = {"has": "have", "have": "have"}.get(word.lower) or forms().lemma(word.lower, word.tag)
        doing = "having" if lemma == "have" else forms().inflected(lemma, "VBG")
        follows = s.words[i + 1] if i + 1 < len(s.words) else None
        wanted = lemma in _IN["stative"] if stative else lemma not in _IN["stative"] | _IN["never_progressive"]
        if not doing or not wanted or not s.joined(i) or lemma in ("be", "do") or follows is None:
            continue
        if lemma == "have" and (follows.tag in ("VBN", "VBD", "TO", "RB") or follows.lower.endswith(("to", "ed"))):
            continue
        if before.tag == "MD" and word.tag == "VB" and lemma in _IN["stative"] and before.lower in ("will", "must"):
            yield (Edit(word.start, word.end, f"be {doing}"),)
        elif word.tag in _BE:
            # The subject is a pronoun in no question, or a noun phrase that begins the sentence.
            subject = before.tag in ("NN", "NNS") and s.noun_phrase(0, of=False) == i
            if before.lower in _IN["present"]:
                subject = s.word_at(i - 2) not in _IN["auxiliary"] | _IN["bare_after"]
            if subject:
                yield (Edit(word.start, word.end, f"{_BE[word.tag]} {doing}"),)


def lack_of_agreement(s: Sentence) -> Iterator[Edits]:
    """*he talks to them* → *he talk to them*."""
    for i in range(1, len(s.words)):
        word = s.words[i]
        lemma = "do" if word.lower == "does" else forms().lemma(word.lower, "VBZ")
        known = word.tag == "VBZ" and lemma != word.lower and word.lower not in ("is", "has")
        if known and s.word_at(i - 1) in ("he", "she", "it"):
            yield (Edit(word.start, word.end, lemma),)


def copula_omission(s: Sentence) -> Iterator[Edits]:
    """*they are wearing* → *they wearing*."""
    if s.is_question:
        return
    for i in range(1, len(s.words) - 1):
        word, before, after = s.words[i], s.words[i - 1], s.words[i + 1]
        subject = before.lower in ("he", "she", "they", "we", "you") or s.noun_phrase(0, of=False) == i
        subject = subject and before.lower not in ("there", "this", "it", "i", "that")
        follows = after.tag in ("JJ", "VBG", "DT", "RB", "IN") and after.lower != "not"
        if word.lower in ("is", "are") and subject and follows and s.joined(i) and s.joined(i + 1):
            yield (Edit(word.start, after.start, ""),)


def lack_of_inversion(s: Sentence) -> Iterator[Edits]:
    """*what are you doing?* → *what you are doing?*"""
    if not s.is_question:
        return
    for i in range(1, len(s.words) - 2):
        end = s.noun_phrase(i + 1, of=False)
        if s.words[i - 1].tag != "W" or s.words[i].lower not in _IN["turned"] or end is None or end == len(s.words):
            continue
        vague = s.word_at(i + 1) in ("a", "an") or (s.words[end].tag == "VBG" and s.words[i + 1].tag in ("JJ", "NN"))
        if s.words[end].tag in ("VB", "VBG", "VBN", "VBD") and s.joined(i + 1) and s.joined(end) and not vague:
            said, helping = s.said(i + 1, end), s.text[s.words[i].start : s.words[i].end]
            yield (Edit(s.words[i].start, s.words[end - 1].end, f"{said} {helping}"),)


def embedded_inversion(s: Sentence) -> Iterator[Edits]:
    """*I know what they are doing* → *I know what are they doing*."""
    for i in range(2, len(s.words) - 1):
        end = s.noun_phrase(i, of=False)
        asked = s.words[i - 2].lower in _IN["asked"] and s.words[i - 1].tag == "W"
        if not asked or end is None or end >= len(s.words) or s.words[end].lower not in _IN["turned"]:
            continue
        if all(s.joined(k) for k in range(i, end + 1)):
            said, helping = s.said(i, end), s.words[end].lower
            yield (Edit(s.words[i].start, s.words[end].end, f"{helping} {said}"),)


def invariant_tag(s: Sentence) -> Iterator[Edits]:
    """*…, aren't they?* → *…, isn't it?*, *no?* or *na?*"""
    for match in _TAG.finditer(s.text, s.start, min(len(s.text), s.end + 2)):
        if s.text[s.start : match.start()].lower() in ("i know", "yeah", "oh"):
            continue
        for new in (", isn’t it", ", no", ", na"):
            if new.replace("’", "'") != match[0].replace("’", "'"):
                yield (Edit(match.start(), match.end(), new),)


def phrase_fronting(s: Sentence, reduced: bool) -> Iterator[Edits]:
    """*I stayed there for two years* → *for two years I stayed there*; reduced, *two years I stayed there*."""
    last = s.words[-1]
    if not _is_plain(s) or (last.lower not in _IN["periods"] and last.tag != "NNP"):
        return
    for i in range(len(s.words) - 2, 1, -1):
        word, before = s.words[i], s.words[i - 1]
        when = word.lower in ("in", "at", "on") or last.lower in _IN["periods"]
        if not (word.lower in _IN["places"] and when and s.joined(i) and s.noun_phrase(i + 1) == len(s.words)):
            continue
        # The prepositional phrase with which the sentence ends must follow a verb or a noun.
        if before.tag in ("IN", "TO", "DT", "PRP$", "JJ") or before.lower in _IN["auxiliary"] | {"up", "one"}:
            return
        counted = any(inside.tag == "CD" and not inside.lower.isalpha() for inside in s.words[i:])
        if not reduced:
            yield _front_from(s, i)
        elif word.lower in ("in", "on", "at", "for") and not counted:
            yield (_front_from(s, i + 1)[0], Edit(before.end, s.end, ""))
        return


def object_fronting(s: Sentence) -> Iterator[Edits]:
    """*you have to try this cake* → *this cake you have to try*."""
    subject = next((i for i, word in enumerate(s.words) if word.lower in _IN["subjects"]), None)
    if subject is None or not _is_plain(s, subject):
        return
    for i in range(subject + 2, len(s.words)):
        many = s.word_at(i) == "a" and s.word_at(i + 1) == "lot"
        definite = s.words[i].tag == "PRP$" or s.words[i].lower in ("this", "that", "these", "those", "the")
        verbs = s.words[subject + 1 : i]
        chain = all(word.tag in ("VB", "VBD", "VBN", "MD", "RB", "TO") for word in verbs)
        if not (many or definite) or not chain or verbs[-1].lower in _IN["linking"]:
            continue
        if verbs[-1].tag in ("VB", "VBN", "VBD") and s.noun_phrase(i) == len(s.words):
            yield _front_from(s, i, subject)


def _is_plain(s: Sentence, subject: int = 0) -> bool:
    """One short clause whose only subject is a pronoun, so that what ends it can be moved before that."""
    inside = s.text[s.start : s.end]
    several = any(word.tag in ("W", "CC") for word in s.words) or any(mark in inside for mark in ",(:")
    one = sum(word.lower in _IN["subjects"] for word in s.words) == 1
    before = all(word.tag in ("IN", "DT", "CD", "NN", "NNS", "RB", "JJ") for word in s.words[:subject])
    whole = one and before and not any(word.lower in ("if", "that", "than", "there") for word in s.words)
    return s.words[subject].tag == "PRP" and len(s.words) <= 14 and whole and not several and not s.is_question


def _front_from(s: Sentence, i: int, subject: int = 0) -> Edits:
    """What stands from a word to the end goes before the subject, and the sentence's capital with it."""
    said, first = s.text[s.words[i].start : s.end], s.words[subject]
    word = s.text[first.start : first.end]
    if subject == 0 and word[0].isupper() and first.lower != "i":
        said, word = said[0].upper() + said[1:], word[0].lower() + word[1:]
    elif subject == 0 and word == "I" and s.text[s.end : s.end + 1] in (".", "!"):
        said = said[0].upper() + said[1:]
    return (Edit(first.start, first.end, f"{said} {word}"), Edit(s.words[i - 1].end, s.end, ""))


_HELPING = ("is", "was", "are", "were", "has", "had", "did", "does")
_NEVER_PLACES = MONTHS | WEEKDAYS


def focus_only(s: Sentence) -> Iterator[Edits]:
    """*I was there yesterday* → *I was there yesterday only*."""
    last = s.words[-1]
    if len(s.words) < 3 or s.is_question or s.word_at(len(s.words) - 2) in ("each", "every", "per"):
        return
    name = last.tag == "NNP" and last.lower not in _NEVER_PLACES
    opens = (i for i, word in enumerate(s.words[2:-1], 3) if word.lower in ("in", "at"))
    if last.lower in _IN["times"] or (name and any(s.noun_phrase(i) == len(s.words) for i in opens)):
        yield (Edit(s.end, s.end, " only"),)


def focus_itself(s: Sentence) -> Iterator[Edits]:
    """*He lives in Delhi* → *He lives in Delhi itself*."""
    if s.is_question:
        return
    for i in range(2, len(s.words) - 1):
        end = s.noun_phrase(i + 1, of=False) if s.words[i].lower in ("in", "at", "near") else None
        if end is None or end - i > 3 or s.words[end - 1].tag != "NNP" or s.words[end - 1].lower in _NEVER_PLACES:
            continue
        place = not re.search(r"\d|['’]", s.words[end - 1].lower)
        if place and (end == len(s.words) or s.words[end].tag not in ("CD", "NN", "NNS", "POS")):
            at = s.words[end - 1].end
            yield (Edit(at, at, " itself"),)


def article_omission(s: Sentence) -> Iterator[Edits]:
    """*the main reason* → *main reason*."""
    for i in range(len(s.words) - 1):
        word, after = s.words[i], s.words[i + 1]
        if word.lower not in ("the", "a", "an") or after.tag not in ("NN", "NNS", "JJ") or not s.joined(i + 1):
            continue
        if after.lower not in ("few", "little", "lot", "same", "most", "only", "other", "number", "top"):
            yield (s.drop_word(i),)


def extraneous_article(s: Sentence) -> Iterator[Edits]:
    """*she has business experience* → *she has a business experience*."""
    for i in range(1, len(s.words)):
        word, before = s.words[i], s.words[i - 1]
        quality = before.tag == "JJ" and s.tag_at(i - 2) in ("VB", "VBZ", "VBD") and before.lower not in _IN["amounts"]
        opens = before.tag in ("VB", "VBZ", "VBD", "IN", "RB") and before.lower not in _IN["amounts"] | {"of", "from"}
        if word.lower not in _IN["abstract"] or word.tag != "NN" or s.tag_at(i + 1) in ("NN", "NNS", "VBG"):
            continue
        if quality:
            yield (Edit(before.start, before.start, "an " if before.lower[0] in "aeiou" else "a "),)
        elif opens and (before.tag in ("IN", "RB") or word.lower not in ("money", "traffic", "work")):
            article = "the " if before.tag in ("IN", "RB") else "an " if word.lower[0] in "aeiou" else "a "
            yield (Edit(word.start, word.start, article),)


_NOUN_LIKE = ("NN", "NNS", "NNP", "JJ", "VBG", "VB")


def mass_as_count(s: Sentence) -> Iterator[Edits]:
    """*some information* → *some informations*."""
    for i, word in enumerate(s.words):
        after = s.words[i + 1] if i + 1 < len(s.words) else None
        single = s.word_at(i - 1) in ("a", "an", "this", "that", "each", "every", "much")
        single = single or (s.word_at(i - 1) == "of" and s.tag_at(i + 1) in ("VBZ", "VBD", "VB"))
        name = s.text[word.start].isupper() and i > 0
        if word.lower not in _IN["mass"] or single or name or (after is not None and after.tag in _NOUN_LIKE):
            continue
        plural = Edit(word.end, word.end, "es" if word.lower.endswith("ch") else "s")
        agreeing = {"is": "are", "was": "were", "has": "have"}.get(after.lower) if after else None
        yield (plural, Edit(after.start, after.end, agreeing)) if after and agreeing else (plural,)


def preposition_omission(s: Sentence) -> Iterator[Edits]:
    """*for two years I stayed* → *two years I stayed*."""
    for i in range(len(s.words) - 1):
        word, end = s.words[i], s.noun_phrase(i + 1, of=False)
        if word.lower not in _IN["before_time"] or end is None or s.words[end - 1].lower not in _IN["time"]:
            continue
        after = s.words[i + 1]
        if end < len(s.words) and s.words[end].lower in ("of", "prior", "after", "before"):
            continue
        if s.joined(i + 1) and after.lower not in ("the", "a", "times"):
            yield (s.drop_word(i),)


def resumptive_subject(s: Sentence, comma: str) -> Iterator[Edits]:
    """*my daughter is away* → *my daughter she is away*; with a comma, *my daughter, she is away*."""
    end = s.noun_phrase(0, of=False)
    if s.words[0].tag not in ("DT", "PRP$") or end is None or end >= len(s.words) or not s.joined(end):
        return
    verb, head = s.words[end], s.words[end - 1].lower
    if verb.tag not in ("VBZ", "VBD", "VB", "MD") or (s.tag_at(end + 1) in ("VB", "VBD", "MD") and verb.tag != "MD"):
        return  # *the radio shows have*: the noun goes on
    if any("'s" in word.lower for word in s.words[:end]) or s.is_question:
        return
    if s.plural(0, end):
        pronoun = "" if verb.tag == "VBZ" or verb.lower in ("is", "was", "has") else "they"
    elif head in _IN["women"] or head in _IN["men"]:
        pronoun = "she" if head in _IN["women"] else "he"
    else:
        person = head.endswith(("er", "or", "ist", "person", "ant", "ent", "ian"))
        pronoun = "it" if s.tag_at(end - 1) == "NN" and not person else ""
    if pronoun:
        yield (Edit(s.words[end - 1].end if comma else verb.start, verb.start, f"{comma}{pronoun} "),)


def resumptive_object(s: Sentence) -> Iterator[Edits]:
    """*the bag which I left in the room* → *the bag which I left it in the room*."""
    for i in range(1, len(s.words) - 2):
        relative = s.words[i].lower in ("which", "that") and s.words[i - 1].tag in ("NN", "NNS")
        subject = s.words[i + 1].lower in _IN["subjects"] - {"it"} or s.words[i + 1].tag == "NNP"
        verb = forms().lemma(s.words[i + 2].lower, s.words[i + 2].tag)
        known = verb in _IN["transitive"] and s.words[i + 2].tag in ("VBD", "VB", "VBZ")
        if relative and subject and known and s.tag_at(i + 3) in ("", "IN", "RB", "VBZ", "VBD", "MD", "CC"):
            at = s.words[i + 2].end
            yield (Edit(at, at, " them" if s.words[i - 1].tag == "NNS" else " it"),)


def object_drop(s: Sentence) -> Iterator[Edits]:
    """*she doesn't like it* → *she doesn't like*."""
    for i in range(2, len(s.words)):
        verb, after = s.words[i - 1], s.word_at(i + 1)
        last = after in ("", "here", "there", "for")
        last = last or (after == "to" and verb.lower in ("give", "gave", "sent", "show"))
        denied = s.words[i - 2].lower in ("don't", "doesn't", "didn't")  # *doesn't like*: no *like a*
        doing = (denied or verb.tag in ("VB", "VBD", "VBZ")) and "n't" not in verb.lower and verb.lower not in _HELPING
        doing = doing and verb.lower not in ("do", "make", "is", "be", "about")
        if s.words[i].lower in ("it", "them") and doing and last and s.joined(i):
            yield (Edit(s.words[i - 1].end, s.words[i].end, ""),)


def general_extender(s: Sentence) -> Iterator[Edits]:
    """*we had no TV* → *we had no TV and all*."""
    if 2 < len(s.words) <= 20 and s.words[-1].tag == "NNS" and s.has_verb(0, len(s.words)) and not s.is_question:
        yield (Edit(s.end, s.end, " and all"),)


def non_initial_existential(s: Sentence) -> Iterator[Edits]:
    """*there are five balls* → *five balls are there*."""
    if s.is_question:
        return
    for i in range(len(s.words) - 2):
        there, verb, end = s.words[i], s.words[i + 1], s.noun_phrase(i + 2)
        opens = i == 0 or s.word_at(i - 1) in _IN["time"] | {"because", "and", "but", "so", "if", "when"}
        if there.lower != "there" or verb.lower not in ("is", "are", "was", "were") or not opens or end is None:
            continue
        if (end == len(s.words) or (end == len(s.words) - 1 and s.tag_at(end) == "RB")) and s.word_at(i + 2) != "no":
            said = cased(s.said(i + 2, end), s.text[there.start])
            yield (Edit(there.start, s.words[end - 1].end, f"{said} {verb.lower} there"),)


class IndianEnglish(FeatureOperator):
    """Rewrites a text with a feature of Indian English, such as *only* for focus. The note names the feature.

    `feature` chooses one or more of the 22, separated by commas. By default, the operator takes one at random of those
    that fit. With `rate`, each place changes with that probability.
    """

    example = ("my daughter is attending the university", "my daughter is attending university")
    features: ClassVar[Mapping[str, Rule]] = {
        "article omission": article_omission,
        "copula omission": copula_omission,
        "direct object pronoun drop": object_drop,
        "extraneous article": extraneous_article,
        "focus itself": focus_itself,
        "focus only": focus_only,
        "general extender and all": general_extender,
        "habitual progressive": partial(progressive, stative=False),
        "invariant tag": invariant_tag,
        "inversion in embedded clause": embedded_inversion,
        "lack of agreement": lack_of_agreement,
        "lack of inversion in wh-questions": lack_of_inversion,
        "left dislocation": partial(resumptive_subject, comma=", "),
        "mass nouns as count nouns": mass_as_count,
        "non-initial existential": non_initial_existential,
        "object fronting": object_fronting,
        "preposition omission": preposition_omission,
        "prepositional phrase fronting with reduction": partial(phrase_fronting, reduced=True),
        "resumptive object pronoun": resumptive_object,
        "resumptive subject pronoun": partial(resumptive_subject, comma=""),
        "stative progressive": partial(progressive, stative=True),
        "topicalized non-argument constituent": partial(phrase_fronting, reduced=False),
    }
