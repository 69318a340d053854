"""Models that are trained here and saved as a card and safetensors: settings, folders, and what such systems share.

A model's folder holds `system.json`, the card, and `weights.safetensors`; while it is trained, also a checkpoint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import msgspec

from unswayed.base.errors import StoredFileError, UsageError, nearest, option
from unswayed.base.ids import content_id, decode, file_hash
from unswayed.base.progress import Progress
from unswayed.base.registry import VERSION
from unswayed.base.seeds import Seeds
from unswayed.base.values import Json
from unswayed.storage.files import free, write_atomically
from unswayed.systems.baselines import is_card
from unswayed.systems.device import learning, require_torch
from unswayed.systems.system import System

if TYPE_CHECKING:
    from unswayed.lab.training.loop import Loop

_HELD_OUT = 10  # one in so many examples is kept for dev where none is given

T = TypeVar("T")


class TrainingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a training. Each model has defaults of its own."""

    epochs: int = 30
    patience: int = 8  # epochs without a better score on dev before it stops
    batch_size: int = 32
    lr: float = 2e-3
    warm_up: int | None = None  # steps in which the learning rate goes up; None: a tenth of all, at most 200
    weight_decay: float = 0.0
    average: float = 0.999  # of the weights over steps; 0: the last ones are taken
    dropout: float = 0.5
    word_dropout: float = 0.1  # share of words hidden from training, so that unknown ones are met there too
    forcing: float = 0.9  # share of batches in which a decoder reads the right tags instead of its own
    min_count: int = 2  # words seen less often are known by their letters only
    words: int = 128
    letters: int = 32
    filters: int = 64
    hidden: int = 128
    layers: int = 1
    seed: int = 0
    threads: int = 1


def changed_settings(settings: TrainingSettings, options: Mapping[str, Any]) -> TrainingSettings:
    """The settings with these options; those that are None stay as they are."""
    given = {name: value for name, value in options.items() if value is not None}
    unknown = next((name for name in given if name not in TrainingSettings.__struct_fields__), None)
    if unknown is not None:
        near = nearest(unknown, TrainingSettings.__struct_fields__)
        raise UsageError(f"Training has no option {unknown!r}." + (f" Did you mean {near!r}?" if near else ""))
    try:
        new = msgspec.convert(msgspec.structs.asdict(settings) | given, TrainingSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"Training can't have these options: {error}.") from None
    at_least_one = ("epochs", "patience", "batch_size", "words", "letters", "filters", "hidden", "layers", "threads")
    low = next((name for name in at_least_one if getattr(new, name) < 1), None)
    if low is not None or new.lr <= 0:
        raise UsageError(f"Training needs {low or 'lr'} to be {'1 or more' if low else 'more than 0'}.")
    if new.warm_up is not None and new.warm_up < 0:
        raise UsageError("Training needs warm_up to be 0 or more.")
    share = next((n for n in ("average", "dropout", "word_dropout") if not 0 <= getattr(new, n) < 1), None)
    if share is not None:
        raise UsageError(f"Training needs {share} to be 0 or more and less than 1.")
    return new


def split_held_out(learnt: list[T], dev: list[T] | None, text: Callable[[T], Json]) -> tuple[list[T], list[T]]:
    """Training and dev data; without `dev`, a tenth is held out, by the text: the same is never on both sides."""
    if dev is not None:
        return learnt, dev
    aside = [int(content_id(text(one)), 16) % _HELD_OUT == 0 for one in learnt]
    kept = [one for one, out in zip(learnt, aside, strict=True) if not out]
    held = [one for one, out in zip(learnt, aside, strict=True) if out]
    return (kept, held) if kept and held else (learnt, learnt)  # too few to hold any out


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """`system.json`: what the model is, what it was trained on, how it did, and the hash of its weights' file."""

    system: str
    version: int
    unswayed: str = VERSION
    task: str = "slu"
    identity: str = ""
    settings: TrainingSettings
    examples: int
    data: str  # hash of the training data
    dev_examples: int
    dev_scores: list[float]  # end to end, an epoch each
    plan: str  # hash of all that decides the training
    weights: str = ""


