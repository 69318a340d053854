"""The words that may be heard for others, and what each is nearest to: from the shipped table, or by an exact search.

The search takes a cheap lower bound first, and edit distances for what it leaves.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from unswayed.vary.spoken._phones import CODES, WEAK, akin, letters_of, sound_of, spelling_key

FILE = "speako_words.tsv.gz"
_ALWAYS_HEARD = 5_000  # nobody hears *thee* for *the*: a homophone is one of so many most frequent words, or at most
_RARER = 30  # so many times as far down the list as the word itself
_MOST_KEPT = 100_000  # answers that are kept
COMMON, NAME, ONLY_SAID = "cns"  # a common word; a name; a word that is never offered for another


class SpokenWord(NamedTuple):
    """A frequent word; its rank by frequency is its place in the list."""

    spelling: str
    kind: str
    sounds: tuple[str, ...]


class Heard(NamedTuple):
    """What a word may be taken for: the nearest other word, if any is near, its distance, and a homophone."""

    near: str | None
    distance: int
    homophone: str | None


class Words:
    """A vocabulary in order of frequency, and exact search in it."""

    def __init__(self, words: list[SpokenWord]) -> None:

        self.words = words
        self._ranks = {word.spelling: rank for rank, word in enumerate(words)}
        self._by_sound: dict[str, list[int]] = defaultdict(list)
        for rank, word in enumerate(words):
            if word.kind != ONLY_SAID:
                for sound in word.sounds:
                    self._by_sound[sound].append(rank)
        self._index = Index(
            (sound, rank, words[rank].kind == COMMON) for sound, ranks in self._by_sound.items() for rank in ranks
        )

    def hear(self, words: Sequence[SpokenWord]) -> list[Heard]:
        """For each word the nearest that is another word; a common word is only ever taken for a common word."""
        same = [{rank for sound in word.sounds for rank in self._by_sound.get(sound, ())} for word in words]
        near = self._nearest(words, [set(ranks) for ranks in same])
        heard = []
        for word, at, ranks in zip(words, near, same, strict=True):
            spelling, distance = (self.words[at.rank].spelling, at.distance) if at else (None, 0)
            heard.append(Heard(spelling, distance, self._homophone(word, sorted(ranks))))
        return heard

    def _nearest(self, words: Sequence[SpokenWord], skip: list[set[int]]) -> list[Nearest | None]:
        """Not one of `skip`: what sounds the same in one way is no neighbour if it sounds otherwise in another.

        Where the nearest turns out to be another spelling of the word, it is searched for again without that.
        """
        found: list[Nearest | None] = [None] * len(words)
        waiting = list(range(len(words)))
        while waiting:
            answers = iter(self._index.nearest([query for i in waiting for query in _queries(words[i], skip[i])]))
            again = []
            for i in waiting:
                own = list(islice(answers, len(words[i].sounds)))
                found[i] = best = min(filter(None, own), default=None)
                if best and _one_word(words[i].spelling, self.words[best.rank].spelling, best.distance):
                    skip[i].add(best.rank)
                    again.append(i)
            waiting = again
        return found

    def _homophone(self, word: SpokenWord, same: list[int]) -> str | None:
        """The commonest word that sounds the same, isn't this word spelled otherwise and isn't far rarer."""
        if len(word.spelling) > 1 and not set(word.spelling) & set("aeiouy"):
            return None  # an abbreviation, and what it stands for (*st*, *street*)
        rarest = max(_ALWAYS_HEARD, _RARER * self._ranks.get(word.spelling, len(self.words)))
        for other in (self.words[rank] for rank in same if rank < rarest):
            if not (word.kind == COMMON != other.kind) and not _one_word(word.spelling, other.spelling, 0):
                return other.spelling
        return None


def _queries(word: SpokenWord, skip: set[int]) -> list[Query]:
    """Looks one sound far, in longer words up to two fifths of their sounds, but never for other sounds altogether."""

    return [
        Query(sound, min(len(sound) - 1, max(1, 2 * len(sound) // 5)), frozenset(skip), word.kind == COMMON)
        for sound in word.sounds
    ]


def _one_word(a: str, b: str, distance: int) -> bool:
    """Are these two spellings of a word? If only marks or double letters differ, they are where they sound the same."""
    letters, others = letters_of(a), letters_of(b)
    if letters == others:
        return a == b or distance == 0
    doubled = distance == 0 and len(letters) > 4 and _single(letters) == _single(others)
    return doubled or spelling_key(letters) == spelling_key(others)


def _single(letters: str) -> str:
    return re.sub(r"(.)\1", r"\1", letters)


class Ears:
    """The shipped vocabulary, whose words have their answers in the table; others are worked out once and kept."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.ranks = {line[: line.index("\t")]: rank for rank, line in enumerate(self._lines)}
        self._heard: dict[str, Heard] = {}

    def spoken(self) -> Iterator[SpokenWord]:
        """The words, most frequent first."""
        for line in self._lines:
            spelling, kind, sounds, _ = line.split("\t", 3)
            yield SpokenWord(spelling, kind, tuple(sounds.split(" ")))

    def heard(self, spelling: str) -> Heard:
        """What a word may be taken for."""
        found = self._heard.get(spelling)
        if found is None:
            rank = self.ranks.get(spelling)
            if rank is not None:
                found = self._read(rank)
            else:
                [found] = self._words.hear([SpokenWord(spelling, NAME, (sound_of(spelling),))])
            if len(self._heard) >= _MOST_KEPT:
                self._heard.clear()
            self._heard[spelling] = found
        return found

    def _read(self, rank: int) -> Heard:
        _, _, _, near, distance, homophone = self._lines[rank].split("\t")
        return Heard(self._spelling(near), int(distance), self._spelling(homophone))

    def _spelling(self, rank: str) -> str | None:
        return self._lines[int(rank)].partition("\t")[0] if rank else None

    @cached_property
    def _words(self) -> Words:
        return Words(list(self.spoken()))


