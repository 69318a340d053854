"""Another word for one of the adverbs, by the same rules as the other synonym operators."""

from __future__ import annotations

from unfazed.vary.spoken._synonyms import SynonymOperator


class SynonymAdverb(SynonymOperator):
    """Replaces an adverb by another that means about the same; a noun where there is none."""

    kinds = "r"
    example = ("x", "y")
