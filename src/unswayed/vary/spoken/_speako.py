"""English words by sound: how an unknown word is said, and which words may be heard for others.

A sound is a character for each phone. Each letter of an unknown word gets no, one or two phones, by a model of which
follow which: a back-off 5-gram over letters joined with their phones, learnt from CMUdict by `tools/make_speako.py`.
What a word is nearest to comes from the shipped table, or from an exact search, which takes a cheap lower bound first,
and edit distances for what it leaves.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from unswayed.vary.words import COMMON_WORDS

# Phones and spellings

# ARPAbet as in CMUdict, without stress: too few words differ in nothing else.
_ARPABET = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
CODES = dict(zip(_ARPABET.split(), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm", strict=True))
VOWELS = frozenset(p for p in CODES if p[0] in "AEIOU")
_PLACES = {"lips": "P B F V M W", "teeth": "T D TH DH S Z N L", "palate": "CH JH SH ZH R Y", "throat": "K G NG HH"}
_MANNERS = {
    "stop": "P B T D K G",
    "affricate": "CH JH",
    "fricative": "F V TH DH S Z SH ZH HH",
    "nasal": "M N NG",
    "glide": "L R W Y",
}
# Sounds that are easily added or lost, but at the beginning of a word.
WEAK = frozenset(("AH", "IH", "HH", "S", "Z", "T", "D"))
_VOICELESS = frozenset(("P", "T", "K", "CH", "F", "TH", "S", "SH", "HH"))
_LETTERS = """
a EY, b B IY, c S IY, d D IY, e IY, f EH F, g JH IY, h EY CH, i AY, j JH EY, k K EY, l EH L, m EH M, n EH N, o OW,
p P IY, q K Y UW, r AA R, s EH S, t T IY, u Y UW, v V IY, w D AH B AH L Y UW, x EH K S, y W AY, z Z IY
"""
# What letters are called, for what is spelled out.
LETTERS = {item[0]: "".join(CODES[p] for p in item[1:]) for item in map(str.split, _LETTERS.split(","))}


_FEATURES = {
    phone: (place, manner, phone in _VOICELESS)
    for place, phones in _PLACES.items()
    for phone in phones.split()
    for manner, others in _MANNERS.items()
    if phone in others.split()
}


def akin(a: str, b: str) -> bool:
    """Are two phones easily taken for each other?

    Two vowels are; consonants of one manner that share place or voice; and those of two manners at one place and voice,
    but glides (*l r w y*) only with glides and nasals only with nasals and stops.
    """
    if a in VOWELS or b in VOWELS:
        return a in VOWELS and b in VOWELS
    (place, manner, voice), (place2, manner2, voice2) = _FEATURES[a], _FEATURES[b]
    if manner == manner2:
        return place == place2 or voice == voice2
    apart = {manner, manner2}
    if "glide" in apart or ("nasal" in apart and "stop" not in apart):
        return False
    return place == place2 and voice == voice2


def letters_of(word: str) -> str:
    """The word in plain small letters: accents, apostrophes, hyphens and other marks dropped."""
    return re.sub("[^a-z]", "", unicodedata.normalize("NFKD", word).lower())


_PAIRS = (
    "axe/ax, cheque/check, cosy/cozy, doughnut/donut, draught/draft, grey/gray, gaol/jail, goodbye/goodby, "
    "jewellery/jewelry, kerb/curb, light/lite, manoeuvre/maneuver, mould/mold, moult/molt, mum/mom, night/nite, "
    "okay/ok, plough/plow, pyjamas/pajamas, sceptic/skeptic, sceptical/skeptical, smoulder/smolder, storey/story, "
    "speciality/specialty, sulphur/sulfur, though/tho, through/thru, tyre/tire, whiskey/whisky, yoghurt/yogurt"
)
_SAME = dict(pair.split("/") for pair in _PAIRS.split(", "))
_RULES = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?<=[a-z]{2})our(?![cgnt])", "or"),  # colour, favourite; not hour, journey
        (r"(?<=[a-z]{3})is(?=(e|ed|es|er|ers|ing|ation|ations)$)", "iz"),  # organise; not rise, prise
        (r"(?<=l)ys(?=(e|ed|es|er|ers|ing)$)", "yz"),  # analyse
        (r"(?<=[a-z][bcdfgkpt])re(?=s?$)", "er"),  # centre
        (r"(?<=[a-z]og)ue(?=s?$)", ""),  # dialogue
        (r"^(.*[aeiouy][^aeiouy]+[aeiouy])ll", r"\1l"),  # travelling, enroll; not filling
        (r"[ao]e(?=[a-z]{3})", "e"),  # oestrogen, paediatric
        (r"(?<=[a-z]{2}en)c(?=e[sd]?$)", "s"),  # defence
        (r"(?<=gra)mme(?=s?$)", "m"),  # programme
        (r"(?<=dg)e(?=ment)|(?<=ag)e(?=ing$)|(?<=[a-z]{3})e(?=able$)", ""),  # judgement, ageing, likeable
    )
]


def spelling_key(letters: str) -> str:
    """Equal for two spellings of one word, such as *colour* and *color*, and seldom for anything else."""
    if letters in _SAME:
        return _SAME[letters]
    for pattern, new in _RULES:
        letters = pattern.sub(new, letters)
    return letters


# How letters are said

ORDER = 5
START, END = "^", "\xa1"
LETTERS_FILE = files("unswayed.vary.spoken") / "data" / "speako_letters.tsv.gz"
# A letter with its phones is a token, one character from FIRST on in the order of the file's first line. Costs are
# tenths of a nat, characters from NONE on; back-offs may be below zero and are characters around ZERO. So no token can
# be taken for a cost, and the lines are searched as they are.
FIRST, NONE, ZERO = 0xA2, 0x20, 0x40
UNSEEN = 150  # the cost of a token that never occurred
_BEAM = 8  # ways to say a word that are followed


class LetterModel:
    """What tokens cost after others."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens: dict[str, list[tuple[str, str]]] = {}  # of each letter: the token and its phones
        for i, token in enumerate(tokens):
            letter, _, phones = token.partition(":")
            self.tokens.setdefault(letter, []).append((chr(FIRST + i), phones))
        self.after: dict[str, str] = {}  # of each history: its back-off, then pairs of a token and its cost

    def cost(self, history: str, token: str) -> int:
        """What a token costs after a history, or after as much of it as was seen with the token."""
        cost = 0
        while True:
            known = self.after.get(history)
            if known:
                at = known.find(token, 1)
                if at > 0:
                    return cost + ord(known[at + 1]) - NONE
                cost += ord(known[0]) - ZERO
            if not history:
                return cost + UNSEEN
            history = history[1:]


