"""P̂aRTE (EACL 2023): are entailment predictions stable under paraphrase? Table 2 and Figures 1 to 5."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

import msgspec

from unswayed.base import Json, UsageError, option_name
from unswayed.data import ReadOptions, import_corpus
from unswayed.lab.training.models import TrainedSystem
from unswayed.papers.parte import agreement, page
from unswayed.papers.parte.candidates import ENTAILED, NOT_ENTAILED
from unswayed.papers.parte.changed import ChangedPredictions, Judged, judged_pairs
from unswayed.papers.parte.confidence import Confidence, confidence_of, confidences
from unswayed.papers.parte.corpora import FILE, read_pairs
from unswayed.papers.parte.glove import GLOVE
from unswayed.papers.parte.models import SEED_STEP
from unswayed.papers.parte.training import MODELS, OWN, TRAIN_FILE, Recipe, models_in, train_file, trained
from unswayed.papers.parte.trainings import compared, measured, one_training
from unswayed.report import Option, Printed, Study, StudyContext, StudyTable, chosen_for
from unswayed.run import run_system
from unswayed.stats import Resampling
from unswayed.storage import Suite
from unswayed.systems import System, open_system

_MNLI = {"entailment": ENTAILED, "neutral": NOT_ENTAILED, "contradiction": NOT_ENTAILED}
_MNLI |= {"true": ENTAILED, "yes": ENTAILED, "false": NOT_ENTAILED, "no": NOT_ENTAILED}  # as RTE's files have them
_ACCURACIES = ("accuracy_original", "accuracy_paraphrased")


class _ParteContext(StudyContext):
    """What each model answers, measured once for all tables. Every table is by model, so that they can be joined."""

    @cached_property
    def settings(self) -> Resampling:
        given = self.given
        return Resampling(bootstrap=int(given.get("bootstrap") or 10_000), seed=int(given.get("seed") or 0))

    @cached_property
    def published(self) -> dict[str, list[Judged]]:
        """The published predictions by model, if they are wanted."""
        file, others = self.given.get("predictions"), self.given.get("system") or self.given.get("train")
        return _published(_predictions_file(self.data, file)) if file or not others else {}

    @cached_property
    def asked(self) -> dict[str, list[list[Judged]]]:
        """By model, each training's labels for the same pairs: as published, and as the systems answer."""
        found = {name: [pairs] for name, pairs in self.published.items()}
        meanings = _meanings(self.given.get("labels") or "")
        for name, systems in self.systems.items():
            runs = [run_system(self.suite, system, self._run(name, n)) for n, system in enumerate(systems)]
            found[name] = [_relabelled(name, judged_pairs(run), meanings) for run in runs]
        return found

    @cached_property
    def systems(self) -> dict[str, list[System]]:
        """By name, one for each training: those that the study trains, and those that were given."""
        given = _named_systems(self.given.get("system") or (), self.published)
        own = models_in(self.given.get("train") or "")
        found = {f"{OWN}{model}": trained(self._recipe(model)) for model in own}
        options = _options(self.given.get("option") or (), given)
        return found | {n: [open_system(spec, **options.get(n, {})) for spec in specs] for n, specs in given.items()}

    def _recipe(self, model: str) -> Recipe:
        given, first = self.given, int(self.given.get("seed") or 0)
        epochs = chosen_for(given.get("epochs"), model, known=MODELS)
        folder = self.data if self.data.is_dir() else self.data.parent
        return Recipe(
            model,
            Path(given.get("train_data") or train_file(folder)),
            self.to / "models" / model,
            given.get("vectors") or GLOVE,
            range(first, first + int(given.get("seeds") or 3)),
            None if epochs is None else int(epochs),
        )

    def _run(self, name: str, n: int) -> Path:
        return self.to / "runs" / (name if len(self.systems[name]) == 1 else f"{name}/{n}")

    @cached_property
    def suite(self) -> Suite:
        return _suite(self.data, self.to)

    @cached_property
    def measured(self) -> dict[str, ChangedPredictions]:
        return {name: measured(trainings, name, self.settings) for name, trainings in self.asked.items()}

    @cached_property
    def beside(self) -> dict[str, str]:
        """By column the paper's model that it is set beside."""
        named = dict(_pairs_of(self.given.get("beside") or "", "beside", "SYSTEM=MODEL, such as mine=bert"))
        unknown = next((model for model in named.values() if model not in paper()), None)
        if unknown is not None:
            raise UsageError(
                f"{option_name('beside')} takes SYSTEM=MODEL, a MODEL of {', '.join(paper())}, not {unknown!r}."
            )
        known = {name: name for name in self.published if name in paper()}
        known |= {f"{OWN}{model}": theirs for model, theirs in MODELS.items() if theirs}
        return {name: model for name, model in (known | named).items() if name in self.measured}

    def agreement(self) -> Printed:
        """Every number of the paper, ours beside it."""
        rows: dict[str, list[agreement.PaperNumber]] = {}
        if self.published and _is_parte(self.data):
            pairs = list(read_pairs(_predictions_file(self.data, self.given.get("predictions"))))
            folder = self.data if self.data.is_dir() else self.data.parent
            rows["set"] = list(agreement.of_set(pairs, folder, printed("set")))
        for name, model in self.beside.items():
            why = str(printed("why").get(name.removeprefix(OWN)) or printed("why")["system"])
            own = name in self.published
            rows[name] = agreement.of_model(self.measured[name], paper()[model], why, own)
        value = {name: {"agreement": found} for name, found in rows.items()}
        return Printed(value, [page.agreement(rows, self.beside, paper())] if rows else [])

    def systems_used(self) -> Printed:
        """What was asked, with which prompt, and what each training of it answers."""
        value = {
            name: {
                "trainings": len(systems),
                "by_training": [one_training(pairs) for pairs in self.asked[name]],
                "prompts": systems[0].prompts,
            }
            for name, systems in self.systems.items()
        }
        return Printed(value, [page.prompts(value)] if any(one["prompts"] for one in value.values()) else [])

    def table2(self) -> Printed:
        value = {name: _accuracies(name, one) for name, one in self.measured.items()}
        section = page.table2(self.measured, paper(), {n: len(t) for n, t in self.asked.items()})
        by_training = {name: [one_training(pairs) for pairs in asked] for name, asked in self.asked.items()}
        again = {
            name: [seed for system in systems if (seed := _seed(system)) >= SEED_STEP]
            for name, systems in self.systems.items()
        }
        return Printed(value, [page.with_failed(section, by_training, again)])

    def confidence(self) -> Printed:
        """Of the systems that have probabilities; the published predictions have none."""
        found: dict[str, list[Confidence]] = {}
        for name, systems in self.systems.items():
            for pairs, system in zip(self.asked[name], systems, strict=True):
                if (sure := confidences(system, self.suite)) is not None:
                    found.setdefault(name, []).append(confidence_of(pairs, sure, name, self.settings))
        return Printed({name: {"confidence": each} for name, each in found.items()}, [page.confidence(found)])

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
        tested = compared(self.asked, self.settings)
        value = {name: {"tests": [c for c in tested if name in (c.a, c.b)]} for name in self.measured}
        return Printed(value, [page.tests(tested)])


