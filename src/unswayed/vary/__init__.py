"""Saying the same thing differently: operators, one a file, and the engine that applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door
from unswayed.core.registry import Registry
from unswayed.vary.operator import Operator

if TYPE_CHECKING:
    from unswayed.vary.block import BlockOperator, SingleEdits
    from unswayed.vary.engine import OperatorSpec
    from unswayed.vary.masked import MaskedModel
    from unswayed.vary.operator import Change, Text
    from unswayed.vary.words import cased, checked_rate, jaccard
    from unswayed.vary.words import normal as normal_text
    from unswayed.vary.words import some as some_places

__all__ = ["BlockOperator", "Change", "MaskedModel", "Operator", "OperatorSpec", "SingleEdits", "Text", "cased",
    "checked_rate", "jaccard", "normal_text", "operators", "some_places"]  # fmt: skip

operators: Registry[Operator] = Registry("operator", Operator, "unswayed.vary", folders=True)

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
