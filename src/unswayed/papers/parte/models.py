"""The neural entailment models: training, saving, opening and answering; and the two that are registered."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import msgspec

from unswayed.base import DataError, Example, Inputs, Json, canonical, decode_json
from unswayed.lab.training.models import (
    ModelCard,
    ModelPlace,
    TrainedSystem,
    TrainingSettings,
    changed_settings,
    split_held_out,
)
from unswayed.papers.parte.nli import two_texts
from unswayed.systems import Failed
from unswayed.systems.baselines import learnable_examples
from unswayed.systems.device import learning, placed, require_torch, torch_seed, torch_threads

if TYPE_CHECKING:
    from unswayed.papers.parte.networks import PairNetwork

VERSION_OF_MODELS = 1
SEED_STEP = 1000  # between the seeds of a training and of another in its place
_TRIES = 3
_LOOKED_AT, _FEW = 500, 50  # pairs that a training is tried on, and how many show that it failed


class LabelledPair(NamedTuple):
    """A pair to learn from, or to be tested on."""

    premise: str
    hypothesis: str
    label: Json


class _NliArchitecture(msgspec.Struct, frozen=True):
    """What a network is made from, besides its weights; kept in the weights' file."""

    system: str
    version: int
    settings: TrainingSettings
    labels: list[Json]
    fields: tuple[str, str]
    words: list[str]


