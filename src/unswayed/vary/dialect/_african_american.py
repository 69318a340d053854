"""Features of African American English, one a function: the verb phrase first, then questions, denials and nouns."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.vary.dialect._features import (
    Edits,
    apostrophe,
    asks,
    dropped,
    joined,
    lemma_of,
    lower,
    replaced,
    tag,
)
from unswayed.vary.english import forms
from unswayed.vary.sentence import Sentence
from unswayed.vary.words import cased, word_lists

_IN = word_lists(files("unswayed.vary.dialect") / "data" / "african_american.toml")
_NOUNS = ("NN", "NNS", "NNP")
_NEGATED = {"isn't", "aren't", "hasn't", "haven't"}


def _subject(s: Sentence, i: int) -> bool:
    """Does the word end a subject, so that a verb may follow: a pronoun or a noun, outside a question?"""
    return (lower(s, i) in _IN["subject"] or tag(s, i) in _NOUNS) and lower(s, i) not in _IN["never_subject"]


def zero_copula(s: Sentence) -> Iterator[Edits]:
    """*she is working* → *she working*; *they're late* → *they late*."""
    for i in range(len(s.words) - 1):
        person = i > 0 and (lower(s, i - 1) in _IN["subject"] or tag(s, i - 1) == "NNP")
        word, after = s.words[i], ("VBG", "JJ", "JJR", "CD", "DT") if person else ("VBG", "JJ")
        if tag(s, i + 1) not in after or lower(s, i + 1) in _IN["never_after_zero"] or not joined(s, i + 1):
            continue
        if word.lower in ("is", "are") and joined(s, i) and _subject(s, i - 1) and lower(s, i - 1) != "it":
            if not _asked_number(s, i):
                yield (dropped(s, i),)
        elif word.lower in _IN["contracted_be"]:
            mark = max(s.text.rfind(sign, word.start, word.end) for sign in "'’")
            yield (Edit(mark, word.end, ""),)


def _asked_number(s: Sentence, i: int) -> bool:
    return any(lower(s, k) == "how" and lower(s, k + 1) in ("many", "much", "long", "old") for k in range(i))


def zero_third_person(s: Sentence) -> Iterator[Edits]:
    """*she works here* → *she work here*."""
    for i in range(1, len(s.words)):
        lemma = forms().lemma(s.words[i].lower, "VBZ")
        if tag(s, i) != "VBZ" or lemma == s.words[i].lower or s.words[i].lower in ("is", "has", "does"):
            continue
        if joined(s, i) and (lower(s, i - 1) in ("he", "she", "it") or tag(s, i - 1) in ("NN", "NNP")):
            yield (replaced(s, i, lemma),)


def possessive_got(s: Sentence) -> Iterator[Edits]:
    """*he has two dogs* → *he got two dogs*."""
    for i in range(1, len(s.words) - 1):
        owns = tag(s, i + 1) in ("CD", "DT", "JJ", "NN", "NNS", "PRP$") and tag(s, i + 2) not in ("VBN", "VBD")
        if lower(s, i) in ("has", "have") and owns and joined(s, i) and _subject(s, i - 1):
            asked = asks(s) and not any(lower(s, k) in ("if", "when") for k in range(i))
            if not asked and not any(lower(s, k) in _IN["auxiliary"] | {"hope"} for k in range(max(0, i - 4), i)):
                yield (replaced(s, i, "got"),)


def habitual_be(s: Sentence) -> Iterator[Edits]:
    """*she works every day* → *she be working every day*; *they are always busy* → *they always be busy*."""
    habits = [
        i
        for i, word in enumerate(s.words)
        if word.lower in _IN["habit"] or (word.lower == "every" and lower(s, i + 1) in _IN["periods"])
    ]
    if not habits or asks(s):
        return
    for i in range(1, len(s.words) - 1):
        if not any(0 < at - i < 9 or at == i - 1 for at in habits) or lower(s, i - 2) in _IN["no_clause"]:
            continue
        if lower(s, i) in ("is", "are") and _subject(s, i - 1):
            adverb = i + 1 in habits
            if tag(s, i + 1 + adverb) in ("VBG", "JJ"):
                end, new = (s.words[i + 1].end, f"{lower(s, i + 1)} be") if adverb else (s.words[i].end, "be")
                yield (Edit(s.words[i].start, end, new),)
        elif tag(s, i) in ("VBZ", "VB") and lower(s, i - 1) in ("he", "she", "it", "they", "we", "you", "i"):
            doing = forms().inflected(lemma_of(s, i), "VBG")
            action = lemma_of(s, i) not in _IN["stative"] and lower(s, i - 2) not in _IN["auxiliary"]
            if doing and action and lower(s, i) not in _IN["auxiliary"]:
                yield (replaced(s, i, f"be {doing}"),)


