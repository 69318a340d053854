"""A noisy-channel corrector of Chinese, built in: of all words that sound like what was written, the likeliest.

The channel is which words sound alike; the model is how likely one word follows another.
"""

from __future__ import annotations

import lzma
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice, pairwise, product
from math import exp, inf, log
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.ids import content_id, decode, file_hash
from unswayed.base.registry import VERSION
from unswayed.base.values import Inputs, Json
from unswayed.storage.files import free, growing_folder, unwritable
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.system import Failed, System, missing_input, predict_readable
from unswayed.vary import chinese
from unswayed.vary.chinese import lexicon

NAME = "mitigate/noisy_channel"
VERSION_OF_MODEL = 1
CAUTION = 5.0
_ACCENT_COST = 2.0  # what a character that only sounds alike costs more than one that sounds the same
_MAX_WORD_CHARS = 5  # characters of a word that is put in whole
_MAX_SPELLINGS = 12  # character_readings tried for a stretch whose characters have several each
_MAX_COUNTS_BYTES = 1 << 30  # of counts, unpacked
_KEPT_STATES, _KEPT_SINGLES = 6, 6  # kept at each place: last words, and characters in place of one

Costs = dict[str, float]  # what each word costs in the place of what was written


class NoisyChannelCard(msgspec.Struct, frozen=True, kw_only=True):
    """`system.json`: what the corrector is and the hash of its counts' file."""

    system: str = NAME
    version: int = VERSION_OF_MODEL
    unswayed: str = VERSION
    caution: float = CAUTION
    characters: int = 0
    counts: str = ""