def sound_of(word: str) -> str:
    """The phones of a word, one character each; "" where it has no letters. Letters without a vowel are spelled out."""
    letters = letters_of(word)
    spelled_out = "".join(LETTERS[letter] for letter in letters)
    if len(letters) == 1 or not set(letters) & set("aeiouy"):
        return spelled_out
    return decode(letters, _model()) or spelled_out


def decode(letters: str, model: LetterModel) -> str:
    """The phones of the likeliest way to say the letters."""
    ways = [(0, START, "")]
    for letter in letters:
        best: dict[str, tuple[int, str, str]] = {}
        for cost, history, phones in ways:
            for token, more in model.tokens[letter]:
                total = cost + model.cost(history, token)
                tail = (history + token)[1 - ORDER :]
                if tail not in best or total < best[tail][0]:
                    best[tail] = (total, tail, phones + more)
        ways = sorted(best.values())[:_BEAM]
    return min((cost + model.cost(history, END), phones) for cost, history, phones in ways)[1]


@cache
def _model() -> LetterModel:
    return read_model(gzip.decompress(LETTERS_FILE.read_bytes()).decode())


def read_model(text: str) -> LetterModel:
    """Line 1: tokens as `letter:phones`. Then a history, a tab, its back-off, and pairs of token and cost."""
    head, *lines = text.split("\n")
    model = LetterModel(head.split(" "))
    model.after = dict(line.split("\t", 1) for line in lines if line)
    return model


# Which words are heard for others

_ALWAYS_HEARD = 5_000  # nobody hears *thee* for *the*: a homophone is one of so many most frequent words, or at most
_RARER = 30  # so many times as far down the list as the word itself
_MAX_KEPT = 100_000  # answers that are kept
_DOUBLE = re.compile(r"(.)\1")
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


