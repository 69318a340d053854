"""Closed-class words: what may stand for a determiner, a preposition or a pronoun where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from unfazed.vary.english import STOPWORDS

_PLURAL = {"this": "these", "that": "those"}
_WITH_I = frozenset(["am", "was", "m", "has", "is", "s", "have", "i'm"])  # verbs by which *we* is told from *i*
_NOUNS = frozenset(("NN", "NNS", "NNP"))
_DAYPARTS = frozenset(["morning", "afternoon", "evening"])


def stopword_candidates(words: Sequence[str], tags: Sequence[str], i: int) -> list[str]:
    """Other words of the same closed class, best first, that agree with what follows."""
    word, before = words[i], words[i - 1] if i else ""
    found = list(STOPWORDS.get((tags[i], word), ()))
    if i + 1 == len(words):
        return []
    after, tag = words[i + 1], tags[i + 1]
    if tags[i] == "DT":
        return [] if after in _DAYPARTS else _determiners(found, tags[i + 1 :])
    if word in ("i", "we") and (before in _WITH_I or after in _WITH_I):
        return []
    if word == "would" and after == "like":
        return ["should"]
    if word == "at" and tag == "CD":
        return ["around", "by"]
    if word in ("what", "which") and tag[:2] in ("VB", "MD", "PR"):
        return []  # *which* asks for one of several, so only with their name
    if (word == "to" and tag == "VB") or (word == "from" and tag == "RB"):
        return []
    if word == "of" and before == "out":
        return []
    if word == "and" and "between" in words[:i]:
        return []
    return found


def _determiners(found: list[str], following: Sequence[str]) -> list[str]:
    """Those that agree in number with the noun, by the tags of what follows: *this flight*, *these movie schedules*."""
    nouns = ""
    for tag in following:
        if tag in _NOUNS:
            nouns = tag
        elif nouns or tag[:2] in ("VB", "IN", "MD"):
            break
    if nouns == "NNS":
        return [_PLURAL.get(other, other) for other in found if other not in ("a", "one", "every", "each")]
    return [other for other in found if other != "several"]
