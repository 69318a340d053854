"""English controls: which words can be exchanged in their sense, and what can be put in or left out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

from unswayed.base.edits import Edit
from unswayed.vary.english import Word, forms, tagged
from unswayed.vary.meaning._table import MeaningChange, Token, is_clear, tokens, without
from unswayed.vary.sentence import Sentence, sentences
from unswayed.vary.words import cased, sounds_as_vowel, word_lists

_IN = word_lists(files("unswayed.vary.meaning") / "data" / "words.toml")
_AUXILIARY = _IN["be"] | _IN["have"] | _IN["do"] | _IN["modal"]
_CONTRACTED = _IN["be"] | _IN["have"] | _IN["do"] | {"could", "would", "should"}
_SENSES = {"v": ("VB", "VBD", "VBZ", "VBN", "VBG"), "n": ("NN", "NNS"), "j": ("JJ",), "r": ("RB",)}
_NOUNS = ("NN", "NNS", "NNP")
_FINITE = ("VBZ", "VBD", "VB", "MD")
_VERBS = ("VB", "VBD", "VBZ", "VBG", "VBN")
_OWN = frozenset(["his", "her", "their", "my", "our", "your"])
_VAGUE = ("this", "that", "these", "addition", "fact", "general", "particular")
_BARRED = frozenset(["let", "make", "help", "for", "than"])  # before a subject: its verb takes no *never*
_MAX_DENIED = 120  # characters of the longest sentence that is denied
_MAX_PHRASE = 6  # words of a phrase that is left out
_PERSONS = (
    {"he", "him", "his", "himself", "she", "her", "hers", "herself", "he's", "she's"},
    {"we", "us", "our", "ours", "we're", "we've", "they", "them", "their", "theirs", "they're"},
    {"i", "me", "my", "i'm", "i've", "you", "your", "you're", "our", "their", "we", "they", "us", "them"},
)


class EnglishControls:
    """A text with its tags, and what can be changed in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tagged(text)
        self.places: list[Token] = tokens(text)
        self._whole = Sentence(text, self.words)
        self._by_start = {word.start: i for i, word in enumerate(self.words)}

    def fits(self, place: int, sense: str) -> bool:
        """Is the word at this place among `tokens` meant in this sense?"""
        i = self._by_start.get(self.places[place].start)
        if i is None:
            return not sense
        s, word = self._whole, self.words[i]
        before, after = s.word_at(i - 1), s.tag_at(i + 1)
        if word.lower in _IN["person"] or sense == "p":
            # A pronoun is exchanged only if no other one of the same person would have to change too.
            near = [group for group in _PERSONS if word.lower in group]
            alone = sum(other.lower in group for group in near for other in self.words) == len(near)
            own = word.tag == "PRP$" and after in ("NN", "NNS", "JJ")
            return alone and (own or word.lower in _IN["person"])
        if word.lower in ("many", "few", "several", "both"):
            return after in ("NNS", "JJ") and before not in ("a", "so", "too", "as", "how", "very")
        if sense == "o":
            return before in _IN["determiner"]
        if sense == "m":
            return s.word_at(i + 1)[:1].isdigit() or before in _IN["month"]
        return not sense or word.tag in _SENSES[sense]

    def insertions(self) -> Iterator[MeaningChange]:
        """*not*, *never*, *former* or *least* where it fits; or a word that is no denial."""
        for sentence in sentences(self.text):
            if not self.text[sentence.end :].lstrip("\"'”’").startswith("?"):
                yield from _insert_modifiers(sentence)
        if self.text.rstrip().endswith("?"):
            return
        s = self._whole
        for i, word in enumerate(self.words):
            if not s.after_space(i + 1):
                continue
            before, after = s.word_at(i - 1), s.word_at(i + 1)
            brief = is_clear(self.text, word.start, _MAX_DENIED)
            ordinary = word.lower not in _AUXILIARY | _IN["parenthetic"] | {"am"} and "'" not in word.lower
            alone = after not in ("not", "never") and s.word_at(i - 2) not in _AUXILIARY | _BARRED
            if brief and self._takes_not(i, word):
                new = "not" if word.lower == "can" else " not"
                yield MeaningChange((Edit(word.end, word.end, new),), "denied", f"'not' after {word.lower!r}")
            elif brief and before in _IN["subject"] and word.tag in ("VB", "VBZ", "VBD") and ordinary and alone:
                yield _put_before(word, "never", "denied")
            elif word.lower in ("favorite", "favourite") and before != "least":
                yield _put_before(word, "least", "modified")
            elif word.lower in _IN["former"] and word.tag == "NN" and before in _IN["determiner"] - {"an"}:
                yield _put_before(word, "former", "modified")

    def _takes_not(self, i: int, word: Word) -> bool:
        s = self._whole
        before, after = s.word_at(i - 1), s.word_at(i + 1)
        if not before or before in _IN["question"] or after in _IN["after"]:
            return False
        if "until" in (s.word_at(i - 2), s.word_at(i - 3)):
            return False  # *until they are three months old*
        if word.lower in _IN["be"]:
            return s.tag_at(i + 1) != "W"
        if word.lower in _IN["modal"] and word.tag == "MD":
            return s.tag_at(i + 1) in ("VB", "RB")
        perfect = word.lower in _IN["have"] and s.tag_at(i + 1) in ("VBN", "VBD")
        return perfect and before not in _IN["have"] | _IN["modal"]

    def deletions(self) -> Iterator[MeaningChange]:
        """*not*, *never*, *former* and the like taken away; one of two things that stand together; phrases."""
        text, words, s = self.text, self.words, self._whole
        for i, word in enumerate(words):
            short = len("n't") if word.lower.endswith("n't") and word.lower[:-3] in _CONTRACTED else 0
            short = {"cannot": 3, "can't": 2}.get(word.lower, short)
            if short and s.tag_at(i + 1) not in ("", "PRP"):
                yield without(text, word.end - short, word.end, "confirmed")
            elif s.after_space(i + 1) and (reach := self._superfluous(i, word)):
                kind = "confirmed" if word.lower == "not" else "left out"
                yield without(text, word.start, words[i + reach].start, kind)
        # *tea and coffee.* becomes *tea.*: what ends a clause after *and*, where two single nouns stand together
        for i in range(2, len(words) - 1):
            ahead, one, conjunction, other = words[i - 2 : i + 2]
            if conjunction.lower != "and" or one.tag != other.tag or one.tag not in _NOUNS:
                continue
            ends = text[other.end : other.end + 1] in ("", ".", ",", ";")
            alone = s.after_space(i - 1) and ahead.tag in ("IN", "VB", "VBD", "VBZ", "VBG", "DT", "PRP$")
            listed = any("," in text[a.end : b.start] for a, b in pairwise(words[max(0, i - 5) : i]))
            alone = alone and not listed and text[one.end : conjunction.start] == " " and "respectively" not in text
            if ends and alone and not any(w.lower in ("between", "both", "either") for w in words[:i]):
                yield without(text, one.end, other.end, "fewer")
        for sentence in sentences(text):
            yield from _delete_phrases(sentence)
            yield from _delete_words(sentence)

    def _superfluous(self, i: int, word: Word) -> int:
        """How many words from this one on can be left out."""
        s = self._whole
        before, after = s.word_at(i - 1), s.word_at(i + 1)
        if word.lower == "not":
            return int(s.after_space(i) and before in _AUXILIARY and after not in ("only", "just"))
        if word.lower in _IN["hardly"]:
            return int(s.after_space(i) and before not in ("not", "if", "the", "an", "very"))
        if word.lower in _IN["unreal"] and word.tag in ("JJ", "VBN"):
            return int(before in _IN["determiner"] - {"a", "an"} and s.tag_at(i + 1) in _NOUNS)
        further = i + 2 < len(self.words)
        if word.lower == "no" and after == "longer":
            return 2 * further
        part = word.lower in _IN["parts"] and after == "of" and s.word_at(i + 2) in _IN["determiner"]
        return 2 * (further and part and before not in ("first", "second", "other", "latter"))


