from unswayed.systems.linear import Floats, Rows, Vocabulary, best_labels, hashed
from unswayed.systems.saved import Arrays, Quiet, SavedCard, SavedSystem, numbered, two_fields

__all__ = [
    "Arrays",
    "Floats",
    "Quiet",
    "Rows",
    "SavedCard",
    "SavedSystem",
    "Vocabulary",
    "best_labels",
    "hashed",
    "numbered",
    "two_fields",
]
