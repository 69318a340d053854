"""Texts varied in blocks, as `unswayed vary` does, by an operator that goes on knowing the words that it met."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, Varier, blocks_of, make_operator


class Varied:
    """One operator, made once. A seed stands for a simulated person."""

    def __init__(self, name: str, language: str) -> None:
        self._spec, self._language = OperatorSpec(name), language
        self._made = [make_operator(self._spec)]

    def __call__(self, texts: Sequence[str], seed: int) -> int:
        """How many variants it makes of them."""
        variation = Variation(operators=(self._spec,), task="text", language=self._language, seed=seed)
        varier = Varier(variation, self._made)
        blocks = blocks_of(Example(i, str(i), {"text": text}) for i, text in enumerate(texts))
        return sum(len(varier.block(block)[0]) for block in blocks)


def by_person(rates: Sequence[float], who: str) -> str:
    """A note on how much faster some people are simulated than others."""
    return f"{len(rates)} {who}: {min(rates):,.0f} to {max(rates):,.0f}"
