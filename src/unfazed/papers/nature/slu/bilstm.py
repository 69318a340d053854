"""A joint BiLSTM: minutes of one core for a few thousand utterances, and nothing pretrained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.papers.nature.slu.system import SluSystem

if TYPE_CHECKING:
    from unfazed.systems.network import Network


class Bilstm(SluSystem):
    """Words and letters → BiLSTM → intent by attention pooling, slots by a conditional random field."""

    name = "slu/bilstm"

    @classmethod
    def network_class(cls) -> type[Network]:
        from unfazed.papers.nature.slu.bilstm_network import Bilstm as Net

        return Net
