"""Signatures: a readable line on every number that changes when anything that decides the number changes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy.typing as npt

from unfazed.core.ids import content_id
from unfazed.core.version import VERSION as PACKAGE_VERSION
from unfazed.measure.intervals import Settings
from unfazed.measure.measures import SCORE_MEASURES, VERSION
from unfazed.measure.table import Scored, Table
from unfazed.score._scorer import Scorer


class Signer:
    """Makes the signatures of the numbers of one run, or of a pair of runs that are compared."""

    def __init__(
        self,
        runs: Sequence[tuple[Table, str]],
        scorer: Scorer | None,
        suite: str,
        settings: Settings,
        **more: str,
    ) -> None:
        """`runs` are tables with the identities of the systems that answered; `more` is what else decides."""
        answers = "-".join(answers_id(table) for table, _ in runs)
        scores = "-".join(scores_id(table.scored[scorer.name]) for table, _ in runs) if scorer else answers
        score = f"{scorer.name}:{scorer.version}" if scorer else "none"
        self._scores = f"score={score}", f"outputs={scores}"
        self._answers = f"task={runs[0][0].task.name}", f"outputs={answers}"
        fields = {
            "suite": _plain(suite),
            "system": "-".join(content_id(identity) for _, identity in runs),
            "level": settings.level,
            "bootstrap": settings.bootstrap,
            "seed": settings.seed,
            **more,
            "unfazed": PACKAGE_VERSION,
        }
        self._tail = "|".join(f"{key}={value}" for key, value in fields.items())

    def sign(self, measure: str, set_: str) -> str:
        """`set_` is "all" or what was selected, as in "operator=spoken/filler_end"."""
        how, outputs = self._scores if measure in SCORE_MEASURES else self._answers
        return f"measure={measure}:{VERSION}|{how}|set={_plain(set_)}|{outputs}|{self._tail}"


def _plain(text: str) -> str:
    """A text that can stand in a signature: one line, and no bar that would end the field."""
    escaped = text.replace("%", "%25").replace("|", "%7C")
    return "".join(c if c.isprintable() else f"%{ord(c):02X}" for c in escaped)


def answers_id(table: Table) -> str:
    """An id of which answers there are and which differ from the clean ones."""
    return _digest(table.clean_ok, table.flip, table.ok)


def scores_id(scored: Scored) -> str:
    """An id of all items' scores."""
    scores = scored.clean, scored.varied, scored.clean_due, scored.due
    if scored.scorer.linear:
        return _digest(*scores)
    return _digest(*scores, scored.clean_codes, scored.codes, scored.rows)


def _digest(*columns: npt.NDArray[Any]) -> str:
    h = blake2b(digest_size=8)
    for column in columns:
        h.update(column.tobytes())
    return h.hexdigest()
