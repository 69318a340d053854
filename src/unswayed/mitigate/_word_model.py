"""Which words sound alike, and how likely one follows another: the model of the noisy channel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, product
from math import exp, log

import msgspec

from unswayed.vary.chinese import lexicon

_READINGS = 3  # of a character, the commonest first
_INITIALS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("f", "h"), ("l", "r"))
_FINALS = (("ang", "an"), ("eng", "en"), ("ing", "in"))


@lru_cache(1)
def readings() -> dict[str, tuple[str, ...]]:
    """The syllables of each character, tones aside."""
    found: dict[str, list[tuple[float, str]]] = {}
    for syllable, characters in lexicon().characters.items():
        for character, frequency in characters:
            found.setdefault(character, []).append((-frequency, syllable))
    return {c: tuple(s for _, s in sorted(of)[:_READINGS]) for c, of in found.items()}


@lru_cache(1)
def near() -> dict[str, tuple[str, ...]]:
    """For each syllable those that accents do not tell from it: zh and z, n and l, an and ang."""
    return {syllable: tuple(sorted(_near(syllable))) for syllable in lexicon().syllables}


def _near(syllable: str) -> set[str]:
    initial, final = _split(syllable)
    others = {b if initial == a else a for a, b in _INITIALS if initial in (a, b)}
    found = {other + final for other in others}
    for a, b in _FINALS:
        for one, other in ((a, b), (b, a)):
            if final.endswith(one):
                found.add(initial + final.removesuffix(one) + other)
    return found & lexicon().syllables - {syllable}


def _split(syllable: str) -> tuple[str, str]:
    size = 2 if syllable[1:2] == "h" else 1
    return syllable[:size], syllable[size:]


START, END = "^", "$"
HAN = re.compile(r"[\u4e00-\u9fff]{1,100}")  # longer runs are cut, so that memory is bounded

_LIST_WORDS = log(60_000_000)  # running words behind the list's frequencies
_UNKNOWN = -2.0  # log frequency of what is not in the list
_TEXTS_SHARE = 0.5  # of a word's probability that the texts decide
_DISCOUNT = 0.75
_TRUST = 20.0  # a word seen as often decides half of what comes after it
_PAIR_SEEN, _PAIR_BOUND = 5, 20.0  # two characters are a new word if seen so often, and so much oftener than by chance


class Counts(msgspec.Struct, frozen=True):
    """What was counted in texts: words, which word comes after which, and words that the list does not have."""

    words: dict[str, int] = {}
    after: dict[str, dict[str, int]] = {}
    new: list[str] = []


class WordModel:
    """Probabilities of words; without counts, of each word by itself."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self._words = sum(counts.words.values())
        self._seen = {word: sum(others.values()) for word, others in counts.after.items()}
        self._new: dict[str, list[str]] = {}
        for word in counts.new:
            for reading in product(*(readings()[c] for c in word)):
                self._new.setdefault("'".join(reading), []).append(word)
        self.alone = lru_cache(1 << 18)(self._alone)
        self.step = lru_cache(1 << 18)(self._step)

    @property
    def learnt(self) -> bool:
        return bool(self.counts.words)

    def spelled(self, reading: str) -> list[str]:
        """The words of a reading such as `hua'bei`."""
        return [*(word for word, _ in lexicon().words(reading)), *self._new.get(reading, ())]

    def __contains__(self, word: str) -> bool:
        return word in lexicon().frequency or word in self.counts.words

    def _alone(self, word: str) -> float:
        listed = lexicon().frequency.get(word, _UNKNOWN) - _LIST_WORDS
        if not self._words:
            return listed
        return log((1 - _TEXTS_SHARE) * exp(listed) + _TEXTS_SHARE * self.counts.words.get(word, 0) / self._words)

    def _step(self, before: str, word: str) -> float:
        """The log probability of a word after another, backing off to the word by itself."""
        seen = self._seen.get(before)
        if not seen:
            return self.alone(word)
        others = self.counts.after[before]
        alone = exp(self.alone(word))
        paired = max(others.get(word, 0) - _DISCOUNT, 0) / seen + _DISCOUNT * len(others) / seen * alone
        trust = seen / (seen + _TRUST)
        return log(trust * paired + (1 - trust) * alone)


def count(texts: Iterable[str]) -> Counts:
    """The counts of texts: of their words, those of the list and new ones, and of the words after each."""
    segmented = [lexicon().segment(run) for text in texts for run in HAN.findall(text)]
    new = _new_words(segmented)
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for found in segmented:
        line = [START, *_joined(found, new), END]
        words.update(line[1:])
        pairs.update(pairwise(line))
    after: dict[str, dict[str, int]] = {}
    for (before, word), times in sorted(pairs.items()):
        after.setdefault(before, {})[word] = times
    return Counts(dict(sorted(words.items())), after, sorted(new))


def _new_words(segmented: Iterable[list[str]]) -> set[str]:
    singles: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for words in segmented:
        singles.update(words)
        pairs.update(a + b for a, b in pairwise(words) if len(a) == len(b) == 1)
    total, known = singles.total(), readings()
    return {
        pair
        for pair, times in pairs.items()
        if times >= _PAIR_SEEN
        and times * total > _PAIR_BOUND * singles[pair[0]] * singles[pair[1]]
        and pair[0] in known
        and pair[1] in known
    }


def _joined(words: Iterable[str], new: set[str]) -> Iterator[str]:
    waiting = ""
    for word in words:
        if waiting and waiting + word in new:
            yield waiting + word
            waiting = ""
            continue
        if waiting:
            yield waiting
        waiting = word
    if waiting:
        yield waiting
