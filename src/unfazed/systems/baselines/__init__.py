"""Small models that train on the spot, so that there is always something to test; and what such models share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.systems.baselines._features import Floats, Rows, Vocabulary, hashed
    from unfazed.systems.baselines._saved import Arrays, Card, Quiet, SavedSystem, numbered, two_fields
    from unfazed.systems.baselines._softmax import best_labels

__all__ = ["Arrays", "Card", "Floats", "Quiet", "Rows", "SavedSystem", "Vocabulary", "best_labels", "hashed",
    "numbered", "two_fields"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.systems.baselines._features": "Floats Rows Vocabulary hashed",
            "unfazed.systems.baselines._saved": "Arrays Card Quiet SavedSystem numbered two_fields",
            "unfazed.systems.baselines._softmax": "best_labels",
        },
    )
