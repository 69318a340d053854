"""How sentences with intents and slots become batches to train on, and words the vectors that a network reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import torch
from torch import Tensor, nn

from unswayed.base import Seeds
from unswayed.lab.training.loop import Loop, padded
from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.nature.slu.fronts import Batch, Front, Gold, Network, Sentence, answers, windows
from unswayed.systems.device import beside


class Said(NamedTuple):
    """A sentence to learn from, or to be tested on."""

    tokens: list[str]
    intent: str
    tags: list[str]


class SluLoop(Loop):
    """Sentences in, end to end on dev as the score."""

    def __init__(self, network: Network, said: Sequence[Said], dev: Sequence[Said], seeds: Seeds) -> None:
        self._pieces = _pieces(network, said)
        self.dev = dev
        super().__init__(network, [len(piece.tokens) for piece in self._pieces], seeds)

    def collated(self, chosen: list[int]) -> tuple[Batch, Gold]:
        pieces = [self._pieces[i] for i in chosen]
        gold = Gold(torch.tensor([p.intent for p in pieces]), padded([p.tags for p in pieces]))
        return self.network.front.collate([p.tokens for p in pieces]), gold

    def score(self, network: Network) -> float:
        return end_to_end(network, self.dev)


class _NumberedPiece(NamedTuple):
    tokens: list[str]
    intent: int
    tags: list[int]


def _pieces(network: Network, said: Sequence[Said]) -> list[_NumberedPiece]:
    """Sentences as numbers, cut where the front has no room for all of one."""
    intents = {intent: n for n, intent in enumerate(network.labels.intents)}
    tags = {tag: n for n, tag in enumerate(network.labels.tags)}
    return [
        _NumberedPiece(s.tokens[a:b], intents[s.intent], [tags[tag] for tag in s.tags[a:b]])
        for s in said
        for a, b in windows(network.front, s.tokens)
    ]


def end_to_end(network: Network, said: Sequence[Said]) -> float:
    """The share of sentences whose intent and every tag are right."""
    found = answers(network, [s.tokens for s in said])
    return sum(intent == s.intent and tags == s.tags for s, (intent, tags) in zip(said, found, strict=True)) / len(said)


MOST_LOSS = 100.0  # of a label that was never learnt


@torch.inference_mode()
def sentence_loss(network: Network, said: Said) -> float:
    """The loss of one sentence, or of its first window, where the decoders read the right tags."""
    if said.intent not in network.labels.intents or not set(said.tags) <= set(network.labels.tags):
        return MOST_LOSS
    piece, forcing = _pieces(network, [said])[0], network.settings.forcing
    gold = Gold(torch.tensor([piece.intent]), padded([piece.tags]))
    batch, gold = beside(network, (network.front.collate([piece.tokens]), gold))
    network.settings = msgspec.structs.replace(network.settings, forcing=1.0)
    try:
        return sum(float(network.loss(batch, gold, part)) for part in range(len(network.parts())))
    finally:
        network.settings = msgspec.structs.replace(network.settings, forcing=forcing)


_LONGEST = 24  # letters of a word that are read
_CACHED = 50_000
_UNKNOWN = 1  # 0 is padding


class Words(Front):
    """Word embeddings and a convolution over letters. Upper and lower case are the same."""

    def __init__(self, words: Sequence[str], letters: str, settings: TrainingSettings) -> None:
        super().__init__()
        self._config: dict[str, object] = {"words": list(words), "letters": letters}
        self._numbers = {word: n for n, word in enumerate(words, _UNKNOWN + 1)}
        self._letters = {letter: n for n, letter in enumerate(letters, _UNKNOWN + 1)}
        self._known: dict[str, tuple[int, list[int]]] = {}
        self.embedding = nn.Embedding(len(words) + 2, settings.words, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.letters = nn.Embedding(len(letters) + 2, settings.letters, padding_idx=0)
        self.convolution = nn.Conv1d(settings.letters, settings.filters, 3, padding=1)
        self.dropout = nn.Dropout(settings.dropout)
        self.hidden_share = settings.word_dropout
        self.size = settings.words + settings.filters

    @classmethod
    def of(cls, sentences: Iterable[Sentence], settings: TrainingSettings) -> Words:
        """For the words that come up at least `min_count` times, and all letters."""
        counts = Counter(token.lower() for tokens in sentences for token in tokens)
        words = sorted(word for word, count in counts.items() if count >= settings.min_count)
        return cls(words, "".join(sorted({letter for word in counts for letter in word})), settings)

    def config(self) -> dict[str, object]:
        return self._config

    def collate(self, sentences: Sequence[Sentence]) -> Batch:
        """Words by number; the letters of each word once, and which of them stand where."""
        forms: dict[str, int] = {}
        places = [[forms.setdefault(token, len(forms)) for token in tokens] for tokens in sentences]
        known = [self._word(form) for form in forms]
        numbers = [[known[place][0] for place in row] for row in places]
        return Batch(
            torch.tensor([len(tokens) for tokens in sentences]),
            {"words": padded(numbers), "letters": padded([letters for _, letters in known]), "places": padded(places)},
        )

    def _word(self, token: str) -> tuple[int, list[int]]:
        """The number of the word and those of its letters, between two marks."""
        found = self._known.get(token)
        if found is None:
            word = token.lower()
            letters = [self._letters.get(letter, _UNKNOWN) for letter in word[:_LONGEST]]
            found = self._numbers.get(word, _UNKNOWN), [_UNKNOWN, *letters, _UNKNOWN]
            if len(self._known) >= _CACHED:  # typing errors would otherwise fill the memory
                self._known.clear()
            self._known[token] = found
        return found

    def forward(self, batch: Batch) -> Tensor:
        words, letters = batch.fields["words"], batch.fields["letters"]
        if self.training and self.hidden_share:
            hidden = torch.rand(words.shape).to(words.device) < self.hidden_share
            words = torch.where(hidden & (words > 0), _UNKNOWN, words)
        seen = self.convolution(self.letters(letters).transpose(1, 2))
        seen = seen.masked_fill((letters == 0)[:, None], -torch.inf).amax(2).relu()
        out: Tensor = self.dropout(torch.cat([self.embedding(words), seen[batch.fields["places"]]], 2))
        return out
