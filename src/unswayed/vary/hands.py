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
from unicodedata import name

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.keyboard.layouts import Layout, Stroke, key_row
from unswayed.vary.slips import (
    APOSTROPHES,
    COMMAS,
    ENDS,
    INNER,
    LETTER_KINDS,
    STYLES,
    VOWELS,
    SlipProfile,
    crosses,
    mark,
)
from unswayed.vary.words import FREQUENT, draw_key, frequency_class, summed

_SAME = int(0.66 * 65_536)  # how often a word goes wrong in a person's own way; two slips are alike in 0.44, as counted
_IN_CAPITALS = 0.15  # how much less a capital among capitals is lost
_HELD = 4.0  # how much likelier a letter is raised after a capital: the shift key is held too long
_MAX_WORDS, _MAX_TEXTS = 100_000, 2_048  # words and texts that are remembered
_MAX_CHARACTERS = 2_000  # of a text that is remembered
_GAPS = 12  # bits of the table of gaps between slips
_CHANCE = 16  # bits with which habits are decided
_TRIES = 6  # slips that are seen and put right before one that is not
_MIRRORED = 0.2  # of keys that are not near, how many are the same finger's on the other hand
_MAX_BEGUN = 6  # letters of a word that was begun, and begun again
_WHOLE = ("word_lost", "word_again", "word_more", "retyped", "mark_added")
_SPACE = ("space_lost", "space_moved", "space_twice")
_AROUND = ".,;:?!'\"()"
# Marks that a script has of its own, and the Latin ones that its writers then don't use.
_OWN_MARKS = {"؟": "?", "،": ",", "؛": ";"}
# Slips of a letter whose outcome is certain: where they begin and end, counted from the letter, and what is typed.
_CERTAIN = {
    "omit": (0, 1, ""),
    "halve": (0, 1, ""),
    "double": (0, 0, "{0}"),
    "swap": (0, 2, "{1}{0}"),
    "space_added": (1, 1, " "),
    "space_mark": (0, 0, " "),
    "raised": (0, 1, "{2}"),
}


class KindChances(NamedTuple):
    """Kinds of slips with their chances summed up."""

    total: float
    sums: list[float]
    kinds: Sequence[str]

    @classmethod
    def of(cls, chances: Mapping[str, float]) -> KindChances:
        kinds = [kind for kind, chance in chances.items() if chance > 0]
        sums = list(accumulate(chances[kind] for kind in kinds))
        return cls(sums[-1] if sums else 0.0, sums, kinds)

    def at(self, point: float) -> str:
        return self.kinds[min(bisect(self.sums, point), len(self.kinds) - 1)]


class WordChances(NamedTuple):
    """What may happen to a word: the chance of slips of letters in it, and where it has capitals and marks."""

    total: float
    times: float
    habits: tuple[tuple[int, int, float], ...]  # number of the habit in STYLES, place, and weight


class TextChances(NamedTuple):
    """What may happen to a text: its words, all chances together, and its capitals and marks, as in `WordChances`."""

    tokens: list[str]
    words: list[WordChances]
    total: float
    spots: list[tuple[int, int, float]]
    sums: list[float]  # of chances up to each word's end, and where words start; filled by the first slip
    starts: list[int]


class TypingStyle(NamedTuple):
    """A person: a factor of slips of letters, and for each habit of STYLES how many of 65,536 times it shows."""

    factor: float
    habits: tuple[int, ...]


