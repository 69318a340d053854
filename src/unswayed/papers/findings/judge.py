"""JudgeBench: a judge's verdicts on pairs of answers, in both orders, with the objectively right ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.base import DataError
from unswayed.measure import Decisions, Preferences, judge_preferences, read_decisions
from unswayed.papers.findings.pictures import order_grid
from unswayed.papers.findings.published import stem_of
from unswayed.report import Figure, Picture, Printed, Row, Section, SectionTable, scaled
from unswayed.stats import prediction_powered

FOLDER = "judgebench"
_SIDES = {1.0: "A>B", 0.5: "A=B", 0.0: "B>A"}
_SHOWN = ("A is better", "tie", "B is better")
_LABELS, _SAMPLES = 100, 200  # labels that people would give, and how often they are drawn anew
NOT_SHOWN = (
    "What this does not show: labels are right or wrong by a test, which suits questions with one answer, not taste. "
    "The pairs were chosen to be hard, so that a judge is right less often here than on other answers."
)


def findings(folder: Path) -> Printed:
    """A section for each judge whose verdicts are there."""
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    if not files:
        raise DataError("there are no verdicts here: files JUDGE.jsonl.", folder)
    value: dict[str, Any] = {}
    sections, first = list[Section](), list[str]()
    for file in files:
        found = judge_preferences(file)
        entry, section = _judge(stem_of(file), found, read_decisions(file))
        value[stem_of(file)] = entry
        sections.append(section)
        first += entry["sentences"][:1]
    return Printed(value, sections, first)


def _judge(name: str, found: Preferences, said_of: Decisions) -> tuple[dict[str, Any], Section]:
    swapped = not np.isnan(said_of.other).any()
    both = zip(said_of.one.tolist(), said_of.other.tolist(), strict=True) if swapped else ()
    grid = Counter((_SIDES[one], _SIDES[other]) for one, other in both)
    entry: dict[str, Any] = {
        "pairs": found.pairs, "right": found.right.value, "low": found.right.low, "high": found.right.high,
        "changed": None if found.changed is None else found.changed.value, "first": found.first, "second": found.second,
        "p": found.p, "grid": {f"{one} {other}": n for (one, other), n in grid.items()},
    }  # fmt: skip
    said = []
    if found.changed is not None and found.changed.value is not None and found.right.value is not None:
        places = f"; where it stays with a place, that is the first {found.first} times and the second {found.second}"
        said.append(
            f"{name} as a judge of {found.pairs:,} pairs: right in {found.right.value:.1%} over both orders "
            f"[{found.right.low:.1%}, {found.right.high:.1%}], and {found.changed.value:.1%} of its verdicts change if "
            f"the answers change places{places}."
        )
    table: list[Row] = [{
        "judge": name, "pairs": found.pairs,
        "right, both orders, %": scaled(found.right), "changes with the order, %": scaled(found.changed),
        "stays with the first": found.first, "with the second": found.second,
    }]  # fmt: skip
    tables = [SectionTable("Position", table)]
    if corrected := _with_few_labels(said_of):
        entry["corrected"] = corrected
        helps = corrected["width"] < 0.98 * corrected["labels_width"]
        tables.append(SectionTable(
            f"The share of pairs in which A is better, as {_LABELS} labels with the judge show it "
            f"(means over {_SAMPLES} samples of labels)",
            [{"with": what, "width of the interval": Figure(f"{corrected[width]:.3f}"),
              "covers what all labels say": Figure(f"{corrected[covers]:.0%}")}
             for what, width, covers in (
                 (f"{_LABELS} labels and the judge, corrected", "width", "covers"),
                 (f"{_LABELS} labels alone", "labels_width", "labels_cover"),
                 ("the judge alone", "judge_width", "judge_covers"))],
        ))  # fmt: skip
        said.append(
            f"{_LABELS} labels with the judge's verdicts give an interval {corrected['width']:.3f} wide, and "
            f"{corrected['labels_width']:.3f} without them."
            + ("" if helps else " The judge saves no labels: its verdicts tell next to nothing of them.")
        )
    drawn = []
    if grid:
        note = "blue: the same in both orders\nbrown: changes with the order\n\nA: the answer listed first"
        cells = {(a, b): grid[x, y] for a, x in zip(_SHOWN, _SIDES.values(), strict=True)
                 for b, y in zip(_SHOWN, _SIDES.values(), strict=True)}  # fmt: skip
        title = f"{name}: verdicts by order"
        drawn = [Picture(title, order_grid(cells, _SHOWN, title, note))]
    entry["sentences"] = said
    command = (
        f"unswayed study findings --data FOLDER --only judge (ScalerLab/JudgeBench, no licence stated: FOLDER/{FOLDER})"
    )
    return entry, Section(f"{name} as a judge", [*said, *found.sentences(), NOT_SHOWN, command], tables, drawn)


def _with_few_labels(decisions: Decisions) -> dict[str, float] | None:
    """How wide intervals are if only some pairs had a label, and how often they hold what all labels say."""
    known = ~np.isnan(decisions.label) & ~np.isnan(decisions.other)
    if int(known.sum()) < 2 * _LABELS:
        return None
    said, right = ((decisions.one + decisions.other) / 2)[known], decisions.label[known]
    truth, rng = float(right.mean()), np.random.Generator(np.random.PCG64(0))
    widths = np.zeros((_SAMPLES, 3))
    covers = np.zeros((_SAMPLES, 3))
    for n in range(_SAMPLES):
        drawn = rng.integers(len(right), size=len(right))  # pairs like these, of which the first have a label
        one, rest = drawn[:_LABELS], drawn[_LABELS:]
        made = prediction_powered(said[rest], said[one], right[one])
        for k, found in enumerate((made.corrected, made.people, made.judge)):
            if found.low is not None and found.high is not None:
                widths[n, k], covers[n, k] = found.high - found.low, found.low <= truth <= found.high
    names = ("width", "labels_width", "judge_width"), ("covers", "labels_cover", "judge_covers")
    means = (*zip(names[0], widths.mean(axis=0), strict=True), *zip(names[1], covers.mean(axis=0), strict=True))
    return {name: float(mean) for name, mean in means}
