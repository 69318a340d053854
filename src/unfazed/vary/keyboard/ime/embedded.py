"""A pinyin engine in Python over the lists that ship with the package, words and what else input methods offer."""

from __future__ import annotations

import lzma
from functools import lru_cache

from unfazed.vary.chinese import WORDS_FILE, Lexicon, Spelled, lexicon
from unfazed.vary.keyboard.ime import UNRANKED, Candidate, Engine

_BEAM = 4  # readings of the keys, and whole conversions, that are kept
_WORD_COST = 18.0  # log of the running words counted, so that one long word goes before two short ones
_CUT_COST = 3.0  # a letter that stands for a syllable makes a word less likely than typing it out does
_MOST_WORDS = 30  # words looked at for one stretch of keys
_LONGEST = 8  # syllables of the longest word

Unit = tuple[str, int]  # a syllable or the letter that stands for one, and where it ends in the keys
Word = tuple[str, float]


class Embedded(Engine):
    """Reads the keys as syllables, where letters may stand for whole ones, and finds the likeliest words by beam."""

    name = "embedded"

    def __init__(self, words: Lexicon, phrases: Lexicon) -> None:
        super().__init__()
        self._lexicon, self._phrases = words, phrases
        self._stretch = lru_cache(50_000)(self._words)
        self._short: dict[str, list[Spelled]] = {}

    def _look_up(self, keys: str, n: int) -> list[Candidate]:
        whole: dict[str, float] = {}
        first: dict[str, tuple[float, int]] = {}
        for penalty, units in self._readings(keys):
            for score, text in self._conversions(units):
                whole[text] = max(whole.get(text, -1e9), score - penalty)
            for length in range(min(len(units), _LONGEST), 0, -1):
                spelled = tuple(unit for unit, _ in units[:length])
                for text, score in self._stretch(spelled):
                    value = (score - 4.0 * penalty + 12.0 * length, units[length - 1][1])
                    first[text] = max(first.get(text, (-1e9, 0)), value)
        best = sorted(whole, key=lambda text: -whole[text])[:1]
        rest = sorted((text for text in first if text not in best), key=lambda text: -first[text][0])
        found = [Candidate(text, first[text][1] if text in first else len(keys)) for text in best]
        return [*found, *(Candidate(text, first[text][1]) for text in rest)][:n]

    def _readings(self, keys: str) -> list[tuple[float, list[Unit]]]:
        """The few best ways to cut the keys into syllables and letters that stand for one; each cut costs."""
        syllables = self._lexicon.syllables
        beams: list[list[tuple[float, list[Unit]]]] = [[(0.0, [])], *([] for _ in keys)]
        for at in range(len(keys)):
            beams[at] = sorted(beams[at], key=lambda way: way[0])[:_BEAM]
            for cost, units in beams[at]:
                if keys[at] == "'":
                    beams[at + 1].append((cost, units))
                    continue
                for end in range(at + 1, min(len(keys), at + 6) + 1):
                    unit = keys[at:end]
                    if unit in syllables:
                        beams[end].append((cost + 1.0, [*units, (unit, end)]))
                    elif (end == at + 1 and unit not in "iuv") or unit in ("zh", "ch", "sh"):
                        beams[end].append((cost + 2.0, [*units, (unit, end)]))
        return sorted(beams[-1], key=lambda way: way[0])[:_BEAM]

    def _conversions(self, units: list[Unit]) -> list[tuple[float, str]]:
        """The likeliest texts for all of the units."""
        spelled = tuple(unit for unit, _ in units)
        beams: list[list[tuple[float, str]]] = [[(0.0, "")], *([] for _ in units)]
        for at in range(len(units)):
            beams[at] = sorted(beams[at], reverse=True)[:_BEAM]
            if not beams[at]:
                continue
            for end in range(at + 1, min(len(units), at + _LONGEST) + 1):
                for word, score in self._stretch(spelled[at:end])[:_BEAM]:
                    beams[end] += [(before + score - _WORD_COST, text + word) for before, text in beams[at]]
        return sorted(beams[-1], reverse=True)[:_BEAM]

    def _words(self, units: tuple[str, ...]) -> list[Word]:
        """The words that these units may stand for, with their scores, best first."""
        words = self._lexicon
        cut = [i for i, unit in enumerate(units) if unit not in words.syllables]
        if not cut:
            return self._spelled("'".join(units))[:_MOST_WORDS]
        whole = len(cut) == len(units) and all(len(unit) == 1 for unit in units)
        found: list[Word] = []
        for score, word, syllables in self._abbreviated("".join([unit[0] for unit in units])):
            if whole or all(
                s == unit or (i in cut and s.startswith(unit))
                for i, (s, unit) in enumerate(zip(syllables, units, strict=True))
            ):
                found.append((word, score - _CUT_COST * len(cut)))
                if len(found) == _MOST_WORDS:
                    break
        return found

    def rank(self, word: str, syllables: tuple[str, ...]) -> int:
        for i, (other, _) in enumerate(self._spelled("'".join(syllables))):
            if other == word:
                return i
        return UNRANKED

    def _spelled(self, reading: str) -> list[Word]:
        """The words and phrases of a reading, commonest first."""
        words, phrases = self._lexicon.words(reading), self._phrases.words(reading)
        return sorted(words + phrases, key=lambda pair: -pair[1]) if phrases else words

    def _abbreviated(self, initials: str) -> list[Spelled]:
        """The words and phrases that an abbreviation may stand for, commonest first."""
        found = self._short.get(initials)
        if found is None:
            both = self._lexicon.abbreviated(initials) + self._phrases.abbreviated(initials)
            found = self._short[initials] = sorted(both, key=lambda spelled: -spelled[0])
        return found


def open_engine() -> Engine:
    phrases = WORDS_FILE.with_name("phrases.txt.xz")
    return Embedded(lexicon(), Lexicon(lzma.decompress(phrases.read_bytes()).decode("utf-8")))
