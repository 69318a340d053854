"""An embedded corrector of Chinese: of all words that sound like what was written, the likeliest."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product
from math import inf
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.json import decode
from unswayed.base.registry import VERSION
from unswayed.base.values import Inputs, Json
from unswayed.mitigate._word_model import END, HAN, START, Counts, WordModel, count, near, readings
from unswayed.storage.files import free, growing_folder, unwritable
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.system import Failed, System
from unswayed.vary import chinese

NAME = "mitigate/noisy_channel"
VERSION_OF_MODEL = 1
CAUTION = 5.0
_ACCENT = 2.0  # what a character that only sounds alike costs more than one that sounds the same
_LONGEST = 5  # characters of a word that is put in whole
_SPELLINGS = 12  # readings tried for a stretch whose characters have several each
_MOST_BYTES = 1 << 30  # of counts, unpacked
_STATES, _SINGLES = 6, 6  # kept at each place: last words, and characters in place of one

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

    def __init__(self, caution: float = CAUTION, counts: Counts | None = None, characters: int = 0) -> None:
        if not caution >= 0:
            raise ValueError(f"caution must not be negative, as {caution} is")
        self.caution, self.characters = caution, characters
        self._model = WordModel(counts or Counts())
        self._words = lru_cache(1 << 17)(self._words_for)

    @classmethod
    def train(cls, texts: Iterable[str], caution: float = CAUTION) -> NoisyChannel:
        """A corrector that knows which words follow each other in these texts, which should be clean."""
        texts = list(texts)
        counts = count(texts)
        if not counts.words:
            raise DataError("there is no Chinese text to learn from.")
        return cls(caution, counts, sum(map(len, texts)))

    @cached_property
    def identity(self) -> str:
        decides = [VERSION_OF_MODEL, self.caution, file_hash(chinese.WORDS_FILE), self._model.counts]
        return f"{NAME} {content_id(msgspec.to_builtins(decides), 16)}"

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return [
            self.correct(inputs["text"]) if "text" in inputs else Failed("the input has no 'text'", final=True)
            for inputs in batch
        ]

    def correct(self, text: str) -> str:
        return HAN.sub(lambda run: self._best(run.group()), text)

    def _best(self, run: str) -> str:
        """The likeliest reading of a run of characters: a path of words, each beginning where the last one ends."""
        step = self._model.step
        places: list[dict[str, tuple[float, int, str]]] = [{START: (0.0, 0, "")}, *({} for _ in run)]
        for at in range(len(run)):
            states = sorted(((s, w) for w, (s, _, _) in places[at].items()), reverse=True)[:_STATES]
            for size in range(1, min(_LONGEST, len(run) - at) + 1):
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
        syllables = [readings().get(c) for c in written]
        if None in syllables or (single and not self._model.learnt):  # alone, the commonest character always wins
            return list(costs.items())
        for spelling in islice(product(*(s for s in syllables if s)), _SPELLINGS):
            self._add(costs, written, spelling, None)
            for at, syllable in enumerate(spelling):
                for other in near()[syllable]:
                    self._add(costs, written, (*spelling[:at], other, *spelling[at + 1 :]), at)
        if not single:
            return list(costs.items())
        ranked = sorted(costs.items(), key=lambda item: (item[1] - self._model.alone(item[0]), item[0]))
        return [(written, 0.0), *(item for item in ranked[:_SINGLES] if item[0] != written)]

    def _add(self, costs: Costs, written: str, spelling: Sequence[str], changed: int | None) -> None:
        """Adds the words of a spelling; `changed` is the syllable that only sounds alike."""
        for word in self._model.spelled("'".join(spelling)):
            if changed is not None and word[changed] == written[changed]:
                continue
            other = sum(a != b for a, b in zip(word, written, strict=True))
            cost = self.caution * other + (0.0 if changed is None else _ACCENT)
            if cost < costs.get(word, inf):
                costs[word] = cost

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
            content = lzma.LZMADecompressor().decompress(read_bounded(file), _MOST_BYTES)
            if len(content) == _MOST_BYTES:
                raise ValueError(f"{file.name} would take more than {_MOST_BYTES >> 20} MB")
            counts = decode(content, Counts)
        except (OSError, ValueError, msgspec.MsgspecError, lzma.LZMAError, EOFError) as error:
            raise StoredFileError(
                f"{folder}: this is not a complete saved {NAME} ({error}). Train it again."
            ) from error
        return cls(card.caution, counts, card.characters)
