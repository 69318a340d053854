"""Another word for a verb, an adjective, an adverb or a noun."""

from __future__ import annotations

from unfazed.vary.synonyms import SynonymOperator


class SynonymAny(SynonymOperator):
    """Replaces a verb, adjective, adverb or noun by a synonym; the class is random."""

    kinds = "varn"
    example = ("find a cheap hotel near the station", "find an inexpensive hotel near the station")
