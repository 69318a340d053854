"""Hands on a keyboard: where the slips of a profile fall in a text, and what is typed there.

Slips are points of a Poisson process along the text. All random choices compare numbers that are the same on every
processor: nothing here takes an exponential or a logarithm.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.frequency import frequency_class
from unswayed.vary.keyboard.layouts import Layout
from unswayed.vary.keys import Keys
from unswayed.vary.slip_profile import SlipProfile
from unswayed.vary.slips import ENDS, INNER, LETTER_KINDS, STYLES, VOWELS, crosses, mark
from unswayed.vary.words import summed

_SAME = int(0.66 * 65_536)  # how often a word goes wrong in a person's own way; two slips are alike in 0.44, as counted
_IN_CAPITALS = 0.15  # how much less a capital among capitals is lost
_HELD = 4.0  # how much likelier a letter is raised after a capital: the shift key is held too long
_WORDS_KEPT, _TEXTS_KEPT = 100_000, 2_048
_LONGEST_KEPT = 2_000  # characters of a text that is kept
_GAPS = 12  # bits of the table of gaps between slips
_CHANCE = 16  # bits with which habits are decided
_TRIES = 6  # slips that are seen and put right before one that is not
_WHOLE = ("word_lost", "word_again", "word_more", "retyped", "mark_added")
_SPACE = ("space_lost", "space_moved", "space_twice")


class Chances(NamedTuple):
    """Kinds of slips with their chances summed up."""

    total: float
    sums: list[float]
    kinds: Sequence[str]

    @classmethod
    def of(cls, chances: Mapping[str, float]) -> Chances:
        kinds = [kind for kind, chance in chances.items() if chance > 0]
        sums = list(accumulate(chances[kind] for kind in kinds))
        return cls(sums[-1] if sums else 0.0, sums, kinds)

    def at(self, point: float) -> str:
        return self.kinds[min(bisect(self.sums, point), len(self.kinds) - 1)]


class Word(NamedTuple):
    """What may happen to a word: the chance of slips of letters in it, and where it has capitals and marks."""

    total: float
    times: float
    habits: tuple[tuple[int, int, float], ...]  # number of the habit in STYLES, place, and weight


class Plan(NamedTuple):
    """What may happen to a text: its words, all chances together, and its capitals and marks, as in `Word`."""

    tokens: list[str]
    words: list[Word]
    total: float
    spots: list[tuple[int, int, float]]
    sums: list[float]  # of chances up to each word's end, and where words start; filled by the first slip
    starts: list[int]


class Person(NamedTuple):
    """A factor of slips of letters, and for each habit of STYLES how many of 65,536 times it shows."""

    factor: float
    habits: tuple[int, ...]


class Hands:
    """The hands of people who slip as a profile says, on a keyboard. `words` are the ranks of a language's words."""

    def __init__(self, profile: SlipProfile, board: Layout, words: Mapping[str, int] | None = None) -> None:
        self.profile, self.board, self._words = profile, board, words or {}
        self._keys = Keys(profile, board)
        self._people = [_person(row) for row in profile.people] or [_person(_usual(profile))]
        self._known: dict[str, Word] = {}
        self._plans: dict[str, Plan] = {}
        self._pairs: tuple[dict[str, Chances], ...] = ({}, {}, {})
        self._space = Chances.of({kind: profile.rates.get(kind, 0.0) for kind in _SPACE})
        self._whole = Chances.of({kind: profile.rates.get(kind, 0.0) for kind in _WHOLE})
        self._end = profile.rates.get("mark_end", 0.0)
        swaps = profile.choices.get("swap", {})
        self._across = swaps.get("hands", 3.0) / ((swaps.get("hands", 3.0) + swaps.get("hand", 1.0)) or 1.0)
        self._burst, self._seen = (int(share * (1 << _CHANCE)) for share in (profile.burst, profile.noticed))
        self._gaps = _gaps()

    def type(self, text: str, rng: Stream, who: Stream | None = None) -> list[Edit]:
        """The edits that slips make to a text; none if it is typed right. `who` is the stream of a lasting person."""
        plan = self._plans.get(text) or self._plan(text)
        bits = rng.bits()
        person = self._people[0] if len(self._people) == 1 else (who or rng.moment("person")).choice(self._people)
        haste = self.profile.haste
        times = haste[(bits & 0xFFFF) * len(haste) >> 16] * person.factor
        reach, gap = plan.total * times, self._gaps[bits >> 52]
        edits = self._slips(text, plan, gap, reach, times, rng, who) if gap < reach else []
        habits = self._habits(text, plan, person.habits, bits, rng)
        return _apart(sorted(edits + habits)) if edits or habits else []

    def _plan(self, text: str) -> Plan:
        """What may happen to a text; kept, because every draw types it."""
        tokens = text.split(" ")
        known, learn = self._known, self._learn
        words = [known.get(token) or learn(token) for token in tokens]
        total = summed([word[0] for word in words]) + self._space.total * (len(words) - 1) + self._end
        last, end = len(text) - 1, text[-1:] in ENDS
        spots = [
            (number, sum(map(len, tokens[:k])) + k + at, weight)
            for k, word in enumerate(words)
            if word[2]
            for number, at, weight in word[2]
        ]
        spots = [spot for spot in spots if not (spot[0] == 1 and not spot[1]) and not (end and spot[1] == last)]
        made = Plan(tokens, words, total, spots, [], [])
        if len(text) <= _LONGEST_KEPT:
            if len(self._plans) >= _TEXTS_KEPT:
                self._plans.clear()
            self._plans[text] = made
        return made

    def _learn(self, token: str) -> Word:
        if len(self._known) > _WORDS_KEPT:
            self._known.clear()
        total, habits, pairs = 0.0, [], self._pairs
        before, last = False, len(token) - 1
        for at, c in enumerate(token):
            if not c.isalnum():
                habits.append((STYLES.index(_mark(c)), at, 1.0))
                total += self._stop(at, c)
                before = False
                continue
            if c.isupper():
                habits.append((1, at, _IN_CAPITALS if at and token[at - 1].isupper() else 1.0))
            spot = 0 if not before else 2 if at == last or not token[at + 1].isalnum() else 1
            pair = token[at : at + 2]
            found = pairs[spot].get(pair) or self._pair(spot, pair)
            total += found[0]
            before = True
        times = self._times(token)
        whole = self._whole.total if any(c.isalnum() for c in token) else 0.0
        made = self._known[token] = Word(total * times + whole, times, tuple(habits))
        return made

    def _stop(self, at: int, c: str) -> float:
        """The chance of a space before a mark."""
        return self.profile.rates.get("space_mark", 0.0) if at and c not in INNER else 0.0

    def _times(self, token: str) -> float:
        core = token.strip(".,;:?!'\"()").lower()
        times = self.profile.lengths[min(max(len(core) - 1, 0) // 3, 3)]
        return times * self.profile.frequencies[frequency_class(self._words.get(core))] if self._words else times

    def _pair(self, spot: int, pair: str) -> Chances:
        """The chances of a letter before another, at the beginning of a word, inside, or at its end."""
        profile, c, after = self.profile, pair[0].lower(), pair[1:]
        chances = {}
        for kind in LETTER_KINDS:
            weight = profile.letters.get(kind, {}).get(c, 1.0) * profile.places.get(kind, (1.0, 1.0, 1.0))[spot]
            chances[kind] = profile.rates.get(kind, 0.0) * weight * self._fits(kind, spot, pair[0], after)
        self._pairs[spot][pair] = made = Chances.of(chances)
        return made

    def _fits(self, kind: str, spot: int, c: str, after: str) -> float:
        """How likely a kind is for a letter and the next one, beside what the profile counts; 0 if it can't be."""
        if kind == "halve":
            return float(c == after)
        if kind == "swap":
            if not after.isalnum() or c == after:
                return 0.0
            return 2 * (self._across if crosses(self.board, c, after) else 1 - self._across)
        if kind == "vowel":
            return float(c.lower() in VOWELS)
        if kind == "raised":
            return 0.0 if c.isupper() or c.upper() == c else 1.0 if spot else _HELD / 2
        return float(after.isalnum()) if kind == "space_added" else 1.0

    def _slips(
        self, text: str, plan: Plan, gap: float, reach: float, times: float, rng: Stream, who: Stream | None
    ) -> list[Edit]:
        """Slips of letters, spaces and whole words, in order."""
        tokens, words, _, _, sums, starts = plan
        space = self._space.total
        if not sums:
            sums += accumulate([word[0] + space for word in words])
            starts += accumulate([len(token) + 1 for token in tokens], initial=0)
        edits: list[Edit] = []
        while gap < reach:
            point = gap / times
            k = bisect(sums, point)
            gap += self._gaps[rng.bits() >> 52]
            if k >= len(words):
                edits += self._keys.mark(text, "mark_end", rng)
                continue
            inside = point - (sums[k] - words[k].total - space)
            if inside >= words[k].total:
                kind = self._space.at(inside - words[k].total)
                edits += self._keys.space(text, starts[k + 1] - 1, kind, rng) if k + 1 < len(words) else []
            elif inside < self._whole.total:
                edits += self._keys.whole(text, starts[k], tokens, k, self._whole.at(inside), rng, self._words)
            else:
                edits += self._in_word(tokens[k], words[k], starts[k], inside - self._whole.total, rng, who)
        return edits

    def _in_word(self, token: str, word: Word, start: int, point: float, rng: Stream, who: Stream | None) -> list[Edit]:
        """A slip of letters. A person may have their own way to get a word wrong."""
        way, bits = rng, rng.bits()
        if bits & 0xFFFF < _SAME:
            way = rng.habit(token) if who else rng.moment(token)
            point = way.random() * (word.total - self._whole.total)
        for _ in range(_TRIES):
            at, kind = self._spot(token, point / word.times)
            edit = self._keys.letter(token, at, kind, way)
            if edit and not self._noticed(token, edit, (bits >> 16) & 0xFFFF):
                break
            bits = rng.bits()
            point = way.random() * (word.total - self._whole.total)
        if not edit:
            return []
        edits = [edit]
        if bits >> 48 < self._burst:
            edits += self._second(token, edit.end + way.below(2), way)
        return [Edit(start + a, start + b, new) for a, b, new in edits]

    def _second(self, token: str, at: int, way: Stream) -> list[Edit]:
        """One more slip right after another."""
        if at >= len(token) or not token[at].isalnum():
            return []
        spot = 2 if at + 1 == len(token) else 1
        chances = self._pairs[spot].get(token[at : at + 2]) or self._pair(spot, token[at : at + 2])
        edit = self._keys.letter(token, at, chances.at(way.random() * chances.total), way)
        return [edit] if edit else []

    def _spot(self, token: str, point: float) -> tuple[int, str]:
        """The letter and the kind of slip at a point of a word's chances."""
        before, last, found = False, len(token) - 1, (0, "omit")
        for at, c in enumerate(token):
            if not c.isalnum():
                found = (at, "space_mark") if at and c not in INNER else found
                before, point = False, point - self._stop(at, c)
            else:
                spot = 0 if not before else 2 if at == last or not token[at + 1].isalnum() else 1
                pair = token[at : at + 2]
                chances = self._pairs[spot].get(pair) or self._pair(spot, pair)
                if point < chances.total:
                    return at, chances.at(point)
                before, point = True, point - chances.total
                found = (at, "omit")
            if point < 0:
                break
        return found

    def _noticed(self, token: str, edit: Edit, chance: int) -> bool:
        """Is what came out no word, and was it seen? Who can't know the word does not see it."""
        if chance >= self._seen:
            return False
        words = self._words
        if not words or token.strip(".,;:?!'\"()").lower() not in words:
            return False
        made = (token[: edit.start] + edit.new + token[edit.end :]).strip(".,;:?!'\"()").lower()
        return made not in words

    def _habits(self, text: str, plan: Plan, habits: tuple[int, ...], bits: int, rng: Stream) -> list[Edit]:
        """Capitals and marks that are left out, or typed as others."""
        edits: list[Edit] = []
        if (bits >> 16) & 0xFFFF < habits[0] and text[:1].isupper():
            edits.append(Edit(0, 1, text[0].lower()))
        if (bits >> 32) & 0xFFFF < habits[2] and text and text[-1] in ENDS:
            edits += self._keys.lost_or_changed(text, len(text) - 1, "end", rng)
        pool = left = 0
        for number, place, weight in plan.spots:
            if not left:
                pool, left = rng.bits(), 4
            if pool & 0xFFFF < habits[number] * weight:
                edits += self._keys.lost_or_changed(text, place, STYLES[number], rng)
            pool, left = pool >> _CHANCE, left - 1
        return edits


def _mark(c: str) -> str:
    """What sort of mark a character is, before another one."""
    return mark(c + "a", 0)


def _usual(profile: SlipProfile) -> list[float]:
    """Someone like everybody: the rates themselves."""
    rates = profile.rates
    both = [summed(rates.get(f"{name}_{way}", 0.0) for way in ("lost", "changed", "capital")) for name in STYLES]
    return [1.0, *both]


def _person(row: Sequence[float]) -> Person:
    return Person(row[0], tuple(min(int(chance * (1 << _CHANCE)), 1 << _CHANCE) for chance in row[1:]))


def _apart(edits: list[Edit]) -> list[Edit]:
    """Edits that do not overlap; of two that do, the first."""
    kept: list[Edit] = []
    for edit in edits:
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


@lru_cache(1)
def _gaps() -> list[float]:
    """Equally likely gaps between points that fall at random, one to a unit. Decimals are alike on every processor."""
    context, steps = Context(prec=12), 1 << _GAPS
    return [float(-context.ln(Decimal(2 * k + 1) / Decimal(2 * steps))) for k in range(steps)]
