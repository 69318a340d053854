"""The words that may be heard for others, and what each is nearest to: from the shipped table, or found by search."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from unfazed.vary.spoken._phones import letters_of, spelling_key
from unfazed.vary.spoken._phones_g2p import sound_of

if TYPE_CHECKING:
    from unfazed.vary.spoken._speako_search import Nearest, Query

FILE = "speako_words.tsv.gz"
_ALWAYS_HEARD = 5_000  # nobody hears *thee* for *the*: a homophone is one of so many most frequent words, or at most
_RARER = 30  # so many times as far down the list as the word itself
_MOST_KEPT = 100_000  # answers that are kept
COMMON, NAME, ONLY_SAID = "cns"  # a common word; a name; a word that is never offered for another


class Word(NamedTuple):
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

    def __init__(self, words: list[Word]) -> None:
        from unfazed.vary.spoken._speako_search import Index

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

    def hear(self, words: Sequence[Word]) -> list[Heard]:
        """For each word the nearest that is another word; a common word is only ever taken for a common word."""
        same = [{rank for sound in word.sounds for rank in self._by_sound.get(sound, ())} for word in words]
        near = self._nearest(words, [set(ranks) for ranks in same])
        heard = []
        for word, at, ranks in zip(words, near, same, strict=True):
            spelling, distance = (self.words[at.rank].spelling, at.distance) if at else (None, 0)
            heard.append(Heard(spelling, distance, self._homophone(word, sorted(ranks))))
        return heard

    def _nearest(self, words: Sequence[Word], skip: list[set[int]]) -> list[Nearest | None]:
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

    def _homophone(self, word: Word, same: list[int]) -> str | None:
        """The commonest word that sounds the same, isn't this word spelled otherwise and isn't far rarer."""
        if len(word.spelling) > 1 and not set(word.spelling) & set("aeiouy"):
            return None  # an abbreviation, and what it stands for (*st*, *street*)
        rarest = max(_ALWAYS_HEARD, _RARER * self._ranks.get(word.spelling, len(self.words)))
        for other in (self.words[rank] for rank in same if rank < rarest):
            if not (word.kind == COMMON != other.kind) and not _one_word(word.spelling, other.spelling, 0):
                return other.spelling
        return None


def _queries(word: Word, skip: set[int]) -> list[Query]:
    """Looks one sound far, in longer words up to two fifths of their sounds, but never for other sounds altogether."""
    from unfazed.vary.spoken._speako_search import Query

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
        self._ranks = {line[: line.index("\t")]: rank for rank, line in enumerate(self._lines)}
        self._heard: dict[str, Heard] = {}

    def learn(self, spellings: Iterable[str]) -> None:
        """Gets the answers for these words: known ones from the table, all others in one search."""
        if len(self._heard) > _MOST_KEPT:
            self._heard.clear()
        new = sorted({s for s in spellings if s not in self._heard})
        self._heard.update((s, self._read(self._ranks[s])) for s in new if s in self._ranks)
        unknown = [Word(s, NAME, (sound_of(s),)) for s in new if s not in self._ranks]
        if unknown:
            self._heard.update(zip((w.spelling for w in unknown), self._words.hear(unknown), strict=True))

    def heard(self, spelling: str) -> Heard:
        """What a word may be taken for."""
        if spelling not in self._heard:
            self.learn((spelling,))
        return self._heard[spelling]

    def _read(self, rank: int) -> Heard:
        _, _, _, near, distance, homophone = self._lines[rank].split("\t")
        return Heard(self._spelling(near), int(distance), self._spelling(homophone))

    def _spelling(self, rank: str) -> str | None:
        return self._lines[int(rank)].partition("\t")[0] if rank else None

    @cached_property
    def _words(self) -> Words:
        rows = (line.split("\t", 3) for line in self._lines)
        return Words([Word(spelling, kind, tuple(sounds.split(" "))) for spelling, kind, sounds, _ in rows])


@cache
def ears() -> Ears:
    """The shipped vocabulary, read once a process."""
    return Ears(gzip.decompress(files("unfazed.vary.spoken").joinpath("data", FILE).read_bytes()).decode())
