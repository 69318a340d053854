"""What can be left out of an English sentence so that it says something else: a phrase, a limit, a number, a doubt."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.vary.meaning._table import MeaningChange, without
from unswayed.vary.sentence import Sentence, sentences
from unswayed.vary.words import cased, sounds_as_vowel, word_lists

_IN = word_lists(files("unswayed.vary.meaning") / "data" / "words.toml")
_NOUNS = ("NN", "NNS", "NNP")
_VERBS = ("VB", "VBD", "VBZ", "VBG", "VBN")
_LONGEST = 6  # words of a phrase that is left out


def shortened(text: str) -> Iterator[MeaningChange]:
    for sentence in sentences(text):
        yield from _opening(sentence)
        yield from _closing(sentence)
        yield from _restricting(sentence)
        yield from _counted(sentence)
        yield from _doubtful(sentence)
        yield from _limited(sentence)


def _tag(s: Sentence, i: int) -> str:
    return s.words[i].tag if 0 <= i < len(s.words) else ""


def _lower(s: Sentence, i: int) -> str:
    return s.words[i].lower if 0 <= i < len(s.words) else ""


def _phrase_end(s: Sentence, i: int) -> int | None:
    """Where what follows a preposition ends: a noun phrase, or a date."""
    end = s.noun_phrase(i)
    if _tag(s, i) == "CD" and (end is None or end == i):
        end = i + 1
    if end is not None and end < len(s.words) and s.joined(end) and _tag(s, end) == "CD" and _tag(s, end - 1) == "NNP":
        end += 1  # *in May 1998*
    return end


def _opening(s: Sentence) -> Iterator[MeaningChange]:
    """*In 1998, the bridge opened.* → *The bridge opened.*"""
    vague = any(_lower(s, k) in ("this", "that", "these", "addition", "fact", "general", "particular") for k in (1, 2))
    end = _phrase_end(s, 1) if _lower(s, 0) in _IN["adjunct"] and not vague else None
    if end is None or end > _LONGEST or len(s.words) - end < 4 or s.gap(end) != ", ":
        return
    if (
        s.has_verb(end, len(s.words))
        and _tag(s, end) in ("DT", "PRP", "PRP$", "NNP", "NN", "NNS")
        and _lower(s, end) != "such"
    ):
        new = s.text[s.words[end].start].upper()
        edit = Edit(s.start, s.words[end].start + 1, new)
        yield MeaningChange((edit,), "phrase", f"without {s.said(0, end)!r}")


def _closing(s: Sentence) -> Iterator[MeaningChange]:
    """*He bought it at the market.* → *He bought it.*"""
    n = len(s.words)
    if s.text[s.end : s.end + 1] not in (".", "") or any(mark in s.text[s.start : s.end] for mark in '("“:'):
        return
    if n > 4 and s.words[-1].lower in _IN["when"] and s.words[-2].tag in (*_NOUNS, "PRP") and s.joined(n - 1):
        yield without(s.text, s.words[-2].end, s.end, "phrase")
    for i in range(n - 2, max(2, n - _LONGEST - 1), -1):
        before = s.words[i - 1]
        if _lower(s, i) not in _IN["adjunct"] or not s.joined(i) or _phrase_end(s, i + 1) != n:
            continue
        passive = (
            before.tag == "VBN" and _lower(s, i - 2) in ("was", "were", "been") and before.lower not in _IN["needs"]
        )
        thing = before.tag in _NOUNS and before.lower not in _IN["needs"]
        thing = thing or (before.lower in ("it", "them", "him", "her", "me", "us") and _tag(s, i - 2) in _VERBS)
        whole = s.has_verb(0, i) and not any(_lower(s, k) in ("from", "between", "as") for k in range(max(0, i - 6), i))
        if (passive or thing) and whole:
            yield without(s.text, before.end, s.end, "phrase")
        return


def _restricting(s: Sentence) -> Iterator[MeaningChange]:
    """*the first bridge* → *the bridge*; *an unofficial leader* → *a leader*."""
    for i in range(1, len(s.words) - 1):
        word, article, noun = s.words[i], s.words[i - 1], s.words[i + 1]
        listed = word.lower in _IN["restricts"] or (word.tag == "JJS" and word.lower not in ("most", "least"))
        follows = noun.tag in ("NN", "NNS") and noun.lower not in _IN["weak"]
        if not listed or not follows or not s.joined(i) or not s.joined(i + 1):
            continue
        if article.lower in ("a", "an"):
            right = cased("an" if sounds_as_vowel(noun.lower) else "a", s.text[article.start : article.end])
            edit = Edit(article.start, noun.start, f"{right} ")
            yield MeaningChange((edit,), "restriction", f"without {word.lower!r}")
        elif article.lower in _IN["determiner"] and article.lower not in ("each", "every"):
            yield without(s.text, word.start, noun.start, "restriction")


def _counted(s: Sentence) -> Iterator[MeaningChange]:
    """*has two sons* → *has sons*."""
    for i in range(1, len(s.words) - 1):
        word, before, noun = s.words[i], s.words[i - 1], s.words[i + 1]
        number = word.tag == "CD" and word.lower not in ("one", "1") and word.lower.isalpha() and len(word.lower) < 9
        follows = noun.tag == "NNS" and noun.lower not in _IN["units"] and s.joined(i) and s.joined(i + 1)
        verb = before.tag in ("VB", "VBD", "VBZ", "VBG") or before.lower in ("with", "by", "has", "have", "had")
        if number and follows and verb:
            yield without(s.text, word.start, noun.start, "number")


def _doubtful(s: Sentence) -> Iterator[MeaningChange]:
    """*he allegedly stole it* → *he stole it*."""
    for i in range(1, len(s.words) - 1):
        word = s.words[i]
        if word.lower not in _IN["doubts"] or not s.joined(i) or not s.joined(i + 1):
            continue
        verb = _tag(s, i + 1) in ("VB", "VBD", "VBZ", "VBN", "VBG", "JJ", "DT")
        if verb and _lower(s, i - 1) not in ("not", "very", "more", "most", "only", "so", "too", "and", "or", "but"):
            yield without(s.text, word.start, s.words[i + 1].start, "doubt")


def _limited(s: Sentence) -> Iterator[MeaningChange]:
    """*only the town* → *the town*; *less than half* → *half*."""
    for i in range(1, len(s.words) - 2):
        two = (_lower(s, i), _lower(s, i + 1))
        if (
            two in (("only", "the"), ("only", "one"))
            and s.joined(i)
            and _lower(s, i - 1) not in ("the", "not", "an", "if")
        ):
            yield without(s.text, s.words[i].start, s.words[i + 1].start, "limit")
        below = two in (("less", "than"), ("up", "to")) and _tag(s, i + 2) == "CD" and s.joined(i + 1)
        if below and _lower(s, i - 1) not in ("no", "not", "slightly", "little"):
            yield without(s.text, s.words[i].start, s.words[i + 2].start, "limit")
