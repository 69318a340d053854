"""Small models that train on the spot, so that there is always something to test; and what such models share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door

if TYPE_CHECKING:
    from unswayed.systems.linear import Floats, Rows, Vocabulary, best_labels, hashed
    from unswayed.systems.saved import Arrays, Quiet, SavedCard, SavedSystem, numbered, two_fields

__all__ = ["Arrays", "Floats", "Quiet", "Rows", "SavedCard", "SavedSystem", "Vocabulary", "best_labels",
    "hashed", "numbered", "two_fields"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
