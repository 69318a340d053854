"""English controls: which words can be exchanged in their sense, and what can be inserted or left out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

from unswayed.base.edits import Edit
from unswayed.vary.english import Word, tagged
from unswayed.vary.meaning._added import added
from unswayed.vary.meaning._shortened import shortened
from unswayed.vary.meaning._table import MeaningChange, Token, clear, table, tokens, without
from unswayed.vary.words import word_lists

_IN = word_lists(files("unswayed.vary.meaning") / "data" / "words.toml")
_AUXILIARY = _IN["be"] | _IN["have"] | _IN["do"] | _IN["modal"]
_CONTRACTED = _IN["be"] | _IN["have"] | _IN["do"] | {"could", "would", "should"}
_SENSES = {"v": ("VB", "VBD", "VBZ", "VBN", "VBG"), "n": ("NN", "NNS"), "j": ("JJ",), "r": ("RB",)}
_NOUNS = ("NN", "NNS", "NNP")
_BRIEF = 120  # characters of the longest sentence that is denied
_PERSONS = (
    {"he", "him", "his", "himself", "she", "her", "hers", "herself", "he's", "she's"},
    {"we", "us", "our", "ours", "we're", "we've", "they", "them", "their", "theirs", "they're"},
    {"i", "me", "my", "i'm", "i've", "you", "your", "you're", "our", "their", "we", "they", "us", "them"},
)


class English:
    """A text with its tags."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tagged(text)
        self.places: list[Token] = tokens(text)
        self._by_start = {word.start: i for i, word in enumerate(self.words)}

    def fits(self, place: int, sense: str) -> bool:
        """Is the word at this place among `tokens` meant in this sense?"""
        i = self._by_start.get(self.places[place].start)
        if i is None:
            return not sense
        word, before, after = self.words[i], self._lower(i - 1), self._tag(i + 1)
        if word.lower in _IN["person"]:
            return self._only_one(word.lower)
        if word.lower in ("many", "few", "several", "both"):
            return after in ("NNS", "JJ") and before not in ("a", "so", "too", "as", "how", "very")
        if sense == "p":
            own = after in ("NN", "NNS", "JJ") and word.tag == "PRP$"
            return own and self._only_one(word.lower)
        if sense == "o":
            return before in _IN["determiner"]
        if sense == "m":
            return self._lower(i + 1)[:1].isdigit() or before in _IN["month"]
        return not sense or word.tag in _SENSES[sense]

    def _only_one(self, pronoun: str) -> bool:
        """Is there no second pronoun of the same person, which would have to change too?"""
        near = [group for group in _PERSONS if pronoun in group]
        return sum(word.lower in group for group in near for word in self.words) == len(near)

    def _lower(self, i: int) -> str:
        return self.words[i].lower if 0 <= i < len(self.words) else ""

    def _tag(self, i: int) -> str:
        return self.words[i].tag if 0 <= i < len(self.words) else ""

    def _joined(self, i: int) -> bool:
        """Does a word stand right before the next, with a space and no mark between?"""
        words = self.words
        return 0 <= i < len(words) - 1 and self.text[words[i].end : words[i + 1].start] == " "

    def inserted(self) -> Iterator[MeaningChange]:
        """*not*, *never*, *former* or *least* where it fits; or a word that is no denial."""
        yield from added(self.text)
        if self.text.rstrip().endswith("?"):
            return
        for i, word in enumerate(self.words):
            if not self._joined(i):
                continue
            before = self._lower(i - 1)
            brief = clear(self.text, word.start, _BRIEF)
            if brief and self._takes_not(i, word):
                new = "not" if word.lower == "can" else " not"
                yield MeaningChange((Edit(word.end, word.end, new),), "denied", f"'not' after {word.lower!r}")
            elif brief and self._takes_never(i, word):
                yield self._said("never", "denied", word)
            elif word.lower in ("favorite", "favourite") and before != "least":
                yield self._said("least", "modified", word)
            elif word.lower in _IN["former"] and word.tag == "NN" and before in _IN["determiner"] - {"an"}:
                yield self._said("former", "modified", word)

    @staticmethod
    def _said(new: str, kind: str, word: Word) -> MeaningChange:
        return MeaningChange((Edit(word.start, word.start, f"{new} "),), kind, f"{new!r} before {word.lower!r}")

    def _takes_not(self, i: int, word: Word) -> bool:
        before, after = self._lower(i - 1), self._lower(i + 1)
        if not before or before in _IN["question"] or after in _IN["after"]:
            return False
        if "until" in (self._lower(i - 2), self._lower(i - 3)):
            return False  # *until they are three months old*
        if word.lower in _IN["be"]:
            return self._tag(i + 1) != "W"
        if word.lower in _IN["modal"] and word.tag == "MD":
            return self._tag(i + 1) in ("VB", "RB")
        perfect = word.lower in _IN["have"] and self._tag(i + 1) in ("VBN", "VBD")
        return perfect and before not in _IN["have"] | _IN["modal"]

    def _takes_never(self, i: int, word: Word) -> bool:
        if self._lower(i - 1) not in _IN["subject"] or word.tag not in ("VB", "VBZ", "VBD"):
            return False
        if word.lower in _AUXILIARY | _IN["parenthetic"] | {"am"} or "'" in word.lower:
            return False
        follows = self._lower(i + 1) not in ("not", "never")
        return follows and self._lower(i - 2) not in _AUXILIARY | {"let", "make", "help", "for", "than"}

    def deleted(self) -> Iterator[MeaningChange]:
        """What may be left out, but nothing that a later *any* or *until* rests on."""
        unless = table("en").unless
        return (found for found in self._deleted() if not unless.search(self.text, found.edits[0].end))

    def _deleted(self) -> Iterator[MeaningChange]:
        """*not*, *never*, *former* and the like taken away; one of two things that stand together."""
        for i, word in enumerate(self.words):
            short = len("n't") if word.lower.endswith("n't") and word.lower[:-3] in _CONTRACTED else 0
            short = {"cannot": 3, "can't": 2}.get(word.lower, short)
            if short and self._tag(i + 1) not in ("", "PRP"):
                yield without(self.text, word.end - short, word.end, "confirmed")
            elif self._joined(i) and (reach := self._superfluous(i, word)):
                kind = "confirmed" if word.lower == "not" else "left out"
                yield without(self.text, word.start, self.words[i + reach].start, kind)
        yield from self._fewer()
        yield from shortened(self.text)

    def _superfluous(self, i: int, word: Word) -> int:
        """How many words from this one on can be left out."""
        before, after = self._lower(i - 1), self._lower(i + 1)
        if word.lower == "not":
            return int(self._joined(i - 1) and before in _AUXILIARY and after not in ("only", "just"))
        if word.lower in _IN["hardly"]:
            return int(self._joined(i - 1) and before not in ("not", "if", "the", "an", "very"))
        if word.lower in _IN["unreal"] and word.tag in ("JJ", "VBN"):
            return int(before in _IN["determiner"] - {"a", "an"} and self._tag(i + 1) in _NOUNS)
        further = i + 2 < len(self.words)
        if word.lower == "no" and after == "longer":
            return 2 * further
        return 2 * (
            further
            and word.lower in _IN["parts"]
            and after == "of"
            and self._lower(i + 2) in _IN["determiner"]
            and before not in ("first", "second", "other", "latter")
        )

    def _fewer(self) -> Iterator[MeaningChange]:
        """*tea and coffee.* becomes *tea.*: what ends a clause after *and*, where two single nouns stand together."""
        text, words = self.text, self.words
        for i in range(2, len(words) - 1):
            ahead, one, conjunction, other = words[i - 2 : i + 2]
            if conjunction.lower != "and" or one.tag != other.tag or one.tag not in _NOUNS:
                continue
            ends = text[other.end : other.end + 1] in ("", ".", ",", ";")
            alone = self._joined(i - 2) and ahead.tag in ("IN", "VB", "VBD", "VBZ", "VBG", "DT", "PRP$")
            listed = any("," in text[a.end : b.start] for a, b in pairwise(words[max(0, i - 5) : i]))
            alone = alone and not listed and text[one.end : conjunction.start] == " " and "respectively" not in text
            if ends and alone and not any(w.lower in ("between", "both", "either") for w in words[:i]):
                yield without(text, one.end, other.end, "fewer")
