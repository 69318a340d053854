"""How other texts say the same where nobody labelled anything: values are guessed, the words around them borrowed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from importlib.resources import files
from itertools import combinations, pairwise
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.vary.english import BE, DO, HAVE, Word, forms, tagged
from unswayed.vary.paraphrase._frames import DATA
from unswayed.vary.sentence import MONTHS, WEEKDAYS
from unswayed.vary.words import sounds_as_vowel, word_lists

_LISTS = word_lists(files("unswayed.vary.paraphrase") / "data" / "words.toml")
_TELLING, _FRAMING, _NUMBERS = (
    _LISTS["telling"] - _LISTS["topics"] | _LISTS["turning"],
    _LISTS["framing"],
    _LISTS["numbers"],
)
_DAYS = WEEKDAYS | {f"{day}s" for day in WEEKDAYS} | MONTHS | _LISTS["days"]
_HOURS = _LISTS["hours"]
_ALIKE: dict[str, str] = {word: group.split()[0] for group in DATA["alike"] for word in group.split()}
_LEAST, _COMMON = 3, 0.002  # texts, and share of the texts, from which on a word is what texts are about
_LEFT, _ADDED, _ENOUGH = 0.3, 0.5, 5  # shares of texts that have a noun, from which on it goes without saying; texts
_MOSTLY = 0.8  # of a word's places where it is a noun, if it is one
_LONGEST = 25  # words
_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th)")
_CLOSED = frozenset(("TO", "DT", "PRP", "PRP$", "CC", "MD", "EX", "W", "UH", "RP", "POS", "IN"))
_ARTICLES = frozenset(("a", "an", "the"))
_ENDLESS = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "your",
        "of",
        "by",
        "for",
        "from",
        "to",
        "at",
        "in",
        "with",
        "and",
        "or",
        "is",
        "are",
        "that",
        "this",
        "s",
        "what",
        "what's",
        "some",
        "any",
    ]
)
_INNER = ("of", "the", "and", "&", "s")
_BOUNDS = frozenset(("before", "after", "until", "since", "by", "than", "from", "to"))
_STRONG = frozenset(["from", "to", "by", "with", "without", "about", "into", "onto", "like", "than", "near", "between"])
_SEEKS = re.compile(r"\b(?:show|find|search|look|see|watch|get|give|pull)\b", re.I)
_WEAK = frozenset(["in", "for", "at", "on", "of"])
_PLACES = "on|in|at|by|for|after|before|around|near|to|from|with"
_LOOSE = re.compile(rf"(?:^| )((?:{_PLACES}|this|next)(?: (?:{_PLACES}|about|a|the|my|next|this))*)$")
_GOES_ON = re.compile(rf"(?:{_PLACES}|and|that|which|please)\b")
_DOER = frozenset(
    [
        "book",
        "name",
        "rate",
        "show",
        "order",
        "list",
        "play",
        "set",
        "light",
        "change",
        "call",
        "love",
        "like",
        "need",
        "plan",
        "name",
        "place",
    ]
)
_OWNED, _NOT_VALUES = frozenset(("the", "my")), frozenset(("week", "month", "year", "list"))  # *day of the week*
_OWN = re.compile(r"\b(?:have|do|did|am|had|should) i\b", re.I)
_DOUBLED = re.compile(r"\b(\w+) \1\b")
_END = " .?!"


class Said(NamedTuple):
    """What a text is about, and its stretches of words, each with its role if it is a value."""

    about: frozenset[str]
    parts: tuple[tuple[str, str], ...]

    @property
    def asks(self) -> tuple[frozenset[str], tuple[str, ...]]:
        return self.about, tuple(sorted(role for _, role in self.parts if role))


class Alike:
    """Texts by what they are about and which values they hold."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        rows = [(text, words) for text in texts if 0 < len(words := tagged(text)) <= _LONGEST]
        self._with = Counter(word for _, words in rows for word in {_stem(w) for w in words})
        self._least = max(_LEAST, _COMMON * len(rows))
        found: dict[tuple[frozenset[str], tuple[str, ...]], list[Said]] = defaultdict(list)
        for text, _ in rows:
            if (said := self.said(text)) is not None and not _open(said):
                found[said.asks].append(said)
        # Sorted, so that the order of the texts decides nothing; often said ones are there often.
        self._found = {asks: sorted(said, key=lambda s: s.parts) for asks, said in found.items()}
        self._by_roles: dict[tuple[str, ...], list[frozenset[str]]] = defaultdict(list)
        for about, roles in sorted(self._found, key=lambda asks: (sorted(asks[0]), asks[1])):
            self._by_roles[roles].append(about)
        nouns = Counter(_stem(w) for _, words in rows for w in words if w.tag in ("NN", "NNS"))
        times = Counter(_stem(w) for _, words in rows for w in words)
        self._nouns = frozenset(w for w, n in nouns.items() if n >= _MOSTLY * times[w]) - _TELLING
        self._patterns = _patterns(self._found.values())

    def others(self, text: str) -> list[str]:
        """The text as others say it."""
        said = self.said(text)
        if said is None or not (said.about or len(said.parts) > 3):
            return []
        if found := self._filled(said, text):
            return found
        for other in self._matched(text):
            if found := self._filled(other, text):
                return found
        places = [i for i, (_, role) in enumerate(said.parts) if role]
        for count in (1, 2):
            for gone in combinations(reversed(places), count):
                found += self._without(said, gone)
            if found:
                return found
        return found

    def said(self, text: str) -> Said | None:
        """A text with its values guessed."""
        words = tagged(text)
        if not 0 < len(words) <= _LONGEST:
            return None
        kinds = [self._kind(word) for word in words]
        for i, (before, word) in enumerate(pairwise(words), 1):
            if before.lower in _OWNED and word.lower in _NOT_VALUES:
                kinds[i] = "a"
            elif word.lower == "am" and kinds[i - 1] not in "nd":
                kinds[i] = "f"
            elif word.lower == "us" and before.tag != "VB" and before.lower != "for":
                kinds[i] = "v"  # the country, or an airline
        about, parts, at, i = set(), [], 0, 0
        while i < len(words):
            if kinds[i] in "ndtv":
                end = _value_end(text, words, kinds, i)
                parts += [
                    (text[at : words[i].start].strip(), ""),
                    (text[words[i].start : words[end - 1].end], _role(words, kinds, i, end)),
                ]
                at, i = words[end - 1].end, end
                continue
            if kinds[i] == "a":
                about.add(_stem(words[i]) + ("/V" if words[i].tag == "VB" and words[i].lower in _DOER else ""))
            i += 1
        if _OWN.search(text):
            about.add("own")
        return _settled(about, [*parts, (text[at:].strip(), "")])

    def _kind(self, word: Word) -> str:
        """n number, d day, t time, v another value; a what the text is about; or a word that says little."""
        lower = word.lower
        if lower in _TELLING:
            return "a"
        if lower in _NUMBERS or (lower[0].isdigit() and not _ORDINAL.fullmatch(lower)):
            return "n"
        if lower in _DAYS or lower[0].isdigit():
            return "d"
        if lower in _HOURS:
            return "t"
        if lower in _FRAMING or lower in BE or lower in HAVE or lower in DO:
            return "f"
        if word.tag == "NNP":
            return "v"
        if word.tag in _CLOSED:
            return "f"
        return "a" if self._with[_stem(word)] >= self._least else "v"

    def _filled(self, said: Said, text: str) -> list[str]:
        """What others say who ask the same, with the values of this text."""
        small = text.lower().strip(_END)
        rows = [other for about in self._abouts(said) for other in self._found[about, said.asks[1]]]
        new = (_with_values(other, said) for other in rows)
        fit = [other for other in new if other is not None and other.lower().strip(_END) != small]
        return [other for other in fit if not _DOUBLED.search(other.lower()) or _DOUBLED.search(small)]

    def _abouts(self, said: Said) -> list[frozenset[str]]:
        """The same things to be about, with nouns put in or left out that go without saying."""
        roles = said.asks[1]
        return [
            about
            for about in self._by_roles.get(roles, ())
            if about == said.about
            or (about < said.about and self._goes_without(about, said.about, roles, _LEFT))
            or (said.about < about and self._goes_without(said.about, about, roles, _ADDED))
        ]

    def _goes_without(self, fewer: frozenset[str], more: frozenset[str], roles: tuple[str, ...], least: float) -> bool:
        extra = more - fewer
        if fewer <= _TELLING or len(extra) > 1 or not extra <= self._nouns:
            return False
        with_it, without = (len(self._found.get((about, roles), ())) for about in (more, fewer))
        return with_it + without >= _ENOUGH and with_it >= least * (with_it + without)

    def _matched(self, text: str) -> Iterator[Said]:
        """The text read as others that have the same words around their values, those with most words first."""
        words = frozenset(text.lower().split())
        fit = [(pattern, said) for needs, pattern, said in self._patterns if needs <= words]
        for pattern, said in fit:
            match = pattern.fullmatch(text)
            if match and all(map(self._holds, match.groups(), [role for _, role in said.parts if role])):
                values = iter(match.groups())
                yield Said(said.about, tuple((next(values) if role else words, role) for words, role in said.parts))

    def _holds(self, value: str, role: str) -> bool:
        """May these words be a value with this role?"""
        words = tagged(value)
        if not words or len(words) > 6:
            return False
        kinds = [self._kind(word) for word in words]
        if role[0] != "v":
            return all(kind in "ndt" for kind in kinds) and role[0] in kinds
        bare = [word.lower for word in words]
        return kinds[0] in "av" and kinds[-1] in "av" and not _BOUNDS.intersection(bare)

    def _without(self, said: Said, gone: tuple[int, ...]) -> list[str]:
        """What others say without some of the values, which come last then, with the words before them."""
        parts, last = list(said.parts), []
        for i in sorted(gone):
            before, follows = parts[i - 1][0], parts[i + 1][0]
            match = _LOOSE.search(before)
            if (match is None and parts[i][1][0] not in "dt") or (follows and not _GOES_ON.match(follows)):
                return []
            last.append(f"{match.group(1)} {parts[i][0]}" if match else parts[i][0])
            parts[i - 1] = (before[: match.start()].strip() if match else before, "")
            parts[i] = ("", "")
        rest = " ".join(words for words, _ in parts if words)
        kept, left = self.said(rest), " ".join(last)
        away = self.said(left)
        if kept is None or away is None or len(kept.parts) < 2 or kept.about | away.about != said.about:
            return []
        return [f"{other.rstrip(_END)} {left}" for other in self._filled(kept, rest)]