class Hands:
    """The hands of people who slip as a profile says, on a keyboard. `words` are the ranks of a language's words."""

    def __init__(self, profile: SlipProfile, board: Layout, words: Mapping[str, int] | None = None) -> None:
        self.profile, self.board, self._words = profile, board, words or {}
        self._keys, rates = Keys(profile, board, self._words), profile.rates
        ways = ("lost", "changed", "capital")
        usual = [1.0, *(summed(rates.get(f"{style}_{way}", 0.0) for way in ways) for style in STYLES)]
        self._people = [
            TypingStyle(factor, tuple(min(int(chance * (1 << _CHANCE)), 1 << _CHANCE) for chance in habits))
            for factor, *habits in profile.people or [usual]  # without people, everybody has the rates themselves
        ]
        self._known: dict[str, WordChances] = {}
        self._texts: dict[str, TextChances] = {}
        self._pairs: tuple[dict[str, KindChances], ...] = ({}, {}, {})
        self._space = KindChances.of({kind: rates.get(kind, 0.0) for kind in _SPACE})
        self._whole = KindChances.of({kind: rates.get(kind, 0.0) for kind in _WHOLE})
        self._end, self._before_mark = rates.get("mark_end", 0.0), rates.get("space_mark", 0.0)
        swaps = profile.choices.get("swap", {})
        self._across = swaps.get("hands", 3.0) / ((swaps.get("hands", 3.0) + swaps.get("hand", 1.0)) or 1.0)
        self._burst, self._seen = (int(share * (1 << _CHANCE)) for share in (profile.burst, profile.noticed))
        self._gaps = _gaps()

    def type(self, text: str, rng: Stream, who: Stream | None = None) -> list[Edit]:
        """The edits that slips make to a text; none if it is typed right. `who` is the stream of a lasting person."""
        chances = self._texts.get(text)
        if chances is None:  # kept, because every draw types it
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
            chances = TextChances(tokens, words, total, spots, [], [])
            if len(text) <= _MAX_CHARACTERS:
                if len(self._texts) >= _MAX_TEXTS:
                    self._texts.clear()
                self._texts[text] = chances
        bits = rng.bits()
        person = self._people[0] if len(self._people) == 1 else (who or rng.moment("person")).choice(self._people)
        haste = self.profile.haste
        times = haste[(bits & 0xFFFF) * len(haste) >> 16] * person.factor
        reach, gap = chances.total * times, self._gaps[bits >> 52]
        edits = self._slips(text, chances, gap, reach, times, rng, who) if gap < reach else []
        # Capitals and marks are left out, or typed as others, by habit.
        habits = person.habits
        if (bits >> 16) & 0xFFFF < habits[0] and text[:1].isupper():
            edits += self._keys.lose_or_change(text, 0, "inner", rng)
        if (bits >> 32) & 0xFFFF < habits[2] and text and text[-1] in ENDS:
            edits += self._keys.lose_or_change(text, len(text) - 1, "end", rng)
        pool = left = 0
        for number, place, weight in chances.spots:
            if not left:
                pool, left = rng.bits(), 4
            if pool & 0xFFFF < habits[number] * weight:
                edits += self._keys.lose_or_change(text, place, STYLES[number], rng)
            pool, left = pool >> _CHANCE, left - 1
        apart: list[Edit] = []
        for edit in sorted(edits):  # of two that overlap, the first
            if not apart or edit.start >= apart[-1].end:
                apart.append(edit)
        return apart

    def _learn(self, token: str) -> WordChances:
        if len(self._known) > _MAX_WORDS:
            self._known.clear()
        total, habits, pairs = 0.0, [], self._pairs
        before, last = False, len(token) - 1
        for at, c in enumerate(token):
            if not c.isalnum():
                habits.append((STYLES.index(mark(c + "a", 0)), at, 1.0))  # as a mark before others
                total += self._before_mark if at and c not in INNER else 0.0
                before = False
                continue
            if c.isupper():
                habits.append((1, at, _IN_CAPITALS if at and token[at - 1].isupper() else 1.0))
            spot = 0 if not before else 2 if at == last or not token[at + 1].isalnum() else 1
            pair = token[at : at + 2]
            found = pairs[spot].get(pair) or self._pair(spot, pair)
            total += found[0]
            before = True
        core = token.strip(_AROUND).lower()
        times = self.profile.lengths[min(max(len(core) - 1, 0) // 3, 3)]
        if self._words:
            times *= self.profile.frequencies[frequency_class(self._words.get(core))]
        whole = self._whole.total if any(c.isalnum() for c in token) else 0.0
        made = self._known[token] = WordChances(total * times + whole, times, tuple(habits))
        return made

    def _pair(self, spot: int, pair: str) -> KindChances:
        """The chances of a letter before another, at the beginning of a word, inside, or at its end."""
        profile, c, after = self.profile, pair[0], pair[1:]
        swapped = 0.0
        if after.isalnum() and c != after:
            swapped = 2 * (self._across if crosses(self.board, c, after) else 1 - self._across)
        fits = {  # how likely a kind is for these two letters, beside what the profile counts
            "halve": float(c == after),
            "swap": swapped,
            "vowel": float(c.lower() in VOWELS),
            "raised": 0.0 if c.isupper() or not self._keys.other_case(c) else 1.0 if spot else _HELD / 2,
            "space_added": float(after.isalnum()),
        }
        chances = {}
        for kind in LETTER_KINDS:
            weight = profile.letters.get(kind, {}).get(c.lower(), 1.0) * profile.places.get(kind, (1.0,) * 3)[spot]
            chances[kind] = profile.rates.get(kind, 0.0) * weight * fits.get(kind, 1.0)
        self._pairs[spot][pair] = made = KindChances.of(chances)
        return made

    def _slips(
        self, text: str, chances: TextChances, gap: float, reach: float, times: float, rng: Stream, who: Stream | None
    ) -> list[Edit]:
        """Slips of letters, spaces and whole words, in order."""
        tokens, words, _, _, sums, starts = chances
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
                marked = bool(text) and not text[-1].isalnum()  # a stray mark beside the last character
                at = len(text) - rng.below(2) if marked else len(text)
                edits.append(Edit(at, at, self._keys.mark_beside(text[-1] if marked else ".", "mark_end", rng)))
                continue
            inside = point - (sums[k] - words[k].total - space)
            if inside >= words[k].total:  # the space is lost, typed twice, or a letter too early or too late
                kind, at = self._space.at(inside - words[k].total), starts[k + 1] - 1
                if k + 1 == len(words):
                    continue
                if kind == "space_lost":
                    edits.append(Edit(at, at + 1, ""))
                elif kind == "space_twice":
                    edits.append(Edit(at, at, " "))
                elif rng.below(2) and at + 1 < len(text):
                    edits.append(Edit(at, at + 2, text[at + 1] + " "))
                elif at:
                    edits.append(Edit(at - 1, at + 1, " " + text[at - 1]))
            elif inside < self._whole.total:
                edits += self._keys.slip_on_word(text, starts[k], tokens, k, self._whole.at(inside), rng)
            else:
                edits += self._in_word(tokens[k], words[k], starts[k], inside - self._whole.total, rng, who)
        return edits

    def _in_word(
        self, token: str, word: WordChances, start: int, point: float, rng: Stream, who: Stream | None
    ) -> list[Edit]:
        """A slip of letters. A person may have their own way to get a word wrong."""
        way, bits = rng, rng.bits()
        if bits & 0xFFFF < _SAME:
            way = rng.habit(token) if who else rng.moment(token)
            point = way.random() * (word.total - self._whole.total)
        can_know = token.strip(_AROUND).lower() in self._words
        for _ in range(_TRIES):
            at, kind = self._spot(token, point / word.times)
            edit = self._keys.slip_on_letter(token, at, kind, way)
            if edit and not (can_know and (bits >> 16) & 0xFFFF < self._seen):
                break
            if edit and (token[: edit.start] + edit.new + token[edit.end :]).strip(_AROUND).lower() in self._words:
                break  # what came out is a word, so nobody sees the slip
            bits = rng.bits()
            point = way.random() * (word.total - self._whole.total)
        if not edit:
            return []
        edits = [edit]
        if bits >> 48 < self._burst:  # one more slip right after this one
            at = edit.end + way.below(2)
            if at < len(token) and token[at].isalnum():
                spot, pair = 2 if at + 1 == len(token) else 1, token[at : at + 2]
                chances = self._pairs[spot].get(pair) or self._pair(spot, pair)
                more = self._keys.slip_on_letter(token, at, chances.at(way.random() * chances.total), way)
                edits += [more] if more else []
        return [Edit(start + a, start + b, new) for a, b, new in edits]

    def _spot(self, token: str, point: float) -> tuple[int, str]:
        """The letter and the kind of slip at a point of a word's chances."""
        before, last, found = False, len(token) - 1, (0, "omit")
        for at, c in enumerate(token):
            if not c.isalnum():
                beside = at and c not in INNER
                found = (at, "space_mark") if beside else found
                before, point = False, point - (self._before_mark if beside else 0.0)
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


class Keys:
    """The keys of a layout, pressed as a profile says: another key, a letter twice, a mark, a space, a whole word."""

    def __init__(self, profile: SlipProfile, board: Layout, words: Mapping[str, int]) -> None:
        self._choices, self.board, self._words = profile.choices, board, words
        self._rates = profile.rates
        ways = profile.choices.get("near", {})
        self._along = ways.get("along", 1.0) / (sum(ways.values()) or 5.0)
        self._near: dict[str, tuple[list[str], list[str]]] = {}
        self._stray: dict[tuple[str, str], dict[str, float]] = {}
        self._cases: dict[str, str] = {}
        self._letters = [w for levels in board.keys.values() for w in levels[:1] if len(w) == 1 and w.isalpha()]
        # From what was meant to what was typed, of pairs such as `ae`, for two kinds of slips.
        self._pairs: dict[str, dict[str, dict[str, float]]] = {"far": {}, "vowel": {}}
        for kind, by_letter in self._pairs.items():
            for pair, weight in profile.choices.get(kind, {}).items():
                if len(pair) == 2:
                    by_letter.setdefault(pair[0], {})[pair[1]] = weight

    def slip_on_letter(self, token: str, at: int, kind: str, rng: Stream) -> Edit | None:
        """A slip of a letter of a word; None if nothing else can come out."""
        c = token[at]
        if kind in _CERTAIN:
            start, end, new = _CERTAIN[kind]
            return Edit(at + start, at + end, new.format(c, token[at + 1 : at + 2], self.other_case(c) or c))
        if kind == "insert":  # a key beside the one before or after, one of the letters around, or any of the word
            way = draw_key(self._choices.get("insert") or {"near": 1.0}, rng)
            after = rng.below(2)
            around = {"next": token[at + 1 : at + 3], "before": token[max(at - 2, 0) : at]}.get(way, token)
            new = self._beside(c, rng) if way == "near" else rng.choice(around) if around else ""
            twice = new.lower() in (c.lower(), token[at + 1 : at + 2].lower())
            return Edit(at + after, at + after, self._small(new)) if new.isalnum() and not twice else None
        new = self._beside(c, rng) if kind == "near" else self._other(token, c, kind, rng)
        if not new or new == self._small(c):
            return None
        return Edit(at, at + 1, (self.other_case(new) or new) if c.isupper() else new)

    def other_case(self, c: str) -> str:
        """The capital of a small letter and the other way round, by the shift key of the layout: Turkish has *i* and
        *İ* on one key. Empty if there is none."""
        if c not in self._cases:
            strokes, new = self.board.strokes(c), c.swapcase()
            if strokes:
                new = self.board.compose((*strokes[:-1], Stroke(strokes[-1].key, strokes[-1].level ^ 1)))
            cased = (c.islower() and new.isupper()) or (c.isupper() and new.islower())
            # Georgian keys write Latin capitals with shift.
            alike = len(new) == 1 and cased and name(new).split()[0] == name(c).split()[0]
            self._cases[c] = new if alike else ""
        return self._cases[c]

    def _small(self, c: str) -> str:
        return (self.other_case(c) or c) if c.isupper() else c

    def _beside(self, c: str, rng: Stream) -> str:
        """What a key beside this letter's writes, in its row or in another; empty if there is none."""
        c = self._small(c)
        if c not in self._near:
            strokes = self.board.strokes(c)
            across: list[str] = []
            along: list[str] = []
            if strokes and len(strokes) == 1:
                key = strokes[0].key
                for other in self.board.neighbours(key):
                    new, same_row = self.board.written(Stroke(other)), key_row(other) == key_row(key)
                    if len(new) == 1 and (new.isalpha() or (same_row and (new.isalnum() or new in ";,./["))):
                        (across if same_row else along).append(new)
            self._near[c] = across, along
        across, along = self._near[c]
        chosen = along if along and (not across or rng.random() < self._along) else across
        return rng.choice(chosen) if chosen else ""

    def _other(self, token: str, c: str, kind: str, rng: Stream) -> str:
        """A letter that is not beside: confused often, a vowel for a vowel, the other hand's, or one of the word's."""
        low, pairs = self._small(c), self._pairs["vowel" if kind == "vowel" else "far"]
        if low in pairs and rng.random() < 0.5:
            return draw_key(pairs[low], rng)
        if kind == "vowel":
            vowels = [v for v in ("aeiou" if low.isascii() else "аеиоу") if v != low and self.board.strokes(v)]
            return rng.choice(vowels) if vowels else ""
        strokes = self.board.strokes(low)
        if strokes and rng.random() < _MIRRORED:
            key = strokes[-1].key
            mirrored = self.board.written(Stroke(f"{key[0]}{max(11 - int(key[1:]), 0):02}"))
            if mirrored.isalpha() and len(mirrored) == 1:
                return mirrored
        new = self._small(rng.choice(token))
        if new.isalpha() and new not in VOWELS:
            return new
        return rng.choice(self._letters) if strokes and self._letters else ""

    def lose_or_change(self, text: str, at: int, kind: str, rng: Stream) -> list[Edit]:
        """A capital that is small, or a mark that is left out or another one."""
        c = text[at]
        if kind == "inner":
            small = self._small(c)
            return [Edit(at, at + 1, small)] if small != c else []
        lost, changed = self._rates.get(f"{kind}_lost", 0.0), self._rates.get(f"{kind}_changed", 0.0)
        if rng.random() * (lost + changed) < lost:
            return [Edit(at, at + 1, "")]
        new = self.mark_beside(c, f"{kind}_changed", rng)
        return [Edit(at, at + 1, new if new != c else "")]

    def mark_beside(self, meant: str, kind: str, rng: Stream) -> str:
        """A mark that a slip on the key of another gives: that of a key beside it, of its own key, or the same again.

        The marks that the profile counted are taken where they lie so on this layout. Where none does, any mark that
        the language writes with may come. Shift may be released too early, but not pressed too late.
        """
        found = self._stray.get((meant, kind))
        if found is None:
            reach, counted = {meant: 1.0}, self._choices.get(kind, {})
            for stroke in (self.board.strokes(meant) or ())[-1:]:
                for key in (stroke.key, *self.board.neighbours(stroke.key)):
                    reach |= {self.board.written(Stroke(key, level)): 1.0 for level in range(stroke.level + 1)}
            found = {new: counted[new] for new in reach if new in counted}
            if not found:
                theirs = {latin for own, latin in _OWN_MARKS.items() if self._writes(own)}
                prose = ENDS + COMMAS + APOSTROPHES + "-"
                found = {new: 1.0 for new in reach if new == meant or (new and new in prose and new not in theirs)}
            self._stray[meant, kind] = found
        return draw_key(found, rng)

    def _writes(self, mark: str) -> bool:
        return bool(self.board.strokes(mark))

    def slip_on_word(self, text: str, start: int, tokens: list[str], k: int, kind: str, rng: Stream) -> list[Edit]:
        """A word left out, typed twice or begun twice; a word or a mark that nobody meant."""
        choices, end = self._choices.get(kind, {}), start + len(tokens[k])
        if kind == "word_lost":  # mostly a frequent one
            known = self._words
            frequent = [i for i, token in enumerate(tokens) if known.get(token.lower(), FREQUENT) < FREQUENT]
            if frequent and choices and rng.random() * sum(choices.values()) < choices.get("frequent", 0.0):
                k = rng.choice(frequent)
            if len(tokens) < 2:
                return []
            start = sum(len(token) + 1 for token in tokens[:k])
            end = start + len(tokens[k])
            return [Edit(start, end + 1, "")] if k + 1 < len(tokens) else [Edit(start - 1, end, "")]
        if kind == "mark_added":
            new = draw_key(choices or {"،" if self._writes("،") else ",": 1.0}, rng) if end < len(text) else ""
            at = end - 1 if new in APOSTROPHES and tokens[k][-1:].isalpha() else end  # its, it's
            return [Edit(at, at, new)] if new else []
        if kind == "word_again":
            return [Edit(start, start, tokens[k] + " ")]
        if kind == "word_more":
            return [Edit(start, start, draw_key(choices, rng) + " ")] if choices and start else []
        size = 3 + rng.below(_MAX_BEGUN - 2)
        return [Edit(start, start, text[start : start + size].rstrip() + (" " if rng.below(2) else ""))]


@lru_cache(1)
def _gaps() -> list[float]:
    """Equally likely gaps between points that fall at random, one to a unit. Decimals are alike on every processor."""
    context, steps = Context(prec=12), 1 << _GAPS
    return [float(-context.ln(Decimal(2 * k + 1) / Decimal(2 * steps))) for k in range(steps)]
