"""Small models that train on the spot, so that there is always something to test; and what such models share."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "systems.saved": (
            "Arrays Floats Quiet Rows SavedCard SavedSystem Vocabulary best_labels hashed is_card learnable_examples "
            "numbered two_fields"
        ),
    },
)
