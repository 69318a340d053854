"""Stack-Propagation, after Qin et al. 2019, A Stack-Propagation Framework with Token-Level Intent Detection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.papers.nature.slu.system import SluSystem
from unfazed.systems.training import TrainingSettings

if TYPE_CHECKING:
    from unfazed.systems.network import Network


class Stackprop(SluSystem):
    """A self-attentive encoder, or a Hugging Face one by path; an intent for each token feeds the slot decoder."""

    name = "slu/stackprop"
    defaults = TrainingSettings(dropout=0.4)

    @classmethod
    def network_class(cls) -> type[Network]:
        from unfazed.papers.nature.slu.stackprop_network import Stackprop as Net

        return Net
