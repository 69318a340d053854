"""Another word for one of the stopwords, by the same rules as the other synonym operators."""

from __future__ import annotations

from unfazed.vary.spoken._synonyms import SynonymOperator


class SynonymStopword(SynonymOperator):
    """Replaces a stop-word (determiner, preposition, pronoun, modal, conjunction) by another that means about the same; a noun where there is none."""

    kinds = "s"
    example = ("x", "y")
