"""Does simulated noise do a system the harm that people's does? Accuracy and flips under both, and their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unfazed.core.values import Inputs
from unfazed.measure.realism.reading import Aligned
from unfazed.systems.system import Failed, System


def drops(
    system: System, clean: Aligned, people: Sequence[Aligned], simulated: Sequence[Aligned]
) -> list[dict[str, Any]]:
    """A row for all examples and one for each label: accuracy and flips, clean, human and simulated, in per cent."""
    before = _answers(system, clean.rows)
    human = [_answers(system, person.rows) for person in people]
    made = [_answers(system, draw.rows) for draw in simulated]
    labels = sorted({str(g) for g in clean.gold if g is not None})
    rows = []
    for label in (None, *labels) if len(labels) > 1 else (None,):
        places = [i for i, g in enumerate(clean.gold) if label is None or str(g) == label]
        row: dict[str, Any] = {"label": label or "all", "n": len(places)}
        if labels:
            gold = [str(g) for g in clean.gold]
            row["accuracy.clean"] = _share([before], gold, places)
            row["accuracy.human"] = _share(human, gold, places)
            row["accuracy.simulated"] = _share(made, gold, places)
            row["accuracy.error"] = row["accuracy.simulated"] - row["accuracy.human"]
        row["flips.human"] = 100 - _share(human, before, places)
        row["flips.simulated"] = 100 - _share(made, before, places)
        row["flips.error"] = row["flips.simulated"] - row["flips.human"]
        rows.append(row)
    return rows


def _answers(system: System, rows: Sequence[Inputs]) -> list[str]:
    answers: list[str] = []
    for at in range(0, len(rows), system.batch_size):
        batch = system.predict(rows[at : at + system.batch_size])
        answers += ["\0failed" if isinstance(answer, Failed) else str(answer) for answer in batch]
    return answers


def _share(answers: Sequence[Sequence[str]], wanted: Sequence[str], places: Sequence[int]) -> float:
    """How many of these answers are the wanted ones, in per cent, over all people or draws."""
    right = sum(given[i] == wanted[i] for given in answers for i in places)
    return 100 * right / max(1, len(answers) * len(places))
