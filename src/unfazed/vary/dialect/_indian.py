"""Features of Indian English, one a function: verbs, questions and order of a clause; articles, pronouns and focus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from unfazed.core.edits import Edit
from unfazed.vary.english import forms
from unfazed.vary.sentence import Sentence
from unfazed.vary.words import word_lists

Edits = tuple[Edit, ...]
_IN = word_lists(Path(__file__).parent / "data" / "indian_english.toml")
_BE = {"VBZ": "is", "VB": "are"}
_VERBS = "is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should"
_TAG = re.compile(rf", (?:(?:{_VERBS})n[’']t (?:it|he|she|they|we|you|I)|right)(?=[?,])")


def stative_progressive(s: Sentence) -> Iterator[Edits]:
    """*he has a television* → *he is having a television*; *must know* → *must be knowing*."""
    return _progressive(s, lambda lemma: lemma in _IN["stative"])


def habitual_progressive(s: Sentence) -> Iterator[Edits]:
    """*she gets nightmares* → *she is getting nightmares*."""
    return _progressive(s, lambda lemma: lemma not in _IN["stative"])


def _progressive(s: Sentence, wanted: Callable[[str], bool]) -> Iterator[Edits]:
    for i in range(1, len(s.words)):
        word, before = s.words[i], s.words[i - 1]
        lemma = {"has": "have", "have": "have"}.get(word.lower) or forms().lemma(word.lower, word.tag)
        doing = "having" if lemma == "have" else forms().inflected(lemma, "VBG")
        follows = s.words[i + 1] if i + 1 < len(s.words) else None
        if not doing or not wanted(lemma) or not s.joined(i) or lemma in ("be", "do") or follows is None:
            continue
        if lemma == "have" and (follows.tag in ("VBN", "VBD", "TO", "RB") or follows.lower == "to"):
            continue
        if before.tag == "MD" and word.tag == "VB" and lemma in _IN["stative"] and before.lower not in ("can", "could"):
            yield (Edit(word.start, word.end, f"be {doing}"),)
        elif word.tag in _BE and _acts(s, i):
            yield (Edit(word.start, word.end, f"{_BE[word.tag]} {doing}"),)


def _acts(s: Sentence, i: int) -> bool:
    """Does the verb follow its subject: a pronoun in no question, or a noun phrase that begins the sentence?"""
    before = s.words[i - 1]
    if before.lower in _IN["present"]:
        return i < 2 or s.words[i - 2].lower not in _IN["auxiliary"]
    return before.tag in ("NN", "NNS") and s.noun_phrase(0, of=False) == i


def lack_of_agreement(s: Sentence) -> Iterator[Edits]:
    """*he talks to them* → *he talk to them*."""
    for i in range(1, len(s.words)):
        word, before = s.words[i], s.words[i - 1].lower
        lemma = "do" if word.lower == "does" else forms().lemma(word.lower, "VBZ")
        if (
            before in ("he", "she", "it")
            and word.tag == "VBZ"
            and lemma != word.lower
            and word.lower not in ("is", "has")
        ):
            yield (Edit(word.start, word.end, lemma),)


def copula_omission(s: Sentence) -> Iterator[Edits]:
    """*they are wearing* → *they wearing*."""
    for i in range(1, len(s.words) - 1):
        word, before, after = s.words[i], s.words[i - 1], s.words[i + 1]
        subject = before.tag in ("PRP", "NNS", "NN") and before.lower not in ("i", "it")
        follows = after.tag in ("JJ", "VBG", "DT", "RB", "IN") and after.lower != "not"
        if word.lower in ("is", "are") and subject and follows and s.joined(i) and s.joined(i + 1):
            yield (Edit(word.start, after.start, ""),)


def lack_of_inversion(s: Sentence) -> Iterator[Edits]:
    """*what are you doing?* → *what you are doing?*"""
    if not s.text[s.end :].lstrip().startswith("?"):
        return
    for i in range(1, len(s.words) - 2):
        if s.words[i - 1].tag == "W" and s.words[i].lower in _IN["auxiliary"] and s.words[i + 1].tag == "PRP":
            yield _turned(s, i)


def embedded_inversion(s: Sentence) -> Iterator[Edits]:
    """*I know what they are doing* → *I know what are they doing*."""
    for i in range(2, len(s.words) - 2):
        asked = s.words[i - 2].lower in _IN["asked"]
        if asked and s.words[i - 1].tag == "W" and s.words[i].tag == "PRP" and s.words[i + 1].lower in _IN["auxiliary"]:
            yield _turned(s, i)


def _turned(s: Sentence, i: int) -> Edits:
    """Two words beside each other, exchanged."""
    one, other = s.words[i], s.words[i + 1]
    return (Edit(one.start, other.end, f"{s.text[other.start : other.end]} {s.text[one.start : one.end]}"),)


def invariant_tag(s: Sentence) -> Iterator[Edits]:
    """*…, aren't they?* → *…, isn't it?*, *no?* or *na?*"""
    end = min(len(s.text), s.end + 2)
    for match in _TAG.finditer(s.text, s.start, end):
        for tag in (", isn’t it", ", no", ", na"):
            if tag.replace("’", "'") != match[0].replace("’", "'"):
                yield (Edit(match.start(), match.end(), tag),)


def topicalisation(s: Sentence) -> Iterator[Edits]:
    """*I work there in the daytime* → *in the daytime I work there*."""
    found = _last_phrase(s)
    if found is not None and _plain(s):
        yield _fronted(s, found)


def fronting_with_reduction(s: Sentence) -> Iterator[Edits]:
    """*I stayed for two years* → *two years I stayed*."""
    found = _last_phrase(s)
    if found is not None and _plain(s) and s.words[found].lower in ("in", "on", "at", "for") and _when_or_where(s):
        moved = _fronted(s, found + 1)
        yield (moved[0], Edit(s.words[found - 1].end, s.end, ""))


def object_fronting(s: Sentence) -> Iterator[Edits]:
    """*you have to try this cake* → *this cake you have to try*."""
    if not _plain(s):
        return
    for i in range(2, len(s.words)):
        definite = s.words[i].tag == "PRP$" or s.words[i].lower in ("this", "that", "these", "those", "the")
        if definite and s.words[i - 1].tag in ("VB", "VBN") and s.noun_phrase(i) == len(s.words):
            yield _fronted(s, i)


def _plain(s: Sentence) -> bool:
    """One short clause that begins with a pronoun, so that what ends it can be moved."""
    inside = s.text[s.start : s.end]
    several = any(word.tag in ("W", "CC") for word in s.words) or "," in inside or "(" in inside
    return s.words[0].tag == "PRP" and len(s.words) <= 14 and not several


def _when_or_where(s: Sentence) -> bool:
    return s.words[-1].lower in _IN["periods"] or s.words[-1].tag == "NNP"


def _last_phrase(s: Sentence) -> int | None:
    """Where the prepositional phrase begins with which the sentence ends, after a verb or noun."""
    for i in range(len(s.words) - 2, 1, -1):
        if s.words[i].lower in _IN["places"] and s.joined(i) and s.noun_phrase(i + 1) == len(s.words):
            return i if s.words[i - 1].tag not in ("IN", "TO", "DT", "PRP$", "JJ") else None
    return None


def _fronted(s: Sentence, i: int) -> Edits:
    """What stands from a word to the end goes to the front, and the sentence's capital with it."""
    said, first = s.text[s.words[i].start : s.end], s.words[0]
    word = s.text[first.start : first.end]
    if word[0].isupper() and first.lower != "i":
        said, word = said[0].upper() + said[1:], word[0].lower() + word[1:]
    elif word == "I" and s.text[s.end : s.end + 1] == ".":
        said = said[0].upper() + said[1:]
    return (Edit(first.start, first.end, f"{said} {word}"), Edit(s.words[i - 1].end, s.end, ""))