def _put_before(word: Word, new: str, kind: str) -> MeaningChange:
    return MeaningChange((Edit(word.start, word.start, f"{new} "),), kind, f"{new!r} before {word.lower!r}")


def _insert_modifiers(s: Sentence) -> Iterator[MeaningChange]:
    """*the bridge* → *the other bridge*; *an actor* → *a former actor*; *his father* → *his friend's father*.

    Then *she almost won the race*, *it rarely grows here*, *the castle was allegedly built by slaves*.
    """
    for i in range(1, len(s.words)):
        word, article = s.words[i], s.words[i - 1]
        one = forms().lemma(word.lower, word.tag)
        last = s.tag_at(i + 1) not in ("NN", "NNS", "NNP", "POS", "CD")
        if word.tag not in ("NN", "NNS") or not last or not s.joined(i):
            continue
        known = one in _IN["things"] | _IN["people"]
        if known and article.lower in ("the", *_OWN) and s.word_at(i + 1) not in ("of", "that"):
            yield _put_before(word, "other", "another")
        elif known and article.lower in ("a", "an") and word.tag == "NN":
            new = "small" if one in _IN["things"] else "former"
            edit = Edit(article.start + 1, word.start, f" {new} ")  # also for *an*
            yield MeaningChange((edit,), "described", f"{new!r} before {word.lower!r}")
    for owner, word in pairwise(s.words):
        own = owner.tag == "PRP$" and owner.lower in _OWN and s.text[owner.end : word.start] == " "
        if own and word.lower in _IN["kin"] and word.tag in ("NN", "NNS"):
            yield _put_before(word, "friend's", "another")
    # *Pineapples are grown here* → *Few pineapples are grown here*
    verb = s.words[1] if len(s.words) > 3 else None
    small = s.moved(0, 1)
    if verb is not None and s.words[0].tag == "NNS" and small != s.said(0, 1) and s.joined(1):
        same = verb.lower in ("are", "were") and s.words[2].tag in ("DT", "JJS", "PRP$")  # *buses are the cheapest way*
        if verb.tag in ("VB", "VBD", "MD") and verb.lower not in ("is", "was", "has") and not same:
            edit = Edit(s.start, s.start + 1, f"Few {small[0]}")
            yield MeaningChange((edit,), "few", f"'few' before {s.words[0].lower!r}")
    for i in range(1, len(s.words) - 1):
        word, before = s.words[i], s.words[i - 1]
        if not s.joined(i):
            continue
        noun = before.tag in ("NN", "NNS") and s.noun_phrase(0) == i
        main = i < 2 or (s.tag_at(i - 2) not in (*_FINITE, "IN", "W") and s.word_at(i - 2) not in _IN["clause"])
        passive = before.lower in ("was", "were") and word.tag in ("VBN", "VBD")
        if s.joined(i + 1) and word.tag in ("VBD", "VBN") and forms().lemma(word.lower, "VBD") in _IN["achieved"]:
            subject = before.lower in _IN["subject"] or noun or (before.tag == "NNP" and s.noun_phrase(0) == i)
            if passive or (subject and word.tag == "VBD"):
                yield _put_before(word, "almost", "nearly")
        if word.tag in ("VBZ", "VB") and word.lower not in _IN["state"]:
            subject = noun or (before.lower in ("he", "she", "it", "they", "we") and main)
            if subject and s.tag_at(i + 1) not in (*_FINITE, "NN", "NNS"):
                yield _put_before(word, "rarely", "seldom")
        if s.joined(i + 1) and word.lower not in _IN["undoubted"]:
            person = word.tag == "VBD" and before.lower in ("he", "she", "they") and main
            if person or (passive and word.lower.endswith(("ed", "en"))):
                yield _put_before(word, "allegedly", "doubted")


