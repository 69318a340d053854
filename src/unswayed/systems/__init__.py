"""Whatever answers, behind one small contract: models, programs, servers, metrics, recognisers, correctors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door
from unswayed.core.registry import Registry
from unswayed.systems.system import System

if TYPE_CHECKING:
    from unswayed.systems.baselines.intent import Intent
    from unswayed.systems.embeddings import minilm_folder
    from unswayed.systems.folders import ModelFolder
    from unswayed.systems.metrics import Metric, Scores, Segment
    from unswayed.systems.opening import open_system
    from unswayed.systems.process import ProcessSystem
    from unswayed.systems.recognise import Recogniser, heard
    from unswayed.systems.rewrite import Rewriter
    from unswayed.systems.system import Failed, SystemAround

__all__ = ["Failed", "Intent", "Metric", "ModelFolder", "ProcessSystem", "Recogniser", "Rewriter", "Scores", "Segment",
    "System", "SystemAround", "heard", "minilm_folder", "open_system", "systems"]  # fmt: skip

systems: Registry[System] = Registry("system", System, "unswayed.systems", folders=True, besides=("metrics",))

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
