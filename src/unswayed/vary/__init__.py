"""Saying the same thing differently: operators, one a file, and the engine that applies them."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports
from unswayed.base.registry import Registry
from unswayed.vary.operator import Operator


class _Operators(Registry[Operator]):
    """Operators by name, and combinations such as `dialect/singapore+keyboard/typist`, made when they are named."""

    def get(self, name: str) -> type[Operator]:
        if "+" not in name:
            return super().get(name)
        if name not in self._loaded:
            from unswayed.vary.combined import combination, split_name

            self._loaded[name] = combination(name, {part: self.get(part) for part in split_name(name)})
        return self._loaded[name]

    def parts(self, name: str) -> list[type[Operator]]:
        """The operators of a combination, in their order; the one operator of another name."""
        return [self.get(part) for part in name.split("+")]

    def __contains__(self, name: str) -> bool:
        return all(part in self._sources for part in name.split("+"))


operators = _Operators("operator", Operator, "unswayed.vary", folders=True)

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.options": "OperatorSpec",
        "vary.engine": "make_operator",
        "vary.operator": "Change SingleEdits Text Texts",
        "vary.presets": "with_params",
        "vary.synonyms": "MaskedModel",
        "vary.words": "cased checked_rate jaccard normal=normal_text some=some_places",
    },
)
__all__ = [*_names, "Operator", "operators"]
