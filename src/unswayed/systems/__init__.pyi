from unswayed.base.options import Asking
from unswayed.base.registry import Registry
from unswayed.systems.asking import ask
from unswayed.systems.baselines.intent import Intent
from unswayed.systems.metrics import Metric, Scores, Segment
from unswayed.systems.model_folder import Embeddings, ModelFolder, load_pretrained, minilm_folder, require_trust
from unswayed.systems.opening import open_system
from unswayed.systems.process import ProcessSystem
from unswayed.systems.recognise import Recogniser, heard
from unswayed.systems.rewrite import Rewriter
from unswayed.systems.system import Failed, System as System, SystemAround

systems: Registry[System]

__all__ = [
    "Asking",
    "Embeddings",
    "Failed",
    "Intent",
    "Metric",
    "ModelFolder",
    "ProcessSystem",
    "Recogniser",
    "Rewriter",
    "Scores",
    "Segment",
    "System",
    "SystemAround",
    "ask",
    "heard",
    "load_pretrained",
    "minilm_folder",
    "open_system",
    "require_trust",
    "systems",
]
