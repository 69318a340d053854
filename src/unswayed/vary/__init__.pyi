from unswayed.base.registry import Registry
from unswayed.vary.block import BlockOperator, SingleEdits
from unswayed.vary.engine import OperatorSpec
from unswayed.vary.masked import MaskedModel
from unswayed.vary.operator import Change, Operator as Operator, Text
from unswayed.vary.words import cased, checked_rate, jaccard, normal as normal_text, some as some_places

operators: Registry[Operator]

__all__ = [
    "BlockOperator",
    "Change",
    "MaskedModel",
    "Operator",
    "OperatorSpec",
    "SingleEdits",
    "Text",
    "cased",
    "checked_rate",
    "jaccard",
    "normal_text",
    "operators",
    "some_places",
]
