"""READIN's tables as plain data: ours, as estimates, beside the paper's in per cent."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from unswayed.base import Estimate, Json, option_name, task_named
from unswayed.lab import typing_errors
from unswayed.measure import PeopleBlock, compare, measure_run
from unswayed.papers.readin.layout import clean_file, people_in
from unswayed.papers.readin.methods import PLAIN, ReadinCorpus
from unswayed.papers.readin.reader import read_rows
from unswayed.run import Run
from unswayed.stats import over_trainings
from unswayed.storage import Suite

MEASURES = ("clean", "average", "worst")
# Column → its corpus, and the score of each measure, which READIN does not always take the same.
COLUMNS: dict[str, tuple[str, dict[str, str]]] = {
    "afqmc_positive": ("afqmc", dict.fromkeys(MEASURES, "positive_accuracy")),
    "afqmc_negative": ("afqmc", dict.fromkeys(MEASURES, "negative_accuracy")),
    "afqmc": ("afqmc", dict.fromkeys(MEASURES, "macro_f1")),
    "cmrc2018": ("cmrc2018", dict.fromkeys(MEASURES, "cmrc_exact_match")),
    "cspider": ("cspider", dict.fromkeys(MEASURES, "sql_match")),
    "nmt": ("nmt", {"clean": "bleu", "average": "bleu", "worst": "sentence_bleu"}),
}
TABLES = {
    "table5": ("afqmc_positive", "afqmc_negative", "cmrc2018"),
    "table6": ("cspider", "nmt"),
    "table7": ("afqmc_positive",),
    "table9": ("afqmc",),
}
_NOT_IN_7 = ("correction",)
BY_SENTENCE = "average_by_sentence"  # of BLEU, where READIN's average is of whole sets and its worst of sentences
OVER_NOISE = "over_noise"  # what SubChar adds where both systems were trained with the same noisy copies


@cache
def paper() -> dict[str, Json]:
    """The paper's numbers as it prints them."""
    return tomllib.loads((files("unswayed.papers.readin") / "paper.toml").read_text("utf-8"))


def table2(corpora: Mapping[str, ReadinCorpus]) -> Json:
    """How many examples each part of a corpus has, and of the test set how many each person entered."""
    ours: dict[str, dict[str, int]] = {}
    for name, corpus in corpora.items():
        parts = {"train": corpus.part("train"), "dev": corpus.part("dev"), "test": clean_file(corpus.folder)}
        ours[name] = {part: _rows(file) for part, file in parts.items() if file is not None}
        for person in people_in(corpus.folder):
            ours[name][f"{person.family} {person.number}"] = _rows(person.file)
    return {"ours": ours, "paper": paper()["table2"]}


def _rows(file: Path) -> int:
    return sum(1 for _ in read_rows(file, strip=True))


def scores_table(name: str, corpora: Mapping[str, ReadinCorpus], raw: bool = False) -> Json:
    """Family → column → method → clean, average, worst-average (`worst`), and what the mitigation gains over plain.

    SubChar with noisy copies has a gain over the copies alone too. With `raw`, answers to CMRC2018 are compared as they
    are written.
    """
    ours: dict[str, dict[str, dict[str, Json]]] = {}
    for column in TABLES[name]:
        owner, scores = COLUMNS[column]
        if raw and owner == "cmrc2018":
            scores = dict.fromkeys(MEASURES, "cmrc_exact_match_raw")
        runs = corpora[owner].runs if owner in corpora else {}
        methods = [m for m in runs if name != "table7" or m not in _NOT_IN_7]
        methods = [m for m in methods if name == "table7" or "subchar" not in m]
        for method in methods:
            cells = _over([_cells(run, scores) for run in runs[method]])
            for key, base in (("gain", PLAIN), (OVER_NOISE, method.partition("+")[2])):
                if base in methods and base != method and len(cells) == 1:  # all people entered the text the same way
                    next(iter(cells.values()))[key] = _gains(runs[base], runs[method], scores)
            for family, found in cells.items():
                ours.setdefault(family, {}).setdefault(column, {})[method] = found
    return {"ours": ours, "needs": _needs(name, corpora), "paper": paper()[name]}


