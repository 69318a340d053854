"""Another word for one of the verbs, by the same rules as the other synonym operators."""

from __future__ import annotations

from unfazed.vary.spoken._synonyms import SynonymOperator


class SynonymVerb(SynonymOperator):
    """Replaces a verb by another that means about the same; a noun where there is none."""

    kinds = "v"
    example = ("x", "y")