def _figure(name: str) -> StudyTable:
    return StudyTable(lambda stages: stages.figure(name))


class Parte(Study):
    """P̂aRTE (2023): how often does a model's prediction change when a pair of sentences is paraphrased?

    DIR holds P̂aRTE's collated_data_and_preds.csv, whose published predictions of five models are measured; or it is a
    suite of sentence pairs, made by `unswayed vary` or `unswayed paraphrase build`. --train trains models for the same
    pairs, and --system runs other systems on them. Writes study.json, study.md and study.html. If it stops, rerun the
    command: it resumes.

    \b
      unswayed study parte --data parte/ --predictions collated_data_and_preds.csv --format json
      unswayed study parte --data parte/ --train bow,bilstm,minilm -o out/
      unswayed study parte --data parte/ --system baseline=model/ -o out/
    """

    title = page.TITLE
    corpora = ("parte",)
    context = _ParteContext
    tables: ClassVar[Mapping[str, StudyTable]] = {
        "agreement": StudyTable(_ParteContext.agreement),
        "table2": StudyTable(_ParteContext.table2),
        "confidence": StudyTable(_ParteContext.confidence),
        "figure1": StudyTable(_ParteContext.figure1),
        **{name: _figure(name) for name in page.FIGURES},
        "slices": StudyTable(_ParteContext.slices),
        "tests": StudyTable(_ParteContext.tests),
        "systems": StudyTable(_ParteContext.systems_used),
    }
    options = (
        Option("to", "Folder of the set, runs and pages.", "parte", short="-o"),
        Option("predictions", "P̂aRTE's table of predictions, in DIR or elsewhere. Default: that in DIR, if no system."),
        Option("train", f"Models to train here: any of {','.join(MODELS)}. Needs the extra hf, but for baseline."),
        Option("train-data", f"Training data in RTE's format. Default: {TRAIN_FILE} in DIR."),
        Option(
            "vectors", "Word vectors of bow and bilstm: a text file, or glove, those of an installed package.", GLOVE
        ),
        Option("seeds", "Trainings of each model. Intervals include how much they differ.", 3),
        Option("epochs", "Epochs at most, such as 10 or 10,minilm=2. Default: the model's own."),
        Option(
            "system", "[NAME=]SYSTEM: run this too. Repeatable; the same NAME again is another training.", multiple=True
        ),
        Option(
            "option", "SYSTEM.NAME=VALUE: an option of a system, such as mine.max_tokens=1. Repeatable.", multiple=True
        ),
        Option("beside", "SYSTEM=MODEL,…: the paper's model that a system is compared with, such as mine=bert."),
        Option("labels", "What the systems' labels mean: LABEL=GOLD,… Those of an MNLI head are known."),
        Option("bootstrap", "Bootstrap samples.", 10_000),
        Option("seed", "Seed of intervals and tests, and of the first training.", 0),
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


def _seed(system: System) -> int:
    """The seed of a training; large where it took the place of one that had learnt nothing."""
    return system.card.settings.seed if isinstance(system, TrainedSystem) else 0


@cache
def printed(part: str) -> dict[str, Json]:
    """A part of what the paper prints, and of what is known about it: models, set or why."""
    found: dict[str, Json] = tomllib.loads((files("unswayed.papers.parte") / "paper.toml").read_text(encoding="utf-8"))[
        part
    ]
    return found


def paper() -> dict[str, dict[str, Json]]:
    return printed("models")


def _is_parte(data: Path) -> bool:
    """Is it P̂aRTE's own data, not a suite of other pairs?"""
    return not (data / "manifest.json").is_file()


def _named_systems(specs: Sequence[str], published: Mapping[str, object]) -> dict[str, list[str]]:
    """`[NAME=]SYSTEM` by name; a name that is given several times has several trainings."""
    found: dict[str, list[str]] = {}
    for name, spec in map(_named, specs):
        found.setdefault(name, []).append(spec)
    clash = next((name for name in found if name in published or name.startswith(OWN)), None)
    if clash:
        whose = "published predictions of" if clash in published else f"models of the study named {OWN}…, such as"
        raise UsageError(f"There are {whose} {clash!r}. Name the system otherwise: NAME=SYSTEM.")
    return found


def _options(told: Sequence[str], names: Mapping[str, object]) -> dict[str, dict[str, Json]]:
    """`SYSTEM.NAME=VALUE` by system; a value is JSON if it is such."""
    found: dict[str, dict[str, Json]] = {}
    for text in told:
        key, equals, value = text.partition("=")
        system, _, name = key.rpartition(".")
        if not (equals and name and system in names):
            raise UsageError(
                f"{option_name('option')} takes SYSTEM.NAME=VALUE with a SYSTEM of {', '.join(names) or 'none'}, "
                f"not {text!r:.60}."
            )
        try:
            found.setdefault(system, {})[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found.setdefault(system, {})[name] = value
    return found


def _pairs_of(told: str, option: str, form: str) -> list[tuple[str, str]]:
    parts = [part.strip().partition("=") for part in told.split(",") if part.strip()]
    wrong = next((left for left, equals, right in parts if not (left and equals and right)), None)
    if wrong is not None:
        raise UsageError(f"{option_name(option)} takes {form}, not {wrong!r}.")
    return [(left, right) for left, _, right in parts]


def _meanings(told: str) -> dict[str, str]:
    """What labels mean: neutral and contradiction are both not entailed, unless something else is said."""
    pairs = _pairs_of(told, "labels", "LABEL=GOLD, such as neutral=not_entailed")
    return _MNLI | {label.lower(): gold for label, gold in pairs}


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


def _accuracies(name: str, found: ChangedPredictions) -> dict[str, Json]:
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
