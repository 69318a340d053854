"""African American English, feature by feature: the verb phrase, then questions, denials and nouns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import ClassVar

from unswayed.base.edits import Edit
from unswayed.vary.dialect import Edits, FeatureOperator, Rule, base_form_rule, word_rule
from unswayed.vary.english import forms
from unswayed.vary.sentence import Sentence
from unswayed.vary.words import cased, word_lists

_IN = word_lists(files("unswayed.vary.dialect") / "data" / "african_american.toml")
_NOUNS = ("NN", "NNS", "NNP")
_DONE, _NOT_DONE = ("VBN", "VBD"), ("been", "had", "got", "done")  # tags of what is completed, and what never is
_NEGATED = {"isn't", "aren't", "hasn't", "haven't"}


def _ends_subject(s: Sentence, i: int) -> bool:
    """Does the word end a subject, so that a verb may follow: a pronoun or a noun, outside a question?"""
    return (s.word_at(i) in _IN["subject"] or s.tag_at(i) in _NOUNS) and s.word_at(i) not in _IN["never_subject"]


def zero_copula(s: Sentence) -> Iterator[Edits]:
    """*she is working* → *she working*; *they're late* → *they late*."""
    for i in range(len(s.words) - 1):
        person = i > 0 and (s.word_at(i - 1) in _IN["subject"] or s.tag_at(i - 1) == "NNP")
        word, after = s.words[i], ("VBG", "JJ", "JJR", "CD", "DT") if person else ("VBG", "JJ")
        if s.tag_at(i + 1) not in after or s.word_at(i + 1) in _IN["never_after_zero"] or not s.after_space(i + 1):
            continue
        if word.lower in ("is", "are") and s.after_space(i) and _ends_subject(s, i - 1) and s.word_at(i - 1) != "it":
            if not any(s.word_at(k) == "how" and s.word_at(k + 1) in ("many", "much", "long", "old") for k in range(i)):
                yield (s.drop_word(i),)
        elif word.lower in _IN["contracted_be"]:
            mark = max(s.text.rfind(sign, word.start, word.end) for sign in "'’")
            yield (Edit(mark, word.end, ""),)


def possessive_got(s: Sentence) -> Iterator[Edits]:
    """*he has two dogs* → *he got two dogs*."""
    for i in range(1, len(s.words) - 1):
        owns = s.tag_at(i + 1) in ("CD", "DT", "JJ", "NN", "NNS", "PRP$") and s.tag_at(i + 2) not in ("VBN", "VBD")
        if s.word_at(i) in ("has", "have") and owns and s.after_space(i) and _ends_subject(s, i - 1):
            asked = s.is_question and not any(s.word_at(k) in ("if", "when") for k in range(i))
            if not asked and not any(s.word_at(k) in _IN["auxiliary"] | {"hope"} for k in range(max(0, i - 4), i)):
                yield (s.replace_word(i, "got"),)


def habitual_be(s: Sentence) -> Iterator[Edits]:
    """*she works every day* → *she be working every day*; *they are always busy* → *they always be busy*."""
    words = [*(word.lower for word in s.words), ""]
    habits = [i for i, word in enumerate(words) if word in _IN["habit"]]
    habits += [i for i, word in enumerate(words[:-1]) if word == "every" and words[i + 1] in _IN["periods"]]
    if not habits or s.is_question:
        return
    for i in range(1, len(s.words) - 1):
        if not any(0 < at - i < 9 or at == i - 1 for at in habits) or s.word_at(i - 2) in _IN["no_clause"]:
            continue
        if s.word_at(i) in ("is", "are") and _ends_subject(s, i - 1):
            adverb = i + 1 in habits
            if s.tag_at(i + 1 + adverb) in ("VBG", "JJ"):
                end, new = (s.words[i + 1].end, f"{s.word_at(i + 1)} be") if adverb else (s.words[i].end, "be")
                yield (Edit(s.words[i].start, end, new),)
        elif s.tag_at(i) in ("VBZ", "VB") and s.word_at(i - 1) in ("he", "she", "it", "they", "we", "you", "i"):
            doing = forms().inflected(s.lemma_of(i), "VBG")
            action = s.lemma_of(i) not in _IN["stative"] and s.word_at(i - 2) not in _IN["auxiliary"]
            if doing and action and s.word_at(i) not in _IN["auxiliary"]:
                yield (s.replace_word(i, f"be {doing}"),)


def gon_future(s: Sentence) -> Iterator[Edits]:
    """*she will leave* → *she gon' leave*; *they are going to leave* → *they gon' leave*."""
    for i in range(1, len(s.words) - 1):
        said = f"gon{s.apostrophe}"
        if s.word_at(i) == "will" and s.tag_at(i + 1) == "VB" and _ends_subject(s, i - 1) and s.after_space(i + 1):
            yield (s.replace_word(i, said),)
        going = s.word_at(i) in ("is", "are") and s.word_at(i + 1) == "going" and s.word_at(i + 2) == "to"
        if going and s.tag_at(i + 3) == "VB" and _ends_subject(s, i - 1):
            yield (Edit(s.words[i].start, s.words[i + 2].end, said),)


