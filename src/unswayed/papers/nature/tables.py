"""Tables 1 to 5 of NATURE as plain data: ours, as estimates, beside the paper's. All shares are from 0 to 1."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from unswayed.base import Estimate, Json
from unswayed.measure import compare, measure_run
from unswayed.papers.nature.acceptance import read_acceptance
from unswayed.papers.nature.corpora import PAPERS, SluCorpus, sizes
from unswayed.run import Run
from unswayed.stats import Observations, Question, Ratio, Resampling, estimates, mean_of, over_trainings, sign
from unswayed.storage import Suite

# The paper's names of the operators, in the order of its Table 2.
OPERATORS = {
    "BOS Filler": "spoken/filler_begin",
    "Pre-V. Filler": "spoken/filler_pre_verb",
    "Post-V. Filler": "spoken/filler_post_verb",
    "EOS Filler": "spoken/filler_end",
    "Syn. V.": "spoken/synonym_verb",
    "Syn. Adj.": "spoken/synonym_adjective",
    "Syn. Adv.": "spoken/synonym_adverb",
    "Syn. Any": "spoken/synonym_any",
    "Syn. StopW": "spoken/synonym_stopword",
    "Speako": "spoken/speako",
}
# Whose place a noun takes, by the paper's rule: where an utterance has no word of the class.
CLASSES = {"Syn. V.": "verb", "Syn. Adj.": "adjective", "Syn. Adv.": "adverb", "Syn. StopW": "stop-word"}
_CLASS = re.compile(r"\(([a-z-]+)\)$")  # at the end of a synonym's note
SCORES = {"slot": "slot_f1", "intent": "intent_accuracy", "e2e": "end_to_end"}
AVERAGE = "average"

Cells = dict[str, Estimate]  # by score
Rows = dict[str, Cells]  # by test set: Orig, Rand, Hard, or an operator


class Runs(NamedTuple):
    """One system on the sets of a data set; the one trained with augmentation is not asked about single operators."""

    random: Run
    hard: Run
    each: Run | None = None


@cache
def paper() -> dict[str, Json]:
    """The paper's numbers as it prints them."""
    return tomllib.loads((files("unswayed.papers.nature") / "paper.toml").read_text("utf-8"))


def table1(corpora: Sequence[SluCorpus]) -> Json:
    return {
        "ours": {c.name: {part: size._asdict() for part, size in sizes(c).items()} for c in corpora},
        "paper": {
            name: {part: dict(zip(("sentences", "words", "vocabulary"), row, strict=True)) for part, row in of.items()}
            for name, of in paper()["table1"].items()
        },
    }


def table2(hard: Mapping[str, Suite]) -> Json:
    """The share of each operator in Hard, by data set, and who selected."""
    ours = {}
    for name, suite in hard.items():
        found = shares(suite, list(OPERATORS.values()))
        ours[name] = {label: found[operator] for label, operator in OPERATORS.items()}
    printed: dict[str, dict[str, float]] = {name: {} for name in PAPERS}
    for label, row in paper()["table2"].items():
        for name, value in row.items():
            printed[name][label] = _share(value)
    selectors = {name: suite.manifest.set["selector"] for name, suite in hard.items()}
    ties = {name: (suite.manifest.ties, suite.manifest.variants) for name, suite in hard.items()}
    return {"ours": ours, "selector": selectors, "ties": ties, "paper": printed}


def mixture(random: Mapping[str, Suite]) -> Json:
    """The share of each operator in Random, by data set; evenly drawn, each has a tenth."""
    found = {name: shares(suite, list(OPERATORS.values())) for name, suite in random.items()}
    return {name: {label: of[operator] for label, operator in OPERATORS.items()} for name, of in found.items()}