class NoisyChannel(System):
    """Gives the text back with characters replaced by others that sound the same, or nearly, where that is likelier.

    As it ships it knows words and their frequencies; `train` learns from clean texts which words follow each other,
    and words of the field. `caution` is how much likelier a text must be, as a logarithm, for each changed character.
    """

    name = NAME
    batch_size = 256
    deterministic = True

    def __init__(self, caution: float = CAUTION, counts: WordCounts | None = None, characters: int = 0) -> None:
        if not caution >= 0:
            raise ValueError(f"caution must not be negative, as {caution} is")
        self.caution, self.characters = caution, characters
        self._model = WordModel(counts or WordCounts())
        self._words = lru_cache(1 << 17)(self._words_for)

    @classmethod
    def train(cls, texts: Iterable[str], caution: float = CAUTION) -> NoisyChannel:
        """A corrector that knows which words follow each other in these texts, which should be clean."""
        texts = list(texts)
        counts = count_words(texts)
        if not counts.words:
            raise DataError("there is no Chinese text to learn from.")
        return cls(caution, counts, sum(map(len, texts)))

    @cached_property
    def identity(self) -> str:
        decides = [VERSION_OF_MODEL, self.caution, file_hash(chinese.WORDS_FILE), self._model.counts]
        return f"{NAME} {content_id(msgspec.to_builtins(decides), 16)}"

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return predict_readable(
            batch, lambda i: missing_input(i, ["text"]), lambda b: [self.correct(i["text"]) for i in b]
        )

    def correct(self, text: str) -> str:
        return HAN.sub(lambda run: self._best(run.group()), text)

    def _best(self, run: str) -> str:
        """The likeliest reading of a run of characters: a path of words, each beginning where the last one ends."""
        step = self._model.step
        places: list[dict[str, tuple[float, int, str]]] = [{START: (0.0, 0, "")}, *({} for _ in run)]
        for at in range(len(run)):
            states = sorted(((s, w) for w, (s, _, _) in places[at].items()), reverse=True)[:_KEPT_STATES]
            for size in range(1, min(_MAX_WORD_CHARS, len(run) - at) + 1):
                ends = places[at + size]
                for word, cost in self._words(run[at : at + size]):
                    score, before = max((s + step(w, word), w) for s, w in states) if states else (-inf, "")
                    if states and (word not in ends or score - cost > ends[word][0]):
                        ends[word] = score - cost, at, before
        finish = step if self._model.learnt else lambda before, word: 0.0
        at, word = len(run), max(places[-1], key=lambda w: (places[-1][w][0] + finish(w, END), w))
        found = []
        while at:
            found.append(word)
            _, at, word = places[at][word]
        return "".join(reversed(found))

    def _words_for(self, written: str) -> list[tuple[str, float]]:
        """The words that may stand for what was written, each with its cost; a character may always stay."""
        single = len(written) == 1
        costs: Costs = {written: 0.0} if single or written in self._model else {}
        syllables = [character_readings().get(c) for c in written]
        if None in syllables or (single and not self._model.learnt):  # alone, the commonest character always wins
            return list(costs.items())
        for spelling in islice(product(*(s for s in syllables if s)), _MAX_SPELLINGS):
            sounds: list[tuple[Sequence[str], int | None]] = [(spelling, None)]  # and which syllable only sounds alike
            for at, syllable in enumerate(spelling):
                others = similar_syllables()[syllable]
                sounds += (((*spelling[:at], other, *spelling[at + 1 :]), at) for other in others)
            for sound, changed in sounds:
                for word in self._model.spelled("'".join(sound)):
                    if changed is None or word[changed] != written[changed]:
                        differing = sum(a != b for a, b in zip(word, written, strict=True))
                        cost = self.caution * differing + (0.0 if changed is None else _ACCENT_COST)
                        costs[word] = min(cost, costs.get(word, inf))
        if not single:
            return list(costs.items())
        ranked = sorted(costs.items(), key=lambda item: (item[1] - self._model.alone(item[0]), item[0]))
        return [(written, 0.0), *(item for item in ranked[:_KEPT_SINGLES] if item[0] != written)]

    def save(self, folder: str | Path) -> Path:
        """Writes `system.json` and `counts.json.xz`; the folder appears only when both are whole."""
        folder = Path(folder)

        def refuse() -> None:
            if not free(folder):
                raise UsageError(f"{folder} exists and is not empty. Choose another folder.")

        with growing_folder(folder, "the corrector", refuse) as new, unwritable(folder, "the corrector"):
            file = new / "counts.json.xz"
            file.write_bytes(lzma.compress(msgspec.json.encode(self._model.counts), preset=6))
            card = NoisyChannelCard(caution=self.caution, characters=self.characters, counts=file_hash(file))
            (new / "system.json").write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> NoisyChannel:
        """The corrector that `save` wrote; raises if a file is missing, changed or of another version."""
        folder = Path(folder)
        try:
            card = decode(read_bounded(folder / "system.json"), NoisyChannelCard)
            if (card.system, card.version) != (NAME, VERSION_OF_MODEL):
                raise ValueError(f"it is {card.system} version {card.version}")
            file = folder / "counts.json.xz"
            if file_hash(file) != card.counts:
                raise ValueError(f"{file.name} is not the file that was saved")
            content = lzma.LZMADecompressor().decompress(read_bounded(file), _MAX_COUNTS_BYTES)
            if len(content) == _MAX_COUNTS_BYTES:
                raise ValueError(f"{file.name} would take more than {_MAX_COUNTS_BYTES >> 20} MB")
            counts = decode(content, WordCounts)
        except (OSError, ValueError, msgspec.MsgspecError, lzma.LZMAError, EOFError) as error:
            raise StoredFileError(
                f"{folder}: this is not a complete saved {NAME} ({error}). Train it again."
            ) from error
        return cls(card.caution, counts, card.characters)


_MAX_READINGS = 3  # of a character, the commonest first
_INITIALS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("f", "h"), ("l", "r"))
_FINALS = (("ang", "an"), ("eng", "en"), ("ing", "in"))