def reduced_to(s: Sentence) -> Iterator[Edits]:
    """*he wants to go* → *he wanna go*, *has to* → *gotta*, *trying to* → *tryna*."""
    for i in range(len(s.words) - 2):
        new = {"wants": "wanna", "want": "wanna", "has": "gotta", "have": "gotta", "trying": "tryna"}.get(s.word_at(i))
        follows = s.word_at(i + 1) == "to" and s.tag_at(i + 2) == "VB"
        follows = follows and s.after_space(i + 1) and s.after_space(i + 2)
        if new and follows and (s.word_at(i - 1) not in _IN["auxiliary"] or new == "tryna"):
            yield (Edit(s.words[i].start, s.words[i + 1].end, new),)


def alveolar_ing(s: Sentence) -> Iterator[Edits]:
    """*working* → *workin'*."""
    for i, word in enumerate(s.words):
        noun = s.tag_at(i - 1) in ("DT", "JJ", "PRP$", "NN", "POS", "CD") or word.lower in _IN["never_in"]
        if word.tag == "VBG" and len(word.lower) > 5 and word.lower.endswith("ing") and not noun:
            shape = s.text[word.start : word.end]
            if shape[1:].islower():
                yield (Edit(word.end - 1, word.end, s.apostrophe),)


def no_inversion(s: Sentence) -> Iterator[Edits]:
    """*how much does she need?* → *how much she need?*; *what are you doing?* → *what you doing?*"""
    if not s.is_question or not any(word.tag == "W" for word in s.words):
        return
    for i in range(1, len(s.words) - 2):
        if not s.after_space(i) or not s.after_space(i + 1) or not any(s.tag_at(k) == "W" for k in range(i)):
            continue
        end = s.noun_phrase(i + 1, of=False)
        if end is None or end >= len(s.words) or not s.after_space(end) or s.word_at(i + 1) in ("i", "a", "an"):
            continue
        if s.word_at(i) in ("do", "does") and s.word_at(end) == "have" and s.tag_at(end + 1) != "TO":
            yield (s.drop_word(i), s.replace_word(end, "got"))
        elif (s.word_at(i) in ("do", "does") and s.tag_at(end) == "VB") or (
            s.word_at(i) in ("is", "are") and s.tag_at(end) == "VBG" and s.tag_at(i + 1) in ("PRP", "DT", "NNP", "PRP$")
        ):
            yield (s.drop_word(i),)
        elif s.word_at(i) == "will" and s.tag_at(end) == "VB":
            at = s.words[end].start
            yield (s.drop_word(i), Edit(at, at, f"gon{s.apostrophe} "))


def existential_it(s: Sentence) -> Iterator[Edits]:
    """*there are five balls* → *it's five balls*; *there was a fire* → *it was a fire*."""
    for i in range(len(s.words) - 2):
        there = s.word_at(i) == "there" and s.after_space(i + 1)
        if not there or s.tag_at(i + 2) not in ("CD", "DT", "JJ", "NN", "NNS"):
            continue
        if s.word_at(i + 1) in ("is", "are"):
            it = cased("it", s.text[s.words[i].start])
            yield (Edit(s.words[i].start, s.words[i + 1].end, f"{it}{s.apostrophe}s"),)
        elif s.word_at(i + 1) in ("was", "were"):
            yield (s.replace_word(i, "it"), s.replace_word(i + 1, "was"))


def aint(s: Sentence) -> Iterator[Edits]:
    """*she isn't here* → *she ain't here*; *he didn't see it* → *he ain't see it*."""
    said = f"ain{s.apostrophe}t"
    for i in range(1, len(s.words) - 1):
        if s.word_at(i) in _NEGATED or (s.word_at(i) == "didn't" and s.tag_at(i + 1) == "VB"):
            if _ends_subject(s, i - 1):
                yield (s.replace_word(i, said),)
        elif s.word_at(i) in ("is", "are", "has", "have") and s.word_at(i + 1) == "not" and _ends_subject(s, i - 1):
            yield (Edit(s.words[i].start, s.words[i + 1].end, said),)


def invariant_dont(s: Sentence) -> Iterator[Edits]:
    """*he doesn't know* → *he don't know*."""
    for i in range(len(s.words) - 1):
        if s.word_at(i) == "doesn't" and s.tag_at(i + 1) in ("VB", "RB"):
            yield (s.replace_word(i, f"don{s.apostrophe}t"),)
        elif s.word_at(i) == "does" and s.word_at(i + 1) == "not":
            yield (Edit(s.words[i].start, s.words[i + 1].end, f"don{s.apostrophe}t"),)