def completive_done(s: Sentence) -> Iterator[Edits]:
    """*he has sold them* → *he done sold them*."""
    for i in range(1, len(s.words) - 1):
        perfect = lower(s, i) in ("has", "have") and tag(s, i + 1) in ("VBN", "VBD") and joined(s, i + 1)
        if perfect and _subject(s, i - 1) and lower(s, i + 1) not in ("been", "had", "got", "done"):
            yield (replaced(s, i, "done"),)


def remote_been(s: Sentence) -> Iterator[Edits]:
    """*she has been working* → *she been working*."""
    for i in range(1, len(s.words) - 1):
        been = lower(s, i) in ("has", "have") and lower(s, i + 1) == "been" and joined(s, i + 1)
        follows = tag(s, i + 2) in ("VBG", "IN", "JJ") or lower(s, i + 2) in ("there", "here")
        if been and follows and _subject(s, i - 1):
            yield (dropped(s, i),)


def gon_future(s: Sentence) -> Iterator[Edits]:
    """*she will leave* → *she gon' leave*; *they are going to leave* → *they gon' leave*."""
    for i in range(1, len(s.words) - 1):
        said = f"gon{apostrophe(s)}"
        if lower(s, i) == "will" and tag(s, i + 1) == "VB" and _subject(s, i - 1) and joined(s, i + 1):
            yield (replaced(s, i, said),)
        going = lower(s, i) in ("is", "are") and lower(s, i + 1) == "going" and lower(s, i + 2) == "to"
        if going and tag(s, i + 3) == "VB" and _subject(s, i - 1):
            yield (Edit(s.words[i].start, s.words[i + 2].end, said),)


def was_levelling(s: Sentence) -> Iterator[Edits]:
    """*they were late* → *they was late*."""
    for i in range(1, len(s.words)):
        many = lower(s, i - 1) in ("they", "we", "you") or tag(s, i - 1) == "NNS"
        if lower(s, i) == "were" and many and joined(s, i) and lower(s, i - 2) not in ("if", "wish"):
            yield (replaced(s, i, "was"),)


def reduced_to(s: Sentence) -> Iterator[Edits]:
    """*he wants to go* → *he wanna go*, *has to* → *gotta*, *trying to* → *tryna*."""
    for i in range(len(s.words) - 2):
        new = {"wants": "wanna", "want": "wanna", "has": "gotta", "have": "gotta", "trying": "tryna"}.get(lower(s, i))
        follows = lower(s, i + 1) == "to" and tag(s, i + 2) == "VB" and joined(s, i + 1) and joined(s, i + 2)
        if new and follows and (lower(s, i - 1) not in _IN["auxiliary"] or new == "tryna"):
            yield (Edit(s.words[i].start, s.words[i + 1].end, new),)


def alveolar_ing(s: Sentence) -> Iterator[Edits]:
    """*working* → *workin'*."""
    for i, word in enumerate(s.words):
        noun = tag(s, i - 1) in ("DT", "JJ", "PRP$", "NN", "POS", "CD") or word.lower in _IN["never_in"]
        if word.tag == "VBG" and len(word.lower) > 5 and word.lower.endswith("ing") and not noun:
            shape = s.text[word.start : word.end]
            if shape[1:].islower():
                yield (Edit(word.end - 1, word.end, apostrophe(s)),)


def no_inversion(s: Sentence) -> Iterator[Edits]:
    """*how much does she need?* → *how much she need?*; *what are you doing?* → *what you doing?*"""
    if not asks(s) or not any(word.tag == "W" for word in s.words):
        return
    for i in range(1, len(s.words) - 2):
        if not joined(s, i) or not joined(s, i + 1) or not any(tag(s, k) == "W" for k in range(i)):
            continue
        end = s.noun_phrase(i + 1, of=False)
        if end is None or end >= len(s.words) or not joined(s, end) or lower(s, i + 1) in ("i", "a", "an"):
            continue
        if lower(s, i) in ("do", "does") and lower(s, end) == "have" and tag(s, end + 1) != "TO":
            yield (dropped(s, i), replaced(s, end, "got"))
        elif (lower(s, i) in ("do", "does") and tag(s, end) == "VB") or (
            lower(s, i) in ("is", "are") and tag(s, end) == "VBG" and tag(s, i + 1) in ("PRP", "DT", "NNP", "PRP$")
        ):
            yield (dropped(s, i),)
        elif lower(s, i) == "will" and tag(s, end) == "VB":
            at = s.words[end].start
            yield (dropped(s, i), Edit(at, at, f"gon{apostrophe(s)} "))


def existential_it(s: Sentence) -> Iterator[Edits]:
    """*there are five balls* → *it's five balls*; *there was a fire* → *it was a fire*."""
    for i in range(len(s.words) - 2):
        if lower(s, i) != "there" or not joined(s, i + 1) or tag(s, i + 2) not in ("CD", "DT", "JJ", "NN", "NNS"):
            continue
        if lower(s, i + 1) in ("is", "are"):
            whole = s.text[s.words[i].start : s.words[i].end]
            it = "It" if whole[0].isupper() else "it"
            yield (Edit(s.words[i].start, s.words[i + 1].end, f"{it}{apostrophe(s)}s"),)
        elif lower(s, i + 1) in ("was", "were"):
            yield (replaced(s, i, "it"), replaced(s, i + 1, "was"))


