"""A pinyin engine in Python over the lists that ship with the package, words and what else input methods offer."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from operator import itemgetter
from string import ascii_lowercase
from typing import Any, Self

from unswayed.vary.chinese import APART, Lexicon, lexicon
from unswayed.vary.keyboard.ime import MAX_CACHED_KEYS, MAX_KEYS, UNRANKED, Candidate, PinyinEngine, is_typable

_BEAM = 4  # readings of the keys, and whole conversions, that are kept
_WORD_COST = 18.0  # log of the running words counted, so that one long word goes before two short ones
_LETTER_COST = 2.0  # of a letter that stands for a syllable, where a syllable costs 1
_CUT_COST = 3.0  # a letter that stands for a syllable makes a word less likely than typing it out does
_MOST_WORDS = 30  # words looked at for one stretch of keys
_KEPT = 20_000  # stretches of units whose words are kept
_LONGEST = 8  # syllables of the longest word
_SAME = 1e-6  # scores that differ by less are equal but for rounding

# What it costs to read the keys so, the syllables or letters that stand for one, and where each ends in the keys.
Reading = tuple[float, tuple[str, ...], tuple[int, ...]]
Word = tuple[str, float]
_Way = tuple[float, Any, str, int]  # a reading up to some key: its cost, the way before its last unit, that, its end
_first = itemgetter(0)


class Embedded(PinyinEngine):
    """Reads the keys as syllables, where letters may stand for whole ones, and finds the likeliest words by beam."""

    name = "embedded"

    def __init__(self, words: Lexicon, phrases: Lexicon) -> None:
        super().__init__()
        self._lexicon, self._phrases = words, phrases
        self._stretch = lru_cache(_KEPT)(self._stretch_words)
        self._first = lru_cache(MAX_CACHED_KEYS)(self._look_up_first)
        self._known_initials = cache(self._look_up_initials)
        # What it costs to read keys as one unit, a syllable or letters that stand for one; 0 if a syllable begins so.
        begun = {syllable[:end]: 0.0 for syllable in words.syllables for end in range(1, len(syllable))}
        letters = [*(c for c in ascii_lowercase if c not in "iuv"), "zh", "ch", "sh"]
        self._costs = begun | dict.fromkeys(letters, _LETTER_COST) | dict.fromkeys(words.syllables, 1.0)
        # The highest score that words could have for so many units, were each the commonest of its length.
        self._ceilings = highest = [-1e9] * (MAX_KEYS + 1)
        for commonest in (words.highest, phrases.highest):
            for size, count in enumerate(commonest, 1):
                highest[size] = max(highest[size], count - _WORD_COST)
        for size in range(2, MAX_KEYS + 1):
            highest[size] = max(highest[size], *(highest[k] + highest[size - k] for k in range(1, size // 2 + 1)))

    @classmethod
    def open(cls) -> Self:
        return cls(lexicon(), Lexicon.read(files("unswayed.vary.keyboard") / "data" / "phrases.txt.gz"))

    def first(self, keys: str) -> Candidate | None:
        return self._first(keys)

    def _look_up_first(self, keys: str) -> Candidate | None:
        """What `_look_up` puts first, without the rest of its list."""
        readings = self._readings(keys) if is_typable(keys) else []
        best = self._best(readings)
        if best is None:
            return next(iter(self._look_up(keys, 1)), None) if readings else None
        size, used = len(best), (-1e9, len(keys))
        for penalty, spelled, ends in readings:
            for text, score in self._stretch(spelled[:size])[1] if size <= min(len(spelled), _LONGEST) else ():
                if text == best:
                    used = max(used, (score - 4.0 * penalty, ends[size - 1]))
        return Candidate(best, used[1])

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        readings = self._readings(keys)
        best = self._best(readings)
        offers: dict[str, tuple[float, int]] = {}
        for penalty, spelled, ends in readings:
            known, initials = self._known_initials(spelled[0]), "".join([unit[0] for unit in spelled])
            for length in range(min(len(spelled), _LONGEST), 0, -1):
                if initials[1:length] not in known:
                    continue
                less, more, end = 4.0 * penalty, 12.0 * length, ends[length - 1]
                for text, score in self._stretch(spelled[:length])[1]:
                    value, before = (score - less + more, end), offers.get(text)
                    if before is None or value > before:
                        offers[text] = value
        found = [] if best is None else [Candidate(best, offers.pop(best, (0.0, len(keys)))[1])]
        # The offers with the highest values; of equal ones those that came first.
        values, wanted = sorted([value for value, _ in offers.values()], reverse=True), n - len(found)
        least = values[wanted - 1] if 0 < wanted < len(values) else -1e9
        few = [(value, text, end) for text, (value, end) in offers.items() if value >= least]
        found += [Candidate(text, end) for _, text, end in sorted(few, key=_first, reverse=True)[:wanted]]
        return found[:n]

    def _best(self, readings: list[Reading]) -> str | None:
        """The likeliest text for all of the keys."""
        found: dict[str, float] = {}
        least = -1e9
        for penalty, spelled, _ in readings:
            cut = penalty - len(spelled)  # how many units are letters
            if self._ceilings[len(spelled)] - _CUT_COST * cut - penalty < least - _SAME:
                continue  # even its commonest words would be too rare
            for score, text in self._conversions(spelled, least + penalty):
                if score - penalty > found.get(text, -1e9):
                    found[text] = score - penalty
                    least = max(least, score - penalty)
        return max(found, key=found.__getitem__, default=None)

    def _readings(self, keys: str) -> list[Reading]:
        """The few best ways to cut the keys into syllables and letters that stand for one; each cut costs."""
        costs, size = self._costs, len(keys)
        beams: list[list[_Way]] = [[] for _ in range(size + 1)]
        beams[0].append((0.0, None, "", 0))
        for at, c in enumerate(keys):
            here = beams[at]
            if len(here) > 1:
                here.sort(key=_first)
                del here[_BEAM:]
            if c == "'":
                beams[at + 1] += here
            elif here:
                for end in range(at + 1, min(size, at + 6) + 1):
                    unit = keys[at:end]
                    cost = costs.get(unit)
                    if cost is None:
                        break  # nothing begins so
                    if cost:
                        beams[end] += [(way[0] + cost, way, unit, end) for way in here]
        readings: list[Reading] = []
        for way in sorted(beams[-1], key=_first)[:_BEAM]:
            cost, units, ends = way[0], list[str](), list[int]()
            while way[1] is not None:
                _, before, unit, end = way
                units.append(unit)
                ends.append(end)
                way = before
            readings.append((cost, tuple(units[::-1]), tuple(ends[::-1])))
        return readings

    def _conversions(self, spelled: tuple[str, ...], least: float) -> list[tuple[float, str]]:
        """The likeliest text for all of the units, and those that are as likely, the first of which is the last by name.

        What falls behind on the way stays behind, whatever follows. None need be found that scores less than `least`.
        """
        size, stretch, ceilings = len(spelled), self._stretch, self._ceilings
        initials = "".join([unit[0] for unit in spelled])
        beams: list[list[tuple[float, str]]] = [[(0.0, "")], *[[] for _ in spelled]]
        for at, unit in enumerate(spelled):
            here = _best_ways(beams[at])
            if not here or here[0][0] + ceilings[size - at] < least - _SAME:
                continue
            known = self._known_initials(unit)
            for end in range(at + 1, min(size, at + _LONGEST) + 1):
                if initials[at + 1 : end] in known:
                    reached = beams[end]
                    for word, score in stretch(spelled[at:end])[0]:
                        for before, text in here:
                            reached.append((before + score - _WORD_COST, text + word))
        return _best_ways(beams[-1])

    def _look_up_initials(self, unit: str) -> frozenset[str]:
        """The first letters of the syllables that follow a unit in words."""
        cut = unit not in self._lexicon.syllables
        return frozenset(self._lexicon.initials(unit, cut) | self._phrases.initials(unit, cut))

    def _stretch_words(self, units: tuple[str, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The words that these units may stand for, best first: the likeliest few, which are equally likely, and all."""
        cut = [unit not in self._lexicon.syllables for unit in units]
        if True in cut:
            rows, phrases = self._lexicon.abbreviated(units, cut), self._phrases.abbreviated(units, cut)
            found = sorted(rows + phrases, key=_first) if phrases else rows
            cost = _CUT_COST * sum(cut)
            words = tuple([(word, -rare - cost) for rare, word in found[:_MOST_WORDS]])
        else:
            words = tuple(self._spelled(APART.join(units))[:_MOST_WORDS])
        return tuple([word for word in words[:_BEAM] if word[1] >= words[0][1] - _SAME]), words

    def rank(self, word: str, syllables: tuple[str, ...]) -> int:
        found = self._spelled(APART.join(syllables))
        return next((i for i, (other, _) in enumerate(found) if other == word), UNRANKED)

    def _spelled(self, reading: str) -> list[Word]:
        """The words and phrases of a reading, commonest first."""
        words, phrases = self._lexicon.words(reading), self._phrases.words(reading)
        return sorted(words + phrases, key=lambda pair: -pair[1]) if phrases else words


def _best_ways(ways: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """The best of these, and the few that are as good."""
    if len(ways) < 2:
        return ways
    least = max(ways)[0] - _SAME
    return sorted([way for way in ways if way[0] >= least], reverse=True)[:_BEAM]