def versions_of(suite: Suite) -> int:
    """How many distinct versions an example has at most.

    The worst of so many is READIN's worst-average: the mean over examples of the lowest score of all people's versions.
    """
    same = ({tuple(v.inputs.values()) for v in variants if v.meaning == "same"} for _, variants in suite.groups())
    return max(1, max(map(len, same), default=1))


def _cells(run: Run, scores: Mapping[str, str]) -> dict[str, dict[str, Json]]:
    """Family → measure → estimate."""
    found: dict[str, dict[str, Json]] = {}
    every = versions_of(run.suite)
    measured = {
        score: measure_run(run, {"measure": {"scores": [score], "groups": [], "worst_of": every}})
        for score in set(scores.values())
    }
    for measure, score in scores.items():
        for family, block in measured[score].by("family").items():
            found.setdefault(family, {})[measure] = getattr(block, measure)
    if scores["worst"] != scores["average"]:  # the average of what the worst is a minimum of, so never below it
        for family, block in measured[scores["worst"]].by("family").items():
            found[family][BY_SENTENCE] = block.average
    for family, cells in found.items():
        if (like := _like_these(measured[scores["average"]].people, family)) is not None:
            cells["average_like_these"] = like
    return found


def _like_these(people: PeopleBlock | None, family: str) -> Estimate | None:
    """The average with the interval for people like the three; none for scores of whole sets, such as BLEU."""
    if people is None or people.who != "people":
        return None
    found = people.families.get(family, {} if people.families else people.measures).get("average")
    return None if found is None else found.like_these


def _over(trainings: Sequence[dict[str, dict[str, Json]]]) -> dict[str, dict[str, Json]]:
    """The means over trainings, with intervals that include how much they differ."""
    return {
        family: {measure: over_trainings([found[family][measure] for found in trainings]) for measure in cells}
        for family, cells in trainings[0].items()
    }


def _gains(plain: Sequence[Run], other: Sequence[Run], scores: Mapping[str, str]) -> dict[str, Json]:
    """What a mitigation adds to each measure, example by example; the mean over trainings, and the largest p-value.

    A training with it is compared with the plain one of the same number, or with the only one there is. Each interval
    is of one measure by itself, as the page says of all intervals: `compare` widens those of all but its first measure,
    so that all of them hold together.
    """
    found: dict[str, list[Json]] = {}
    for n, run in enumerate(other):
        base = plain[min(n, len(plain) - 1)]
        for score in sorted(set(scores.values())):
            plan = {"measure": {"worst_of": versions_of(base.suite)}, "compare": {"correction": "none"}}
            for d in compare(base, run, scores=[score], plan=plan).differences:
                if d.set == "all" and scores.get(d.measure) == score:
                    found.setdefault(d.measure, []).append((d.estimate, d.p))
    return {
        measure: {"difference": over_trainings([e for e, _ in each]), "p": max(p for _, p in each)}
        for measure, each in found.items()
    }


def _needs(name: str, corpora: Mapping[str, ReadinCorpus]) -> list[str]:
    """What would fill the columns that are empty."""
    owners = dict.fromkeys(COLUMNS[column][0] for column in TABLES[name])
    absent = [f"{owner} is not in the data." for owner in owners if owner not in corpora]
    silent = [o for o in owners if o in corpora and not corpora[o].methods]
    return [*absent, *(f"{owner} has no system: set {option_name('system')} to {owner}=SYSTEM." for owner in silent)]


def table10(corpora: Mapping[str, ReadinCorpus]) -> Json:
    """How people slipped at the keyboard, inferred from the texts; the paper's authors watched the recordings."""
    ours = {name: found for name, corpus in corpora.items() if (found := _slips(corpus))}
    return {"ours": ours, "paper": {cell: value / 100 for cell, value in paper()["table10"].items()}}


def _slips(corpus: ReadinCorpus) -> dict[str, float]:
    clean = {e.id: e.inputs for e, _ in read_rows(clean_file(corpus.folder), strip=True)}
    texts: list[str] = []
    typed: list[str] = []
    for person in people_in(corpus.folder):
        for version, _ in read_rows(person.file, strip=True) if person.family == "keyboard" else ():
            fields = task_named(corpus.task).varied or tuple(version.inputs)
            texts += [clean[version.id][field] for field in fields]
            typed += [version.inputs[field] for field in fields]
    found = typing_errors(texts, typed) if texts else {}
    return {cell: found[cell] for cell in paper()["table10"] if cell in found}
