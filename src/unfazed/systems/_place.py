"""The folder of a trained system: `system.json`, `weights.safetensors`, and a checkpoint while it trains."""

from __future__ import annotations

from pathlib import Path

import msgspec

from unfazed.core.errors import StoredFileError, UsageError
from unfazed.core.files import write_atomically
from unfazed.core.ids import file_hash
from unfazed.core.json import decode
from unfazed.core.version import VERSION
from unfazed.systems._settings import Settings


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """`system.json`: what the model is, what it was trained on, how it did, and the hash of its weights' file."""

    system: str
    version: int
    unfazed: str = VERSION
    task: str = "slu"
    identity: str = ""
    settings: Settings
    examples: int
    data: str  # hash of the training data
    dev_examples: int
    dev_scores: list[float]  # end to end, an epoch each
    plan: str  # hash of all that decides the training
    weights: str = ""


class Place:
    """Where a system is saved. `system.json` is written last, so a folder that has one is whole."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.card, self.weights = self.folder / "system.json", self.folder / "weights.safetensors"
        self.checkpoint = self.folder / "training.safetensors"

    def claim(self, overwrite: bool) -> None:
        """Makes sure that nobody's work is lost by writing here."""
        if not self.folder.exists() or (self.folder.is_dir() and not any(self.folder.iterdir())):
            return
        if not self.folder.is_dir() or not (self.card.is_file() or self.checkpoint.is_file()):
            raise UsageError(f"{self.folder} exists and is not a saved system. Choose another place.")
        if overwrite:
            self.card.unlink(missing_ok=True)  # first, so that it never names weights that are not its own
            self.checkpoint.unlink(missing_ok=True)
        elif self.card.is_file():
            raise UsageError(f"{self.folder} holds another system. Say overwrite, or choose another place.")

    def holds(self, **wanted: str) -> bool:
        """Is there a whole system whose card says this?"""
        try:
            card = self.read_card()
        except StoredFileError:
            return False
        return all(getattr(card, name) == value for name, value in wanted.items())

    def write(self, card: Card, weights: bytes) -> None:
        write_atomically(self.weights, weights)
        card = msgspec.structs.replace(card, weights=file_hash(self.weights))
        write_atomically(self.card, msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n")

    def read_card(self) -> Card:
        """The card, once the weights are known to be those that it was written for."""
        try:
            card = decode(self.card.read_bytes(), Card)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoredFileError(f"{self.card}: this can't be read ({error}). Train and save it again.") from error
        try:
            right = file_hash(self.weights) == card.weights
        except OSError as error:
            raise StoredFileError(f"{self.weights}: the weights can't be read ({error}). Train again.") from error
        if not right:
            raise StoredFileError(f"{self.weights}: this is not the file that was saved. Train and save it again.")
        return card