def classes(runs: Mapping[str, Sequence[Runs]]) -> Json:
    """Data set → synonym operator → class of the word replaced: how often, and right end to end before and after.

    The shares are means over trainings, of the same utterances.
    """
    whole: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    labels = {operator: label for label, operator in OPERATORS.items() if label.startswith("Syn.")}
    for name, trainings in runs.items():
        counts: dict[tuple[str, str], list[int]] = {}
        for of in trainings:
            assert of.each is not None
            for example, clean, varied in of.each.items():
                before = clean.ok and clean.value == example.gold
                for variant, output in varied:
                    told = _CLASS.search(variant.note)
                    if told and (label := labels.get(variant.source)):
                        count = counts.setdefault((label, told[1]), [0, 0, 0])
                        count[0] += 1
                        count[1] += before
                        count[2] += output.ok and output.value == variant.gold
        for label in labels.values():
            own = {kind: count for (of_label, kind), count in counts.items() if of_label == label}
            for kind, (n, before, after) in sorted(own.items(), key=lambda item: -item[1][0]):
                cell = {"n": n // len(trainings), "original": before / n, "altered": after / n}
                whole.setdefault(name, {}).setdefault(label, {})[kind] = cell
    return whole


def table3(survey: tuple[str, ...] | None, suites: Sequence[Suite]) -> Json:
    """What people said, where they were asked; else the command with which to ask them."""
    printed = {question: {k: _share(v) for k, v in row.items()} for question, row in paper()["table3"].items()}
    if survey is None:
        command = shlex.join(["unswayed", "survey", "export", *(str(s.path) for s in suites), "-o", "items.jsonl"])
        return {"ours": None, "needs": command, "paper": printed}
    found = read_acceptance(*survey)
    groups = [a for a in found.sets if a.set == "group"]
    ours = {question: {a.name: getattr(a, question) for a in groups} for question in ("slots", "intent")}
    return {"ours": ours, "sets": found.sets, "warnings": found.warnings, "paper": printed}


def printed_shares() -> dict[str, dict[str, float]]:
    """By group, such as `1 altered`, what the paper's participants found reasonable."""
    found: dict[str, dict[str, float]] = {}
    for question, row in paper()["table3"].items():
        for name, value in row.items():
            found.setdefault(name, {})[f"paper: {question}"] = _share(value)
    return found


def table4(runs: Mapping[str, Sequence[Runs]]) -> Json:
    """Slot F1, intent accuracy and end to end on every set; and the end-to-end drop on the very same utterances.

    Each is the mean over trainings, and its interval includes how much they differ.
    """
    ours: dict[str, Rows] = {}
    drops: dict[str, dict[str, Estimate]] = {}
    for name, trainings in runs.items():
        found = [_performance(of) for of in trainings]
        first_rows, first_drops = found[0]
        ours[name] = {
            row: {score: over_trainings([rows[row][score] for rows, _ in found], within=(0, 1)) for score in SCORES}
            for row in first_rows
        }
        drops[name] = {row: over_trainings([lost[row] for _, lost in found]) for row in first_drops}
    if len(runs) > 1:
        both = list(ours.values())
        ours[AVERAGE] = {
            row: {score: mean_of([rows[row][score] for rows in both]) for score in SCORES} for row in both[0]
        }
        drops[AVERAGE] = {row: mean_of([d[row] for d in drops.values()]) for row in next(iter(drops.values()))}
    printed = {model: paper_rows(rows, list(runs)) for model, rows in paper()["table4"].items()}
    return {"ours": ours, "drop": drops, "trainings": min(map(len, runs.values()), default=0), "paper": printed}


def _performance(runs: Runs) -> tuple[Rows, dict[str, Estimate]]:
    assert runs.each is not None
    random, hard = (
        measure_run(run, {"measure": {"scores": list(SCORES.values())[::-1]}}) for run in (runs.random, runs.hard)
    )
    rows: Rows = {row: {} for row in ("Orig", "Rand", "Hard", *OPERATORS)}
    drops = {"Rand": random.drop, "Hard": hard.drop}
    for score, scorer in SCORES.items():
        by_operator = measure_run(runs.each, {"measure": {"scores": [scorer]}}).by("operator")
        of_random = random.scores.get(scorer) or {"clean": random.clean, "average": random.average}
        of_hard = hard.scores.get(scorer) or {"average": hard.average}
        rows["Orig"][score], rows["Rand"][score] = of_random["clean"], of_random["average"]
        rows["Hard"][score] = of_hard["average"]
        for label, operator in OPERATORS.items():
            if operator not in by_operator:
                rows.pop(label, None)  # it found nothing to change in the whole data set
                continue
            rows[label][score] = by_operator[operator].average
            if score == "e2e":
                drops[label] = by_operator[operator].drop
    return rows, drops


def paper_rows(printed: Mapping[str, Sequence[float]], corpora: Sequence[str]) -> Json:
    """Data set → test set → score of one of the paper's models."""
    rows = {
        name: {
            row: dict(zip(SCORES, map(_share, values[3 * i : 3 * i + 3]), strict=True))
            for row, values in printed.items()
        }
        for i, name in enumerate((*PAPERS, AVERAGE))
    }
    return _averaged(rows, corpora)


def _averaged(rows: dict[str, dict[str, dict[str, float]]], corpora: Sequence[str]) -> Json:
    """The paper's rows, whose average is over the data sets that we have too, where we have not all of them."""
    shared = [rows[name] for name in PAPERS if name in corpora]
    if 0 < len(shared) < len(PAPERS):
        rows[AVERAGE] = {
            row: {key: round(sum(of[row][key] for of in shared) / len(shared), 4) for key in cells}
            for row, cells in rows[AVERAGE].items()
        }
    return rows


def table5(plain: Mapping[str, Sequence[Runs]], augmented: Mapping[str, Sequence[Runs]]) -> Json:
    """End to end without and with augmentation, and the difference, utterance by utterance."""
    ours: dict[str, Json] = {}
    for name, runs in augmented.items():
        found = [dict(_gains(*pair)) for pair in zip(plain[name], runs, strict=False)]
        ours[name] = {
            row: {side: over_trainings([f[row][side] for f in found]) for side in ("without", "with", "gain")}
            for row in found[0]
        }
    if len(ours) > 1:
        sets, both = ("Orig", "Rand", "Hard"), list(ours.values())
        ours[AVERAGE] = {
            row: {side: mean_of([of[row][side] for of in both]) for side in ("without", "with", "gain")} for row in sets
        }
    printed = {
        name: {
            row: {"without": _share(of[name][0]), "with": _share(of[name][1])} for row, of in paper()["table5"].items()
        }
        for name in (*PAPERS, AVERAGE)
    }
    return {"ours": ours, "paper": _averaged(printed, list(augmented))}


def _gains(plain: Runs, augmented: Runs) -> Iterator[tuple[str, Json]]:
    for row, measure, set_ in (("Orig", "clean", "random"), ("Rand", "average", "random"), ("Hard", "average", "hard")):
        pair = getattr(plain, set_), getattr(augmented, set_)
        without, with_ = (
            getattr(measure_run(run, {"measure": {"scores": ["end_to_end"]}}).whole, measure) for run in pair
        )
        compared = compare(*pair, scores=["end_to_end"]).differences
        gain = next(d for d in compared if (d.measure, d.set) == (measure, "all"))
        yield row, {"without": without, "with": with_, "gain": gain.estimate}


def _share(percent: float) -> float:
    return round(percent / 100, 4)


VERSION = 1  # of this definition; part of every signature


def shares(suite: Suite, sources: Sequence[str], settings: Resampling | None = None) -> dict[str, Estimate]:
    """For each of the sources the share of all variants that are its own."""
    settings = settings or Resampling()
    made = [[variant.source for variant in variants] for _, variants in suite.groups()]
    made = [names for names in made if names]
    missing = np.zeros(len(made), dtype=np.int64)
    asked = []
    for source in sources:
        rows = np.array([[names.count(source), len(names)] for names in made], dtype=float).reshape(-1, 2)
        column = Observations(np.arange(len(made)), rows, Ratio(), missing)
        signed = {"measure": f"share:{VERSION}", "set": f"operator={source}", "suite": suite.signed}
        asked.append(Question(column, sign(signed, settings)))
    return dict(zip(sources, estimates(asked, settings), strict=True))
