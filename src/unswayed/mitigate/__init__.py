"""Makes systems or their training data more robust."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "mitigate.augment": "augment=augment_examples",
        "mitigate.correct": "Corrected chosen=chosen_inputs",
        "mitigate.noisy_channel": "NAME=EMBEDDED_CORRECTOR NoisyChannel",
    },
)
