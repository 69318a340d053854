"""Commands and questions in another frame: *show me flights* for *are there any flights*, *can you play* for *play*."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from unswayed.vary.english import BE, HAVE, forms, tagger
from unswayed.vary.sentence import Sentence

DATA = tomllib.loads((files("unswayed.vary.paraphrase") / "data" / "commands.toml").read_text("utf-8"))
_DOABLE = frozenset(DATA["doable"].split())


class Frame(NamedTuple):
    """What may stand in front, before which noun phrases, and how often."""

    said: str
    takes: str
    weight: float


class Reframed(NamedTuple):
    """Another way to begin: characters up to `end` become one of `frames`; the words from `first` on stay."""

    end: int
    frames: list[Frame]
    kind: str


def _frames(name: str) -> list[Frame]:
    rows = [row.split(":") for row in DATA[name]]
    return [Frame(row[0], row[1] if len(row) > 2 else "", float(row[-1])) for row in rows]


FRAMES = {name: _frames(name) for name in ("see", "told", "have", "exist", "order", "wish", "know", "ends")}
_POLITE = r"(?:(?:please|hey|hi|hello|okay|ok|now|so|and|well|yes|alright|then|just|kindly) )*"
_CAN = r"(?:(?:can|could|would|will) you (?:please |kindly |just )*)?"
_WANT = r"(?:i (?:need|want|wish|would like|d like|would love|'d like)|i'd (?:like|love)|i wanna)"
_SEEN = "|".join((
    _CAN + r"(?:show|list|give|display|get|bring|find) (?:me|us)",
    _CAN + r"(?:list|display|show|pull up|look up|let me see|search for|look for|find)",
    _WANT + r" to (?:see|view|look at|get|find)",
    r"(?:i need )?information (?:on|about)",
))  # fmt: skip
_TOLD = "|".join((
    _CAN + r"(?:tell (?:me|us)(?: about)?|find out|let me know)",
    _WANT + r" to (?:know|find out)",
    r"what(?:'s| s| is| are| was| were)|whats|(?:do|can) you know",
))  # fmt: skip
_HAD = "|".join((
    _WANT, r"(?:i(?:'m| m| am) )?looking for", r"(?:can|could|may) i (?:get|have)", _CAN + r"(?:get|find) me(?= an? )",
))  # fmt: skip
_THERE = r"(?:is|are) there|do you have|have you got"
_ASKED = re.compile(rf"{_POLITE}(?:(?P<told>{_TOLD})|(?P<have>{_HAD})|(?P<see>{_SEEN})|(?P<exist>{_THERE})) (?=\S)")
_WISH = re.compile(_POLITE + rf"(?:{_WANT} (?:to )?|(?:can|could|may) i |let me |{_CAN}help me |i have to )")
_ORDER = re.compile(_POLITE + rf"{_CAN}(?:{_WANT} you to )?")
_DEFINITE = frozenset(
    ("the", "my", "this", "that", "these", "those", "all", "its", "your", "our", "his", "her", "both")
)
_INDEFINITE = frozenset(("a", "an", "another", "one"))
_SOME = frozenset(("any", "some", "several"))


def reframings(sentence: Sentence, small: str) -> Iterator[Reframed]:
    """Other ways to begin the sentence, whose text in small letters is given."""
    asked = _ASKED.match(small, sentence.start)
    if asked is not None and asked.start() == sentence.start:
        kind = asked.lastgroup or ""
        found = list(_before_noun(sentence, asked.end(), kind))
        if found:
            yield from found
            return
    yield from _before_verb(sentence, small)
    yield from _bare(sentence)


def _at(sentence: Sentence, start: int) -> int | None:
    return next((i for i, word in enumerate(sentence.words) if word.start == start), None)


def _takes(sentence: Sentence, first: int) -> str:
    """Which kind of noun phrase begins at a word; nothing if none does."""
    end = sentence.noun_phrase(first)
    if end is None or sentence.words[first].tag == "PRP":
        return ""
    word = sentence.words[first].lower
    plural = sentence.plural(first, end)
    if word in _DEFINITE:
        return "D" if plural else "d"
    if word in _INDEFINITE:
        return "i"
    if word in _SOME:
        return "a" if plural else ""
    if word.endswith("'s") or sentence.words[first].tag == "NNP":
        return ""
    return "p" if plural else "s"


def _before_noun(sentence: Sentence, start: int, kind: str) -> Iterator[Reframed]:
    first = _at(sentence, start)
    if first is None:
        return
    takes = _takes(sentence, first)
    old = written_out(sentence.text[sentence.start : start].lower().strip())
    end = sentence.noun_phrase(first) or first
    clause = any(word.tag in ("MD", "VBZ", "VBD") for word in sentence.words[first : first + 2])
    going = any(word.lower in ("going", "like") for word in sentence.words[end : end + 1])
    fitting = [f for f in FRAMES[kind] if takes and takes in f.takes and written_out(f.said) != old]
    if fitting and not clause and not going:
        yield Reframed(start, fitting, kind)


def written_out(said: str) -> str:
    """A frame without short forms: *i would like* for *i'd like* and *i d like*."""
    said = f"{said} "
    for short, long in (("'d ", " would "), ("'m ", " am "), ("'s ", " is "), (" d ", " would "), (" s ", " is ")):
        said = said.replace(short, long)
    return said.strip()


