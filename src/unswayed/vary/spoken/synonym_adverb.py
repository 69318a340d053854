"""Another adverb for one that is said."""

from __future__ import annotations

from unswayed.vary.synonyms import SynonymOperator


class SynonymAdverb(SynonymOperator):
    """Replaces an adverb by another of about the same meaning, or a noun if there is none."""

    kinds = "r"
    example = ("book it quickly please", "book it fast please")
