"""How other rows of the data say the same: by their labels, or where nobody labelled anything, by guessed values.

The words around the labelled or guessed values of another row are borrowed and put around the values of this text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from importlib.resources import files
from itertools import accumulate, chain, combinations, pairwise
from typing import NamedTuple

from unswayed.base.edits import Edit, slots_of
from unswayed.base.values import Example, Json
from unswayed.vary.english import BE, DO, HAVE, STOPWORDS, Word, forms, tagged
from unswayed.vary.sentence import MONTHS, WEEKDAYS
from unswayed.vary.words import sounds_as_vowel, word_lists

_LISTS = word_lists(files("unswayed.vary.paraphrase") / "data" / "words.toml")
_ARTICLES = ("a", "an")

# Rows with labels
_MIN_ROWS, _COMMON_IN_INTENT = 3, 0.02  # rows, and share of an intent's, from which on a word is one of the intent's
_FUNCTION_WORDS = frozenset(word for _, word in STOPWORDS) | BE | HAVE | DO

# Texts without labels
_TELLING = _LISTS["telling"] - _LISTS["topics"] | _LISTS["turning"]
_DAYS = WEEKDAYS | {f"{day}s" for day in WEEKDAYS} | MONTHS | _LISTS["days"]
_SAME_AS = {word: group.split("=")[0] for group in _LISTS["alike"] for word in group.split("=")}
_MIN_TEXTS, _COMMON = 3, 0.002  # texts, and share of the texts, from which on a word is what texts are about
_LEFT, _ADDED = 0.3, 0.5  # shares of texts that have a noun, from which on it goes without saying
_MIN_EITHER = 5  # texts with the noun or without it, below which nothing goes without saying
_MOSTLY = 0.8  # of a word's places where it is a noun, if it is one
_MAX_WORDS = 25  # of a text
_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th)")
_CLOSED = frozenset(["TO", "DT", "PRP", "PRP$", "CC", "MD", "EX", "W", "UH", "RP", "POS", "IN"])
_BOUNDS = frozenset(["before", "after", "until", "since", "by", "than", "from", "to"])
_STRONG = frozenset(["from", "to", "by", "with", "without", "about", "into", "onto", "like", "than", "near", "between"])
_WEAK = frozenset(["in", "for", "at", "on", "of"])
_SEEKS = re.compile(r"\b(?:show|find|search|look|see|watch|get|give|pull)\b", re.I)
_PLACES = "on|in|at|by|for|after|before|around|near|to|from|with"
_LOOSE = re.compile(rf"(?:^| )((?:{_PLACES}|this|next)(?: (?:{_PLACES}|about|a|the|my|next|this))*)$")
_GOES_ON = re.compile(rf"(?:{_PLACES}|and|that|which|please)\b")
_OWN = re.compile(r"\b(?:have|do|did|am|had|should) i\b", re.I)
_DOUBLED = re.compile(r"\b(\w+) \1\b")
_END = " .?!"


class SlottedText(NamedTuple):
    """A text with slots: what it asks and the kinds of its slots; the words around them, and where these stand."""

    asks: tuple[str, ...]
    around: tuple[str, ...]
    gaps: list[tuple[int, int]]

    @classmethod
    def of(cls, text: str, gold: Json) -> SlottedText | None:
        """None where the gold has no tags, or not one for each token."""
        intent, tags = (gold.get("intent"), gold.get("slots")) if isinstance(gold, dict) else ("", gold)
        tokens = text.split(" ")
        if not isinstance(tags, list) or len(tags) != len(tokens) or not all(isinstance(tag, str) for tag in tags):
            return None
        slots, starts = slots_of([str(tag) for tag in tags]), _token_starts(tokens)
        borders = [0, *(at for _, first, last in slots for at in (starts[first], starts[last] - 1)), len(text)]
        gaps = list(pairwise(borders))[::2]
        asks = (str(intent), *(kind for kind, _, _ in slots))
        return cls(asks, tuple(text[start:end].strip() for start, end in gaps), gaps) if slots else None

    @property
    def words(self) -> list[str]:
        return " ".join(self.around).lower().split()


class LabelledRows:
    """The words around the slots of many rows, by intent and kinds of slots.

    Words that are rare among the rows of an intent say something of their own, so both rows must have them.
    """

    def __init__(self, examples: Iterable[Example] = ()) -> None:
        found: dict[tuple[str, ...], list[SlottedText]] = defaultdict(list)
        self._rows: Counter[str] = Counter()
        self._with: Counter[tuple[str, str]] = Counter()
        for text, gold in ((text, e.gold) for e in examples for text in e.inputs.values() if isinstance(text, str)):
            if (row := SlottedText.of(text, gold)) is not None:
                found[row.asks].append(row)
                self._rows[row.asks[0]] += 1
                self._with.update((row.asks[0], word) for word in set(row.words))
        # Sorted, so that the order of the rows decides nothing; often said ones are there often.
        self._found = {asks: sorted(rows, key=lambda row: row.around) for asks, rows in found.items()}

    def others(self, text: str, gold: Json) -> list[tuple[str, ...]]:
        """The words of other rows around slots like those of this text."""
        row = SlottedText.of(text, gold)
        alike = self._found.get(row.asks, ()) if row else ()
        if row is None or not alike:
            return []
        telling, own = self._telling(row), row.words
        return [other.around for other in alike if other.words != own and self._telling(other) == telling]

    def _telling(self, row: SlottedText) -> frozenset[str]:
        """The words that say more than the intent does: *when does it play* is not *play it*."""
        intent = row.asks[0]
        least = max(_MIN_ROWS, _COMMON_IN_INTENT * self._rows[intent])
        rare = (w for w in row.words if w not in _FUNCTION_WORDS and self._with[intent, w] < least)
        return _LISTS["telling"].intersection(row.words).union(rare)


def put_around(text: str, gold: Json, around: tuple[str, ...]) -> list[Edit]:
    """The edits that put other words around the slots: each stretch between them that differs is replaced whole."""
    row, edits = SlottedText.of(text, gold), []
    for k, (words, (start, end)) in enumerate(zip(around, row.gaps, strict=True) if row else ()):
        before, space, last = words.rpartition(" ")
        if last in _ARTICLES and text[end:]:  # as the value after it needs it
            words = f"{before}{space}{'an' if sounds_as_vowel(text[end:]) else 'a'}"
        opens, closes = k == 0, k == len(around) - 1
        new = ("" if opens or (closes and not words) else " ") + words + ("" if closes or not words else " ")
        if text[start:end] != new:
            edits.append(Edit(start, end, new))
    return edits


def _token_starts(tokens: list[str]) -> list[int]:
    """Where each token begins in a text with single spaces, and where one after the last would."""
    return list(accumulate((len(token) + 1 for token in tokens), initial=0))


class GuessedText(NamedTuple):
    """What a text is about, and its stretches of words, each with its role if it is a value."""

    about: frozenset[str]
    parts: tuple[tuple[str, str], ...]

    @property
    def asks(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """What it is about, and the roles of its values."""
        return self.about, tuple(sorted(role for _, role in self.parts if role))

    @property
    def is_open(self) -> bool:
        """Does it break off, or have a value that may be none?"""
        last = self.parts[-1][0].lower().rpartition(" ")[2]
        return last in _LISTS["open_ended"] or any(role[:2] in ("vR", "vV", "vI", "vD", "vW") for _, role in self.parts)


class UnlabelledRows:
    """Texts by what they are about and which values they hold."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        rows = [(text, words) for text in texts if 0 < len(words := tagged(text)) <= _MAX_WORDS]
        self._with = Counter(word for _, words in rows for word in {_find_stem(w) for w in words})
        self._least = max(_MIN_TEXTS, _COMMON * len(rows))
        found: dict[tuple[frozenset[str], tuple[str, ...]], list[GuessedText]] = defaultdict(list)
        for text, _ in rows:
            if (guessed := self.guess(text)) is not None and not guessed.is_open:
                found[guessed.asks].append(guessed)
        # Sorted, so that the order of the texts decides nothing; often said ones are there often.
        self._found = {asks: sorted(alike, key=lambda row: row.parts) for asks, alike in found.items()}
        self._by_roles: dict[tuple[str, ...], list[frozenset[str]]] = defaultdict(list)
        for about, roles in sorted(self._found, key=lambda asks: (sorted(asks[0]), asks[1])):
            self._by_roles[roles].append(about)
        nouns = Counter(_find_stem(w) for _, words in rows for w in words if w.tag in ("NN", "NNS"))
        times = Counter(_find_stem(w) for _, words in rows for w in words)
        self._nouns = frozenset(w for w, n in nouns.items() if n >= _MOSTLY * times[w]) - _TELLING
        # Words around values that several texts have in common, the longest first, with the words that they need.
        same: dict[tuple[tuple[str, str], ...], list[GuessedText]] = defaultdict(list)
        for row in (row for alike in self._found.values() for row in alike if len(row.parts) > 1 and row.about):
            same[tuple((role or words.lower(), role) for words, role in row.parts)].append(row)
        often = [(key, alike[0]) for key, alike in same.items() if len({row.parts for row in alike}) > 1]
        often.sort(key=lambda item: (-sum(len(said) for said, role in item[0] if not role), item[0]))
        self._patterns: list[tuple[frozenset[str], re.Pattern[str], GuessedText]] = []
        for key, row in often:
            needed = frozenset(word for said, role in key if not role for word in said.split())
            parts = [r"(\S.*?)" if role else re.escape(said) for said, role in key if said]
            self._patterns.append((needed, re.compile(" ".join(parts), re.I), row))

    def others(self, text: str) -> list[str]:
        """The text as others say it."""
        guessed = self.guess(text)
        if guessed is None or not (guessed.about or len(guessed.parts) > 3):
            return []
        for reading in chain([guessed], self._matched(text)):
            if found := self._filled(reading, text):
                return found
        places = [i for i, (_, role) in enumerate(guessed.parts) if role]
        for count in (1, 2):
            if found := [o for gone in combinations(reversed(places), count) for o in self._without(guessed, gone)]:
                return found
        return []

    def guess(self, text: str) -> GuessedText | None:
        """A text with its values guessed."""
        words = tagged(text)
        if not 0 < len(words) <= _MAX_WORDS:
            return None
        kinds = [self._kind(word) for word in words]
        for i, (before, word) in enumerate(pairwise(words), 1):
            if before.lower in ("the", "my") and word.lower in ("week", "month", "year", "list"):
                kinds[i] = "a"  # *day of the week*
            elif word.lower == "am" and kinds[i - 1] not in "nd":
                kinds[i] = "f"
            elif word.lower == "us" and before.tag != "VB" and before.lower != "for":
                kinds[i] = "v"  # the country, or an airline
        about, parts, at, i = set(), [], 0, 0
        while i < len(words):
            end = i + 1
            if kinds[i] in "ndtv":
                end = _value_end(text, words, kinds, i)
                parts.append((text[at : words[i].start].strip(), ""))
                parts.append((text[words[i].start : words[end - 1].end], _value_role(words, kinds, i, end)))
                at = words[end - 1].end
            elif kinds[i] == "a":
                doing = words[i].tag == "VB" and words[i].lower in _LISTS["doing"]
                about.add(_find_stem(words[i]) + ("/V" if doing else ""))
            i = end
        if _OWN.search(text):
            about.add("own")
        parts.append((text[at:].strip(), ""))
        # Roles as they compare: *between a and b* is *from a to b*, and *in a* may be *for a*.
        for i, (_, role) in enumerate(parts[:-2]):
            if role.endswith(":between") and parts[i + 1][0].lower() == "and" and parts[i + 2][1][:1] == "v":
                parts[i] = (parts[i][0], role.replace(":between", ":from"))
                parts[i + 2] = (parts[i + 2][0], parts[i + 2][1].partition(":")[0] + ":to")
                about -= {"between", "and"}
        # A value alone with a preposition that may be another one, and one alone with none; those with others stay.
        marks = [role.partition(":")[2] if role[:1] == "v" else None for _, role in parts]
        weak = [i for i, mark in enumerate(marks) if mark in _WEAK]
        bare = [i for i, mark in enumerate(marks) if mark is not None and mark not in _WEAK | _STRONG]
        for alike, mark in ((weak, ":at"), (bare, "")):
            if len(alike) == 1:
                said, role = parts[alike[0]]
                parts[alike[0]] = (said, role.partition(":")[0] + mark)
        if not about and any(_SEEKS.search(said) for said, role in parts if not role):
            about.add("sought")
        return GuessedText(frozenset(about), tuple(parts))

    def _kind(self, word: Word) -> str:
        """n number, d day, t time, v another value; a what the text is about; or a word that says little."""
        lower = word.lower
        if lower in _TELLING:
            return "a"
        if lower in _LISTS["numbers"] or (lower[0].isdigit() and not _ORDINAL.fullmatch(lower)):
            return "n"
        if lower in _DAYS or lower[0].isdigit():
            return "d"
        if lower in _LISTS["hours"]:
            return "t"
        if lower in _LISTS["framing"] or lower in BE or lower in HAVE or lower in DO:
            return "f"
        if word.tag == "NNP":
            return "v"
        if word.tag in _CLOSED:
            return "f"
        return "a" if self._with[_find_stem(word)] >= self._least else "v"

    def _filled(self, guessed: GuessedText, text: str) -> list[str]:
        """What others say who ask the same, with the values of this text."""
        small = text.lower().strip(_END)
        about, roles = guessed.asks
        rows: list[GuessedText] = []
        for other in self._by_roles.get(roles, ()):  # also with a noun put in or left out that goes without saying
            if other != about:
                fewer, more = (other, about) if len(other) < len(about) else (about, other)
                if not fewer < more or fewer <= _TELLING or len(more - fewer) > 1 or not more - fewer <= self._nouns:
                    continue
                with_it, without = (len(self._found.get((its, roles), ())) for its in (more, fewer))
                least = (_LEFT if fewer is other else _ADDED) * (with_it + without)
                if with_it + without < _MIN_EITHER or with_it < least:
                    continue
            rows += self._found[other, roles]
        new = (_with_values(row, guessed) for row in rows)
        fit = [said for said in new if said is not None and said.lower().strip(_END) != small]
        return [said for said in fit if not _DOUBLED.search(said.lower()) or _DOUBLED.search(small)]

    def _matched(self, text: str) -> Iterator[GuessedText]:
        """The text read as others that have the same words around their values, those with most words first."""
        words = frozenset(text.lower().split())
        for needs, pattern, row in self._patterns:
            match = pattern.fullmatch(text) if needs <= words else None
            if match and all(map(self._holds, match.groups(), [role for _, role in row.parts if role])):
                values = iter(match.groups())
                parts = tuple((next(values) if role else around, role) for around, role in row.parts)
                yield GuessedText(row.about, parts)

    def _holds(self, value: str, role: str) -> bool:
        """May these words be a value with this role?"""
        words = tagged(value)
        if not words or len(words) > 6:
            return False
        kinds = [self._kind(word) for word in words]
        if role[0] != "v":
            return all(kind in "ndt" for kind in kinds) and role[0] in kinds
        return kinds[0] in "av" and kinds[-1] in "av" and _BOUNDS.isdisjoint(word.lower for word in words)

    def _without(self, guessed: GuessedText, gone: tuple[int, ...]) -> list[str]:
        """What others say without some of the values, which come last then, with the words before them."""
        parts, last = list(guessed.parts), []
        for i in sorted(gone):
            before, follows = parts[i - 1][0], parts[i + 1][0]
            match = _LOOSE.search(before)
            if (match is None and parts[i][1][0] not in "dt") or (follows and not _GOES_ON.match(follows)):
                return []
            last.append(f"{match.group(1)} {parts[i][0]}" if match else parts[i][0])
            parts[i - 1] = (before[: match.start()].strip() if match else before, "")
            parts[i] = ("", "")
        rest = " ".join(words for words, _ in parts if words)
        left = " ".join(last)
        first, away = self.guess(rest), self.guess(left)
        if first is None or away is None or len(first.parts) < 2 or first.about | away.about != guessed.about:
            return []
        return [f"{other.rstrip(_END)} {left}" for other in self._filled(first, rest)]


