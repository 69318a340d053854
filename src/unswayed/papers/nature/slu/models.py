"""The four slot fillers that NATURE's paper tests, and what they share: training, saving, answering, attention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import msgspec

from unswayed.base import Example, Inputs, Json, UsageError, canonical, decode_json
from unswayed.lab.training.models import ModelCard, TrainedSystem, TrainingSettings, changed_settings, split_held_out
from unswayed.systems import Failed
from unswayed.systems.baselines import learnable_examples
from unswayed.systems.device import beside, learning, placed, require_torch, torch_seed, torch_threads

if TYPE_CHECKING:
    from unswayed.lab.training.loop import Tensors
    from unswayed.papers.nature.slu.fronts import Front, Network
    from unswayed.papers.nature.slu.training import Said

VERSION_OF_MODELS = 1


class Attention(NamedTuple):
    """How much each token (a row each), or the intent alone (one row), looks at each token. Rows sum to 1."""

    tokens: list[str]
    weights: list[list[float]]


class LabelSet(msgspec.Struct, frozen=True):
    """The intents and tags of the training data, in the order of the network's outputs."""

    intents: list[str]
    tags: list[str]


class _SluArchitecture(msgspec.Struct, frozen=True):
    """What a network is made from, besides its weights; kept in the weights' file."""

    system: str
    version: int
    settings: TrainingSettings
    labels: LabelSet
    front: dict[str, Any]


