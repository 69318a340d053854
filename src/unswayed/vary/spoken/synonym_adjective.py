"""Another adjective for one that is said."""

from __future__ import annotations

from unswayed.vary.synonyms import SynonymOperator


class SynonymAdjective(SynonymOperator):
    """Replaces an adjective by another of about the same meaning, or a noun if there is none."""

    kinds = "a"
    example = ("find a cheap hotel near the station", "find an affordable hotel near the station")
