"""Makes systems or their training data more robust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door

if TYPE_CHECKING:
    from unswayed.mitigate.augment import augment as augment_examples
    from unswayed.mitigate.correct import Corrected
    from unswayed.mitigate.correct import chosen as chosen_inputs
    from unswayed.mitigate.noisy_channel import NAME as EMBEDDED_CORRECTOR
    from unswayed.mitigate.noisy_channel import NoisyChannel

__all__ = ["EMBEDDED_CORRECTOR", "Corrected", "NoisyChannel", "augment_examples", "chosen_inputs"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
