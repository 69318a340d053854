"""Closed-class words: what may stand for a determiner, a preposition or a pronoun where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from unfazed.vary.english import STOPWORDS, Tagged

_PLURAL = {"this": "these", "that": "those"}
_WITH_I = frozenset(["am", "was", "m", "has", "is", "s", "have", "i'm"])  # verbs by which *we* is told from *i*
_DAYPARTS = frozenset(["morning", "afternoon", "evening"])


def stopword_candidates(words: Sequence[Tagged], i: int) -> list[str]:
    """Other words of the same closed class, best first, that agree with what follows."""
    word, before = words[i].lower, words[i - 1].lower if i else ""
    found = list(STOPWORDS.get((words[i].tag, word), ()))
    if i + 1 == len(words):
        return []
    after = words[i + 1]
    if words[i].tag == "DT":
        return [] if after.lower in _DAYPARTS else _determiners(found, words[i + 1 :])
    if word in ("i", "we") and _WITH_I & {before, after.lower}:
        return []
    if word == "would" and after.lower == "like":
        return ["should"]
    if word == "at" and after.tag == "CD":
        return ["around", "by"]
    if word in ("what", "which") and after.tag[:2] in ("VB", "MD", "PR"):
        return []  # *which* asks for one of several, so only with their name
    if (word == "to" and after.tag == "VB") or (word == "from" and after.tag == "RB"):
        return []
    if word == "of" and before == "out":
        return []
    if word == "and" and any(other.lower == "between" for other in words[:i]):
        return []
    return found


def _determiners(found: list[str], following: Sequence[Tagged]) -> list[str]:
    """Those that agree in number with the noun: *this flight*, *these movie schedules*."""
    nouns = ""
    for word in following:
        if word.tag in ("NN", "NNS", "NNP"):
            nouns = word.tag
        elif nouns or word.tag[:2] in ("VB", "IN", "MD"):
            break
    if nouns == "NNS":
        return [_PLURAL.get(other, other) for other in found if other not in ("a", "one", "every", "each")]
    return [other for other in found if other != "several"]
