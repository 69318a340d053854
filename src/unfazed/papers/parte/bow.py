"""P̂aRTE's bag of words: sentences as means of word vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.papers.parte.nli_system import NliSystem

if TYPE_CHECKING:
    from unfazed.papers.parte.networks import PairNetwork


class Bow(NliSystem):
    """Means of word vectors → premise, hypothesis, difference, product → three layers → label."""

    name = "nli/bow"

    @classmethod
    def network_class(cls) -> type[PairNetwork]:
        from unfazed.papers.parte.networks import Bow as Net

        return Net