def _phrase_end(s: Sentence, i: int) -> int | None:
    """Where what follows a preposition ends: a noun phrase, or a date."""
    end = s.noun_phrase(i)
    if s.tag_at(i) == "CD" and (end is None or end == i):
        end = i + 1
    if end is not None and (s.tag_at(end - 1), s.tag_at(end)) == ("NNP", "CD") and s.joined(end):
        end += 1  # *in May 1998*
    return end


def _delete_phrases(s: Sentence) -> Iterator[MeaningChange]:
    """*In 1998, the bridge opened.* → *The bridge opened.*; *He bought it at the market.* → *He bought it.*"""
    n = len(s.words)
    vague = s.word_at(1) in _VAGUE or s.word_at(2) in _VAGUE
    end = _phrase_end(s, 1) if s.word_at(0) in _IN["adjunct"] and not vague else None
    if end is not None and end <= _MAX_PHRASE and n - end >= 4 and s.gap(end) == ", ":
        subject = s.tag_at(end) in ("DT", "PRP", "PRP$", "NNP", "NN", "NNS") and s.word_at(end) != "such"
        if subject and s.has_verb(end, n):
            edit = Edit(s.start, s.words[end].start + 1, s.text[s.words[end].start].upper())
            yield MeaningChange((edit,), "phrase", f"without {s.said(0, end)!r}")
    if s.text[s.end : s.end + 1] not in (".", "") or any(mark in s.text[s.start : s.end] for mark in '("“:'):
        return
    if n > 4 and s.words[-1].lower in _IN["when"] and s.words[-2].tag in (*_NOUNS, "PRP") and s.joined(n - 1):
        yield without(s.text, s.words[-2].end, s.end, "phrase")
    for i in range(n - 2, max(2, n - _MAX_PHRASE - 1), -1):
        if s.word_at(i) not in _IN["adjunct"] or not s.joined(i) or _phrase_end(s, i + 1) != n:
            continue
        before = s.words[i - 1]
        needed = before.lower in _IN["needs"]
        passive = before.tag == "VBN" and s.word_at(i - 2) in ("was", "were", "been") and not needed
        thing = before.tag in _NOUNS and not needed
        thing = thing or (before.lower in ("it", "them", "him", "her", "me", "us") and s.tag_at(i - 2) in _VERBS)
        whole = s.has_verb(0, i) and not any(s.word_at(k) in ("from", "between", "as") for k in range(max(0, i - 6), i))
        if (passive or thing) and whole:
            yield without(s.text, before.end, s.end, "phrase")
        return


