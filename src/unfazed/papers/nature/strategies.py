"""The six strategies with which NATURE's paper augments training data, as operators of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from unfazed.core import Example, UnknownName, UsageError
from unfazed.papers.nature.learnt import Context, TfIdf
from unfazed.vary import Operator, OperatorSpec, operators

RATE = 0.3  # of the words of an utterance, and of the letters of a word that is mistyped; as nlpaug has it

_REGISTERED = {
    "keyboard": OperatorSpec("keyboard/adjacent", {"rate": RATE, "words": RATE}),
    "misspelling": OperatorSpec("keyboard/misspell", {"rate": RATE}),
    "synonym": OperatorSpec("spoken/synonym_any"),
    "antonym": OperatorSpec("meaning/antonym", {"rate": RATE}),
}
STRATEGIES = (*_REGISTERED, "tfidf", "context")


def strategies(
    names: Sequence[str | OperatorSpec],
    examples: Callable[[], Iterable[Example]],
    masked_lm: str | None = None,
) -> list[Operator]:
    """The operators of these strategies, or operators by name; all six strategies where none is named.

    `examples` gives the training data, which `tfidf` and `context` learn from. With `masked_lm`, the folder of a
    model, `context` asks it instead.
    """
    wanted = tuple(names) or STRATEGIES
    if masked_lm is not None and "context" not in wanted:
        raise UsageError("A masked language model serves the strategy `context`, which is not among those asked for.")
    return [_operator(name, examples, masked_lm) for name in wanted]


def _operator(name: str | OperatorSpec, examples: Callable[[], Iterable[Example]], masked_lm: str | None) -> Operator:
    if name == "context" and masked_lm is not None:
        from unfazed.papers.nature.masked import Masked

        return Masked(masked_lm, RATE)
    if name in ("tfidf", "context"):
        texts = (text for example in examples() for text in example.inputs.values())
        return TfIdf(texts, RATE) if name == "tfidf" else Context(texts, RATE)
    spec = _REGISTERED.get(name, OperatorSpec(name)) if isinstance(name, str) else name
    if spec.name not in operators and ":" not in spec.name:
        known = [*STRATEGIES, *operators.names()]
        raise UnknownName("strategy or operator", spec.name, known, "unfazed augment --help")
    return spec.make()
