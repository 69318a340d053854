"""Another closed-class word: determiner, preposition, pronoun, modal, wh-word or conjunction."""

from __future__ import annotations

from unswayed.vary.synonyms import SynonymOperator


class SynonymStopword(SynonymOperator):
    """Replaces a stop-word by another of its closed class, or a noun if there is none."""

    kinds = "s"
    example = ("show me the flights to boston", "show me the flights into boston")
