"""A simulated Mandarin recogniser: how words sound, which sounds are heard for others, and the likeliest words."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, log
from operator import itemgetter
from typing import Any, NamedTuple

from unswayed.base.seeds import Stream
from unswayed.vary.chinese import APART, lexicon, listed
from unswayed.vary.words import summed

# Sounds
_TONES_FILE = files("unswayed.vary.speech") / "data" / "tones.txt"
_INITIAL = re.compile(r"zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw]?")
_MARKED = re.compile(r"(.)(\d)")
NEUTRAL = 5
TONES = 6  # there is no tone 0
_MAX_WORDS = 12  # words of one reading that are looked at, the commonest
MAX_SYLLABLES = 4  # syllables of the longest word that is looked for

# Words
_PAIRS_FILE = files("unswayed.vary.speech") / "data" / "pairs.txt.xz"
_FOLLOWER = re.compile(r"(\D+)(\d+)")
_TOTAL = log(60_000_000)  # running words that the word list was counted in
_PAIR_WEIGHT = 0.6  # how much the pair of words counts against the word alone
_MAX_NEAR = (0, 24, 14, 7, 4)  # sounds looked at for each syllable of words of 1, 2, 3, 4 syllables
_MAX_SOUND_COST = 7.5  # cost of sound beyond which a word is not looked at
_MAX_STRETCH_WORDS = (0, 24, 30, 24, 16)  # words kept for a stretch of so many syllables
_BEAM_WIDTH = 5
_HEAD_WORDS = 8  # words of a stretch that are drawn in any case, the likeliest; more than the ways that are kept
_MAX_WHOLE_WAYS = 2  # ways to the end that are kept, so that one is left where rounding made another the better
_SAME = 1e-9  # scores that differ by less may be equal but for rounding
_MAX_REMEMBERED = 2_000  # stretches of several syllables whose words are remembered
_NO_WORDS_BEFORE: frozenset[str] = frozenset()
_NOWHERE = float("-inf")
_SCALE = 2.0**-53

# Chosen on the even rows of READIN's speech, so that what comes out has words as long and as common as there.
_FLUENCY = 0.72  # weight of a word's frequency, and of its neighbours, against its sound
_WORD_COST = 15.0  # of every word, so that one long word goes before two short ones
_SPREAD = 0.5  # how far choices stray from the best
_RELUCTANCE = 1.3  # how unlikely a character that was said is to come out where something was misheard

_Drawn = tuple[float, str]  # a word after the score that was drawn for it
_Reached = tuple[float, str, dict[str, float]]  # a way, and by how much words are likelier after its last
_Way = tuple[float, str, str]  # what is written so far: its score, the text and its last word
_NOT_IN_TABLE: dict[str, float] = {}


class Syllable(NamedTuple):
    """A syllable as it is spelled, and its tone from 1 to 5."""

    plain: str
    tone: int


@lru_cache(2_000)
def split_syllable(plain: str) -> tuple[str, str]:
    """Initial and final. After j, q, x and y the letter u is ü; yi and wu have no initial of their own."""
    initial = _INITIAL.match(plain)[0]  # type: ignore[index]
    final = plain[len(initial) :]
    if initial in ("j", "q", "x", "y") and final.startswith("u"):
        final = "v" + final[1:]
    if initial == "y":
        return "", final if final[0] in "iv" else "i" + final
    if initial == "w":
        return "", final if final[0] == "u" else "u" + {"ei": "i", "en": "n"}.get(final, final)
    if initial in ("zh", "ch", "sh", "r", "z", "c", "s") and final == "i":
        final = "-i"  # the buzzed vowel of zhi and zi
    return initial, final


@lru_cache(1)
def tone_table() -> dict[str, int]:
    """The tone of a character with the reading after it."""
    rows = [line.split("\t") for line in _TONES_FILE.read_text(encoding="utf-8").splitlines()]
    return {c + plain: int(tone) for plain, marked in rows for c, tone in _MARKED.findall(marked)}


@lru_cache(100_000)
def pronounce_word(word: str) -> tuple[Syllable, ...] | None:
    """The syllables of a word, or None if a character has no reading."""
    plain = lexicon().reading(word)
    if plain is None:
        return None
    tones = tone_table()
    return tuple([Syllable(p, tones.get(c + p, NEUTRAL)) for c, p in zip(word, plain, strict=True)])


@cache
def all_syllables() -> list[str]:
    """Every syllable, in order. Its place is its number."""
    return sorted(lexicon().syllables)


Sounding = tuple[float, str, int]  # what a word is worth, the word, and the tones of its syllables as one number
_Costs = Mapping[int, float] | list[float]


class Ear:
    """What is heard for what: costs, as negative logs of chances, of hearing one initial, final or tone for another.

    `heard` maps `n>l`, `an>ang` or `1>4` to a chance; what is not named is as likely as `_REST` of all that is unnamed.
    """

    _REST = 0.004
    _FARTHEST = 9.5  # cost beyond which no sound is taken for another

    def __init__(self, heard: Mapping[str, float]) -> None:
        self._heard = heard
        self._near: dict[tuple[str, int], dict[int, float]] = {}
        self._halves = [split_syllable(plain) for plain in all_syllables()]
        tones = range(TONES)
        # of hearing a tone as another, by their numbers
        self.tones = rows = [[self._cost(f"{a}>{b}", 0.0 if a == b else 3.0) for b in tones] for a in tones]
        # of hearing two, by the two tones that are said and the number of those heard
        self._pairs = [[[one + two for one in ones for two in twos] for twos in rows] for ones in rows]

    def _cost(self, pair: str, otherwise: float) -> float:
        chance = self._heard.get(pair)
        return otherwise if chance is None else -log(max(chance, 1e-4))

    def near(self, plain: str, most: int) -> dict[int, float]:
        """The numbers of the syllables that this one is likeliest heard as, itself too, with their costs, in order."""
        found = self._near.get((plain, most))
        if found is None:
            by_initial, by_final = (
                {two: self._cost(f"{one}>{two}", 0.3 if one == two else -log(self._REST)) for two in set(others)}
                for one, others in zip(split_syllable(plain), zip(*self._halves, strict=True), strict=True)
            )
            rated = [(number, by_initial[i] + by_final[f]) for number, (i, f) in enumerate(self._halves)]
            few = sorted([pair for pair in rated if pair[1] < self._FARTHEST], key=itemgetter(1))
            found = self._near[plain, most] = dict(few[:most])
        return found

    def hearing(self, tones: Sequence[int], words: Iterable[tuple[Sequence[Sounding], float]]) -> _Costs:
        """The costs of hearing the tones of some syllables as those of the words, by the number that words have."""
        if len(tones) == 1:
            return self.tones[tones[0]]
        if len(tones) == 2:  # these are asked for most
            return self._pairs[tones[0]][tones[1]]
        numbers, places = {its for same, _ in words for _, _, its in same}, range(len(tones) - 1, -1, -1)
        costs = list(zip([self.tones[tone] for tone in tones], places, strict=True))
        return {its: summed(cost[its // TONES**place % TONES] for cost, place in costs) for its in numbers}


class SoundVocabulary:
    """Words by their sound, and what each is worth by its log frequency: `weight` times that, less `cost`.

    The words that begin with a syllable are read when it is first heard.
    """

    def __init__(self, weight: float, cost: float) -> None:
        self._weight, self._cost = weight, cost
        self._worths: dict[float, float] = {}  # there are few, which words share
        self._numbers = {plain: number for number, plain in enumerate(all_syllables())}
        self._trees: list[list[Any]] = [[] for _ in all_syllables()]

    def near(self, sounds: Sequence[Mapping[int, float]], most: float) -> list[tuple[tuple[Sounding, ...], float]]:
        """The words of each reading that takes one of the syllables at each place, whose costs are less than `most`.

        The syllables are given by their numbers, with their costs, the cheapest first.
        """
        size, trees = len(sounds), self._trees
        ways = [((trees[first] or self._tree(first))[size], cost) for first, cost in sounds[0].items() if cost < most]
        if size > 1:  # most of those that are tried go on by a second syllable
            longer, tried = [], list(sounds[1].items())
            for after, cost in ways:
                for syllable, more in tried:
                    if cost + more >= most:
                        break
                    found = after[syllable]
                    if found:
                        longer.append((found, cost + more))
            ways = longer
        for near in sounds[2:]:
            ways = [
                (found, total)
                for after, cost in ways
                for syllable, found in after.items()
                if syllable in near and (total := cost + near[syllable]) < most
            ]
        return ways

    def _tree(self, first: int) -> list[Any]:
        """The words that begin with a syllable, by how many they have: by the second, by the third, by the last.

        What comes second is a list, which is sooner looked up than a mapping; of what comes after, there is little.
        """
        plain = all_syllables()[first]
        tree = self._trees[first] = [None, (), *([None] * len(all_syllables()) for _ in range(MAX_SYLLABLES - 1))]
        for rest, row in lexicon().rows(plain).items():
            spelled = [plain, *rest.split(APART)] if rest else [plain]
            size = len(spelled)
            if size <= MAX_SYLLABLES:
                words = []
                for word, frequency in listed(row, size)[:_MAX_WORDS]:
                    worth = self._weight * frequency - self._cost
                    its = 0  # the tones as one number
                    for c, p in zip(word, spelled, strict=True):
                        its = its * TONES + tone_table().get(c + p, NEUTRAL)
                    words.append((self._worths.setdefault(worth, worth), word, its))
                *path, last = [size, *[self._numbers[syllable] for syllable in spelled[1:]]]
                after: Any = tree
                for number in path:
                    if isinstance(after, dict):
                        after = after.setdefault(number, {})
                    else:
                        after[number] = after[number] or {}
                        after = after[number]
                after[last] = tuple(words)
        return tree


class _Stretch(NamedTuple):
    """The words that sound like some syllables, best first, and their scores; the place of each; the words joined."""

    words: tuple[str, ...]
    scores: tuple[float, ...]
    places: dict[str, int]
    joined: str


_NO_WORDS = _Stretch((), (), {}, "")


class SimulatedRecogniser:
    """Turns syllables into words. Its choices are drawn, so that what comes out is likely, not always the likeliest."""

    def __init__(self, ear: Ear) -> None:
        self.ear = ear
        single = cache(self._words)  # there are only so many syllables
        double = lru_cache(_MAX_REMEMBERED)(self._words)
        longer = lru_cache(_MAX_REMEMBERED)(self._words)  # there are few words of so many syllables: most have none
        self._sizes = (single, double, *[longer] * (MAX_SYLLABLES - 2))

    def misheard(self, said: str, heard: tuple[Syllable, ...], before: str, after: str, rng: Stream) -> str:
        """Other words than `said` for these syllables, between the words before and after."""
        n = len(heard)
        if not n:
            return ""
        found = [[find(heard[at:end]) for end, find in enumerate(self._sizes[: n - at], at + 1)] for at in range(n)]
        numbers = rng.numbers(sum([len(stretch.words) for here in found for stretch in here]))
        beams = [*[_Beam() for _ in range(n)], _Beam(_MAX_WHOLE_WAYS, said, after)]
        beams[0].ways.append((0.0, "", before))
        used = 0
        for at, stretches in enumerate(found):
            here = [(score, text, words_after(word)) for score, text, word in beams[at].ways]
            for end, stretch in enumerate(stretches, at + 1):
                if stretch.words:
                    chances = numbers[used : used + len(stretch.words)]
                    used += len(chances)
                    beams[end].extend(here, stretch, chances, said[at:end] if n == len(said) else "")
        return beams[n].ways[0][1] if beams[n].ways else ""

    def _words(self, heard: tuple[Syllable, ...]) -> _Stretch:
        """Words that sound like these syllables, best first, with their scores."""
        size, ear = len(heard), self.ear
        near = _shared_vocabulary().near([ear.near(plain, _MAX_NEAR[size]) for plain, _ in heard], _MAX_SOUND_COST)
        if not near:
            return _NO_WORDS
        tones = ear.hearing([tone for _, tone in heard], near)
        rated = [(tones[its] - (worth - cost), word) for words, cost in near for worth, word, its in words]
        return _least_costs(rated, _MAX_STRETCH_WORDS[size])


def _draw_best(stretch: _Stretch, chances: Sequence[int], said: str, most: int, linked: Set[str]) -> list[_Drawn]:
    """The words with the highest scores that are drawn, so many that are not linked to others, and all that are.

    A score strays from the word's own by 64 random bits: the more of them, the higher. Few words but the first have so
    many that they could be among the best; for the others, nothing is computed.
    """
    words, scores, size = stretch.words, stretch.scores, len(stretch.words)
    kept = most + len(linked)
    first = _HEAD_WORDS if kept <= _HEAD_WORDS < size else size
    drawn = [
        score - _SPREAD * log(-log((bits >> 11) * _SCALE + 1e-12) + 1e-12)
        for score, bits in zip(scores[:first], chances[:first], strict=True)
    ]
    same = []  # the places of words that have a character of what was said at its place, once for each
    for place, c in enumerate(said):
        at = stretch.joined.find(c)
        while at >= 0:
            if at % len(said) == place:
                same.append(at // len(said))
            at = stretch.joined.find(c, at + 1)
    lower = {k: _RELUCTANCE * same.count(k) for k in same}  # by how much these are unlikelier
    for k in lower:
        if k < first:
            drawn[k] -= lower[k]
    found = list(zip(drawn, words))  # noqa: B905
    found.sort(reverse=True)
    if first < size:
        # random bits by fewer than which no score strays so far, or nearly so many
        strays = found[kept - 1][0] - scores[first]
        enough = int((exp(-exp(-strays / _SPREAD)) - _SAME) * 2.0**64)
        more = [k for k, bits in enumerate(chances[first:], first) if bits >= enough]
        more += [k for word in linked if (k := stretch.places[word]) >= first and chances[k] < enough]
        if more:
            for k in more:
                score = scores[k] - _SPREAD * log(-log((chances[k] >> 11) * _SCALE + 1e-12) + 1e-12)
                found.append((score - lower.get(k, 0.0), words[k]))
            found.sort(reverse=True)
    return found[:kept] + [pair for pair in found[kept:] if pair[1] in linked] if linked else found[:kept]


def _least_costs(rated: list[tuple[float, str]], most: int) -> _Stretch:
    """The words with the least costs, each once, and their scores, which are the costs below zero."""
    few = rated
    if len(rated) > 3 * most:  # nearly all of them would be sorted for nothing
        limit = sorted([cost for cost, _ in rated])[2 * most]
        few = [pair for pair in rated if pair[0] <= limit]
    best: dict[str, float] = {}
    for cost, word in sorted(few):
        if word not in best:
            best[word] = -cost
            if len(best) == most:
                break
    if len(best) < most and few is not rated:
        return _least_costs(rated, len(rated))
    return _Stretch(tuple(best), tuple(best.values()), {word: k for k, word in enumerate(best)}, "".join(best))


class _Beam:
    """The best ways that reach a place, best first.

    At the end of what was heard, the word after counts too, and what was said is not taken.
    """

    def __init__(self, most: int = _BEAM_WIDTH, said: str = "", after: str = "") -> None:
        self.ways: list[_Way] = []
        self._most, self._said, self._next = most, said, after
        self._before = _words_before().get(after, _NO_WORDS_BEFORE) if after else _NO_WORDS_BEFORE
        self._least = _NOWHERE  # ways with lower scores are none of the best

    def extend(self, here: Sequence[_Reached], stretch: _Stretch, chances: Sequence[int], said: str) -> None:
        """Takes in the ways that go on by one of these words. Those with characters of what was said are unlikelier.

        Of the words that follow none of the ways better than by themselves, only the best could go on.
        """
        known = stretch.places.keys()
        ends = {word: _FLUENCY * words_after(word).get(self._next, 0.0) for word in known & self._before}
        linked = set(ends)
        for _, _, after in here:
            if after:
                linked |= after.keys() & known
        few, least = _draw_best(stretch, chances, said, self._most, linked), self._least
        if ends:
            found = [
                (value, text + word, word)
                for score, text, after in here
                for more, word in few
                if (value := score + more + _FLUENCY * after.get(word, 0.0) + ends.get(word, 0.0)) >= least
            ]
        else:
            found = [
                (value, text + word, word)
                for score, text, after in here
                for more, word in few
                if (value := score + more + _FLUENCY * after.get(word, 0.0)) >= least
            ]
        if self._said:
            found = [way for way in found if way[1] != self._said]
        if found:
            ways = self.ways
            ways += found
            ways.sort(reverse=True)
            if len(ways) >= self._most:
                del ways[self._most :]
                self._least = ways[-1][0] - _SAME


@cache
def _shared_vocabulary() -> SoundVocabulary:
    """The shipped list by sound, made once a process."""
    return SoundVocabulary(_FLUENCY, _WORD_COST)


@cache
def _follower_rows() -> dict[str, str]:
    """What follows a word in the table, and how often."""
    rows = lzma.decompress(_PAIRS_FILE.read_bytes()).decode("utf-8").split("\n")
    return dict(row.split("\t", 1) for row in rows)


@cache
def _words_before() -> dict[str, frozenset[str]]:
    """The words of the table that a word follows."""
    found: dict[str, set[str]] = {}
    for one, row in _follower_rows().items():
        for two, _ in _FOLLOWER.findall(row.split("\t")[1]):
            found.setdefault(two, set()).add(one)
    return {two: frozenset(ones) for two, ones in found.items()}


_AFTER: dict[str, dict[str, float]] = {}  # what `words_after` gave for words that are in the table


def words_after(word: str) -> dict[str, float]:
    """By how much, in logs, words are likelier after this one than by themselves."""
    found = _AFTER.get(word)
    if found is None:
        row = _follower_rows().get(word)
        if row is None:
            return _NOT_IN_TABLE
        count, rest = row.split("\t")
        common = lexicon().log_frequency
        _AFTER[word] = found = {
            two: log((1 - _PAIR_WEIGHT) + _PAIR_WEIGHT * (int(n) / int(count)) / exp(max(common(two), 0.0) - _TOTAL))
            for two, n in _FOLLOWER.findall(rest)
        }
    return found
