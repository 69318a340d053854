"""Retrieval-augmented generation end to end: was the passage lost, or did the answer change in spite of it?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.base.text import figure
from unswayed.base.values import Estimate
from unswayed.measure.changes import as_measured, flips
from unswayed.measure.measuring import Runlike, items_of, run_of
from unswayed.measure.results import Cells, Results, Tabular
from unswayed.stats import Numbers, mean_interval, sign

Key = tuple[str, str, int]  # a variant: the example's id, the operator and the draw
_NAMES = ("passage lost, answer changed", "passage lost, answer kept", "passage kept, answer changed",
          "passage kept, answer kept")  # fmt: skip


class PassageLosses(Tabular, msgspec.Struct, frozen=True, kw_only=True):
    """Varied questions by what happened to their passage and to their answer, in all (`all`) and by operator.

    Example: `passage_losses(retrieval, answers).explained.value`.

    `explained` is the share of changed answers whose passage was lost. `when_lost` and `when_kept` are the shares of
    answers that change with a lost passage, and in spite of one that is kept.
    """

    by: dict[str, dict[str, int]]
    explained: Estimate
    when_lost: Estimate
    when_kept: Estimate

    @property
    def sentences(self) -> list[str]:
        counts = self.by["all"]
        whole, lost = sum(counts.values()), counts[_NAMES[0]] + counts[_NAMES[1]]
        said = [f"A relevant passage that was found is lost in {lost:,} of {whole:,} varied questions."]
        for what, one in (("a lost passage", self.when_lost), ("its passage kept", self.when_kept)):
            if one.value is not None:
                said.append(f"With {what}, the answer changes in {one.value:.0%} of them.")
        if self.explained.value is not None:
            span = f" [{self.explained.low:.0%}, {self.explained.high:.0%}]" if self.explained.low is not None else ""
            said.append(f"Of the answers that change, {self.explained.value:.0%}{span} have lost a passage.")
        return said

    def _rows(self) -> list[Cells]:
        return [{"operator": name, **counts} for name, counts in self.by.items()]

    def _shown(self) -> tuple[list[str], list[Cells]]:
        return [*self.sentences, f"Changed answers with a lost passage: {figure(self.explained)}"], self._rows()


def passage_losses(
    retrieval: Runlike | Results | str | Path, answers: Runlike | Results | str | Path, level: float = 0.95
) -> PassageLosses:
    """Holds a retriever's run (task `retrieve`) beside the run of the whole system, question by question.

    Both runs need the same questions with the same ids, operators, draws and seed: variants are paired by them, and
    must have the same text. A passage is lost, and an answer changes, by the rules that the two runs are measured with.
    """
    runs, changed, texts = [], [], []
    for given in (retrieval, answers):
        run = run_of(given)
        how = as_measured(given) if isinstance(given, Results) else (None, "", "", None)
        moved = {
            (f.example.id, f.variant.source, f.variant.draw) for f in flips(run, *how) if f.variant.meaning == "same"
        }
        said: dict[Key, tuple[bool, frozenset[str]]] = {}
        for example, clean, varied in items_of(run):
            for variant, output in varied:
                if variant.meaning == "same":
                    key = example.id, variant.source, variant.draw
                    said[key] = clean.ok and output.ok, frozenset(variant.inputs.values())
        runs.append(run)
        changed.append(moved)
        texts.append(said)
    if runs[0].suite.task.name != "retrieve":
        raise UsageError(f"The first run must be of the task retrieve, not of {runs[0].suite.task.name}.")
    both = [key for key in texts[0] if key in texts[1]]
    unlike = [key for key in both if not texts[0][key][1] & texts[1][key][1]]
    if not both or unlike:
        what = f"{len(unlike):,} of {len(both):,} variants have another text" if both else "no variant is in both"
        raise UsageError(f"The runs are not of the same questions: {what}. Give both the same ids, operators and seed.")
    by: dict[str, Counter[str]] = {"all": Counter()}
    rows: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for key in both:
        if not (texts[0][key][0] and texts[1][key][0]):
            continue
        name = _NAMES[2 * (key not in changed[0]) + (key not in changed[1])]
        for of in ("all", key[1]):
            by.setdefault(of, Counter())[name] += 1
        rows.setdefault(key[0], np.zeros(4))[_NAMES.index(name)] += 1
    if not rows:
        raise NothingEvaluated("No varied question has both a ranking and an answer.")
    cells = np.array(list(rows.values()))

    def share(name: str, of: list[int], among: list[int]) -> Estimate:
        """The share of some cells among others, by example."""
        total, weight = cells[:, of].sum(axis=1), cells[:, among].sum(axis=1)
        n, signature = int(weight.sum()), sign({"measure": f"passages.{name}", "level": level, "examples": len(cells)})
        if not n:
            return Estimate(None, None, None, 0, 0, signature)
        low, high = mean_interval(Numbers(total, weight, np.ones(len(cells))), level=level)
        return Estimate(float(total.sum() / n), low, high, n, 0, signature)

    return PassageLosses(
        by={name: {cell: counts[cell] for cell in _NAMES} for name, counts in by.items()},
        explained=share("explained", [0], [0, 2]), when_lost=share("when_lost", [0], [0, 1]),
        when_kept=share("when_kept", [2], [2, 3]),
    )  # fmt: skip
