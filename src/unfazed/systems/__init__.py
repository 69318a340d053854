"""Whatever answers, behind one small contract: models, programs, servers, metrics, recognisers, correctors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.core.registry import Registry
from unfazed.systems.system import System

if TYPE_CHECKING:
    from unfazed.systems.baselines.intent import Intent
    from unfazed.systems.embeddings import minilm_folder
    from unfazed.systems.folders import ModelFolder
    from unfazed.systems.metrics import Metric, Scores, Segment
    from unfazed.systems.opening import open_system
    from unfazed.systems.process import ProcessSystem
    from unfazed.systems.recognise import Recogniser, heard
    from unfazed.systems.rewrite import Rewriter
    from unfazed.systems.system import Failed, SystemAround

__all__ = ["Failed", "Intent", "Metric", "ModelFolder", "ProcessSystem", "Recogniser", "Rewriter", "Scores", "Segment",
    "System", "SystemAround", "heard", "minilm_folder", "open_system", "systems"]  # fmt: skip

systems: Registry[System] = Registry("system", System, "unfazed.systems", folders=True, besides=("metrics",))

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