def _before_verb(sentence: Sentence, small: str) -> Iterator[Reframed]:
    """An order, or a wish to do something, said otherwise."""
    wish = _WISH.match(small, sentence.start)
    if wish is not None:
        first = _at(sentence, wish.end())
        if first is not None and sentence.words[first].tag == "VB":
            old = small[sentence.start : wish.end()].strip()
            frames = [f for f in FRAMES["wish"] if f.said != old]
            if sentence.words[first].lower in _DOABLE and "help" not in old:
                frames = [*frames, Frame("", "", 12), Frame("please", "", 5), Frame("can you", "", 5)]
            yield Reframed(wish.end(), frames, "wish")
        return
    order = _ORDER.match(small, sentence.start)
    end = order.end() if order else sentence.start
    first = _at(sentence, end)
    if (
        first is not None
        and sentence.words[first].tag == "VB"
        and sentence.words[first].lower not in BE | {"do", "have"}
    ):
        old = small[sentence.start : end].strip()
        frames = [f for f in FRAMES["order"] if f.said != old]
        yield Reframed(end, [*frames, Frame("", "", 30)] if old else frames, "order")


def _bare(sentence: Sentence) -> Iterator[Reframed]:
    """A noun phrase alone, as in *flights from boston* or *what flights from boston*, is asked to be shown."""
    words = sentence.words
    asks = words[0].lower in ("what", "which") and len(words) > 1
    takes = _takes(sentence, int(asks))
    verbs = any(word.tag in ("VB", "VBZ", "VBD", "MD", "W") for word in words[int(asks) :])
    closed = sentence.text[sentence.end : sentence.end + 1] in (".", "!")
    if not takes or verbs or closed or (takes == "s" and tagger().could_be(words[0].lower, "VB")):
        return
    frames = [f for f in FRAMES["see"] if takes in f.takes] if takes != "s" else [Frame(said, "", 1) for said in _ALONE]
    yield Reframed(words[1].start if asks else sentence.start, frames, "see")


_ALONE = ("show me", "i need", "find", "give me", "i'm looking for", "can you find me", "tell me about", "i want")
_HELPERS = (
    "do",
    "does",
    "did",
    "can",
    "could",
    "will",
    "would",
    "should",
    "has",
    "have",
    "had",
    "may",
    "might",
    "must",
)
_INVERTED = BE | frozenset(_HELPERS)
_AFTER = (("VB", "RB"), ("VBN", "VBD", "RB"))  # what follows the subject of a modal, and of *have*
_BEFORE_HELPER = 5  # words of what is asked for, as in *how many direct flights*


class Asked(NamedTuple):
    """A question as it is said after *tell me*: characters `start` to `end` become `said`."""

    start: int
    end: int
    said: str


def embedded(sentence: Sentence) -> Asked | None:
    """*what did he say* as *what he said*, *is it open* as *if it is open*; None where its parts are not plain."""
    words = sentence.words
    if (words[0].tag != "W" and words[0].lower not in _INVERTED) or [w.lower for w in words[1:2]] == ["you"]:
        return None
    i = 0
    while i < min(len(words), _BEFORE_HELPER) and words[i].lower not in _INVERTED:
        if i and words[i].tag in ("VBD", "VBZ", "VB") and words[i - 1].tag in ("W", "NN", "NNS"):
            return Asked(sentence.start, sentence.start, "")  # *who wrote it*, *which flights leave*
        i += 1
    if i + 1 >= len(words) or words[i].lower not in _INVERTED or (i == 1 and words[0].lower == "which"):
        return None
    subject = i + 2 if words[i + 1].lower == "there" else sentence.noun_phrase(i + 1)
    if subject is None or not all(sentence.joined(k) for k in range(1, min(subject + 1, len(words)))):
        return None
    return None if [w.tag for w in words[subject : subject + 1]] == ["CC"] else _straight(sentence, i, subject)


def _straight(sentence: Sentence, i: int, subject: int) -> Asked | None:
    """The helper behind its subject."""
    words = sentence.words
    helper, said = words[i].lower, sentence.said(i + 1, subject)
    if helper in ("do", "does", "did"):
        if subject >= len(words) or words[subject].tag not in ("VB", "NN", "NNP"):
            return None
        verb = forms().inflected(words[subject].lower, {"do": "VB", "does": "VBZ", "did": "VBD"}[helper])
        if verb is None:
            return None
        said, end = f"{said} {verb}", words[subject].end
    elif not _follows(sentence, helper, i, subject):
        return None
    else:
        said, end = f"{said} {helper}", words[subject - 1].end
    before = sentence.said(0, i) + " " if i else "if "
    return Asked(sentence.start, end, f"{before[0].lower()}{before[1:]}{said}")


def _follows(sentence: Sentence, helper: str, i: int, subject: int) -> bool:
    """Does what stands behind the subject go with the helper?"""
    if helper in BE:
        return subject < len(sentence.words) or i > 0
    return subject < len(sentence.words) and sentence.words[subject].tag in _AFTER[helper in HAVE]


class Relative(NamedTuple):
    """*what flights leave* as *the flights that leave*: what stands before the noun is replaced, *that* is put in."""

    noun: int
    verb: int


def relative(sentence: Sentence) -> Relative | None:
    """Where the noun and the verb of a question about its subject begin; None for other questions."""
    words = sentence.words
    if words[0].lower not in ("what", "which") or len(words) < 4:
        return None
    end = sentence.noun_phrase(1)
    if end is None or end >= len(words) or words[end].tag not in ("VB", "VBP") or words[end].lower in _INVERTED - BE:
        return None
    follows = words[end + 1 : end + 2]
    there = words[end].lower == "are" and bool(follows) and (follows[0].tag == "PRP" or follows[0].lower == "there")
    return Relative(words[1].start, words[end].start) if sentence.plural(1, end) and not there else None
