"""JointBERT, after Chen et al. 2019, BERT for Joint Intent Classification and Slot Filling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.papers.nature.slu.system import SluSystem
from unfazed.systems.training import TrainingSettings

if TYPE_CHECKING:
    from unfazed.systems.network import Network


class Jointbert(SluSystem):
    """A Hugging Face encoder, given by path, fine-tuned for both tasks at once."""

    name = "slu/jointbert"
    defaults = TrainingSettings(epochs=10, lr=5e-5, weight_decay=0.01, dropout=0.1, average=0.0)
    needs_encoder = True

    @classmethod
    def network_class(cls) -> type[Network]:
        from unfazed.papers.nature.slu.jointbert_network import Jointbert as Net

        return Net
