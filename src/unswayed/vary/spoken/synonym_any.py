"""Another word for a verb, an adjective, an adverb or a noun."""

from __future__ import annotations

from unswayed.vary.synonyms import SynonymOperator


class SynonymAny(SynonymOperator):
    """Replaces a verb, adjective, adverb or noun by a synonym; the class is random.

    A text is left as it is if no word surely fits: the sense must be likely, and the new word as usual beside its
    neighbours as the old one.
    """

    version = 2
    kinds = "varn"
    strict = True
    example = ("book a table near the station", "reserve a table near the station")
