"""A log of a judge's single verdicts, right or wrong, some of them also given by people: both shares, and the judge's
errors corrected. Nothing is asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from unswayed.base.errors import DataError, NothingEvaluated
from unswayed.base.text import number
from unswayed.base.values import Estimate
from unswayed.stats import Array, clopper_pearson, digest, prediction_powered, sign
from unswayed.stats.prediction import MIN_LABELS
from unswayed.storage.untrusted_files import read_json_lines

VERSION = 1  # of these definitions; part of every signature
_TRUE = frozenset(("true", "yes", "1", "1.0", "right", "correct", "pass", "passed", "good", "same", "c"))
_FALSE = frozenset(("false", "no", "0", "0.0", "wrong", "incorrect", "fail", "failed", "bad", "different", "i"))
_VERDICTS = ("verdict", "judge", "judgement", "judgment")  # names of the judge's verdict
_LABELS = ("label", "people", "human", "gold")  # names of what people, or a test, say


class VerdictLog(msgspec.Struct, frozen=True):
    """What a log of verdicts shows.

    `judge` is the share that the judge finds right, `corrected` the same with the judge's errors corrected by labels,
    `people` what the labels alone show. `agreement` is the share of labelled rows on which the judge says the same.
    """

    rows: int
    labels: int
    judge: Estimate
    corrected: Estimate | None
    people: Estimate | None
    agreement: Estimate
    too_good: int  # labelled rows that only the judge finds right
    too_bad: int
    helps: bool

    def table(self) -> list[dict[str, object]]:
        return [{
            "rows": self.rows, "labels": self.labels, "corrected": self.corrected, "judge alone": self.judge,
            "labels alone": self.people, "agreement": self.agreement, "only judge: right": self.too_good,
            "only labels: right": self.too_bad,
        }]  # fmt: skip

    def sentences(self) -> list[str]:
        said = []
        if self.corrected is not None and self.people is not None:
            said.append(f"{_shown(self.corrected)} are right, corrected for the judge's errors.")
            said.append(
                f"The judge alone says {_shown(self.judge)}, the {self.labels:,} labels alone {_shown(self.people)}."
            )
            if not self.helps:
                said.append("The judge saves no labels: its verdicts tell next to nothing of them.")
        else:
            said.append(f"The judge finds {_shown(self.judge)} right. That is the judge's opinion, not corrected:")
            said[-1] += f" there are {self.labels} labels, and at least {MIN_LABELS} are needed."
        if self.agreement.value is not None:
            said.append(f"It says the same as the labels in {_shown(self.agreement)} of {self.labels:,} rows.")
        return said


def _shown(e: Estimate) -> str:
    ends = "" if e.low is None or e.high is None else f" [{number(e.low, 2)}, {number(e.high, 2)}]"
    return f"{number(e.value, 2)}{ends}"


def has_verdicts(path: str | Path) -> bool:
    """Do the rows of a file say of one answer each whether a judge finds it right?"""
    try:
        _, row = next(iter(read_json_lines(Path(path), dict[str, Any])), (0, {}))
    except DataError:
        return False  # whoever reads it says what is wrong with it
    return any(_truth(row[name]) is not None for name in _VERDICTS if name in row)


def read_verdicts(path: str | Path, level: float = 0.95) -> VerdictLog:
    """What JSON lines with `verdict`, and in some rows `label`, show. Rows with a label must be chosen at random."""
    said, labels = [], []
    for line, row in read_json_lines(Path(path), dict[str, Any]):
        found = []
        for names, needed in ((_VERDICTS, True), (_LABELS, False)):
            name = next((name for name in names if row.get(name) not in (None, "")), None)
            truth = None if name is None else _truth(row[name])
            if truth is None and (needed or name is not None):
                what = f"{name or names[0]} must be true or false" + (
                    "" if name is None else f", not {row[name]!r:.40}"
                )
                raise DataError(f"{what}.", path, line)
            found.append(np.nan if truth is None else truth)
        said.append(found[0])
        labels.append(found[1])
    if not said:
        raise NothingEvaluated(f"{path}: there is no row in it.")
    judged, label = np.array(said), np.array(labels)
    known = ~np.isnan(label)
    k = int(known.sum())
    signed = {"verdicts": digest(judged, np.nan_to_num(label, nan=-1.0)), "level": level}

    def share(name: str, hits: Array) -> Estimate:
        signature = sign({"measure": f"verdicts.{name}:{VERSION}", **signed})
        if not len(hits):
            return Estimate(None, None, None, 0, 0, signature)
        low, high = clopper_pearson(float(hits.sum()), len(hits), level)
        return Estimate(float(hits.mean()), low, high, len(hits), 0, signature, over="answers like these")

    corrected = people = None
    helps = False
    if k >= MIN_LABELS and k < len(judged):
        made = prediction_powered(judged[~known], judged[known], label[known], level=level)
        corrected, people, helps = made.corrected, made.people, made.judge_helps
    elif k == len(judged):
        corrected = people = share("people", label)
    return VerdictLog(
        rows=len(judged), labels=k, judge=share("judge", judged), corrected=corrected, people=people,
        agreement=share("agreement", (judged[known] == label[known]).astype(np.float64)),
        too_good=int((judged[known] > label[known]).sum()), too_bad=int((judged[known] < label[known]).sum()),
        helps=helps,
    )  # fmt: skip


def _truth(value: Any) -> float | None:
    text = str(value).strip().casefold()
    return 1.0 if text in _TRUE else 0.0 if text in _FALSE else None
