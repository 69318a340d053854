"""Saying the same thing differently: operators, one a file, and the engine that applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.core.registry import Registry
from unfazed.vary.operator import Operator

if TYPE_CHECKING:
    from unfazed.vary.block import BlockOperator, SingleEdits
    from unfazed.vary.engine import OperatorSpec
    from unfazed.vary.masked import MaskedModel
    from unfazed.vary.operator import Change, Text
    from unfazed.vary.words import cased, checked_rate, jaccard
    from unfazed.vary.words import normal as normal_text
    from unfazed.vary.words import some as some_places

__all__ = ["BlockOperator", "Change", "MaskedModel", "Operator", "OperatorSpec", "SingleEdits", "Text", "cased",
    "checked_rate", "jaccard", "normal_text", "operators", "some_places"]  # fmt: skip

operators: Registry[Operator] = Registry("operator", Operator, "unfazed.vary", folders=True)

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