_HELPING = ("is", "was", "are", "were", "has", "had", "did", "does")
_VERB_TAGS = ("VBZ", "VBD", "VB", "MD")


def focus_only(s: Sentence) -> Iterator[Edits]:
    """*I was there yesterday* → *I was there yesterday only*."""
    if _says_when_or_where(s):
        yield (Edit(s.end, s.end, " only"),)


def focus_itself(s: Sentence) -> Iterator[Edits]:
    """*He lives in Delhi* → *He lives in Delhi itself*."""
    for i in range(2, len(s.words) - 1):
        end = s.noun_phrase(i + 1) if s.words[i].lower in _IN["where"] else None
        if end is not None and s.words[end - 1].tag in ("NN", "NNP"):
            at = s.words[end - 1].end
            yield (Edit(at, at, " itself"),)


def _says_when_or_where(s: Sentence) -> bool:
    return len(s.words) > 2 and (s.words[-1].lower in _IN["times"] or _ends_in_place(s))


def _ends_in_place(s: Sentence) -> bool:
    return any(
        s.words[i].lower in _IN["where"] and s.noun_phrase(i + 1) == len(s.words) for i in range(2, len(s.words) - 1)
    )


def article_omission(s: Sentence) -> Iterator[Edits]:
    """*the main reason* → *main reason*."""
    for i in range(len(s.words) - 1):
        word, after = s.words[i], s.words[i + 1]
        if word.lower not in ("the", "a", "an") or after.tag not in ("NN", "NNS", "JJ") or not s.joined(i + 1):
            continue
        if i == 0 and s.text[word.start].isupper():
            yield (Edit(word.start, after.start + 1, s.text[after.start].upper()),)
        else:
            yield (Edit(word.start, after.start, ""),)


def extraneous_article(s: Sentence) -> Iterator[Edits]:
    """*she has business experience* → *she has a business experience*."""
    for i in range(1, len(s.words)):
        word, before = s.words[i], s.words[i - 1]
        if word.lower in _IN["abstract"] and word.tag == "NN" and before.tag in ("VB", "VBZ", "VBD", "IN", "RB"):
            article = "the " if before.tag in ("IN", "RB") else "a "
            yield (Edit(word.start, word.start, article),)


