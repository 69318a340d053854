"""P̂aRTE (EACL 2023): are entailment predictions stable under paraphrase? Table 2 and Figures 1 to 5."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar

import msgspec

from unfazed.core import Json, Suite, UsageError, option_name
from unfazed.core.estimate import Resampling
from unfazed.data import ReadOptions, import_corpus
from unfazed.papers.parte import page
from unfazed.papers.parte.changed import Changed, Judged, changed_predictions, contrasts, judged_pairs
from unfazed.papers.parte.corpora import ENTAILED, FILE, NOT_ENTAILED, read_pairs
from unfazed.report import Given, Option, Printed, Study, StudyContext, StudyTable
from unfazed.run import run_system
from unfazed.systems import open_system

_MNLI = {"entailment": ENTAILED, "neutral": NOT_ENTAILED, "contradiction": NOT_ENTAILED}
_ACCURACIES = ("accuracy_original", "accuracy_paraphrased")


class _Stages(StudyContext):
    """What each model answers, measured once for all tables. Every table is by model, so that they can be joined."""

    @cached_property
    def settings(self) -> Resampling:
        given = self.given
        return Resampling(bootstrap=int(given.get("bootstrap") or 10_000), seed=int(given.get("seed") or 0))

    @cached_property
    def asked(self) -> dict[str, list[Judged]]:
        return _asked(self.data, self.to, self.given)

    @cached_property
    def measured(self) -> dict[str, Changed]:
        return {name: changed_predictions(pairs, name, self.settings) for name, pairs in self.asked.items()}

    def table2(self) -> Printed:
        value = {name: _accuracies(name, one) for name, one in self.measured.items()}
        return Printed(value, [page.table2(self.measured, paper())])

    def figure1(self) -> Printed:
        value = {name: {"confusion": one.confusion} for name, one in self.measured.items()}
        return Printed(value, [page.figure1(self.measured)])

    def figure(self, name: str) -> Printed:
        return Printed(self._by(page.FIGURES[name][0]), [page.figure(name, self.measured, paper())])

    def slices(self) -> Printed:
        """The slices of the data that the paper has no figure of."""
        others = page.others(self.measured)
        return Printed(self._by(*others), [page.slice_(key, self.measured) for key in others])

    def _by(self, *keys: str) -> Json:
        return {name: {"by": {k: one.by[k] for k in keys if k in one.by}} for name, one in self.measured.items()}

    def tests(self) -> Printed:
        tested = contrasts(self.asked, self.settings)
        value = {name: {"tests": [c for c in tested if name in (c.a, c.b)]} for name in self.measured}
        return Printed(value, [page.tests(tested)])


def _figure(name: str) -> StudyTable:
    return StudyTable(lambda stages: stages.figure(name))


class Parte(Study):
    """P̂aRTE (2023): how often does a model's prediction change when a pair of sentences is paraphrased?

    DIR holds P̂aRTE's collated_data_and_preds.csv, whose published predictions of five models are measured; or it is a
    suite of sentence pairs, made by `unfazed vary` or `unfazed paraphrase build`. --system asks systems about the same
    pairs. Writes study.json, study.md and study.html. Given again, it goes on where it was stopped.

    \b
      unfazed study parte --data parte/ --predictions collated_data_and_preds.csv --format json
      unfazed study parte --data parte/ --system baseline=model/ -o out/
    """

    title = page.TITLE
    context = _Stages
    tables: ClassVar[Mapping[str, StudyTable]] = {
        "table2": StudyTable(_Stages.table2),
        "figure1": StudyTable(_Stages.figure1),
        **{name: _figure(name) for name in page.FIGURES},
        "slices": StudyTable(_Stages.slices),
        "tests": StudyTable(_Stages.tests),
    }
    options = (
        Option("to", "Folder of the set, runs and pages.", "parte", short="-o"),
        Option("predictions", "P̂aRTE's table of predictions, in DIR or elsewhere. Default: that in DIR, if no system."),
        Option("system", "[NAME=]SYSTEM: ask this too. Repeatable.", multiple=True),
        Option("labels", "What the systems' labels mean: LABEL=GOLD,… Those of an MNLI head are known."),
        Option("bootstrap", "Bootstrap samples.", 10_000),
        Option("seed", "Seed of intervals and tests.", 0),
    )

    def joined(self, tables: Mapping[str, Json]) -> Json:
        """By model: accuracies, changed predictions, their breakdowns, confusion, tests, and the paper's numbers."""
        models: dict[str, dict[str, Json]] = {}
        for table in tables.values():
            for model, part in table.items():
                entry = models.setdefault(model, {})
                by = {**entry.get("by", {}), **part.get("by", {})}
                entry |= part | ({"by": by} if by else {})
        return models

    def lines(self, value: Json) -> list[Json]:
        return [{"model": name, **entry} for name, entry in value.items()]


