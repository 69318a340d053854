"""Dialect-robust evaluation (ACL 2023): do metrics prefer a dialect to a changed meaning? Its tables and figures."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from unswayed.base import Json, UsageError, option_name
from unswayed.measure import TIES
from unswayed.papers.dialect import page, page_models
from unswayed.papers.dialect.agreement import agreement, read_rated
from unswayed.papers.dialect.awareness import awareness
from unswayed.papers.dialect.material import TrialFiles, data_folders, read_judged, read_trials, write_material
from unswayed.papers.dialect.tables import WinSettings, hold_together, measured
from unswayed.papers.dialect.translation import by_language, translator
from unswayed.report import Given, Option, Printed, Study, StudyContext, StudyTable
from unswayed.storage import AnswerStore
from unswayed.systems import Metric, Scores, open_system

# What of a metric's entry each table prints; together they are all of it.
_PARTS = {
    "table1": ("success", "success_over_mt", "mt_over_perturb", "robust", "by", "unmeasured", "paper"),
    "table2": ("effect", "paper"),
    "table3": ("agreement",),
    "table4": ("success", "unmeasured", "paper"),
    "table5": ("awareness",),
    "table8": ("excluded", "excluded_by", "examples", "translated"),
    "table10": ("effect", "success", "success_over_mt"),
    "table12": ("agreement",),
    "table13": ("success", "success_over_mt"),
    "table14": ("agreement",),
    "table15": ("awareness",),
    "figure2": ("effect",),
    "figure3": ("effect",),
    "figure4": ("effect",),
}
_RATED = ("table3", "table12", "table14")
RATINGS = "ratings"  # stands for a language where entries are by language


class _DialectContext(StudyContext):
    """The metrics on the trials of each language, measured once for all tables."""

    @property
    def inputs(self) -> list[Path]:
        """Only the folders that are read: other corpora may lie beside them."""
        return [place for place in data_folders(self.data, str(self.given.get("split") or "test")) if place]

    @cached_property
    def files(self) -> TrialFiles:
        given = self.given
        mt, perturbed = (
            {language: Path(file) for language, file in by_language(given.get(name) or (), name).items()}
            for name in ("mt", "perturbed")
        )
        systems = by_language(given.get("translator") or (), "translator", "SYSTEM", "pt=cmd:translate")
        twice = next((language for language in systems if language in mt or language in perturbed), None)
        if twice:
            raise UsageError(
                f"{option_name('translator')} translates both texts of {twice}: leave its {option_name('mt')} and "
                f"{option_name('perturbed')} out."
            )
        made = {language: translator(system, self.to / "translations") for language, system in systems.items()}
        return TrialFiles(mt, perturbed, read_judged(Path(given["judged"]) if given.get("judged") else None), made)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """By name. `LABEL=SYSTEM` names a metric, and several trainings of it are told by their number."""
        found: dict[str, Metric] = {}
        for given in self.given.get("metric") or ("bleu", "chrf", "yisi1"):
            label, system = page.label_of(given)
            name = label or given
            if label and any(page.training_of(other) == label for other in found):
                name = f"{label} #{1 + sum(page.training_of(other) == label for other in found)}"
            found[name] = open_system(system, Metric)
        return found

    @cached_property
    def settings(self) -> WinSettings:
        return _settings(self.given)

    @cached_property
    def found(self) -> dict[str, dict[str, dict[str, Json]]]:
        """By language and metric: success, effect, what was left out, and the paper's numbers."""
        metrics, settings = self.metrics, self.settings
        split = str(self.given.get("split") or "test")
        trials = read_trials(self.data, self.files, int(self.given.get("seed") or 0), split)
        with AnswerStore.writer(self.to / "scores") as store:
            opened = {name: Scores(metric, store) for name, metric in metrics.items()}
            found: dict[str, dict[str, dict[str, Json]]] = {}
            for one in trials:
                entries = found.setdefault(one.language, {})
                for name, scores in opened.items():
                    entries[name] = measured(one, scores, settings) | {"translated": one.translated}
                    if entries[name]["success"] is not None:
                        entries[name]["awareness"] = awareness(one, scores, settings)
            print(f"Scores: {store.reuse_summary().sentence}.", file=sys.stderr)
        hold_together(found)
        for language, entries in found.items():
            for name, entry in entries.items():
                entry["paper"] = _printed(language, name)
                if entry.get("unmeasured"):
                    print(f"{language}, {name}: not measured. {entry['unmeasured']}.", file=sys.stderr)
                _tell(language, name, entry)
        write_material(self.to, trials)
        return found

    @cached_property
    def agreed(self) -> dict[str, dict[str, Json]]:
        """By metric and language pair: agreement with the people whose ratings are given."""
        if not self.given.get("ratings"):
            return {}
        rated = read_rated(Path(self.given["ratings"]))
        with AnswerStore.writer(self.to / "scores") as store:
            return {
                name: agreement(rated, Scores(metric, store), self.to, self.settings.level)
                for name, metric in self.metrics.items()
            }

    def printed(self, name: str) -> Printed:
        uses = {name: metric.uses for name, metric in self.metrics.items()}
        level = self.settings.level
        if name in _RATED:
            section = page_models.agreement(name, self.agreed, paper(), uses, level)
            value: Json = {RATINGS: {m: {"agreement": one} for m, one in self.agreed.items()}} if self.agreed else {}
            return Printed(value, [section])
        sections = {
            "table1": lambda: page.table1(self.found, paper(), uses, level),
            "table2": lambda: page.table2(self.found, paper()),
            "table4": lambda: page_models.table4(self.found, paper(), uses),
            "table5": lambda: page_models.awareness("Table 5", self.found, paper(), "zh"),
            "table8": lambda: page.table8(self.found, paper()),
            "table10": lambda: page_models.table10(self.found, paper(), uses, level),
            "table13": lambda: page_models.table13(self.found, paper(), uses),
            "table15": lambda: page_models.awareness("Table 15", self.found, paper(), "pt"),
            "figure2": lambda: page.figure2(self.found, [n for n in uses if "source" not in uses[n]]),
            "figure3": lambda: page_models.figure3(self.found, uses),
            "figure4": lambda: page_models.figure4(self.found, uses),
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

    DIR holds FRMT's files, or `indian_english_dialect.csv` with sentences of Indian and US English, or folders of them.
    With --translator, controls are machine translations of changed English, as in the paper. Without it, a control is
    made of every reference by `meaning/control`. Writes study.json, study.md and study.html, the English
    that a translation system is to translate for --mt and --perturbed, and what people are to judge: `unswayed collect
    new judge.toml` makes a study of it.

    \b
      unswayed study dialect --data frmt/ --metric bleu --metric chrf --format json
      unswayed study dialect --data data/ --metric yisi1 --translator "pt=cmd:node bergamot.mjs enpt/ en pt" -o out/
    """

    title = page.TITLE
    corpora = ("frmt", "indian_english")
    context = _DialectContext
    tables: ClassVar[Mapping[str, StudyTable]] = {name: _table(name) for name in _PARTS}
    options = (
        Option("to", "Folder for scores, pages and items to judge.", "dialect", short="-o"),
        Option("metric", "A metric of `unswayed list metrics`, or module:function. LABEL=METRIC names it; the same "
               "label again is another training of it. Repeatable. Default: bleu, chrf, yisi1.", multiple=True),
        Option("translator", "LANG=SYSTEM: translates English into LANG, also the changed English. SYSTEM is named "
               "as for `unswayed run`. Repeatable.", multiple=True),
        Option("mt", "LANG=FILE: machine translations of LANG.source.txt, one per line. Repeatable.", multiple=True),
        Option("perturbed", "LANG=FILE: machine translations of LANG.perturbed.txt, one per line. Repeatable.",
               multiple=True),
        Option("ratings", "People's ratings of translations for Tables 3, 12 and 14: MLQE-PE's folder, or JSON lines."),
        Option("split", "FRMT's split: test, dev or exemplars.", "test"),
        Option("judged", "FILE that `unswayed collect export` wrote for judge.toml. A control that no majority finds "
               "to change the meaning is left out."),
        Option("ties", "How ties count: loss, half or drop.", "loss"),
        Option("comparisons", "Number of comparisons for the Bonferroni correction.", 5),
        Option("level", "Confidence level of the intervals.", 0.95),
        Option("seed", "Random seed of the controls.", 0),
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
    return tomllib.loads((files("unswayed.papers.dialect") / "paper.toml").read_text(encoding="utf-8"))


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
    entry: dict[str, Json] = {"name": ours["name"]}
    if ours["name"] in paper()["table1"]:
        entry["success"] = paper()["table1"][ours["name"]][place]
    if ours["name"] in paper()["table2"]:
        value, se = paper()["table2"][ours["name"]][place]
        scale = ours["scale"]
        entry["effect"] = {"value": value * scale, "se": se * scale, "rounded": 0.005 * scale}
    return entry


def _tell(language: str, metric: str, entry: Mapping[str, Json]) -> None:
    left = ", ".join(f"{count} ({reason})" for reason, count in entry["excluded_by"].items() if count)
    if left:
        print(f"{language}, {metric}: left out {left} of {entry['examples']['all']}", file=sys.stderr)