def negative_concord(s: Sentence) -> Iterator[Edits]:
    """*I didn't see anything* → *I didn't see nothing*."""
    denied = False
    for i, word in enumerate(s.words):
        if i and any(mark in s.gap(i) for mark in ",;:"):
            denied = False
        if denied and word.lower in ("any", "anything", "anybody", "anyone", "anywhere", "ever"):
            new = {"any": "no", "anyone": "no one", "ever": "never"}.get(word.lower, f"no{word.lower[3:]}")
            follows = s.tag_at(i + 1) in ("NN", "NNS", "JJ") if word.lower == "any" else s.word_at(i + 1) != "since"
            if follows:
                yield (s.replace_word(i, new),)
        denied = denied or word.lower.endswith("n't") or word.lower in ("not", "never", "cannot")


def negative_inversion(s: Sentence) -> Iterator[Edits]:
    """*nobody can help* → *can't nobody help*."""
    first = s.word_at(0)
    new = {"can": "can't", "could": "couldn't", "will": "won't", "is": "ain't", "would": "wouldn't"}.get(s.word_at(1))
    if first in ("nobody", "nothing") and new and s.after_space(1) and len(s.words) > 2 and not s.is_question:
        said = cased(new.replace("'", s.apostrophe), s.text[s.start : s.words[0].end])
        yield (Edit(s.start, s.words[1].end, f"{said} {first}"),)


def zero_possessive(s: Sentence) -> Iterator[Edits]:
    """*my sister's house* → *my sister house*."""
    for i in range(len(s.words) - 1):
        word = s.words[i]
        owner = word.lower.endswith("'s") and word.lower not in _IN["contracted_s"] and len(word.lower) > 4
        if owner and s.tag_at(i + 1) in ("NN", "NNS") and s.after_space(i + 1):
            yield (Edit(word.end - 2, word.end, ""),)


def yall(s: Sentence) -> Iterator[Edits]:
    """*all of you*, *you guys* → *y'all*."""
    for i in range(len(s.words) - 1):
        said = [s.word_at(k) for k in range(i, i + 3)]
        last = i + 1 if said[:2] in (["you", "guys"], ["you", "all"]) else i + 2
        if last == i + 1 or said == ["all", "of", "you"]:
            new = cased(f"y{s.apostrophe}all", s.text[s.words[i].start : s.words[i].end])
            yield (Edit(s.words[i].start, s.words[last].end, new),)


def reduced_them(s: Sentence) -> Iterator[Edits]:
    """*he sold them* → *he sold 'em*."""
    for i in range(1, len(s.words)):
        small = s.word_at(i) == "them" and s.text[s.words[i].start] == "t"
        if small and s.tag_at(i - 1) in ("VB", "VBD", "VBZ", "VBG", "IN") and s.after_space(i):
            yield (Edit(s.words[i].start, s.words[i].start + 2, s.apostrophe),)


class AfricanAmerican(FeatureOperator):
    """Rewrites a text with a feature of African American English, such as zero copula. The note names the feature.

    `feature` chooses one or more, separated by commas. By default, the operator takes one at random of those that fit.
    With `rate`, each place changes with that probability.
    """

    example = ("my sister has two dogs", "my sister got two dogs")
    features: ClassVar[Mapping[str, Rule]] = {
        "zero copula": zero_copula,
        "zero third person -s": base_form_rule(  # *she works here* → *she work here*
            "VBZ", lambda s, i: s.word_at(i - 1) in ("he", "she", "it") or s.tag_at(i - 1) in ("NN", "NNP")
        ),
        "possessive got": possessive_got,
        "habitual be": habitual_be,
        "completive done": word_rule(  # *he has sold them* → *he done sold them*
            {"has": "done", "have": "done"},
            lambda s, i: _ends_subject(s, i - 1) and s.followed_by(i, _DONE) and s.word_at(i + 1) not in _NOT_DONE,
        ),
        "remote past been": word_rule(  # *she has been working* → *she been working*
            {"has": "", "have": ""},
            lambda s, i: (
                _ends_subject(s, i - 1)
                and s.word_at(i + 1) == "been"
                and s.after_space(i + 1)
                and (s.tag_at(i + 2) in ("VBG", "IN", "JJ") or s.word_at(i + 2) in ("there", "here"))
            ),
        ),
        "gon' future": gon_future,
        "was levelling": word_rule(  # *they were late* → *they was late*
            {"were": "was"},
            lambda s, i: (
                (s.word_at(i - 1) in ("they", "we", "you") or s.tag_at(i - 1) == "NNS")
                and s.after_space(i)
                and s.word_at(i - 2) not in ("if", "wish")
            ),
        ),
        "wanna and gotta": reduced_to,
        "-in' for -ing": alveolar_ing,
        "no inversion in wh-questions": no_inversion,
        "existential it": existential_it,
        "ain't": aint,
        "invariant don't": invariant_dont,
        "negative concord": negative_concord,
        "negative inversion": negative_inversion,
        "zero possessive -s": zero_possessive,
        "possessive they": word_rule(  # *their house* → *they house*
            {"their": "they"}, lambda s, i: s.tag_at(i + 1) in ("NN", "NNS", "JJ")
        ),
        "demonstrative them": word_rule(  # *those shoes* → *them shoes*
            {"those": "them"}, lambda s, i: s.followed_by(i, ("NNS",))
        ),
        "y'all": yall,
        "'em": reduced_them,
    }
