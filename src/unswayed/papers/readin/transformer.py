"""A small transformer that judges pairs of Chinese texts, over characters or sub-character tokens; trained here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import msgspec

from unswayed.base import Example, Inputs, Json, UnknownName, canonical, decode_json
from unswayed.lab.training.models import ModelCard, TrainedSystem, TrainingSettings, changed_settings, split_held_out
from unswayed.papers.readin.subchar import SubChar, SubcharCard
from unswayed.systems import Failed
from unswayed.systems.baselines import learnable_examples, numbered, two_fields
from unswayed.systems.device import learning, placed, require_torch, torch_seed, torch_threads

if TYPE_CHECKING:
    from unswayed.papers.readin.transformer_network import Numbered, PairTransformer

VERSION_OF_MODELS = 1
CHARACTERS = "characters"
TOKENS = {CHARACTERS: None, "subchar": False, "subchar-index": True}  # with an index that tells homophones apart?
_SIZE = 3000  # sub-character tokens: about a syllable each, with the commonest words whole
_SEEN = 2  # a character of one text alone is unknown
_FIRST = 2  # after padding and the unknown token


class _LabelledPair(NamedTuple):
    first: str
    second: str
    label: int


class _TransformerArchitecture(msgspec.Struct, frozen=True):
    """What a network is made from, besides its weights; kept in the weights' file."""

    system: str
    version: int
    settings: TrainingSettings
    labels: list[Json]
    fields: tuple[str, str]
    characters: str
    subchar: tuple[SubcharCard, Json] | None


class Tokens:
    """The vocabulary: characters, or pieces of their sounds by a sub-character tokenizer."""

    def __init__(self, characters: str = "", subchar: SubChar | None = None) -> None:
        self.characters, self.subchar = characters, subchar
        self._numbers = {c: n for n, c in enumerate(characters, _FIRST)}

    @classmethod
    def of(cls, texts: Sequence[str], kind: str) -> Tokens:
        if kind not in TOKENS:
            raise UnknownName("kind of tokens", kind, list(TOKENS))
        index = TOKENS[kind]
        if index is not None:
            return cls(subchar=SubChar.train(dict.fromkeys(texts), "pinyin", index, "bpe", _SIZE))
        counts = Counter(c for text in texts for c in text)
        return cls("".join(sorted(c for c, count in counts.items() if count >= _SEEN)))

    def __len__(self) -> int:
        return _FIRST + (len(self.subchar) if self.subchar else len(self.characters))

    def __call__(self, text: str) -> list[int]:
        """The numbers of a text's tokens; an empty text has one unknown token."""
        if self.subchar:
            return [_FIRST + n for n in self.subchar.encode(text)] or [_FIRST - 1]
        return [self._numbers.get(c, _FIRST - 1) for c in text] or [_FIRST - 1]


class Transformer(TrainedSystem):
    """Tokens → transformer → each token beside what it is like in the other text → label. Not pretrained."""

    name = "pairs/transformer"
    batch_size = 256
    version_of_models = VERSION_OF_MODELS
    defaults: ClassVar[TrainingSettings] = TrainingSettings(
        epochs=5, batch_size=64, lr=2e-3, dropout=0.1, hidden=64, layers=1
    )

    def __init__(
        self, network: PairTransformer, tokens: Tokens, labels: list[Json], fields: tuple[str, str], card: ModelCard
    ) -> None:
        self.network, self.tokens, self.labels, self.fields, self.card = network, tokens, labels, fields, card

    @classmethod
    def train(
        cls, examples: Iterable[Example], dev: Iterable[Example] | None = None, *, tokens: str = CHARACTERS,
        to: str | Path | None = None, overwrite: bool = False, progress: bool = False, **options: Any,
    ) -> Self:  # fmt: skip
        """A model of these pairs, the same for the same of everything. `tokens` is one of TOKENS.

        `dev` decides which epoch is kept and when to stop; without it, a tenth of the examples is held out.
        """
        settings = changed_settings(cls.defaults, options)
        require_torch(cls.name)
        from unswayed.papers.readin.transformer_network import PairTransformer, TransformerLoop

        learn = learnable_examples(cls.name, examples, "classify")
        fields, tests = two_fields(learn, cls.name), list(dev) if dev is not None else None
        labels, _ = numbered([e.gold for e in learn])
        places = {canonical(label): n for n, label in enumerate(labels)}
        learnt, tested = split_held_out(
            [_pair(e, fields, places) for e in learn],
            None if tests is None else [_pair(e, fields, places) for e in tests],
            lambda pair: pair.first,
        )
        vocabulary = Tokens.of([text for pair in learnt for text in pair[:2]], tokens)
        seeds = cls.seeds(settings)
        with torch_threads(settings.threads):
            with torch_seed(seeds.stream("weights", 0).bits() >> 1):
                network = PairTransformer(len(vocabulary), len(labels), settings)
            card = cls.new_card(settings, learnt, tested, tokens, "classify")
            system = cls(network, vocabulary, labels, fields, card)
            return system.fitted(
                lambda: TransformerLoop(network, _read(vocabulary, learnt), _read(vocabulary, tested), seeds),
                to, overwrite, progress,
            )  # fmt: skip

    def _packed(self) -> bytes:
        from unswayed.lab.training.loop import packed

        subchar = self.tokens.subchar
        kept = None if subchar is None else (subchar.card, subchar.tokenizer)
        made = _TransformerArchitecture(
            self.name, VERSION_OF_MODELS, self.network.settings, self.labels, self.fields, self.tokens.characters, kept
        )
        return packed(self.network.state_dict(), canonical(made))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The model that was saved; raises if a file is missing, changed or of another version."""
        place, card = cls.saved_at(folder)
        from unswayed.lab.training.loop import read_packed
        from unswayed.papers.readin.transformer_network import PairTransformer

        tensors, text = read_packed(place.weights)
        made = decode_json(text, _TransformerArchitecture)
        tokens = Tokens(made.characters, None if made.subchar is None else SubChar(*made.subchar))
        network = PairTransformer(len(tokens), len(made.labels), made.settings)
        network.load_state_dict(tensors)
        return cls(placed(network.eval(), learning()), tokens, made.labels, made.fields, card)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        first, second = self.fields
        there = [i for i, inputs in enumerate(batch) if first in inputs and second in inputs]
        with torch_threads(self.network.settings.threads):
            found = self.network.answers([_numbered(self.tokens, batch[i][first], batch[i][second]) for i in there])
        out: list[Json | Failed] = [Failed(f"the input has no {first!r} and {second!r}", final=True)] * len(batch)
        for i, label in zip(there, found, strict=True):
            out[i] = self.labels[label]
        return out


def _pair(example: Example, fields: tuple[str, str], labels: dict[bytes, int]) -> _LabelledPair:
    """A label that training has not is never right."""
    return _LabelledPair(example.inputs[fields[0]], example.inputs[fields[1]], labels.get(canonical(example.gold), -1))


def _numbered(tokens: Tokens, first: str, second: str) -> Numbered:
    return tokens(first), tokens(second)


def _read(tokens: Tokens, pairs: Iterable[_LabelledPair]) -> list[tuple[Numbered, int]]:
    return [(_numbered(tokens, pair.first, pair.second), pair.label) for pair in pairs]
