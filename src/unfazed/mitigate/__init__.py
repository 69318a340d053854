"""Makes systems or their training data more robust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.mitigate.augment import augment as augment_examples
    from unfazed.mitigate.correct import Corrected
    from unfazed.mitigate.correct import chosen as chosen_inputs
    from unfazed.mitigate.noisy_channel import NAME as EMBEDDED_CORRECTOR
    from unfazed.mitigate.noisy_channel import NoisyChannel

__all__ = ["EMBEDDED_CORRECTOR", "Corrected", "NoisyChannel", "augment_examples", "chosen_inputs"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