@cache
def ears() -> Ears:
    """The shipped vocabulary, read once a process."""
    return Ears(gzip.decompress(files("unswayed.vary.spoken").joinpath("data", FILE).read_bytes()).decode())


_NEVER = 255  # the bound of what may not be the answer
_COMMONEST = "AH N S T IH L R K D IY ER EH M Z AA AE P B OW F EY AY G AO V"  # as many as bits are left
_TWICE = _COMMONEST.split()
Array = npt.NDArray[Any]


class Query(NamedTuple):
    """A pronunciation, how far to look, ranks of words that aren't the answer, and whether only common words are."""

    sound: str
    within: int
    skip: frozenset[int] = frozenset()
    common: bool = False


class Nearest(NamedTuple):
    distance: int
    unlike: int  # how many of the edits are not between like sounds
    rank: int


class Index:
    """Pronunciations in order of length, each with the rank of its word and whether that is a common one."""

    def __init__(self, sounds: Iterable[tuple[str, int, bool]]) -> None:
        entries = sorted(sounds, key=lambda entry: len(entry[0]))
        self._sounds = [sound for sound, _, _ in entries]
        self._ranks = [rank for _, rank, _ in entries]
        self._common = np.array([common for _, _, common in entries], bool)
        self._lengths = np.array([len(sound) for sound in self._sounds], np.int64)
        self._bits = _bits(self._sounds)

    def nearest(self, queries: Sequence[Query]) -> list[Nearest | None]:
        """For each the word at the least distance above 0; ties go to more alike sounds, then to lower rank."""
        bits = _bits([query.sound for query in queries])
        return [self._nearest(query, own) for query, own in zip(queries, bits, strict=True)]

    def _nearest(self, query: Query, bits: np.uint64) -> Nearest | None:
        """Measures what may be within 2, then what may be at 3, and so on until nothing nearer can come."""
        start, bounds = self._bounds(query, bits)
        near: list[tuple[int, int]] = []  # distance and place
        done = -1
        for radius in range(min(2, query.within), query.within + 1):
            places = (np.flatnonzero((bounds <= radius) & (bounds > done)) + start).tolist()
            if query.skip:
                places = [place for place in places if self._ranks[place] not in query.skip]
            near += ((d, place) for d, place in zip(self._measure(query.sound, places), places, strict=True) if d)
            least = min(near, default=(_NEVER, 0))[0]
            if least <= radius:
                return self._best(query.sound, least, [place for d, place in near if d == least])
            done = radius
        return None

    def _bounds(self, query: Query, bits: np.uint64) -> tuple[int, Array]:
        """What the distances are at least, from the first pronunciation that isn't too short on.

        A phone that only one of two has takes an edit, and so does a difference in length.
        """
        length = len(query.sound)
        start, end = np.searchsorted(self._lengths, (length - query.within, length + query.within + 1)).tolist()
        others = self._bits[start:end]
        bounds = np.maximum(np.bitwise_count(bits & ~others), np.bitwise_count(others & ~bits))
        bounds = np.maximum(bounds, np.abs(self._lengths[start:end] - length).astype(np.uint8))
        if query.common:
            bounds[~self._common[start:end]] = _NEVER
        return start, bounds

    def _measure(self, sound: str, places: list[int]) -> list[int]:
        others = [self._sounds[place] for place in places]
        distances: list[int] = cdist([sound], others, scorer=Levenshtein.distance, dtype=np.uint8)[0].tolist()
        return distances

    def _best(self, sound: str, distance: int, places: list[int]) -> Nearest:
        """The one of these that takes the fewest edits between unlike sounds, and of such the lowest rank."""
        best: tuple[int, int] | None = None
        for rank, other in sorted((self._ranks[place], self._sounds[place]) for place in places):
            found = (unlike_edits(sound, other), rank)
            best = min(best or found, found)
            if best[0] == 0:
                break
        assert best
        return Nearest(distance, *best)


