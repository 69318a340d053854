"""Saying the same thing differently: operators, one a file, and the engine that applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.core.registry import Registry
from unfazed.vary.operator import Operator

if TYPE_CHECKING:
    from unfazed.vary._words import cased, checked_rate
    from unfazed.vary._words import some as some_places
    from unfazed.vary.engine import OperatorSpec
    from unfazed.vary.operator import Change, Text
    from unfazed.vary.paraphrase._loading import loaded as load_model
    from unfazed.vary.paraphrase._normal import jaccard
    from unfazed.vary.paraphrase._normal import normal as normal_text
    from unfazed.vary.spoken._masked import MaskedModel

__all__ = ["Change", "MaskedModel", "Operator", "OperatorSpec", "Text", "cased", "checked_rate", "jaccard",
    "load_model", "normal_text", "operators", "some_places"]  # fmt: skip

operators: Registry[Operator] = Registry("operator", Operator, "unfazed.vary", folders=True)

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.vary._words": "cased checked_rate some:some_places",
            "unfazed.vary.engine": "OperatorSpec",
            "unfazed.vary.operator": "Change Text",
            "unfazed.vary.paraphrase._loading": "loaded:load_model",
            "unfazed.vary.paraphrase._normal": "jaccard normal:normal_text",
            "unfazed.vary.spoken._masked": "MaskedModel",
        },
    )
