"""Saying the same thing differently: operators, one a file, and the engine that applies them."""

from unfazed.core.registry import Registry
from unfazed.vary.operator import Operator

operators: Registry[Operator] = Registry("operator", Operator, "unfazed.vary", folders=True)

__all__ = ["Operator", "operators"]
