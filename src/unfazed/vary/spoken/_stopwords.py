"""What may stand for a closed-class word: another of its class that people would say there."""

from __future__ import annotations

from collections.abc import Sequence

from unfazed.vary.spoken._tagger import Word

# By tag: determiners, prepositions, pronouns, modals, wh-words, conjunctions. Best first. Forms of *be*, *have* and
# *do*, *to* before a verb, *than* and *not* are left out: nothing else of their class keeps what is said.
_TABLE = {
    "DT": """a: one the | an: one the | the: this that | this: that the | that: this the | these: those the
        those: these the | some: any several | any: some | all: any | each: every | every: each | another: one""",
    "IN": """from: out_of | to: into | in: within inside | on: for upon | at: in near | by: from via | of: for
        for: of | with: including | about: regarding around | around: near about | near: by beside | into: to in
        onto: to into | before: by until | after: past | during: in within | within: in inside
        without: minus | via: through | through: via | over: across above | above: over | under: below
        below: under | beneath: under | until: till | till: until | if: whether | because: since as
        since: after from | while: whilst as | toward: to | towards: to | upon: on | inside: in within
        outside: beyond | behind: after | beside: near by | besides: beyond | along: beside | across: over
        against: versus | among: between amid | despite: notwithstanding | except: but | per: by | past: after
        that: which | though: although | although: though | throughout: during | beyond: past""",
    "TO": "to: into",
    "PRP": "i: we | we: i | me: us | us: me | it: this that | them: those these",
    "PRP$": "my: our the | our: my the | your: the | his: the | her: the | its: the | their: the",
    "MD": """can: could may | could: can would | will: would shall | would: could will | should: must | must: should
        may: might can | might: may could | shall: should will""",
    "W": "what: which | which: what | that: which | who: that | whichever: whatever | whatever: whichever",
    "CC": "and: plus | plus: and | but: yet | both: all",
}
_PLURAL = {"this": "these", "that": "those"}
_WITH_I = frozenset(["am", "was", "m", "has", "is", "s", "have", "i'm"])  # verbs by which *we* is told from *i*
_DAYPARTS = frozenset(["morning", "afternoon", "evening"])


def _read() -> dict[tuple[str, str], tuple[str, ...]]:
    table = {}
    for tag, rows in _TABLE.items():
        for row in rows.replace("\n", "|").split("|"):
            word, _, others = row.strip().partition(": ")
            table[tag, word] = tuple(other.replace("_", " ") for other in others.split())
    return table


STOPWORDS = _read()


def is_stopword(word: Word) -> bool:
    return (word.tag, word.lower) in STOPWORDS


def stopword_candidates(words: Sequence[Word], i: int) -> list[str]:
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


def _determiners(found: list[str], following: Sequence[Word]) -> list[str]:
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