def _open(said: Said) -> bool:
    """Does it break off, or have a value that may be none?"""
    last = said.parts[-1][0].lower().rpartition(" ")[2]
    return last in _ENDLESS or any(role[:2] in ("vR", "vV", "vI", "vD", "vW") for _, role in said.parts)


def _stem(word: Word) -> str:
    tags = (word.tag, "NN", "VB")
    stem = next((lemma for tag in tags if (lemma := forms().lemma(word.lower, tag)) != word.lower), word.lower)
    return _ALIKE.get(stem, stem)


def _value_end(text: str, words: tuple[Word, ...], kinds: list[str], first: int) -> int:
    """Where a value ends that begins at a word; *queen of the organ* is one."""
    name, end = kinds[first] == "v", first + 1
    between = any(word.lower == "between" for word in words[max(first - 2, 0) : first])
    while end < len(words) and text[words[end - 1].end : words[end].start] in (" ", ". "):
        inner = [w.lower in _INNER for w in words[end : end + 3]]
        follows = inner.index(False) if False in inner else 3
        if kinds[end] in "ndtv" and (kinds[end] == "v") == name:
            end += 1
        elif name and not between and 0 < follows < 3 and end + follows < len(words) and kinds[end + follows] == "v":
            end += follows
        else:
            break
    return end


