"""What is under test, behind one small contract: callables, processes, models that train here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.core.registry import Registry
from unfazed.systems.system import System

if TYPE_CHECKING:
    from unfazed.systems.baselines.intent import Intent
    from unfazed.systems.opening import open_system
    from unfazed.systems.system import Failed

__all__ = ["Failed", "Intent", "System", "open_system", "systems"]  # fmt: skip

systems: Registry[System] = Registry("system", System, "unfazed.systems", folders=True)

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.systems.baselines.intent": "Intent",
            "unfazed.systems.opening": "open_system",
            "unfazed.systems.system": "Failed",
        },
    )
