"""The contract of a system under test: a list of inputs in, a list of outputs out, and a name that pins it down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unfazed.core.errors import UsageError
from unfazed.core.values import Failed, Inputs, Json

if TYPE_CHECKING:
    from unfazed.core.suite import Suite

__all__ = ["Failed", "System"]


class System:
    """Extend, and put in `systems/FOLDER/NAME.py` or behind the entry point `unfazed.systems`."""

    name: str = ""
    batch_size: int = 64
    concurrency: int = 1  # batches that may be asked for at once, from threads
    retries: int = 2  # how often an item that failed, not finally, is asked again
    reference: tuple[str, dict[str, Json]] | None = None  # what opens it again in another process, where that is known

    @property
    def identity(self) -> str:
        """Changes whenever the answers could: part of the key under which outputs are stored."""
        raise NotImplementedError

    def prepare(self, suite: Suite) -> None:
        """Called with the suite before the first of its requests; may refuse it."""

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        """One output for each input, in order. Raising fails the whole batch; `Failed` fails one item."""
        raise NotImplementedError

    def used(self) -> dict[str, float]:
        """What answering has used since this was asked last, such as requests and tokens, for those that know."""
        return {}

    def close(self) -> None:
        """Lets go of processes, files and memory."""

    @classmethod
    def load(cls, folder: Path) -> System:
        """The system that was saved in a folder, for those that can be."""
        raise UsageError(f"{cls.__name__} can't be opened from a folder such as {folder}.")

    @classmethod
    def sample(cls) -> System:
        """A small one that answers texts, for the contract tests; extend where `__init__` needs arguments."""
        return cls()

    @classmethod
    def sample_inputs(cls, text: str) -> Inputs:
        """Inputs that the sample can be asked, with this text among them; extend where `text` alone is not enough."""
        return {"text": text}