class SluSystem(TrainedSystem):
    """Extend with a name, defaults and a network."""

    batch_size = 256
    version_of_models = VERSION_OF_MODELS
    defaults: ClassVar[TrainingSettings] = TrainingSettings()
    needs_encoder: ClassVar[bool] = False

    def __init__(self, network: Network, card: ModelCard) -> None:
        self.network = network
        self.card = card

    @classmethod
    def network_class(cls) -> type[Network]:
        """The network of the same name; imported here, as torch is."""
        from unswayed.papers.nature.slu import networks

        named: type[Network] = getattr(networks, f"{cls.__name__}Network")
        return named

    @classmethod
    def train(
        cls, examples: Iterable[Example], dev: Iterable[Example] | None = None, *, encoder: str | Path | None = None,
        to: str | Path | None = None, overwrite: bool = False, progress: bool = False, **options: Any,
    ) -> Self:  # fmt: skip
        """A model of these examples, the same for the same examples, dev, options and machine.

        `dev` decides which epoch is kept and when to stop; without it, a tenth of the examples is held out. Given
        `to`, each epoch leaves a checkpoint there, the same call goes on after a kill, and the model is saved.
        Options are the fields of TrainingSettings.
        """
        settings = changed_settings(cls.defaults, options)
        require_torch(cls.name, *(("transformers",) if encoder else ()))
        from unswayed.lab.training.loop import packed
        from unswayed.papers.nature.slu.training import SluLoop

        if cls.needs_encoder and encoder is None:
            raise UsageError(f"{cls.name} uses a Hugging Face encoder. Set encoder to its folder.")
        said, tested = split_held_out(
            _said(cls.name, examples), None if dev is None else _said(cls.name, dev), lambda s: s.tokens
        )
        with torch_threads(settings.threads):
            network = cls._new_network(said, settings, encoder)
            begins = None if encoder is None else sha256(packed(network.front.state_dict(), b"{}")).hexdigest()
            system = cls(network, cls.new_card(settings, said, tested, begins, "slu"))
            return system.fitted(lambda: SluLoop(network, said, tested, cls.seeds(settings)), to, overwrite, progress)

    @classmethod
    def _new_network(cls, said: list[Said], settings: TrainingSettings, encoder: str | Path | None) -> Network:
        from unswayed.papers.nature.slu.fronts import Encoder
        from unswayed.papers.nature.slu.training import Words

        labels = LabelSet(sorted({s.intent for s in said}), sorted({"O", *(tag for s in said for tag in s.tags)}))
        with torch_seed(cls.seeds(settings).stream("weights", 0).bits() >> 1):
            front = Words.of((s.tokens for s in said), settings) if encoder is None else Encoder.opened(encoder)
            return cls.network_class()(front, labels, settings)

    def _packed(self) -> bytes:
        from unswayed.lab.training.loop import packed

        network = self.network
        made = _SluArchitecture(self.name, VERSION_OF_MODELS, network.settings, network.labels, network.front.config())
        return packed(network.state_dict(), canonical(made))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The model that was saved; raises if a file is missing, changed or of another version."""
        place, card = cls.saved_at(folder)
        from unswayed.lab.training.loop import read_packed

        tensors, text = read_packed(place.weights)
        return cls(cls._rebuilt(decode_json(text, _SluArchitecture), tensors), card)

    @classmethod
    def _rebuilt(cls, made: _SluArchitecture, tensors: Tensors) -> Network:
        front: Front
        if "encoder" in made.front:
            require_torch(cls.name, "transformers")
            from unswayed.papers.nature.slu.fronts import Encoder

            front = Encoder.rebuilt(made.front)
        else:
            from unswayed.papers.nature.slu.training import Words

            front = Words(made.front["words"], made.front["letters"], made.settings)
        network = cls.network_class()(front, made.labels, made.settings)
        network.load_state_dict(tensors)
        placed(network.eval(), learning())
        return network

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        from unswayed.papers.nature.slu.fronts import answers

        with torch_threads(self.network.settings.threads):
            found = answers(self.network, [inputs.get("text", "").split(" ") for inputs in batch])
        return [
            {"intent": intent, "slots": tags} if "text" in inputs else Failed("the input has no 'text'", final=True)
            for inputs, (intent, tags) in zip(batch, found, strict=True)
        ]

    def losses(self, batch: Sequence[Inputs], golds: Sequence[Json]) -> Sequence[float] | None:
        """The training loss of each, one by one, since a batch has only a mean."""
        from unswayed.papers.nature.slu.training import Said, sentence_loss

        self.network.eval()
        with torch_threads(self.network.settings.threads), torch_seed(0):
            said = [Said(i["text"].split(" "), g["intent"], g["slots"]) for i, g in zip(batch, golds, strict=True)]
            return [sentence_loss(self.network, one) for one in said]

    def attention(self, inputs: Inputs) -> Attention | None:
        """Where the model looks in a text, or its first window; None for models without self-attention."""
        import torch

        from unswayed.papers.nature.slu.fronts import windows

        tokens = inputs["text"].split(" ")
        tokens = tokens[: windows(self.network.front, tokens)[0][1]]
        self.network.eval()
        with torch_threads(self.network.settings.threads), torch.inference_mode():
            weights = self.network.attention(beside(self.network, self.network.front.collate([tokens])))
        return None if weights is None else Attention(tokens, weights[0].tolist())


def _said(name: str, examples: Iterable[Example]) -> list[Said]:
    from unswayed.papers.nature.slu.training import Said

    learnt = learnable_examples(name, examples, "slu")
    return [Said(e.inputs["text"].split(" "), e.gold["intent"], list(e.gold["slots"])) for e in learnt]


class Bilstm(SluSystem):
    """Words and letters → BiLSTM → intent by attention pooling, slots by a conditional random field."""

    name = "slu/bilstm"


class Birnn(SluSystem):
    """One BiLSTM for the intent and one for the slots, each with a decoder; they read each other's states.

    After Wang et al. 2018, A Bi-model based RNN Semantic Frame Parsing Model.
    """

    name = "slu/birnn"
    defaults = TrainingSettings(dropout=0.4)


class Stackprop(SluSystem):
    """A self-attentive encoder, or a Hugging Face one by path; an intent for each token feeds the slot decoder.

    After Qin et al. 2019, A Stack-Propagation Framework with Token-Level Intent Detection.
    """

    name = "slu/stackprop"
    defaults = TrainingSettings(dropout=0.4)


class Jointbert(SluSystem):
    """A Hugging Face encoder, given by path, fine-tuned for both tasks at once.

    After Chen et al. 2019, BERT for Joint Intent Classification and Slot Filling.
    """

    name = "slu/jointbert"
    defaults = TrainingSettings(epochs=10, lr=5e-5, weight_decay=0.01, dropout=0.1, average=0.0)
    needs_encoder = True
