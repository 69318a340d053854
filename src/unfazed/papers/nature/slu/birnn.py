"""The correlated two-RNN model, after Wang et al. 2018, A Bi-model based RNN Semantic Frame Parsing Model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.papers.nature.slu.system import SluSystem
from unfazed.systems.training import TrainingSettings

if TYPE_CHECKING:
    from unfazed.systems.network import Network


class Birnn(SluSystem):
    """One BiLSTM for the intent and one for the slots, each with a decoder; they read each other's states."""

    name = "slu/birnn"
    defaults = TrainingSettings(dropout=0.4)

    @classmethod
    def network_class(cls) -> type[Network]:
        from unfazed.papers.nature.slu.birnn_network import Birnn as Net

        return Net
