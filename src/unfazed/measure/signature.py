"""Signatures: a readable line on every number that changes when anything that decides the number changes."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy.typing as npt

from unfazed.core.ids import content_id
from unfazed.core.version import VERSION as PACKAGE_VERSION
from unfazed.measure.intervals import Settings
from unfazed.measure.measures import SCORE_MEASURES, VERSION
from unfazed.measure.table import Scored, Table


class Signer:
    """Makes the signatures of one run's numbers under one score."""

    def __init__(self, table: Table, scored: Scored | None, suite: str, identity: str, settings: Settings) -> None:
        scorer = scored.scorer if scored else None
        self._score = f"{scorer.name}:{scorer.version}" if scorer else "none"
        self._answers = f"outputs={answers_id(table)}"
        self._scores = f"outputs={scores_id(scored)}" if scored else self._answers
        self._task = table.task.name
        self._tail = "|".join(
            (
                f"suite={suite}",
                f"system={content_id(identity)}",
                f"level={settings.level}",
                f"bootstrap={settings.bootstrap}",
                f"seed={settings.seed}",
                f"unfazed={PACKAGE_VERSION}",
            )
        )

    def sign(self, measure: str, set_: str) -> str:
        """`set_` is "all" or what was selected, as in "operator=spoken/filler_end"."""
        scores = measure in SCORE_MEASURES
        return "|".join(
            (
                f"measure={measure}:{VERSION}",
                f"score={self._score}" if scores else f"task={self._task}",
                f"set={_plain(set_)}",
                self._scores if scores else self._answers,
                self._tail,
            )
        )


def _plain(text: str) -> str:
    """A text that can stand in a signature: one line, and no bar that would end the field."""
    escaped = text.replace("%", "%25").replace("|", "%7C")
    return "".join(c if c.isprintable() else f"%{ord(c):02X}" for c in escaped)


def answers_id(table: Table) -> str:
    """An id of which answers there are and which differ from the clean ones."""
    return _digest(table.clean_ok, table.flip, table.ok)


def scores_id(scored: Scored) -> str:
    """An id of all items' scores."""
    return _digest(scored.clean, scored.varied, scored.clean_codes, scored.codes, scored.rows)


def _digest(*columns: npt.NDArray[Any]) -> str:
    h = blake2b(digest_size=8)
    for column in columns:
        h.update(column.tobytes())
    return h.hexdigest()
