"""Another word for one of the adjectives, by the same rules as the other synonym operators."""

from __future__ import annotations

from unfazed.vary.spoken._synonyms import SynonymOperator


class SynonymAdjective(SynonymOperator):
    """Replaces an adjective by another that means about the same; a noun where there is none."""

    kinds = "a"
    example = ("x", "y")
