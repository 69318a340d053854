"""Whatever answers, behind one small contract: models, programs, servers, metrics, recognisers, correctors."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports
from unswayed.base.registry import Registry
from unswayed.systems.system import System

systems: Registry[System] = Registry(
    "system",
    System,
    "unswayed.systems",
    folders=True,
    more=("unswayed.mitigate",),
    besides=("http", "metrics", "mitigate/augment"),
)

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "systems.asking": "ask",
        "base.options": "Asking",
        "systems.baselines.intent": "Intent",
        "systems.metrics": "Metric Scores Segment",
        "systems.model_folder": "Embeddings ModelFolder load_pretrained minilm_folder require_trust",
        "systems.opening": "open_system",
        "systems.process": "ProcessSystem",
        "systems.recognise": "Recogniser heard",
        "systems.rewrite": "Rewriter",
        "systems.system": "Failed SystemAround",
    },
)
__all__ = [*_names, "System", "systems"]