class NliSystem(TrainedSystem):
    """Extend with a name, defaults and a network."""

    batch_size = 256
    version_of_models = VERSION_OF_MODELS
    defaults: ClassVar[TrainingSettings] = TrainingSettings(
        epochs=15, patience=15, batch_size=32, lr=5e-3, average=0.0, dropout=0.0
    )

    def __init__(self, network: PairNetwork, labels: list[Json], fields: tuple[str, str], card: ModelCard) -> None:
        self.network, self.labels, self.fields, self.card = network, labels, fields, card

    @classmethod
    def network_class(cls) -> type[PairNetwork]:
        """The network of the same name; imported here, as torch is."""
        from unswayed.papers.parte import networks

        named: type[PairNetwork] = getattr(networks, f"{cls.__name__.removeprefix('Nli')}PairNetwork")
        return named

    @classmethod
    def train(
        cls, examples: Iterable[Example], dev: Iterable[Example] | None = None, *, vectors: str | Path,
        to: str | Path | None = None, overwrite: bool = False, progress: bool = False, **options: Any,
    ) -> Self:  # fmt: skip
        """A model of these examples over the word vectors of a text file; the same for the same of everything.

        `dev` decides which epoch is kept and when to stop; without it, a tenth of the examples is held out. Given
        `to`, each epoch leaves a checkpoint there, the same call goes on after a kill, and the model is saved.
        """
        settings = changed_settings(cls.defaults, options)
        require_torch(cls.name)
        from unswayed.papers.parte.networks import LONGEST, PairLoop
        from unswayed.papers.parte.vectors import Vectors, words_of

        fields, pairs = _pairs(cls.name, examples)
        dev_pairs = None if dev is None else _pairs(cls.name, dev, fields)[1]
        learnt, tested = split_held_out(pairs, dev_pairs, lambda pair: pair.premise)
        by_key = {canonical(pair.label): pair.label for pair in learnt}  # in JSON, 1 is not true
        labels = [by_key[key] for key in sorted(by_key)]
        known = Vectors.read(vectors, (words_of(text, LONGEST) for pair in learnt for text in pair[:2]))
        begins = sha256(known.rows.tobytes() + "\n".join(known.words).encode()).hexdigest()
        tries = [msgspec.structs.replace(settings, seed=settings.seed + k * SEED_STEP) for k in range(_TRIES)]
        cards = [cls.new_card(one, learnt, tested, begins, "classify") for one in tries]
        first = 0 if to is None else next((k for k, card in enumerate(cards) if _under_way(to, card.plan)), 0)
        for k in range(first, _TRIES):
            seeds = cls.seeds(tries[k])
            with torch_threads(settings.threads):
                with torch_seed(seeds.stream("weights", 0).bits() >> 1):
                    network = cls.network_class()(known, len(labels), tries[k])
                loop = partial(PairLoop, network, labels, learnt, tested, seeds)
                system = cls(network, labels, fields, cards[k]).fitted(loop, to, overwrite or k > first, progress)
            label = system.only_label(learnt)
            if label is None:
                break
            what = f"{cls.name}, seed {tries[k].seed}: it calls every pair {label}, so it has learnt nothing"
            more = f"; training again with seed {tries[k + 1].seed}" if k + 1 < _TRIES else ". Use other data or lr"
            print(f"{what}{more}.", file=sys.stderr)
        return system

    def only_label(self, pairs: Sequence[LabelledPair]) -> Json | None:
        """The label that a failed training gives to all pairs, where the data have several; else None."""
        asked = [{self.fields[0]: pair.premise, self.fields[1]: pair.hypothesis} for pair in pairs[:_LOOKED_AT]]
        if len({canonical(pair.label) for pair in pairs}) == 1:
            return None
        answers = {canonical(answer): answer for answer in self.predict(asked) if not isinstance(answer, Failed)}
        return next(iter(answers.values())) if len(answers) == 1 and len(asked) >= _FEW else None

    def _packed(self) -> bytes:
        """The word vectors are kept with the weights."""
        import torch

        from unswayed.lab.training.loop import packed

        network = self.network
        words = network.vectors.words
        made = _NliArchitecture(self.name, VERSION_OF_MODELS, network.settings, self.labels, self.fields, words)
        rows = torch.from_numpy(network.vectors.rows)
        return packed(network.state_dict() | {"vectors": rows}, canonical(made))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The model that was saved; raises if a file is missing, changed or of another version."""
        place, card = cls.saved_at(folder)
        from unswayed.lab.training.loop import read_packed
        from unswayed.papers.parte.vectors import Vectors

        tensors, text = read_packed(place.weights)
        made = decode_json(text, _NliArchitecture)
        rows = tensors.pop("vectors").numpy()
        network = cls.network_class()(Vectors(made.words, rows), len(made.labels), made.settings)
        network.load_state_dict(tensors)
        return cls(placed(network.eval(), learning()), made.labels, made.fields, card)

    def confidence(self, batch: Sequence[Inputs]) -> list[float]:
        """How sure it is of its answer to each."""
        texts = [two_texts(inputs, self.fields) or ("", "") for inputs in batch]
        numbers = self.network.numbers
        with torch_threads(self.network.settings.threads):
            return self.network.chances([(numbers(first), numbers(second)) for first, second in texts])

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        there = {i: texts for i, inputs in enumerate(batch) if (texts := two_texts(inputs, self.fields))}
        numbers = self.network.numbers
        with torch_threads(self.network.settings.threads):
            found = self.network.answers([(numbers(first), numbers(second)) for first, second in there.values()])
        absent = " and ".join(map(repr, self.fields))
        out: list[Json | Failed] = [Failed(f"the input has no {absent}", final=True)] * len(batch)
        for i, label in zip(there, found, strict=True):
            out[i] = self.labels[label]
        return out


def _under_way(to: str | Path, plan: str) -> bool:
    """Has this training ended in the folder, or left a checkpoint there?"""
    from unswayed.lab.training.loop import Checkpoint

    place = ModelPlace(to)
    return place.holds(plan=plan) or Checkpoint(place.checkpoint, plan).fits()


def _pairs(
    name: str, examples: Iterable[Example], fields: tuple[str, str] | None = None
) -> tuple[tuple[str, str], list[LabelledPair]]:
    """The names of the two texts, and the pairs; raises for the first example that can't be learnt from."""
    learnt = learnable_examples(name, examples, "classify")
    for example in learnt:
        names = list(example.inputs)
        if set(names) == {"premise", "hypothesis"}:
            names = ["premise", "hypothesis"]
        if len(names) != 2 or (fields is not None and set(names) != set(fields)):
            wanted = " and ".join(fields or ("premise", "hypothesis"))
            raise DataError(f"example {example.id!r} (row {example.row}) needs the texts {wanted}, not {names}")
        fields = fields or (names[0], names[1])
    assert fields is not None
    return fields, [LabelledPair(e.inputs[fields[0]], e.inputs[fields[1]], e.gold) for e in learnt]


class NliBow(NliSystem):
    """Means of word vectors → premise, hypothesis, difference, product → three layers → label."""

    name = "nli/bow"


class NliBilstm(NliSystem):
    """Word vectors → BiLSTM, largest over words → premise, hypothesis, difference, product → three layers → label."""

    name = "nli/bilstm"
    defaults: ClassVar[TrainingSettings] = msgspec.structs.replace(NliSystem.defaults, hidden=64, layers=2)