def _bits(sounds: Sequence[str]) -> Array:
    """For each sound a bit for each phone that is in it, and one more for a common phone that is in it twice."""
    longest = max(map(len, sounds), default=0)
    padded = "".join(sound.ljust(longest, "\0") for sound in sounds).encode("ascii")
    codes = np.frombuffer(padded, np.uint8).reshape(len(sounds), longest)
    once, twice = np.zeros((2, len(sounds)), np.uint64)
    for phones in _BIT_OF[codes.T]:
        twice |= once & phones
        once |= phones
    return once | ((twice & np.uint64((1 << len(_TWICE)) - 1)) << np.uint64(len(CODES)))


def _bit_table() -> Array:
    table = np.zeros(128, np.uint64)
    for i, phone in enumerate(sorted(CODES, key=lambda p: p not in _TWICE)):
        table[ord(CODES[phone])] = 1 << i
    return table


def unlike_edits(sound: str, other: str) -> int:
    """How many of the fewest edits from one sound to another are not between like sounds, at the least."""
    drops = [_STEP + 1, *(_GAPS[phone] for phone in sound[1:])]
    costs = [0]
    for drop in drops[: len(sound)]:
        costs.append(costs[-1] + drop)
    for j, phone in enumerate(other):
        add, changes = _GAPS[phone] if j else _STEP + 1, _CHANGES[phone]
        diagonal, costs[0] = costs[0], costs[0] + add
        for i, own in enumerate(sound):
            cost = min(diagonal + changes[own], costs[i] + drops[i], costs[i + 1] + add)
            diagonal, costs[i + 1] = costs[i + 1], cost
    return costs[-1] % _STEP


_BIT_OF = _bit_table()
_STEP = 256  # the cost of an edit; one that is not between like sounds costs 1 more
_GAPS = {code: _STEP + (phone not in WEAK) for phone, code in CODES.items()}
_CHANGES = {
    code: {other: 0 if a == b else _STEP + (not akin(a, b)) for b, other in CODES.items()} for a, code in CODES.items()
}