@lru_cache(1)
def character_readings() -> dict[str, tuple[str, ...]]:
    """The syllables of each character, tones aside."""
    found: dict[str, list[tuple[float, str]]] = {}
    for syllable, characters in lexicon().characters.items():
        for character, frequency in characters:
            found.setdefault(character, []).append((-frequency, syllable))
    return {c: tuple(s for _, s in sorted(of)[:_MAX_READINGS]) for c, of in found.items()}


@lru_cache(1)
def similar_syllables() -> dict[str, tuple[str, ...]]:
    """For each syllable those that accents do not tell from it: zh and z, n and l, an and ang."""
    known = lexicon().syllables
    similar = {}
    for syllable in known:
        size = 2 if syllable[1:2] == "h" else 1
        initial, final = syllable[:size], syllable[size:]
        found = {(b if initial == a else a) + final for a, b in _INITIALS if initial in (a, b)}
        for a, b in _FINALS:
            for one, other in ((a, b), (b, a)):
                if final.endswith(one):
                    found.add(initial + final.removesuffix(one) + other)
        similar[syllable] = tuple(sorted(found & known - {syllable}))
    return similar


START, END = "^", "$"
HAN = re.compile(r"[\u4e00-\u9fff]{1,100}")  # longer runs are cut, so that memory is bounded

_LIST_WORDS = log(60_000_000)  # running words behind the list's frequencies
_UNKNOWN = -2.0  # log frequency of what is not in the list
_TEXTS_SHARE = 0.5  # of a word's probability that the texts decide
_DISCOUNT = 0.75
_TRUSTED_COUNT = 20.0  # a word seen as often decides half of what comes after it
_NEW_WORD_COUNT, _NEW_WORD_LIFT = 5, 20.0  # two characters are a new word: so often, so much oftener than by chance


class WordCounts(msgspec.Struct, frozen=True):
    """What was counted in texts: words, which word comes after which, and words that the list does not have."""

    words: dict[str, int] = {}
    after: dict[str, dict[str, int]] = {}
    new: list[str] = []


class WordModel:
    """Probabilities of words; without counts, of each word by itself."""

    def __init__(self, counts: WordCounts) -> None:
        self.counts, self.learnt = counts, bool(counts.words)
        self._words = sum(counts.words.values())
        self._seen = {word: sum(others.values()) for word, others in counts.after.items()}
        self._new: dict[str, list[str]] = {}
        for word in counts.new:
            for reading in product(*(character_readings()[c] for c in word)):
                self._new.setdefault("'".join(reading), []).append(word)
        self.alone = lru_cache(1 << 18)(self._alone)
        self.step = lru_cache(1 << 18)(self._step)

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
        trust = seen / (seen + _TRUSTED_COUNT)
        return log(trust * paired + (1 - trust) * alone)


def count_words(texts: Iterable[str]) -> WordCounts:
    """The counts of texts: of their words, those of the list and new ones, and of the words after each."""
    segmented = [lexicon().segment(run) for text in texts for run in HAN.findall(text)]
    singles: Counter[str] = Counter()
    joined: Counter[str] = Counter()
    for found in segmented:
        singles.update(found)
        joined.update(a + b for a, b in pairwise(found) if len(a) == len(b) == 1)
    total, known = singles.total(), character_readings()
    common = {pair: times for pair, times in joined.items() if times >= _NEW_WORD_COUNT and {*pair} <= known.keys()}
    new = {p for p, times in common.items() if times * total > _NEW_WORD_LIFT * singles[p[0]] * singles[p[1]]}
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for found in segmented:
        line, free = [START], False  # free: the last word may become the first half of a new one
        for word in found:
            if free and line[-1] + word in new:
                line[-1] += word
                free = False
            else:
                line.append(word)
                free = True
        line.append(END)
        words.update(line[1:])
        pairs.update(pairwise(line))
    after: dict[str, dict[str, int]] = {}
    for (before, word), times in sorted(pairs.items()):
        after.setdefault(before, {})[word] = times
    return WordCounts(dict(sorted(words.items())), after, sorted(new))
