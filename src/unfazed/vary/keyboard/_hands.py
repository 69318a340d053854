"""Hands on a keyboard: where the slips of a profile fall in a text, and what is typed there."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate, groupby
from math import exp
from typing import NamedTuple

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.keyboard.layouts import Layout, Stroke
from unfazed.vary.keyboard.layouts.geometry import row
from unfazed.vary.people import gamma_steps
from unfazed.vary.slips import APOSTROPHES, COMMAS, ENDS, SlipProfile, crosses, near, place

_VOWELS = "aeiou"
_LETTER_KINDS = ("omit", "double", "insert", "near", "far")
_MIRRORED = 0.5  # of far keys, how many are the same finger's on the other hand
_IN_CAPITALS = 0.15  # how much less a capital among capitals is lost
_LAST = 6.0  # how much likelier a stray mark is at the end of a text, beside its own
_WORDS_KEPT = 50_000


class Word(NamedTuple):
    """The slips that a word may meet: all chances together, their running sums, and each with its place."""

    total: float
    sums: list[float]
    slips: list[tuple[str, int]]


class Hands:
    """The hands of one person: a profile on a keyboard."""

    def __init__(self, profile: SlipProfile, board: Layout) -> None:
        self.profile, self.board = profile, board
        self._rates = profile.rates
        self._haste = gamma_steps(profile.haste)
        self._space = sum(self._rates.get(kind, 0.0) for kind in ("space_lost", "space_moved"))
        self._words: dict[tuple[str, bool, bool], Word] = {}
        across = profile.choices.get("near", {})
        along = across.get("along", 1.0) / max(sum(across.values()), 1.0)
        self._along = along or 0.2
        swaps = profile.choices.get("swap", {})
        self._hands = swaps.get("hands", 3.0) / max(swaps.get("hands", 3.0) + swaps.get("hand", 1.0), 1.0)

    def type(self, text: str, rng: Stream) -> list[Edit]:
        """The edits that this person's slips make to a text; none if it is typed right."""
        tokens = text.split(" ")
        last = len(tokens) - 1
        words = [self._word(token, k == 0, k == last) for k, token in enumerate(tokens)]
        total = sum(word.total for word in words) + self._space * last
        count = _poisson(total * self._haste[rng.below(len(self._haste))], rng)
        if not count:
            return []
        sums = list(accumulate(word.total + self._space for word in words))
        starts = [0, *accumulate(len(token) + 1 for token in tokens)]
        edits: list[Edit] = []
        for _ in range(count):
            point = rng.random() * sums[-1]
            k = min(bisect(sums, point), last)
            word = words[k]
            inside = point - (sums[k] - word.total - self._space)
            if inside < word.total and word.slips:
                kind, at = word.slips[min(bisect(word.sums, inside), len(word.slips) - 1)]
                made = self._made(kind, text, starts[k] + at, rng)
            elif k < last:
                made = self._spaced(text, starts[k + 1] - 1, rng)
            else:
                continue
            if made and text[made.start : made.end] != made.new:
                edits.append(made)
        return _apart(sorted(edits))

    def _word(self, token: str, first: bool, last: bool) -> Word:
        found = self._words.get((token, first, last))
        if found is None:
            if len(self._words) > _WORDS_KEPT:
                self._words.clear()
            chances = [chance for chance in self._chances(token, first, last) if chance[0] > 0]
            sums = list(accumulate(chance for chance, _, _ in chances))
            found = Word(sums[-1] if sums else 0.0, sums, [(kind, at) for _, kind, at in chances])
            self._words[token, first, last] = found
        return found

    def _chances(self, token: str, first: bool, last: bool) -> list[tuple[float, str, int]]:
        rates, found = self._rates, []
        lengths = _lengths(token)
        for at, c in enumerate(token):
            after = token[at + 1 : at + 2]
            if not c.isalnum():
                kind = _mark(token, at, last)
                found += [(rates.get(f"{kind}_{way}", 0.0), f"{kind}_{way}", at) for way in ("lost", "changed")]
                continue
            found += self._letter(token, at, self.profile.lengths[lengths[at]])
            if c == after:
                found.append((rates.get("halve", 0.0), "halve", at))
            elif after.isalnum():
                hands = self._hands if crosses(self.board, c, after) else 1 - self._hands
                found.append((rates.get("swap", 0.0) * 2 * hands, "swap", at))
            if after.isalnum():
                found.append((rates.get("space_added", 0.0), "space_added", at + 1))
            if c.isupper():
                kind = "first_capital" if first and not at else "inner_capital"
                alone = 1.0 if not at or not token[at - 1].isupper() else _IN_CAPITALS
                found.append((rates.get(kind, 0.0) * alone, kind, at))
            elif c.upper() != c:
                held = at and token[at - 1].isupper()
                found.append((rates.get("raised", 0.0) * (4 if held or not at else 0.5), "raised", at))
        if any(c.isalnum() for c in token):
            found += [(rates.get(kind, 0.0), kind, 0) for kind in ("word_lost", "word_again", "word_more")]
            found.append((rates.get("mark_added", 0.0) * (_LAST if last else 0.4), "mark_added", len(token)))
        return found

    def _letter(self, token: str, at: int, length: float) -> list[tuple[float, str, int]]:
        profile, c, spot = self.profile, token[at].lower(), place(token, at)
        found = []
        for kind in (*_LETTER_KINDS, "vowel") if c in _VOWELS else _LETTER_KINDS:
            weight = profile.letters.get(kind, {}).get(c, 1.0) * profile.places.get(kind, (1.0, 1.0, 1.0))[spot]
            share = 2.5 if kind == "vowel" else 1.0  # two letters in five are vowels
            found.append((self._rates.get(kind, 0.0) * weight * length * share, kind, at))
        return found

    def _spaced(self, text: str, at: int, rng: Stream) -> Edit | None:
        if rng.random() * self._space < self._rates.get("space_lost", 0.0):
            return Edit(at, at + 1, "")
        if rng.random() < 0.5 and at + 1 < len(text):
            return Edit(at, at + 2, text[at + 1] + " ")
        return Edit(at - 1, at + 1, " " + text[at - 1]) if at else None

    def _made(self, kind: str, text: str, at: int, rng: Stream) -> Edit | None:
        c = text[at : at + 1]
        if kind in ("omit", "halve") or (kind.endswith("_lost") and kind != "word_lost"):
            return Edit(at, at + 1, "")
        if kind == "double":
            return Edit(at, at, c)
        if kind == "insert":
            after = rng.random() < 0.5
            shares = self.profile.choices.get("insert", {})
            beside = rng.random() * (sum(shares.values()) or 1) < shares.get("near", 0.5)
            new = self._near(c, rng) if beside else self._far(text, c, rng)
            return Edit(at + after, at + after, new.lower()) if new else None
        if kind in ("near", "far", "vowel"):
            new = self._near(c, rng) if kind == "near" else self._far(text, c, rng) if kind == "far" else _vowel(c, rng)
            return Edit(at, at + 1, new.upper() if c.isupper() else new) if new else None
        if kind == "swap":
            return Edit(at, at + 2, text[at + 1] + c)
        if kind == "space_added":
            return Edit(at, at, " ")
        if kind.endswith("_capital"):
            return Edit(at, at + 1, c.lower())
        if kind == "raised":
            return Edit(at, at + 1, c.upper())
        if kind.endswith("_changed") or kind == "mark_added":
            choices = self.profile.choices.get(kind, {})
            new = rng.weighted(list(choices), list(choices.values())) if choices else ""
            return Edit(at, at if kind == "mark_added" else at + 1, new) if new else None
        return self._whole(kind, text, at, rng)

    def _whole(self, kind: str, text: str, at: int, rng: Stream) -> Edit | None:
        end = text.find(" ", at)
        end = len(text) if end < 0 else end
        if kind == "word_lost":
            return Edit(at, end + 1, "") if end < len(text) else Edit(at - 1, end, "") if at else None
        word = text[at:end]
        if kind == "word_again":
            return Edit(at, at, word + " ")
        size = min(3 + rng.below(3), len(word))  # a wrong try that was left standing
        return Edit(at, at, word[:size] + (" " if rng.random() < 0.5 else ""))

    def _near(self, c: str, rng: Stream) -> str:
        strokes = self.board.strokes(c.lower())
        if not strokes or len(strokes) > 1:
            return ""
        key = strokes[0].key
        others = [(n.key, self.board.written(Stroke(n.key))) for n in self.board.neighbours(key)]
        across = [w for k, w in others if row(k) == row(key) and w.isalnum()]
        along = [w for k, w in others if row(k) != row(key) and w.isalpha()]
        chosen = along if along and (not across or rng.random() < self._along) else across
        return rng.choice(chosen) if chosen else ""

    def _far(self, text: str, c: str, rng: Stream) -> str:
        strokes = self.board.strokes(c.lower())
        if strokes and rng.random() < _MIRRORED:
            key = strokes[-1].key
            mirrored = self.board.written(Stroke(f"{key[0]}{max(11 - int(key[1:]), 0):02}"))
            if mirrored.isalpha():
                return mirrored
        for _ in range(8):
            new = text[rng.below(len(text))].lower()
            if new.isalpha() and new != c.lower() and not near(self.board, c, new):
                return new
        return ""


def _vowel(c: str, rng: Stream) -> str:
    return rng.choice([v for v in _VOWELS if v != c.lower()])


def _mark(token: str, at: int, last: bool) -> str:
    c = token[at]
    if last and c in ENDS and not token[at + 1 :]:
        return "end"
    return "comma" if c in COMMAS else "apostrophe" if c in APOSTROPHES else "mark"


def _apart(edits: list[Edit]) -> list[Edit]:
    """Edits that do not touch each other; of two that do, the first."""
    kept: list[Edit] = []
    for edit in edits:
        if not kept or edit.start > kept[-1].end:
            kept.append(edit)
    return kept


def _poisson(mean: float, rng: Stream) -> int:
    limit, product, count = exp(-min(mean, 500.0)), 1 - rng.random(), 0
    while product > limit:
        product *= 1 - rng.random()
        count += 1
    return count


def _lengths(token: str) -> list[int]:
    """For each character of a token, the class of length of the word that it is in."""
    found = []
    for letters, group in groupby(token, str.isalnum):
        size = len(list(group))
        found += [min((size - 1) // 3, 3) if letters else 0] * size
    return found
