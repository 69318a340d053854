"""What is typed where a slip falls: another key, a letter twice or not at all, a mark, a space, a whole word."""

from __future__ import annotations

from collections.abc import Mapping

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.frequency import FREQUENT
from unswayed.vary.keyboard.layouts import Layout, Stroke, key_row
from unswayed.vary.slip_profile import SlipProfile
from unswayed.vary.slips import APOSTROPHES, VOWELS

_MIRRORED = 0.2  # of keys that are not near, how many are the same finger's on the other hand
_VOWELS = "aeiou"
_LONGEST_TRY = 6  # letters of a word that was begun, and begun again


class Keys:
    """The keys of a layout, pressed as a profile says."""

    def __init__(self, profile: SlipProfile, board: Layout) -> None:
        self._choices, self.board = profile.choices, board
        self._rates = profile.rates
        ways = profile.choices.get("near", {})
        self._along = ways.get("along", 1.0) / (sum(ways.values()) or 5.0)
        self._near: dict[str, tuple[list[str], list[str]]] = {}
        self._far = _by_letter(profile.choices.get("far", {}))
        self._vowels = _by_letter(profile.choices.get("vowel", {}))

    def letter(self, token: str, at: int, kind: str, rng: Stream) -> Edit | None:
        """A slip of a letter of a word; None if nothing else can come out."""
        c = token[at]
        if kind in ("omit", "halve"):
            return Edit(at, at + 1, "")
        if kind == "double":
            return Edit(at, at, c)
        if kind == "swap":
            return Edit(at, at + 2, token[at + 1] + c)
        if kind == "space_added":
            return Edit(at + 1, at + 1, " ")
        if kind == "space_mark":
            return Edit(at, at, " ")
        if kind == "raised":
            return Edit(at, at + 1, c.upper())
        if kind == "insert":
            return self._insert(token, at, rng)
        new = self._beside(c, rng) if kind == "near" else self._other(token, c, kind, rng)
        return Edit(at, at + 1, new.upper() if c.isupper() else new) if new and new != c.lower() else None

    def _insert(self, token: str, at: int, rng: Stream) -> Edit | None:
        """A key beside the one before or after, one of the letters around, or any letter of the word."""
        way = _drawn(self._choices.get("insert") or {"near": 1.0}, rng)
        after = rng.below(2)
        around = {"next": token[at + 1 : at + 3], "before": token[max(at - 2, 0) : at]}.get(way, token)
        new = self._beside(token[at], rng) if way == "near" else rng.choice(around) if around else ""
        twice = new.lower() in (token[at].lower(), token[at + 1 : at + 2].lower())
        return Edit(at + after, at + after, new.lower()) if new.isalnum() and not twice else None

    def _beside(self, c: str, rng: Stream) -> str:
        """What a key beside this letter's writes."""
        found = self._near.get(c.lower())
        if found is None:
            found = self._near[c.lower()] = self._neighbours(c.lower())
        across, along = found
        chosen = along if along and (not across or rng.random() < self._along) else across
        return rng.choice(chosen) if chosen else ""

    def _neighbours(self, c: str) -> tuple[list[str], list[str]]:
        strokes = self.board.strokes(c)
        if not strokes or len(strokes) > 1:
            return [], []
        key = strokes[0].key
        others = [(n.key, self.board.written(Stroke(n.key))) for n in self.board.neighbours(key)]
        across = [w for k, w in others if key_row(k) == key_row(key) and len(w) == 1 and (w.isalnum() or w in ";,./[")]
        along = [w for k, w in others if key_row(k) != key_row(key) and len(w) == 1 and w.isalpha()]
        return across, along

    def _other(self, token: str, c: str, kind: str, rng: Stream) -> str:
        """A letter that is not beside: confused often, a vowel for a vowel, the other hand's, or one of the word's."""
        low = c.lower()
        pairs = self._vowels if kind == "vowel" else self._far
        if low in pairs and rng.random() < 0.5:
            return _drawn(pairs[low], rng)
        if kind == "vowel":
            latin = low in _VOWELS
            return rng.choice([v for v in (_VOWELS if latin else "аеиоу") if v != low])
        strokes = self.board.strokes(low)
        if strokes and rng.random() < _MIRRORED:
            key = strokes[-1].key
            mirrored = self.board.written(Stroke(f"{key[0]}{max(11 - int(key[1:]), 0):02}"))
            if mirrored.isalpha():
                return mirrored
        new = rng.choice(token).lower()
        return new if new.isalpha() and new not in VOWELS else rng.choice(list(self._far) or ["t"])

    def space(self, text: str, at: int, kind: str, rng: Stream) -> list[Edit]:
        """The space at a place, lost, typed twice, or a letter too early or too late."""
        if kind == "space_lost":
            return [Edit(at, at + 1, "")]
        if kind == "space_twice":
            return [Edit(at, at, " ")]
        if rng.below(2) and at + 1 < len(text):
            return [Edit(at, at + 2, text[at + 1] + " ")]
        return [Edit(at - 1, at + 1, " " + text[at - 1])] if at else []

    def mark(self, text: str, kind: str, rng: Stream) -> list[Edit]:
        """A stray mark beside the last character."""
        choices = self._choices.get(kind)
        at = len(text) - rng.below(2) if text and not text[-1].isalnum() else len(text)
        return [Edit(at, at, _drawn(choices, rng))] if choices else []

    def lost_or_changed(self, text: str, at: int, kind: str, rng: Stream) -> list[Edit]:
        """A capital that is small, or a mark that is left out or another one."""
        c = text[at]
        if kind == "inner":
            return [Edit(at, at + 1, c.lower())] if c.lower() != c else []
        lost, changed = self._rates.get(f"{kind}_lost", 0.0), self._rates.get(f"{kind}_changed", 0.0)
        choices = self._choices.get(f"{kind}_changed", {})
        if not choices or rng.random() * (lost + changed) < lost:
            return [Edit(at, at + 1, "")]
        new = _drawn(choices, rng)
        return [Edit(at, at + 1, new if new != c else "")]

    def whole(
        self, text: str, start: int, tokens: list[str], k: int, kind: str, rng: Stream, words: Mapping[str, int]
    ) -> list[Edit]:
        """A word left out, typed twice or begun twice; a word or a mark that nobody meant."""
        if kind == "word_lost":
            return self._without(text, tokens, k, rng, words)
        token = tokens[k]
        end = start + len(token)
        if kind == "mark_added":
            choices = self._choices.get(kind)
            new = _drawn(choices, rng) if choices and end < len(text) else ""
            at = end - 1 if new in APOSTROPHES and token[-1:].isalpha() else end  # its, it's
            return [Edit(at, at, new)] if new else []
        if kind == "word_again":
            return [Edit(start, start, token + " ")]
        if kind == "word_more":
            choices = self._choices.get(kind)
            return [Edit(start, start, _drawn(choices, rng) + " ")] if choices and start else []
        size = 3 + rng.below(_LONGEST_TRY - 2)
        return [Edit(start, start, text[start : start + size].rstrip() + (" " if rng.below(2) else ""))]

    def _without(self, text: str, tokens: list[str], k: int, rng: Stream, words: Mapping[str, int]) -> list[Edit]:
        """Mostly a frequent word is left out."""
        shares = self._choices.get("word_lost", {})
        frequent = [i for i, token in enumerate(tokens) if words.get(token.lower(), FREQUENT) < FREQUENT]
        if frequent and shares and rng.random() * sum(shares.values()) < shares.get("frequent", 0.0):
            k = rng.choice(frequent)
        if len(tokens) < 2:
            return []
        start = sum(len(token) + 1 for token in tokens[:k])
        end = start + len(tokens[k])
        return [Edit(start, end + 1, "")] if k + 1 < len(tokens) else [Edit(start - 1, end, "")]


def _drawn(weights: Mapping[str, float], rng: Stream) -> str:
    return rng.weighted(list(weights), list(weights.values()))


def _by_letter(pairs: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """From what was meant to what was typed, of pairs such as `ae`."""
    found: dict[str, dict[str, float]] = {}
    for pair, weight in pairs.items():
        if len(pair) == 2:
            found.setdefault(pair[0], {})[pair[1]] = weight
    return found
