"""A judge that says which of two answers is better: how often it is right, its position bias, and its errors corrected.

Its decisions are read from a table, whoever made them: nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import DataError, NothingEvaluated
from unswayed.base.text import number
from unswayed.base.values import Estimate
from unswayed.stats import (
    Array,
    clopper_pearson,
    digest,
    labels_worth_asking,
    mcnemar,
    mean_interval,
    prediction_powered,
    sign,
)
from unswayed.stats.prediction import MIN_LABELS
from unswayed.storage.untrusted_files import read_json_lines

VERSION = 1  # of these definitions; part of every signature
_SIDES = {
    **dict.fromkeys(("A>B", "A>>B", "A", "[[A]]", "MODEL_A", "FIRST"), 1.0),
    **dict.fromkeys(("B>A", "B>>A", "B", "[[B]]", "MODEL_B", "SECOND"), 0.0),
    **dict.fromkeys(("A=B", "B=A", "TIE", "[[C]]", "TIE(BOTHBAD)", "BOTH", "NEITHER"), 0.5),
}
_DECISIONS = ("decision", "verdict", "winner", "preference", "choice")  # names of the same field
_PAIR = ("pair_id", "pair", "id")  # what names a pair that has a row for each order
_SURE = 0.05  # p-value up to which a judge is said to prefer a place


class Preferences(msgspec.Struct, frozen=True):
    """What a table of decisions shows of a judge.

    `right` is the share of labelled pairs on which the judge, over both orders, decides as the label does; no decision
    is wrong. `changed` is the share of pairs whose decision depends on the order. Of these, `first` and `second` count
    the pairs on which the judge stays with a place. `a_better` is the share of pairs in which the first answer of a row
    is better: corrected by labels, and as the judge has it in the order of the rows and over both orders.
    """

    pairs: int
    labels: int
    right: Estimate
    changed: Estimate | None
    first: int
    second: int
    p: float | None
    a_better: Estimate | None
    judge: Estimate
    judge_both: Estimate | None
    people: Estimate | None
    worth: float
    helps: bool
    worth_asking: int

    @property
    def prefers_a_place(self) -> bool:
        return self.p is not None and self.p <= _SURE

    def rows(self) -> list[dict[str, object]]:
        both = {} if self.judge_both is None else {"judge, both orders": self.judge_both}
        return [
            {"pairs": self.pairs, "labels": self.labels, "right": self.right, "changes if swapped": self.changed,
             "first": self.first, "second": self.second},
            {"measure": "A is better", "corrected": self.a_better, "judge alone": self.judge, **both,
             "people alone": self.people, "labels": self.labels, "worth": round(self.worth)},
        ]  # fmt: skip

    def sentences(self) -> list[str]:
        said = []
        if self.right.value is not None:
            said.append(f"The judge decides as the labels do in {100 * self.right.value:.2f}% "
                        f"{_ends(self.right)} of {self.labels:,} labelled pairs.")  # fmt: skip
        if self.changed is not None and self.changed.value is not None and self.p is not None:
            said.append(f"If the two answers change places, {100 * self.changed.value:.1f}% {_ends(self.changed)} of "
                        f"its decisions change.")  # fmt: skip
            p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
            stays = f"Where it stays with a place, this is the first {self.first} times and the second {self.second}"
            side = "first" if self.first > self.second else "second"
            means = f"the judge prefers the {side} answer it reads" if self.prefers_a_place else "that may be chance"
            said.append(f"{stays} ({p}): {means}.")
        else:
            said.append("The rows have no 'decision_swapped', so position bias can't be seen.")
        if self.a_better is None or self.people is None:
            said.append(f"There are {self.labels} labels: at least {MIN_LABELS} are needed to correct the judge.")
        elif self.labels == self.pairs:
            said.append("All pairs have a label, so nothing is left to correct.")
        else:
            judge, people = (f"{number(e.value)} {_ends(e, 1)}" for e in (self.judge, self.people))
            said += [
                f"A is better in {number(self.a_better.value)} {_ends(self.a_better, 1)} of the pairs, corrected for "
                f"the judge's errors.",
                f"The judge alone: {judge}. The {self.labels} labels alone: {people}.",
                f"The {self.labels:,} labels with the judge are worth about {round(self.worth):,} alone."
                if self.helps
                else "The judge saves no labels: its decisions tell next to nothing of them.",
            ]
        if self.worth_asking > self.labels:
            said.append(f"About {self.worth_asking - self.labels:,} more labels are worth asking for.")
        return said


class Decisions(NamedTuple):
    """A judge's decisions on pairs as numbers: 1 where A is better, 0 where B is, ½ for a tie; NaN where there is none.

    `other` is what it says if the two change places, about the same answers as `one`.
    """

    one: Array
    other: Array
    label: Array


def read_decisions(path: str | Path) -> Decisions:
    """The decisions of JSON lines with `decision`, `decision_swapped` and `label`, in any form that is known."""
    decided, turned, labels = [], [], []
    for line, row in _with_both_orders(Path(path)):
        numbers = []
        for name in ("decision", "decision_swapped", "label"):
            given = row.get(name)
            text = "" if given is None else str(given).replace(" ", "").upper()
            if text and text not in _SIDES:
                raise DataError(f"{name} must be A>B, B>A or A=B (or A, B, tie), not {str(given)!r:.40}.", path, line)
            numbers.append(_SIDES[text] if text else np.nan)
        if np.isnan(numbers[0]):
            raise DataError("there is no 'decision' in this row.", path, line)
        if numbers[2] == 0.5:
            raise DataError("label must be A>B or B>A: a tie is no answer to which is better.", path, line)
        decided.append(numbers[0])
        turned.append(1 - numbers[1])  # as if the two had kept their places
        labels.append(numbers[2])
    if not decided:
        raise NothingEvaluated(f"{path}: there is no row in it.")
    found = Decisions(np.array(decided), np.array(turned), np.array(labels))
    both_ways = ~np.isnan(found.other)
    if both_ways.any() and not both_ways.all():
        line = int(np.flatnonzero(~both_ways)[0]) + 1
        raise DataError("there is no 'decision_swapped' in this row. Give it in all rows, or in none.", path, line)
    return found


def judge_preferences(path: str | Path, level: float = 0.95) -> Preferences:
    """What JSON lines with `decision`, `decision_swapped` and `label` show of a judge.

    All three are `A>B`, `B>A` or `A=B`; or `A`, `B` or `tie`. `decision_swapped` is what the judge says once the two
    have changed places, as it says it: its A is the answer that is shown first. Rows without a label are corrected by
    those that have one, which must be chosen at random.
    """
    one, other, label = read_decisions(path)
    labelled = ~np.isnan(label)
    swapped = not np.isnan(other).any()
    together = (one + other) / 2 if swapped else one
    n, k = len(one), int(labelled.sum())
    signed = {"decisions": digest(one, np.nan_to_num(other, nan=-1.0), np.nan_to_num(label, nan=-1.0)), "level": level}

    def share(name: str, hits: Array) -> Estimate:
        signature = sign({"measure": f"preference.{name}:{VERSION}", **signed})
        if not len(hits):
            return Estimate(None, None, None, 0, 0, signature)
        if np.isin(hits, (0.0, 1.0)).all():
            low, high = clopper_pearson(float(hits.sum()), len(hits), level)
            return Estimate(float(hits.mean()), low, high, len(hits), 0, signature, over="pairs like these")
        ends = mean_interval(hits, (0.0, 1.0), level)
        return Estimate(float(hits.mean()), *ends, len(hits), 0, signature, over="pairs like these")

    decision = np.where(together > 0.5, 1.0, np.where(together < 0.5, 0.0, 0.5))
    right = share("right", (decision[labelled] == label[labelled]).astype(np.float64))
    # the same words in both orders: the judge stays with the place, not with the answer
    first, second = int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())
    corrected = people = None
    worth, helps = float(k), False
    if k >= MIN_LABELS:
        made = prediction_powered(together[~labelled], together[labelled], label[labelled], level=level)
        corrected, people, worth, helps = made.corrected, made.people, made.worth, made.judge_helps
    kappa = 0.0
    if right.value is not None and np.ptp(label[labelled]) > 0:
        kappa = min(max(2 * right.value - 1, 0.0), 0.99)
    _, asking = labels_worth_asking(together, [kappa], None, level) if n > 1 else ([], [0])
    return Preferences(
        pairs=n, labels=k, right=right, changed=share("changed", (one != other).astype(float)) if swapped else None,
        first=first, second=second, p=mcnemar(first, second) if swapped else None, a_better=corrected,
        judge=share("judge", one), judge_both=share("both", together) if swapped else None, people=people,
        worth=worth, helps=helps, worth_asking=asking[0],
    )  # fmt: skip


def has_preferences(path: str | Path) -> bool:
    """Do the rows of a file say which of two answers is better?"""
    try:
        _, row = next(iter(read_json_lines(Path(path), dict[str, Any])), (0, {}))
    except DataError:
        return False  # whoever reads it says what is wrong with it
    said = row.get(_name_of(row), row.get("judgments"))
    return isinstance(said, list) or str(said).replace(" ", "").upper() in _SIDES


def _name_of(row: Mapping[str, Any]) -> str:
    return next((name for name in _DECISIONS if name in row), _DECISIONS[0])


def _with_both_orders(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with `decision` and `decision_swapped`, whatever form they have in the file.

    They may be under other names, in a list `judgments` as JudgeBench has them, or in two rows of one pair, of which
    one says `swapped`.
    """
    waiting: dict[str, tuple[int, dict[str, Any]]] = {}
    for line, row in read_json_lines(path, dict[str, Any]):
        name = _name_of(row)
        both = row.get("judgments")
        if isinstance(both, list) and both and all(isinstance(one, dict) for one in both):
            row = {
                **row,
                **{key: one.get("decision") for key, one in zip(("decision", "decision_swapped"), both, strict=False)},
            }
        elif name in row:
            row = {
                **row,
                "decision": row[name],
                "decision_swapped": row.get(f"{name}_swapped", row.get("decision_swapped")),
            }
        if "swapped" not in row:
            yield line, row
            continue
        pair = next((str(row[key]) for key in _PAIR if key in row), None)
        if pair is None:
            raise DataError("a row that says whether it is 'swapped' needs the 'pair_id' of its pair.", path, line)
        if pair not in waiting:
            waiting[pair] = line, row
            continue
        _, other = waiting.pop(pair)
        if bool(other["swapped"]) == bool(row["swapped"]):
            raise DataError(
                f"two rows of the pair {pair!r:.40} have the same order: one must be 'swapped'.", path, line
            )
        first, second = (other, row) if row["swapped"] else (row, other)
        yield line, {**first, "decision_swapped": second["decision"]}
    for line, _ in waiting.values():
        raise DataError("the pair of this row has no row in the other order.", path, line)


def _ends(e: Estimate, times: float = 100) -> str:
    if e.low is None or e.high is None:
        return ""
    return f"[{100 * e.low:.1f}%, {100 * e.high:.1f}%]" if times == 100 else f"[{number(e.low)}, {number(e.high)}]"