class ModelPlace:
    """Where a system is saved. `system.json` is written last, so a folder that has one is whole."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.card, self.weights = self.folder / "system.json", self.folder / "weights.safetensors"
        self.checkpoint = self.folder / "training.safetensors"

    def claim(self, overwrite: bool) -> None:
        """Makes sure that nobody's work is lost by writing here."""
        if free(self.folder):
            return
        if not is_card(self.card) and (self.card.exists() or not self.checkpoint.is_file()):
            raise UsageError(
                f"{self.folder} exists and is not a saved system. Choose another folder with {option('o', 'to')}."
            )
        if overwrite:
            self.card.unlink(missing_ok=True)  # first, so that it never names weights that are not its own
            self.checkpoint.unlink(missing_ok=True)
        elif self.card.is_file():
            raise UsageError(f"{self.folder} holds another system. Use {option('overwrite')} or another folder.")

    def holds(self, **wanted: str) -> bool:
        """Is there a whole system whose card says this?"""
        try:
            card = self.read_card()
        except StoredFileError:
            return False
        return all(getattr(card, name) == value for name, value in wanted.items())

    def write_card(self, card: ModelCard) -> None:
        """Writes the card of weights that are there already."""
        write_atomically(self.card, msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")

    def read_card(self) -> ModelCard:
        """The card, once the weights are known to be those that it was written for."""
        try:
            card = decode(self.card.read_bytes(), ModelCard)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoredFileError(f"{self.card}: this can't be read ({error}). Train and save it again.") from error
        try:
            right = file_hash(self.weights) == card.weights
        except OSError as error:
            raise StoredFileError(f"{self.weights}: the weights can't be read ({error}). Train again.") from error
        if not right:
            raise StoredFileError(f"{self.weights}: this is not the file that was saved. Train and save it again.")
        return card


class TrainedSystem(System):
    """Extend with `_packed`, the bytes of the weights' file, and with `version_of_models`, which they begin from."""

    version_of_models: ClassVar[int] = 1
    card: ModelCard
    deterministic = True

    def _packed(self) -> bytes:
        raise NotImplementedError

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The model that was saved; raises if a file is missing, changed or of another version."""
        raise NotImplementedError

    @cached_property
    def _content(self) -> bytes:
        return self._packed()

    @property
    def identity(self) -> str:
        return f"{self._saved_as}{learning().suffix}"

    @property
    def _saved_as(self) -> str:
        """The identity, wherever it answers."""
        return self.card.identity or f"{self.name} {sha256(self._content).hexdigest()[:32]}"

    @classmethod
    def seeds(cls, settings: TrainingSettings) -> Seeds:
        """Where all that is drawn in a training comes from."""
        return Seeds(settings.seed, cls.name, cls.version_of_models)

    @classmethod
    def new_card(
        cls, settings: TrainingSettings, learnt: Sequence[Any], tested: Sequence[Any], begins: Json, task: str
    ) -> ModelCard:
        """The card of a training to come; `begins` stands for pretrained weights, if any."""
        import torch

        data, dev = content_id(learnt, 16), content_id(tested, 16)
        decides: list[Json] = [cls.name, cls.version_of_models, settings, data, dev, begins, str(torch.__version__)]
        decides += learning().decides()
        return ModelCard(
            system=cls.name,
            version=cls.version_of_models,
            task=task,
            settings=settings,
            examples=len(learnt),
            data=data,
            dev_examples=len(tested),
            dev_scores=[],
            plan=content_id(decides, 16),
        )

    def fitted(
        self, training: Callable[[], Loop], to: str | Path | None = None, overwrite: bool = False,
        progress: bool = False,
    ) -> Self:  # fmt: skip
        """Trains; with `to`, leaves a checkpoint there after each epoch, and saves the result.

        Where the same training has already ended, the model that it saved is opened instead.
        """
        place = ModelPlace(to) if to is not None else None
        if place and place.holds(plan=self.card.plan):
            return type(self).load(place.folder)
        if place:
            place.claim(overwrite)
        from unswayed.lab.training.loop import Checkpoint

        loop = training()
        checkpoint = Checkpoint(place.checkpoint, self.card.plan) if place else None
        stream = sys.stderr if progress else StringIO()
        with Progress(f"training {self.name}", loop.settings.epochs * self.card.examples, stream) as counted:
            history = loop.run(checkpoint, counted)
        self.card = msgspec.structs.replace(self.card, dev_scores=history.scores)
        if place and checkpoint:
            self._write(place)
            checkpoint.remove()
        return self

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Writes `system.json` and `weights.safetensors`."""
        place = ModelPlace(folder)
        if not place.holds(identity=self._saved_as):
            place.claim(overwrite)
            self._write(place)
        return place.folder

    def _write(self, place: ModelPlace) -> None:
        write_atomically(place.weights, self._content)
        weights = file_hash(place.weights)
        place.write_card(msgspec.structs.replace(self.card, identity=self._saved_as, weights=weights))

    @classmethod
    def saved_at(cls, folder: str | Path) -> tuple[ModelPlace, ModelCard]:
        """Where a model was saved, and its card; raises if a file is missing, changed or of another version."""
        require_torch(cls.name)
        place = ModelPlace(folder)
        card = place.read_card()
        if (card.system, card.version) != (cls.name, cls.version_of_models):
            raise StoredFileError(
                f"{place.card}: this is {card.system} version {card.version}, and {cls.name} version "
                f"{cls.version_of_models} is needed. Train and save it again."
            )
        return place, card