def _find_stem(word: Word) -> str:
    tags = (word.tag, "NN", "VB")
    stem = next((lemma for tag in tags if (lemma := forms().lemma(word.lower, tag)) != word.lower), word.lower)
    return _SAME_AS.get(stem, stem)


def _value_end(text: str, words: tuple[Word, ...], kinds: list[str], first: int) -> int:
    """Where a value ends that begins at a word; *queen of the organ* is one."""
    name, end = kinds[first] == "v", first + 1
    between = any(word.lower == "between" for word in words[max(first - 2, 0) : first])
    while end < len(words) and text[words[end - 1].end : words[end].start] in (" ", ". "):
        inner = [w.lower in ("of", "the", "and", "&", "s") for w in words[end : end + 3]]
        follows = inner.index(False) if False in inner else 3
        if kinds[end] in "ndtv" and (kinds[end] == "v") == name:
            end += 1
        elif name and not between and 0 < follows < 3 and end + follows < len(words) and kinds[end + follows] == "v":
            end += follows
        else:
            break
    return end


def _value_role(words: tuple[Word, ...], kinds: list[str], first: int, end: int) -> str:
    """What kind of value it is, and the word that says what it is there for."""
    kind = next((k for k in "vdt" if k in kinds[first:end]), "n")
    at = first - 1
    if at > 0 and words[at].tag in ("DT", "PRP$"):
        at -= 1
    before = words[at] if at >= 0 else None
    if kind != "v":
        return kind + (before.lower if before and before.lower in _BOUNDS else "")
    tag = words[end - 1].tag
    plural = "P" if end - first == 1 else "N"  # of several words, it is likely a name
    kind += {"NNP": "N", "NN": "N", "NNS": plural}.get(tag, tag[:1])
    if before is None:
        return kind
    if before.tag in ("IN", "TO"):
        return f"{kind}:{before.lower}"
    return f"{kind}:{_find_stem(before)}" if kinds[at] == "a" else kind


