"""Dialect-robust evaluation (ACL 2023): do metrics prefer a dialect to a changed meaning? Five tables and Figure 2."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from unfazed.core import AnswerStore, Json, UsageError, option_name
from unfazed.measure import TIES
from unfazed.papers.dialect import page
from unfazed.papers.dialect.material import TrialFiles, named_files, read_judged, read_trials, write_material
from unfazed.papers.dialect.tables import WinSettings, hold_together, measured
from unfazed.report import Given, Option, Printed, Study, StudyContext, StudyTable
from unfazed.systems import Metric, Scores, open_system

# What of a metric's entry each table prints; together they are all of it.
_PARTS = {
    "table1": ("success", "success_over_mt", "robust", "by", "unmeasured", "paper"),
    "table2": ("effect", "paper"),
    "table4": ("success", "unmeasured", "paper"),
    "table5": ("awareness",),
    "table8": ("excluded", "excluded_by", "examples"),
    "figure2": ("effect",),
}


class _Stages(StudyContext):
    """The metrics on the trials of each language, measured once for all tables."""

    @cached_property
    def files(self) -> TrialFiles:
        given = self.given
        return TrialFiles(
            named_files(given.get("mt") or (), "mt"),
            named_files(given.get("perturbed") or (), "perturbed"),
            read_judged(Path(given["judged"]) if given.get("judged") else None),
        )

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        return {name: open_system(name, Metric) for name in self.given.get("metric") or ("bleu", "chrf", "yisi1")}

    @cached_property
    def found(self) -> dict[str, dict[str, dict[str, Json]]]:
        """By language and metric: success, effect, what was left out, and the paper's numbers."""
        metrics = self.metrics
        trials = read_trials(self.data, self.files, int(self.given.get("seed") or 0))
        settings = _settings(self.given)
        with AnswerStore.writer(self.to / "scores") as store:
            opened = {name: Scores(metric, store) for name, metric in metrics.items()}
            found = {
                t.language: {name: measured(t, scores, settings) for name, scores in opened.items()} for t in trials
            }
            print(f"Scores: {store.told().sentence}.", file=sys.stderr)
        hold_together(found)
        for language, entries in found.items():
            for name, entry in entries.items():
                entry["paper"] = _printed(language, name)
                if entry.get("unmeasured"):
                    print(f"{language}, {name}: not measured. {entry['unmeasured']}.", file=sys.stderr)
                _tell(language, name, entry)
        write_material(self.to, trials)
        return found

    def printed(self, name: str) -> Printed:
        uses = {name: metric.uses for name, metric in self.metrics.items()}
        sections = {
            "table1": lambda: page.table1(self.found, paper(), uses, not self.files.perturbed),
            "table2": lambda: page.table2(self.found, paper()),
            "table4": lambda: page.table4(self.found, paper(), uses),
            "table5": lambda: page.table5(self.found, paper()),
            "table8": lambda: page.table8(self.found, paper()),
            "figure2": lambda: page.figure2(self.found),
        }
        value = {
            language: {m: {k: entry[k] for k in _PARTS[name] if k in entry} for m, entry in entries.items()}
            for language, entries in self.found.items()
        }
        return Printed(value, [sections[name]()])


def _table(name: str) -> StudyTable:
    return StudyTable(lambda stages: stages.printed(name))


class Dialect(Study):
    """Dialect-robust evaluation (2023): does a metric score another dialect above a changed meaning?

    DIR holds FRMT's files, or `pairs_derived.tsv` with pairs of Indian and US English, or folders of them. A control is
    made of every reference by `meaning/control`. Writes study.json, study.md and study.html, the English
    that a translation system is to translate for --mt and --perturbed, and what people are to judge: `unfazed collect
    new judge.toml` makes a study of it.

    \b
      unfazed study dialect --data frmt/ --metric bleu --metric chrf --format json
      unfazed study dialect --data data/ --metric yisi1 --metric my_module:score --mt pt=pt.txt -o out/
    """

    title = page.TITLE
    context = _Stages
    tables: ClassVar[Mapping[str, StudyTable]] = {name: _table(name) for name in _PARTS}
    options = (
        Option("to", "Folder of scores, pages and what is to be judged.", "dialect", short="-o"),
        Option("metric", "A metric of `unfazed metrics list`, or module:function. Repeatable. Default: bleu, chrf, "
               "yisi1.", multiple=True),
        Option("mt", "LANG=FILE: machine translations of LANG.source.txt, one a line. Repeatable.", multiple=True),
        Option("perturbed", "LANG=FILE: machine translations of LANG.perturbed.txt, one a line. Repeatable.",
               multiple=True),
        Option("judged", "FILE that `unfazed collect export` wrote for judge.toml. A control that no majority finds to "
               "change the meaning is left out."),
        Option("ties", "What a tie is: loss, half or drop.", "loss"),
        Option("comparisons", "By how many comparisons Bonferroni's p is multiplied.", 5),
        Option("level", "Confidence level of the intervals.", 0.95),
        Option("seed", "Another seed, other controls.", 0),
    )  # fmt: skip

    def joined(self, tables: Mapping[str, Json]) -> Json:
        """The entries by language and metric, with what each table has of them."""
        joined: dict[str, dict[str, dict[str, Json]]] = {}
        for table in tables.values():
            for language, entries in table.items():
                for metric, part in entries.items():
                    joined.setdefault(language, {}).setdefault(metric, {}).update(part)
        return joined

    def lines(self, value: Json) -> list[Json]:
        return [{"language": lang, "metric": m, **entry} for lang, es in value.items() for m, entry in es.items()]


@cache
def paper() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "paper.toml").read_text(encoding="utf-8"))


def _settings(given: Given) -> WinSettings:
    ties, level = given.get("ties") or "loss", float(given.get("level") or 0.95)
    comparisons = int(given.get("comparisons") or 5)
    if ties not in TIES:
        raise UsageError(f"{option_name('ties')} is one of {', '.join(TIES)}, not {ties!r}.")
    if not 0 < level < 1 or comparisons < 1:
        raise UsageError(
            f"{option_name('level')} lies between 0 and 1 and {option_name('comparisons')} is 1 or more, "
            f"not {level} and {comparisons}."
        )
    return WinSettings(ties, level, comparisons)


def _printed(language: str, metric: str) -> dict[str, Json] | None:
    """What the paper prints for this metric, coefficients on our scale."""
    ours = paper()["ours"].get(metric.partition(":")[0])
    if ours is None or language not in paper()["languages"]:
        return None
    place = paper()["languages"].index(language)
    entry: dict[str, Json] = {"name": ours["name"], "success": paper()["table1"][ours["name"]][place]}
    if ours["name"] in paper()["table2"]:
        value, se = paper()["table2"][ours["name"]][place]
        entry["effect"] = {"value": value * ours["scale"], "se": se * ours["scale"]}
    return entry


def _tell(language: str, metric: str, entry: Mapping[str, Json]) -> None:
    left = ", ".join(f"{count} ({reason})" for reason, count in entry["excluded_by"].items() if count)
    if left:
        print(f"{language}, {metric}: left out {left} of {entry['examples']['all']}", file=sys.stderr)
