"""Signatures: a readable line on every number that changes when anything that decides the number changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy.typing as npt

from unfazed.core.estimate import Resampling, sign
from unfazed.core.ids import content_id
from unfazed.measure.measures import SCORE_MEASURES, VERSION
from unfazed.measure.table import Part, Parted, Scored
from unfazed.score import Scorer

_Column = npt.NDArray[Any]


class Signer:
    """Makes the signatures of the numbers of one run, or of a pair of runs that are compared."""

    def __init__(
        self,
        runs: Sequence[tuple[Parted, str]],
        scorer: Scorer | None,
        suite: str,
        settings: Resampling,
        **more: str,
    ) -> None:
        """`runs` are tables with the identities of the systems that answered; `more` is what else decides."""
        answers = "-".join(answers_id(table) for table, _ in runs)
        scores = "-".join(scores_id(table, scorer) for table, _ in runs) if scorer else answers
        score = f"{scorer.name}:{scorer.version}" if scorer else "none"
        self._scores = {"score": score}, {"outputs": scores}
        self._answers = {"task": runs[0][0].task.name}, {"outputs": answers}
        self._run = {"suite": suite, "system": "-".join(content_id(identity) for _, identity in runs)}
        self._settings, self._more = settings, more

    def sign(self, measure: str, set_: str) -> str:
        """`set_` is "all" or what was selected, as in "operator=spoken/filler_end"."""
        how, outputs = self._scores if measure in SCORE_MEASURES else self._answers
        fields = {"measure": f"{measure}:{VERSION}", **how, "set": set_, **outputs, **self._run}
        return sign(fields, self._settings, **self._more)


def answers_id(table: Parted) -> str:
    """An id of which answers there are and which differ from the clean ones."""
    return _digest(table, [lambda part: part.clean_ok, lambda part: part.flip, lambda part: part.ok])


def scores_id(table: Parted, scorer: Scorer) -> str:
    """An id of all items' scores."""

    def of(column: Callable[[Scored], _Column]) -> Callable[[Part], _Column]:
        return lambda part: column(part.scored[scorer.name])

    columns = [of(lambda s: s.clean), of(lambda s: s.varied), of(lambda s: s.clean_due), of(lambda s: s.due)]
    if scorer.linear:
        return _digest(table, columns)
    rows = next(iter(table.parts())).scored[scorer.name].rows
    return _digest(table, [*columns, of(lambda s: s.clean_codes), of(lambda s: s.codes)], rows)


def _digest(table: Parted, columns: Sequence[Callable[[Part], _Column]], *more: _Column) -> str:
    """Of each column from its first part to its last, one column after another."""
    h = blake2b(digest_size=8)
    for column in columns:
        for part in table.parts():
            h.update(column(part).tobytes())
    for last in more:
        h.update(last.tobytes())
    return h.hexdigest()
