from unswayed.mitigate.augment import augment as augment_examples
from unswayed.mitigate.correct import Corrected, chosen as chosen_inputs
from unswayed.mitigate.noisy_channel import NAME as EMBEDDED_CORRECTOR, NoisyChannel

__all__ = ["EMBEDDED_CORRECTOR", "Corrected", "NoisyChannel", "augment_examples", "chosen_inputs"]