def _role(words: tuple[Word, ...], kinds: list[str], first: int, end: int) -> str:
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
    return f"{kind}:{_stem(before)}" if kinds[at] == "a" else kind


def _settled(about: set[str], parts: list[tuple[str, str]]) -> Said:
    """Roles as they compare: *between a and b* is *from a to b*, and *in a* may be *for a*."""
    for i, (_, role) in enumerate(parts[:-2]):
        if role.endswith(":between") and parts[i + 1][0].lower() == "and" and parts[i + 2][1][:1] == "v":
            parts[i] = (parts[i][0], role.replace(":between", ":from"))
            parts[i + 2] = (parts[i + 2][0], parts[i + 2][1].partition(":")[0] + ":to")
            about -= {"between", "and"}
    for marked in (True, False):
        alike = [i for i, (_, role) in enumerate(parts) if role[:1] == "v" and _marked(role) is marked]
        if len(alike) == 1:
            words, role = parts[alike[0]]
            parts[alike[0]] = (words, role.partition(":")[0] + (":at" if marked else ""))
    if not about and any(_SEEKS.search(words) for words, role in parts if not role):
        about.add("sought")
    return Said(frozenset(about), tuple(parts))


def _marked(role: str) -> bool | None:
    """Is it marked by a preposition that may be another one, or by none? None by one that may not."""
    mark = role.partition(":")[2]
    return True if mark in _WEAK else False if mark not in _STRONG else None


