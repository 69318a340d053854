"""What can be put into an English sentence so that it says something else: one more word, no denial."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.vary.english import forms
from unswayed.vary.meaning._table import MeaningChange
from unswayed.vary.sentence import Sentence, sentences
from unswayed.vary.words import word_lists

_IN = word_lists(files("unswayed.vary.meaning") / "data" / "words.toml")
_OWN = frozenset(["his", "her", "their", "my", "our", "your"])
_VERBS = ("VBZ", "VBD", "VB", "MD")


def added(text: str) -> Iterator[MeaningChange]:
    for sentence in sentences(text):
        if not text[sentence.end :].lstrip("\"'”’").startswith("?"):
            yield from _another(sentence)
            yield from _nearly(sentence)
            yield from _rarely(sentence)
            yield from _few(sentence)
            yield from _relation(sentence)
            yield from _doubted(sentence)


def _before(s: Sentence, i: int, new: str, kind: str) -> MeaningChange:
    word = s.words[i]
    return MeaningChange((Edit(word.start, word.start, f"{new} "),), kind, f"{new!r} before {word.lower!r}")


def _another(s: Sentence) -> Iterator[MeaningChange]:
    """*the bridge* → *the other bridge*; *a bridge* → *a small bridge*; *an actor* → *a former actor*."""
    for i in range(1, len(s.words)):
        word, article = s.words[i], s.words[i - 1]
        one = forms().lemma(word.lower, word.tag)
        last = i + 1 == len(s.words) or s.words[i + 1].tag not in ("NN", "NNS", "NNP", "POS", "CD")
        if word.tag not in ("NN", "NNS") or not last or not s.joined(i):
            continue
        known = one in _IN["things"] | _IN["people"]
        of = i + 1 < len(s.words) and s.words[i + 1].lower in ("of", "that")
        if known and article.lower in ("the", *_OWN) and not of:
            yield _before(s, i, "other", "another")
        elif known and article.lower in ("a", "an") and word.tag == "NN":
            new = "small" if one in _IN["things"] else "former"
            edit = Edit(article.start + 1, word.start, f" {new} ")  # also for *an*
            yield MeaningChange((edit,), "described", f"{new!r} before {word.lower!r}")


def _nearly(s: Sentence) -> Iterator[MeaningChange]:
    """*she won the race* → *she almost won the race*."""
    for i in range(1, len(s.words) - 1):
        word, before = s.words[i], s.words[i - 1]
        lemma = forms().lemma(word.lower, "VBD")
        done = lemma in _IN["achieved"] and word.tag in ("VBD", "VBN") and s.joined(i) and s.joined(i + 1)
        subject = before.lower in _IN["subject"] or (before.tag in ("NN", "NNS", "NNP") and s.noun_phrase(0) == i)
        passive = before.lower in ("was", "were") and word.tag in ("VBN", "VBD")
        if done and (passive or (subject and word.tag == "VBD")):
            yield _before(s, i, "almost", "nearly")


def _rarely(s: Sentence) -> Iterator[MeaningChange]:
    """*it grows here* → *it rarely grows here*."""
    for i in range(1, len(s.words) - 1):
        word, before = s.words[i], s.words[i - 1]
        here = word.tag in ("VBZ", "VB") and s.joined(i) and word.lower not in _IN["state"]
        main = i < 2 or (s.words[i - 2].tag not in (*_VERBS, "IN", "W") and s.words[i - 2].lower not in _IN["clause"])
        person = before.lower in ("he", "she", "it", "they", "we") and main
        subject = person or (before.tag in ("NN", "NNS") and s.noun_phrase(0) == i)
        if here and subject and s.words[i + 1].tag not in (*_VERBS, "NN", "NNS"):
            yield _before(s, i, "rarely", "seldom")


def _few(s: Sentence) -> Iterator[MeaningChange]:
    """*Pineapples are grown here* → *Few pineapples are grown here*."""
    small = s.moved(0, 1)
    verb = s.words[1] if len(s.words) > 3 else None
    if verb is None or s.words[0].tag != "NNS" or small == s.said(0, 1) or not s.joined(1):
        return
    same = verb.lower in ("are", "were") and s.words[2].tag in ("DT", "JJS", "PRP$")  # *buses are the cheapest way*
    if verb.tag in ("VB", "VBD", "MD") and verb.lower not in ("is", "was", "has") and not same:
        yield MeaningChange(
            (Edit(s.start, s.start + 1, f"Few {small[0]}"),), "few", f"'few' before {s.words[0].lower!r}"
        )


def _relation(s: Sentence) -> Iterator[MeaningChange]:
    """*his father* → *his friend's father*."""
    for i in range(1, len(s.words)):
        own = s.words[i - 1].tag == "PRP$" and s.words[i - 1].lower in _OWN and s.joined(i)
        if own and s.words[i].lower in _IN["kin"] and s.words[i].tag in ("NN", "NNS"):
            yield _before(s, i, "friend's", "another")


def _doubted(s: Sentence) -> Iterator[MeaningChange]:
    """*the castle was built by slaves* → *the castle was allegedly built by slaves*."""
    for i in range(1, len(s.words) - 1):
        word, before = s.words[i], s.words[i - 1]
        if word.lower in _IN["undoubted"] or not s.joined(i) or not s.joined(i + 1):
            continue
        passive = before.lower in ("was", "were") and word.tag in ("VBN", "VBD") and word.lower.endswith(("ed", "en"))
        main = i < 2 or (s.words[i - 2].tag not in (*_VERBS, "IN", "W") and s.words[i - 2].lower not in _IN["clause"])
        if passive or (word.tag == "VBD" and before.lower in ("he", "she", "they") and main):
            yield _before(s, i, "allegedly", "doubted")