class SoundSearch:
    """Exact search in a vocabulary in order of frequency."""

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
        """For each word the nearest that is another word; a common word is only ever taken for a common word.

        What sounds the same in one way is no neighbour if it sounds otherwise in another. Where the nearest turns out
        to be another spelling of the word, it is searched for again without that.
        """
        same = [{rank for sound in word.sounds for rank in self._by_sound.get(sound, ())} for word in words]
        skip = [set(ranks) for ranks in same]
        nearest: list[Nearest | None] = [None] * len(words)
        waiting = list(range(len(words)))
        while waiting:
            # One sound away, in longer words up to two fifths of their sounds; never other sounds altogether.
            queries = [
                Query(sound, min(n - 1, max(1, 2 * n // 5)), frozenset(skip[i]), words[i].kind == COMMON)
                for i in waiting
                for sound, n in zip(words[i].sounds, map(len, words[i].sounds), strict=True)
            ]
            answers, again = iter(self._index.nearest(queries)), []
            for i in waiting:
                own = list(islice(answers, len(words[i].sounds)))
                nearest[i] = best = min(filter(None, own), default=None)
                if best and _one_word(words[i].spelling, self.words[best.rank].spelling, best.distance):
                    skip[i].add(best.rank)
                    again.append(i)
            waiting = again
        heard = []
        for word, near, ranks in zip(words, nearest, same, strict=True):
            # The homophone is the commonest word that sounds the same, isn't this word spelled otherwise and isn't far
            # rarer; an abbreviation, as *st*, has none, which would be what it stands for.
            rarest = max(_ALWAYS_HEARD, _RARER * self._ranks.get(word.spelling, len(self.words)))
            alike = [self.words[rank] for rank in sorted(ranks) if rank < rarest]
            alike = [other for other in alike if word.kind != COMMON or other.kind == COMMON]
            short = len(word.spelling) > 1 and not set(word.spelling) & set("aeiouy")
            others = (other.spelling for other in alike if not _one_word(word.spelling, other.spelling, 0))
            homophone = None if short else next(others, None)
            spelling, distance = (self.words[near.rank].spelling, near.distance) if near else (None, 0)
            heard.append(Heard(spelling, distance, homophone))
        return heard


def _one_word(a: str, b: str, distance: int) -> bool:
    """Are these two spellings of a word? If only marks or double letters differ, they are where they sound the same."""
    letters, others = letters_of(a), letters_of(b)
    if letters == others:
        return a == b or distance == 0
    doubled = distance == 0 and len(letters) > 4 and _DOUBLE.sub(r"\1", letters) == _DOUBLE.sub(r"\1", others)
    return doubled or spelling_key(letters) == spelling_key(others)


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
            if rank is None:
                [found] = self._words.hear([SpokenWord(spelling, NAME, (sound_of(spelling),))])
            else:
                near, distance, homophone = self._lines[rank].split("\t")[3:]
                others = [self._lines[int(at)].partition("\t")[0] if at else None for at in (near, homophone)]
                found = Heard(others[0], int(distance), others[1])
            if len(self._heard) >= _MAX_KEPT:
                self._heard.clear()
            self._heard[spelling] = found
        return found

    @cached_property
    def _words(self) -> SoundSearch:
        return SoundSearch(list(self.spoken()))


@cache
def ears() -> Ears:
    """The shipped vocabulary, read once a process."""
    return Ears(gzip.decompress(COMMON_WORDS.read_bytes()).decode())


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
        sound, length = query.sound, len(query.sound)
        start, end = np.searchsorted(self._lengths, (length - query.within, length + query.within + 1)).tolist()
        # What the distances are at least: a phone that only one of two has takes an edit, and so does a difference in
        # length.
        others = self._bits[start:end]
        bounds = np.maximum(np.bitwise_count(bits & ~others), np.bitwise_count(others & ~bits))
        bounds = np.maximum(bounds, np.abs(self._lengths[start:end] - length).astype(np.uint8))
        if query.common:
            bounds[~self._common[start:end]] = _NEVER
        near: list[tuple[int, int]] = []  # distance and place
        done = -1
        # What may be within 2 is measured, then what may be at 3, and so on until nothing nearer can come.
        for radius in range(min(2, query.within), query.within + 1):
            places = (np.flatnonzero((bounds <= radius) & (bounds > done)) + start).tolist()
            places = [place for place in places if self._ranks[place] not in query.skip]
            sounds = [self._sounds[place] for place in places]
            distances = cdist([sound], sounds, scorer=Levenshtein.distance, dtype=np.uint8)[0].tolist()
            near += ((d, place) for d, place in zip(distances, places, strict=True) if d)
            least = min(near, default=(_NEVER, 0))[0]
            if least <= radius:
                # The fewest edits between unlike sounds, and of such the lowest rank.
                best = (_NEVER, 0)
                for rank, other in sorted((self._ranks[place], self._sounds[place]) for d, place in near if d == least):
                    best = min(best, (unlike_edits(sound, other), rank))
                    if best[0] == 0:
                        break
                return Nearest(least, *best)
            done = radius
        return None


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


def unlike_edits(sound: str, other: str) -> int:
    """How many of the fewest edits from one sound to another are not between like sounds, at the least."""
    drops = [_STEP + 1, *(_GAPS[phone] for phone in sound[1:])]
    costs = list(accumulate(drops[: len(sound)], initial=0))
    for j, phone in enumerate(other):
        add, changes = _GAPS[phone] if j else _STEP + 1, _CHANGES[phone]
        diagonal, costs[0] = costs[0], costs[0] + add
        for i, own in enumerate(sound):
            cost = min(diagonal + changes[own], costs[i] + drops[i], costs[i + 1] + add)
            diagonal, costs[i + 1] = costs[i + 1], cost
    return costs[-1] % _STEP


_BIT_OF = np.zeros(128, np.uint64)
for _number, _phone in enumerate(sorted(CODES, key=lambda p: p not in _TWICE)):
    _BIT_OF[ord(CODES[_phone])] = 1 << _number
_STEP = 256  # the cost of an edit; one that is not between like sounds costs 1 more
_GAPS = {code: _STEP + (phone not in WEAK) for phone, code in CODES.items()}
_CHANGES = {
    code: {other: 0 if a == b else _STEP + (not akin(a, b)) for b, other in CODES.items()} for a, code in CODES.items()
}
