"""P̂aRTE's BiLSTM: sentences as the largest of what a BiLSTM over word vectors says."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from unfazed.papers.parte.nli_system import NliSystem
from unfazed.systems.training import TrainingSettings

if TYPE_CHECKING:
    from unfazed.papers.parte.networks import PairNetwork


class Bilstm(NliSystem):
    """Word vectors → BiLSTM, largest over words → premise, hypothesis, difference, product → three layers → label."""

    name = "nli/bilstm"
    defaults: ClassVar[TrainingSettings] = msgspec.structs.replace(NliSystem.defaults, hidden=64, layers=2)

    @classmethod
    def network_class(cls) -> type[PairNetwork]:
        from unfazed.papers.parte.networks import Bilstm as Net

        return Net
