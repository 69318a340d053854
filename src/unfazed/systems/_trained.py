"""What systems share that are networks trained here: fitting, identity, saving, and the checks of opening."""

from __future__ import annotations

import sys
from functools import cached_property
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec

from unfazed.core.errors import StoredFileError
from unfazed.core.progress import Progress
from unfazed.systems._place import Card, Place
from unfazed.systems._torch import need
from unfazed.systems.system import System

if TYPE_CHECKING:
    from unfazed.systems._loop import Loop


class TrainedSystem(System):
    """Extend with `_packed`, the bytes of the weights' file, and with `version_of_models`, which they begin from."""

    version_of_models: ClassVar[int] = 1
    card: Card

    def _packed(self) -> bytes:
        raise NotImplementedError

    @cached_property
    def _content(self) -> bytes:
        return self._packed()

    @property
    def identity(self) -> str:
        return self.card.identity or f"{self.name} {sha256(self._content).hexdigest()[:32]}"

    def _fitted(self, training: Loop, examples: int, place: Place | None, progress: bool) -> Self:
        """Trains, with a checkpoint after each epoch and the result saved where there is a place for them."""
        from unfazed.systems._checkpoint import Checkpoint

        checkpoint = Checkpoint(place.checkpoint, self.card.plan) if place else None
        stream = sys.stderr if progress else StringIO()
        with Progress(f"training {self.name}", training.settings.epochs * examples, stream) as counted:
            history = training.run(checkpoint, counted)
        self.card = msgspec.structs.replace(self.card, dev_scores=history.scores)
        if place and checkpoint:
            self._write(place)
            checkpoint.remove()
        return self

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Writes `system.json` and `weights.safetensors`."""
        place = Place(folder)
        if not place.holds(identity=self.identity):
            place.claim(overwrite)
            self._write(place)
        return place.folder

    def _write(self, place: Place) -> None:
        place.write(msgspec.structs.replace(self.card, identity=self.identity), self._content)

    @classmethod
    def _place_of(cls, folder: str | Path) -> tuple[Place, Card]:
        """Where a model was saved, and its card; raises if a file is missing, changed or of another version."""
        need(cls.name)
        place = Place(folder)
        card = place.read_card()
        if (card.system, card.version) != (cls.name, cls.version_of_models):
            raise StoredFileError(
                f"{place.card}: this is {card.system} version {card.version}, and {cls.name} version "
                f"{cls.version_of_models} is needed. Train and save it again."
            )
        return place, card