def _with_values(other: GuessedText, own: GuessedText) -> str | None:
    """The words of one text with the values of another; None where they don't go together."""
    values: dict[str, list[str]] = defaultdict(list)
    definite = set()  # values after an article
    for i, (words, role) in enumerate(own.parts):
        values[role].append(words)
        if role and own.parts[i - 1][0].rpartition(" ")[2].lower() in (*_ARTICLES, "the"):
            definite.add(words)
    new: list[str] = []
    for words, role in other.parts:
        part = values[role].pop(0) if role else words
        before, space, last = new[-1].rpartition(" ") if new else ("", "", "")
        if role[:1] == "v" and last in (*_ARTICLES, "the"):
            if role[1] == "P" and last != "the":
                return None
            if tagged(part)[-1].tag == "NNP" and part not in definite:
                return None  # *the california*
        if role and last in _ARTICLES:
            new[-1] = f"{before}{space}{'an' if sounds_as_vowel(part) else 'a'}"
        new += [part] if part else []
    return " ".join(new)


def edits_between(old: str, new: str) -> list[Edit]:
    """The edits of whole tokens that make one text of another, both with single spaces."""
    before, after = old.split(" "), new.split(" ")
    starts = _token_starts(before)
    edits = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        words = " ".join(after[c:d])
        if kind == "replace":
            edits.append(Edit(starts[a], starts[b] - 1, words))
        elif kind == "insert" and a < len(before):
            edits.append(Edit(starts[a], starts[a], f"{words} "))
        elif kind == "insert":
            edits.append(Edit(len(old), len(old), f" {words}"))
        elif kind == "delete":
            edits.append(Edit(starts[a], starts[b], "") if b < len(before) else Edit(starts[a] - 1, len(old), ""))
    return edits