def _with_values(other: Said, said: Said) -> str | None:
    """The words of one text with the values of another; None where they don't go together."""
    values: dict[str, list[str]] = defaultdict(list)
    bare = set()  # values after an article
    for i, (words, role) in enumerate(said.parts):
        values[role].append(words)
        if role and said.parts[i - 1][0].rpartition(" ")[2].lower() in _ARTICLES:
            bare.add(words)
    new: list[str] = []
    for words, role in other.parts:
        part = values[role].pop(0) if role else words
        last = new[-1].rpartition(" ") if new else ("", "", "")
        if role[:1] == "v" and last[2] in _ARTICLES:
            if role[1] == "P" and last[2] != "the":
                return None
            if tagged(part)[-1].tag == "NNP" and part not in bare:
                return None  # *the california*
        if role and last[2] in ("a", "an"):
            new[-1] = f"{last[0]}{last[1]}{'an' if sounds_as_vowel(part) else 'a'}"
        new += [part] if part else []
    return " ".join(new)


def _patterns(found: Iterable[list[Said]]) -> list[tuple[frozenset[str], re.Pattern[str], Said]]:
    """Words around values that several texts have in common, the longest first, with the words that they need."""
    times: dict[tuple[tuple[str, str], ...], list[Said]] = defaultdict(list)
    for rows in found:
        for said in rows:
            if len(said.parts) > 1 and said.about:
                times[tuple((role or words.lower(), role) for words, role in said.parts)].append(said)
    often = [(key, rows[0]) for key, rows in times.items() if len({row.parts for row in rows}) > 1]
    often.sort(key=lambda item: (-sum(len(words) for words, role in item[0] if not role), item[0]))
    return [(_needed(key), _as_pattern(key), said) for key, said in often]


def _needed(key: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return frozenset(word for words, role in key if not role for word in words.split())


def _as_pattern(key: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    parts = [r"(\S.*?)" if role else re.escape(words) for words, role in key if words]
    return re.compile(r" ".join(parts), re.I)


def edits_between(old: str, new: str) -> list[Edit]:
    """The edits of whole tokens that make one text of another, both with single spaces."""
    before, after, starts = old.split(" "), new.split(" "), [0]
    for token in before:
        starts.append(starts[-1] + len(token) + 1)
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
