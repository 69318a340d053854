"""Where a system looks in utterances that it gets wrong, as in the paper's Figure 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from unfazed.core import Inputs, Json
from unfazed.measure import flips
from unfazed.papers.nature.tables import OPERATORS
from unfazed.run import Run
from unfazed.systems import System

_SHOWN = ("EOS Filler", "Syn. Adj.", "Speako")  # of which the paper shows examples
_EACH = 2


def looks(run: Run, system: System, name: str) -> list[Json]:
    """A few originals that are wrong, and a few that became wrong by being altered; none without attention."""
    if not hasattr(system, "attention"):
        return []
    return [*islice(_wrong_originals(run, system, name), _EACH), *_became_wrong(run, system, name)]


def _wrong_originals(run: Run, system: System, name: str) -> Iterator[Json]:
    for example, clean, _ in run.items():
        if clean.ok and clean.value != example.gold:
            line = _line(system, "original", example.inputs)
            if line:
                yield {"title": f"{name}, original, wrong: {_mistake(example.gold, clean.value)}", "lines": [line]}


def _became_wrong(run: Run, system: System, name: str) -> Iterator[Json]:
    labels = {operator: label for label, operator in OPERATORS.items() if label in _SHOWN}
    seen: Counter[str] = Counter()
    for flip in flips(run, "end_to_end"):
        label = labels.get(flip.variant.source)
        if label is None or seen[label] == _EACH or not flip.right_before or flip.right_after:
            continue
        pair = (("original", flip.example.inputs), ("altered", flip.variant.inputs))
        lines = [line for line in (_line(system, *said) for said in pair) if line]
        if lines:
            seen[label] += 1
            told = _mistake(flip.variant.gold, flip.varied.value)
            yield {"title": f"{name}, {label}, right before and wrong after: {told}", "lines": lines}


def _mistake(gold: Json, said: Json) -> str:
    same = gold["intent"] == said["intent"]
    return f"{gold['intent']}, its slots are wrong" if same else f"{gold['intent']} taken for {said['intent']}"


def _line(system: System, name: str, inputs: Inputs) -> Json:
    """The tokens with the attention that each gets: from the intent, or on average from all tokens."""
    found = system.attention(inputs)  # type: ignore[attr-defined]
    if found is None:
        return None
    rows: Sequence[Sequence[float]] = found.weights
    shares = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return {"name": name, "tokens": list(found.tokens), "shares": shares}