def aint(s: Sentence) -> Iterator[Edits]:
    """*she isn't here* → *she ain't here*; *he didn't see it* → *he ain't see it*."""
    said = f"ain{apostrophe(s)}t"
    for i in range(1, len(s.words) - 1):
        if lower(s, i) in _NEGATED or (lower(s, i) == "didn't" and tag(s, i + 1) == "VB"):
            if _subject(s, i - 1):
                yield (replaced(s, i, said),)
        elif lower(s, i) in ("is", "are", "has", "have") and lower(s, i + 1) == "not" and _subject(s, i - 1):
            yield (Edit(s.words[i].start, s.words[i + 1].end, said),)


def invariant_dont(s: Sentence) -> Iterator[Edits]:
    """*he doesn't know* → *he don't know*."""
    for i in range(len(s.words) - 1):
        if lower(s, i) == "doesn't" and tag(s, i + 1) in ("VB", "RB"):
            yield (replaced(s, i, f"don{apostrophe(s)}t"),)
        elif lower(s, i) == "does" and lower(s, i + 1) == "not":
            yield (Edit(s.words[i].start, s.words[i + 1].end, f"don{apostrophe(s)}t"),)


def negative_concord(s: Sentence) -> Iterator[Edits]:
    """*I didn't see anything* → *I didn't see nothing*."""
    denied = False
    for i, word in enumerate(s.words):
        if i and any(mark in s.gap(i) for mark in ",;:"):
            denied = False
        if denied and word.lower in ("any", "anything", "anybody", "anyone", "anywhere", "ever"):
            new = {"any": "no", "anyone": "no one", "ever": "never"}.get(word.lower, f"no{word.lower[3:]}")
            follows = tag(s, i + 1) in ("NN", "NNS", "JJ") if word.lower == "any" else lower(s, i + 1) != "since"
            if follows:
                yield (replaced(s, i, new),)
        denied = denied or word.lower.endswith("n't") or word.lower in ("not", "never", "cannot")


def negative_inversion(s: Sentence) -> Iterator[Edits]:
    """*nobody can help* → *can't nobody help*."""
    first = lower(s, 0)
    new = {"can": "can't", "could": "couldn't", "will": "won't", "is": "ain't", "would": "wouldn't"}.get(lower(s, 1))
    if first in ("nobody", "nothing") and new and joined(s, 1) and len(s.words) > 2 and not asks(s):
        said = cased(new.replace("'", apostrophe(s)), s.text[s.start : s.words[0].end])
        yield (Edit(s.start, s.words[1].end, f"{said} {first}"),)


def zero_possessive(s: Sentence) -> Iterator[Edits]:
    """*my sister's house* → *my sister house*."""
    for i in range(len(s.words) - 1):
        word = s.words[i]
        owner = word.lower.endswith("'s") and word.lower not in _IN["contracted_s"] and len(word.lower) > 4
        if owner and tag(s, i + 1) in ("NN", "NNS") and joined(s, i + 1):
            yield (Edit(word.end - 2, word.end, ""),)


def possessive_they(s: Sentence) -> Iterator[Edits]:
    """*their house* → *they house*."""
    for i in range(len(s.words) - 1):
        if lower(s, i) == "their" and tag(s, i + 1) in ("NN", "NNS", "JJ"):
            yield (replaced(s, i, "they"),)


def demonstrative_them(s: Sentence) -> Iterator[Edits]:
    """*those shoes* → *them shoes*."""
    for i in range(len(s.words) - 1):
        if lower(s, i) == "those" and tag(s, i + 1) == "NNS" and joined(s, i + 1):
            yield (replaced(s, i, "them"),)


def yall(s: Sentence) -> Iterator[Edits]:
    """*all of you*, *you guys* → *y'all*."""
    for i in range(len(s.words) - 1):
        said = [lower(s, k) for k in range(i, i + 3)]
        last = i + 1 if said[:2] in (["you", "guys"], ["you", "all"]) else i + 2
        if last == i + 1 or said == ["all", "of", "you"]:
            new = cased(f"y{apostrophe(s)}all", s.text[s.words[i].start : s.words[i].end])
            yield (Edit(s.words[i].start, s.words[last].end, new),)


def reduced_them(s: Sentence) -> Iterator[Edits]:
    """*he sold them* → *he sold 'em*."""
    for i in range(1, len(s.words)):
        small = lower(s, i) == "them" and s.text[s.words[i].start] == "t"
        if small and tag(s, i - 1) in ("VB", "VBD", "VBZ", "VBG", "IN") and joined(s, i):
            yield (Edit(s.words[i].start, s.words[i].start + 2, apostrophe(s)),)
