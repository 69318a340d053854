"""Small models that train on the spot, so that there is always something to test; and what such models share."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "systems.linear": "Floats Rows Vocabulary best_labels hashed",
        "systems.saved": "Arrays Quiet SavedCard SavedSystem numbered two_fields",
    },
)
