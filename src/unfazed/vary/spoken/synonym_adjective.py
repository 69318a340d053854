"""Another adjective for one that is said."""

from __future__ import annotations

from unfazed.vary.synonyms import SynonymOperator


class SynonymAdjective(SynonymOperator):
    """Replaces an adjective by another that means about the same; a noun where there is none."""

    kinds = "a"
    example = ("find a cheap hotel near the station", "find an affordable hotel near the station")