def mass_as_count(s: Sentence) -> Iterator[Edits]:
    """*some information* → *some informations*."""
    for i, word in enumerate(s.words):
        after = s.words[i + 1] if i + 1 < len(s.words) else None
        single = i > 0 and s.words[i - 1].lower in ("a", "an", "this", "that", "each", "every", "much")
        name = s.text[word.start].isupper() and i > 0
        if word.lower not in _IN["mass"] or single or name or (after is not None and after.tag in ("NN", "NNS")):
            continue
        plural = Edit(word.end, word.end, "s")
        agreeing = {"is": "are", "was": "were", "has": "have"}.get(after.lower) if after else None
        yield (plural, Edit(after.start, after.end, agreeing)) if after and agreeing else (plural,)


def preposition_omission(s: Sentence) -> Iterator[Edits]:
    """*for two years I stayed* → *two years I stayed*."""
    for i in range(len(s.words) - 1):
        word, end = s.words[i], s.noun_phrase(i + 1, of=False)
        if word.lower not in _IN["before_time"] or end is None or s.words[end - 1].lower not in _IN["time"]:
            continue
        after = s.words[i + 1]
        if end < len(s.words) and s.words[end].lower == "of":
            continue
        if i == 0 and s.text[word.start].isupper():
            yield (Edit(word.start, after.start + 1, s.text[after.start].upper()),)
        elif s.joined(i + 1):
            yield (Edit(word.start, after.start, ""),)


def _subject(s: Sentence) -> tuple[int, str] | None:
    """Where the subject ends with which the sentence begins, and the pronoun for it."""
    first = s.words[0]
    end = s.noun_phrase(0, of=False)
    if first.tag not in ("DT", "PRP$") or end is None or end >= len(s.words) or not s.joined(end):
        return None
    if s.words[end].tag not in _VERB_TAGS:
        return None
    head = s.words[end - 1]
    if s.plural(0, end):
        return end, "they"
    if head.lower in _IN["women"] or head.lower in _IN["men"]:
        return end, "she" if head.lower in _IN["women"] else "he"
    person = head.lower.endswith(("er", "or", "ist", "person", "ant", "ent", "ian"))
    return (end, "it") if head.tag == "NN" and not person else None


def resumptive_subject(s: Sentence) -> Iterator[Edits]:
    """*my daughter is away* → *my daughter she is away*."""
    if (found := _subject(s)) is not None:
        yield (Edit(s.words[found[0]].start, s.words[found[0]].start, f"{found[1]} "),)


def left_dislocation(s: Sentence) -> Iterator[Edits]:
    """*my father works here* → *my father, he works here*."""
    if (found := _subject(s)) is not None:
        end, pronoun = found
        yield (Edit(s.words[end - 1].end, s.words[end].start, f", {pronoun} "),)


def resumptive_object(s: Sentence) -> Iterator[Edits]:
    """*the bag which I left in the room* → *the bag which I left it in the room*."""
    for i in range(1, len(s.words) - 3):
        relative = s.words[i].lower in ("which", "that") and s.words[i - 1].tag in ("NN", "NNS")
        if (
            relative
            and s.words[i + 1].tag == "PRP"
            and s.words[i + 2].tag == "VBD"
            and s.words[i + 3].tag in ("IN", "RB")
        ):
            at = s.words[i + 2].end
            yield (Edit(at, at, " them" if s.words[i - 1].tag == "NNS" else " it"),)


def object_drop(s: Sentence) -> Iterator[Edits]:
    """*she doesn't like it* → *she doesn't like*."""
    for i in range(2, len(s.words)):
        verb, after = s.words[i - 1], s.words[i + 1].lower if i + 1 < len(s.words) else ""
        last = after in ("", "here", "there", "for") or (
            after == "to" and verb.lower in ("give", "gave", "sent", "show")
        )
        denied = s.words[i - 2].lower in ("don't", "doesn't", "didn't")  # *doesn't like*: no *like a*
        doing = (denied or verb.tag in ("VB", "VBD", "VBZ")) and "n't" not in verb.lower and verb.lower not in _HELPING
        if s.words[i].lower in ("it", "them") and doing and last and s.joined(i):
            yield (Edit(s.words[i - 1].end, s.words[i].end, ""),)


def general_extender(s: Sentence) -> Iterator[Edits]:
    """*we had no TV* → *we had no TV and all*."""
    if 2 < len(s.words) <= 20 and s.words[-1].tag in ("NN", "NNS"):
        yield (Edit(s.end, s.end, " and all"),)


def non_initial_existential(s: Sentence) -> Iterator[Edits]:
    """*there are five balls* → *five balls are there*."""
    for i in range(len(s.words) - 2):
        there, verb = s.words[i], s.words[i + 1]
        if there.lower != "there" or verb.lower not in ("is", "are", "was", "were"):
            continue
        if s.noun_phrase(i + 2) == len(s.words) and s.words[i + 2].lower != "no":
            said = s.text[s.words[i + 2].start : s.end]
            said = said[0].upper() + said[1:] if s.text[there.start].isupper() else said
            yield (Edit(there.start, s.end, f"{said} {verb.lower} there"),)
