"""Saying the same thing differently: operators, one a file, and the engine that applies them."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports
from unswayed.base.registry import Registry
from unswayed.vary.operator import Operator

operators: Registry[Operator] = Registry("operator", Operator, "unswayed.vary", folders=True)

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.options": "OperatorSpec",
        "vary.engine": "make_operator",
        "vary.operator": "Change SingleEdits Text Texts",
        "vary.synonyms": "MaskedModel",
        "vary.words": "cased checked_rate jaccard normal=normal_text some=some_places",
    },
)
__all__ = [*_names, "Operator", "operators"]
