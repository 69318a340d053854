"""What is under test, behind one small contract: callables, processes, models that train here."""

from unfazed.core.registry import Registry
from unfazed.systems.system import System

systems: Registry[System] = Registry("system", System, "unfazed.systems", folders=True)

__all__ = ["System", "systems"]
