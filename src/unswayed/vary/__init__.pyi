from unswayed.base.options import OperatorSpec
from unswayed.base.registry import Registry
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import Change, Operator as Operator, SingleEdits, Text, Texts
from unswayed.vary.presets import with_params
from unswayed.vary.synonyms import MaskedModel
from unswayed.vary.words import cased, checked_rate, jaccard, normal as normal_text, some as some_places

class _Operators(Registry[Operator]):
    def parts(self, name: str) -> list[type[Operator]]: ...

operators: _Operators

__all__ = [
    "Change",
    "MaskedModel",
    "Operator",
    "OperatorSpec",
    "SingleEdits",
    "Text",
    "Texts",
    "cased",
    "checked_rate",
    "jaccard",
    "make_operator",
    "normal_text",
    "operators",
    "some_places",
    "with_params",
]
