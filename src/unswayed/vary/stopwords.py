"""Closed-class words: what may stand for a determiner, a preposition or a pronoun where it stands."""

from __future__ import annotations

from unswayed.vary.english import STOPWORDS

_PLURAL = {"this": "these", "that": "those"}
_WITH_I = frozenset(["am", "was", "m", "has", "is", "s", "have", "i'm"])  # verbs by which *we* is told from *i*
NOUNS = frozenset(("NN", "NNS", "NNP"))
BEFORE_NO_NOUN = ("VB", "IN", "MD")  # how tags begin that end the search for a determiner's noun
_DAYPARTS = frozenset(["morning", "afternoon", "evening"])


def stopword_candidates(word: str, tag: str, before: str, after: str, next_tag: str, far: bool) -> list[str]:
    """Other words of the same closed class, best first, that agree with what stands beside the word, and `far`, as
    `coded` flags it."""
    if tag == "DT":
        return [] if after in _DAYPARTS else _determiners(word, far)
    if word in ("i", "we") and (before in _WITH_I or after in _WITH_I):
        return []
    if word == "would" and after == "like":
        return ["should"]
    if word == "at" and next_tag == "CD":
        return ["around", "by"]
    if word in ("what", "which") and next_tag[:2] in ("VB", "MD", "PR"):
        return []  # *which* asks for one of several, so only with their name
    if (word == "to" and next_tag == "VB") or (word == "from" and next_tag == "RB"):
        return []
    if (word == "of" and before == "out") or (word == "and" and far):
        return []
    return list(STOPWORDS.get((tag, word), ()))


def _determiners(word: str, plural: bool) -> list[str]:
    """Those that agree in number with the noun."""
    found = STOPWORDS.get(("DT", word), ())
    if plural:
        return [_PLURAL.get(other, other) for other in found if other not in ("a", "one", "every", "each")]
    return [other for other in found if other != "several"]