def _delete_words(s: Sentence) -> Iterator[MeaningChange]:
    """*the first bridge* → *the bridge*, *two sons* → *sons*, *he allegedly stole* → *he stole*, *only the* → *the*."""
    for i in range(1, len(s.words) - 1):
        word, before, after = s.words[i], s.words[i - 1], s.words[i + 1]
        if s.joined(i) and s.joined(i + 1):
            listed = word.lower in _IN["restricts"] or (word.tag == "JJS" and word.lower not in ("most", "least"))
            if listed and after.tag in ("NN", "NNS") and after.lower not in _IN["weak"]:
                if before.lower in ("a", "an"):
                    right = cased("an" if sounds_as_vowel(after.lower) else "a", s.text[before.start : before.end])
                    edit = Edit(before.start, after.start, f"{right} ")
                    yield MeaningChange((edit,), "restriction", f"without {word.lower!r}")
                elif before.lower in _IN["determiner"] and before.lower not in ("each", "every"):
                    yield without(s.text, word.start, after.start, "restriction")
            number = word.tag == "CD" and word.lower != "one" and word.lower.isalpha() and len(word.lower) < 9
            verb = before.tag in ("VB", "VBD", "VBZ", "VBG") or before.lower in ("with", "by", "has", "have", "had")
            if number and verb and after.tag == "NNS" and after.lower not in _IN["units"]:
                yield without(s.text, word.start, after.start, "number")
            doubt = word.lower in _IN["doubts"] and after.tag in ("VB", "VBD", "VBZ", "VBN", "VBG", "JJ", "DT")
            amount = ("not", "very", "more", "most", "only", "so", "too", "and", "or", "but")
            if doubt and before.lower not in amount:
                yield without(s.text, word.start, after.start, "doubt")
        if i == len(s.words) - 2:
            break
        two = word.lower, after.lower
        alone = two in (("only", "the"), ("only", "one")) and s.joined(i)
        if alone and before.lower not in ("the", "not", "an", "if"):
            yield without(s.text, word.start, after.start, "limit")
        below = two in (("less", "than"), ("up", "to")) and s.tag_at(i + 2) == "CD" and s.joined(i + 1)
        if below and before.lower not in ("no", "not", "slightly", "little"):
            yield without(s.text, word.start, s.words[i + 2].start, "limit")