@cache
def paper() -> dict[str, dict[str, Json]]:
    return tomllib.loads((Path(__file__).parent / "paper.toml").read_text(encoding="utf-8"))


def _asked(data: Path, to: Path, given: Given) -> dict[str, list[Judged]]:
    """Each model's labels for the same pairs: as published, and as the systems answer."""
    named = [_named(spec) for spec in given.get("system") or ()]
    specs = dict(named)
    if len(specs) < len(named):
        raise UsageError("Two systems have the same name. Say NAME=SYSTEM with names that differ.")
    found: dict[str, list[Judged]] = {}
    if given.get("predictions") or not specs:
        found = _published(_predictions_file(data, given.get("predictions")))
    clash = next((name for name in specs if name in found), None)
    if clash:
        raise UsageError(f"There are published predictions of {clash!r}. Name the system otherwise: NAME=SYSTEM.")
    if specs:
        suite = _suite(data, to)
        for name, spec in specs.items():
            run = run_system(suite, open_system(spec), to / "runs" / name)
            found[name] = _relabelled(name, judged_pairs(run), _meanings(given.get("labels") or ""))
    return found


def _meanings(told: str) -> dict[str, str]:
    """What labels mean: neutral and contradiction are both not entailed, unless something else is said."""
    parts = [part.strip().partition("=") for part in told.split(",") if part.strip()]
    wrong = next((label for label, equals, gold in parts if not (label and equals and gold)), None)
    if wrong is not None:
        raise UsageError(f"{option_name('labels')} takes LABEL=GOLD, such as neutral=not_entailed, not {wrong!r}.")
    return _MNLI | {label.lower(): gold for label, _, gold in parts}


def _named(spec: str) -> tuple[str, str]:
    name, equals, rest = spec.partition("=")
    if equals and name and all(c.isalnum() or c in "+-_." for c in name):
        return name, rest
    return "".join(c if c.isalnum() or c in "+-_." else "-" for c in spec.strip("/").rpartition("/")[2]), spec


def _relabelled(name: str, pairs: list[Judged], meanings: Mapping[str, str]) -> list[Judged]:
    """The pairs with a system's labels as the data has them; raises where none is, so that all would be wrong."""
    golds = {pair.gold for pair in pairs}
    known = {label: gold for label, gold in meanings.items() if gold in golds}

    def meant(label: str | None) -> str | None:
        return label if label is None or label in golds else known.get(label.lower(), label)

    answers = {label for pair in pairs for label in (pair.before, pair.after) if label is not None}
    if answers and not {meant(label) for label in answers} & golds:
        shown = ", ".join(sorted(answers)[:5])
        raise UsageError(
            f"{name} answers {shown}, but the labels are {', '.join(sorted(golds))}. "
            f"Map them with {option_name('labels')}."
        )
    return [msgspec.structs.replace(p, before=meant(p.before), after=meant(p.after)) for p in pairs]


def _predictions_file(data: Path, name: str | None) -> Path:
    folder = data if data.is_dir() else data.parent
    places = [folder / name, Path(name)] if name else [folder / FILE if data.is_dir() else data]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UsageError(
            f"There are no predictions: {places[0]} is not there. "
            f"Set {option_name('predictions')} or {option_name('system')}."
        )
    return found


def _published(file: Path) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for row in read_pairs(file):
        slices = {"side": row.side, "gold": row.gold, **row.groups}
        for model, (before, after) in row.predictions.items():
            found.setdefault(model, []).append(Judged(row.original_id, slices, row.gold, before, after))
    if not found:
        raise UsageError(f"{file} has no predictions: columns such as bert_orig_pred and bert_para_pred.")
    return found


def _suite(data: Path, to: Path) -> Suite:
    """The suite that was given, or one made of P̂aRTE's table; the same table gives the same suite again."""
    if (data / "manifest.json").is_file():
        return Suite(data)
    return import_corpus(data, to / "suite", ReadOptions(format="parte"), overwrite=True)


def _accuracies(name: str, found: Changed) -> dict[str, Json]:
    entry: dict[str, Json] = {}
    for measure in _ACCURACIES:
        share = getattr(found, measure)
        entry[measure] = share.value
        entry[f"{measure}_interval"] = [share.low, share.high]
    entry["changed"] = found.changed
    if name in paper():
        entry["paper"] = {
            key: value / 100 if isinstance(value, float) else value for key, value in paper()[name].items()
        }
    return entry
