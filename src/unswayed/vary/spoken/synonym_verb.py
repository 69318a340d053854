"""Another verb for one that is said."""

from __future__ import annotations

from unswayed.vary.synonyms import SynonymOperator


class SynonymVerb(SynonymOperator):
    """Replaces a verb by another of about the same meaning, or a noun if there is none."""

    kinds = "v"
    example = ("play some jazz by miles davis", "stream some jazz by miles davis")
