"""Model families beside each other, and end-to-end accuracy by filler: what Table 4 does not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unswayed.base import Estimate, Json
from unswayed.measure import compare, measure_run
from unswayed.papers.nature.tables import AVERAGE, OPERATORS, Runs, paper, paper_rows
from unswayed.run import Run
from unswayed.stats import Observations, Question, Ratio, Resampling, estimates, mean_of, over_trainings, sign

SETS = {"Orig": ("random", "clean"), "Rand": ("random", "average"), "Hard": ("hard", "average")}
FILLERS = tuple(label for label in OPERATORS if label.endswith("Filler"))
VERSION = 1  # of these definitions; part of every signature


def compared(runs: Mapping[str, Mapping[str, Sequence[Runs]]]) -> Json:
    """End to end by model, data set and test set, and each model's gap to the first on the same utterances."""
    first = next(iter(runs))
    ours: dict[str, Any] = {}
    for model, by_data in runs.items():
        rows = {name: _rows(runs[first][name], trainings, model == first) for name, trainings in by_data.items()}
        if len(rows) > 1:
            both = list(rows.values())
            rows[AVERAGE] = {s: {k: mean_of([of[s][k] for of in both]) for k in both[0][s]} for s in SETS}
        ours[model] = rows
    return {"ours": ours, "first": first, "paper": _paper_gaps(list(runs[first]))}


def _paper_gaps(corpora: Sequence[str]) -> Json:
    """Data set → test set → end to end of the paper's Stack-Prop+BERT less that of its Bi-RNN."""
    rnn, bert = (paper_rows(paper()["table4"][model], corpora) for model in ("Bi-RNN", "Stack-Prop+BERT"))
    return {name: {s: round(bert[name][s]["e2e"] - rnn[name][s]["e2e"], 4) for s in SETS} for name in rnn}


def _rows(base: Sequence[Runs], other: Sequence[Runs], same: bool) -> dict[str, dict[str, Estimate]]:
    rows: dict[str, dict[str, Estimate]] = {}
    for label, (set_, measure) in SETS.items():
        of = [
            getattr(measure_run(getattr(r, set_), {"measure": {"scores": ["end_to_end"]}}).whole, measure)
            for r in other
        ]
        rows[label] = {"e2e": over_trainings(of, within=(0, 1))}
        if not same:
            pairs = [(getattr(a, set_), getattr(b, set_)) for a, b in zip(base, other, strict=False)]
            rows[label]["gap"] = over_trainings([_gap(a, b, measure) for a, b in pairs])
    return rows


def _gap(base: Run, other: Run, measure: str) -> Estimate:
    found = compare(base, other, scores=["end_to_end"]).differences
    return next(d.estimate for d in found if (d.measure, d.set) == (measure, "all"))


def by_filler(runs: Mapping[str, Sequence[Runs]]) -> Json:
    """Data set → position → filler → end to end of the utterances that have it."""
    return {"ours": {name: _by_filler([r.each for r in trainings if r.each]) for name, trainings in runs.items()}}


def _by_filler(runs: Sequence[Run]) -> Json:
    per_run = [_estimated(run) for run in runs]
    return {
        label: {
            filler: over_trainings([found[label][filler] for found in per_run], within=(0, 1))
            for filler in sorted(fillers)
        }
        for label, fillers in per_run[0].items()
    }


def _estimated(run: Run) -> dict[str, dict[str, Estimate]]:
    """Each example has at most one variant of a position, so a filler's rows are examples."""
    right: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    labels = {OPERATORS[label]: label for label in FILLERS}
    for example, _, varied in run.items():
        for variant, output in varied:
            if variant.source in labels and output.ok:
                said = variant.note.split('"')[1]
                right.setdefault((labels[variant.source], said), []).append((example.row, output.value == variant.gold))
    settings, asked = Resampling(), []
    for (label, filler), rows in right.items():
        places, counts = np.array([row for row, _ in rows]), np.array([[r, 1] for _, r in rows], dtype=float)
        column = Observations(places, counts, Ratio(), np.zeros(int(places.max()) + 1, dtype=np.int64))
        facts = {
            "measure": f"filler:{VERSION}",
            "set": f"{label} {filler}",
            "suite": run.suite.signed,
            "system": run.identity,
        }
        asked.append(Question(column, sign(facts, settings)))
    found: dict[str, dict[str, Estimate]] = {}
    for (label, filler), estimate in zip(right, estimates(asked, settings), strict=True):
        found.setdefault(label, {})[filler] = estimate
    return found
