"""NATURE (2021): spoken-language operators on test sets of slot filling and intent detection, Tables 1 to 5."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

import msgspec

from unswayed.base import Json, UsageError, option_name
from unswayed.papers.nature import page, tables
from unswayed.papers.nature.attention import looks
from unswayed.papers.nature.corpora import SluCorpus, find_corpora
from unswayed.papers.nature.families import by_filler, compared
from unswayed.papers.nature.random_set import even_random
from unswayed.papers.nature.tables import CLASSES, OPERATORS
from unswayed.papers.nature.training import LINEAR, Training, selector_of, train_all
from unswayed.report import Given, Option, Printed, Study, StudyContext, StudyTable, chosen_for
from unswayed.run import NATURE, make_suite, run_system
from unswayed.storage import Suite
from unswayed.systems import System, minilm_folder, open_system
from unswayed.vary import OperatorSpec, operators, with_params

_AUGMENTED = "+augmented"
_BEYOND = 1000
_SUITES = ("datasets", "selector", "seed", "param", "no-guard")  # decide test sets
_RUN = (*_SUITES, "repetitions", "model", "encoder", "system", "seeds", "limit", "epochs", "lr")  # decide runs


class _NatureContext(StudyContext):
    """The parts of the study, each made when it is first needed and kept on disk."""

    def __init__(self, data: Path, given: Given, to: Path, chosen: Sequence[str]) -> None:
        super().__init__(data, given, to, chosen)
        absent = [name for name in NATURE if name not in operators]
        if absent:
            raise UsageError(f"The study needs NATURE's ten operators, and there is no {', '.join(absent)}.")
        names = [name.strip() for name in (given.get("datasets") or "").split(",") if name.strip()]
        self.corpora = find_corpora(data, names)
        self.seed, self.augments = int(given.get("seed") or 0), not given.get("no_augmentation")

    @property
    def inputs(self) -> Sequence[Path]:
        return [part for c in self.corpora for part in (c.train, c.valid, c.test) if part is not None]

    @cached_property
    def systems(self) -> dict[str, list[System]]:
        """By data set, one for each training."""
        return self._tested([corpus.name for corpus in self.corpora])

    @cached_property
    def augmented_systems(self) -> dict[str, list[System]]:
        """Those trained with augmentation, which have a `+augmented` behind the name."""
        return self._tested([corpus.name + _AUGMENTED for corpus in self.corpora])

    def _tested(self, names: Sequence[str]) -> dict[str, list[System]]:
        named = _named(self.given.get("system") or (), self._wanted, option_name("system"))
        return {name: self._opened(self.model, name, named.get(name, [])) for name in names}

    @property
    def model(self) -> str:
        return self.given.get("model") or "bilstm"

    def family(self, model: str) -> dict[str, list[System]]:
        """The systems of another model, by data set, trained without augmentation."""
        return {corpus.name: self._opened(model, corpus.name, []) for corpus in self.corpora}

    def _opened(self, model: str, name: str, specs: Sequence[str]) -> list[System]:
        if not specs:
            trainings = [self._training(model, name, seed) for seed in self.seeds]
            train_all(trainings)
            specs = [str(training.to) for training in trainings]
        return [open_system(spec) for spec in specs]

    @property
    def _wanted(self) -> list[str]:
        plain = [corpus.name for corpus in self.corpora]
        return plain + [name + _AUGMENTED for name in plain if self.augments]

    @property
    def _named_parts(self) -> list[str]:
        """What epochs and learning rates can be set for: a model, a data set, or a model on a data set."""
        families = (self.given.get("families") or "").split(",")
        models = [name.strip() for name in (self.model, *families) if name.strip()]
        sets = [corpus.name for corpus in self.corpora]
        return [*models, *sets, *(f"{model}/{name}" for model in models for name in sets)]

    @property
    def seeds(self) -> range:
        return range(self.seed, self.seed + int(self.given.get("seeds") or 3))

    def _training(self, model: str, name: str, seed: int) -> Training:
        """A linear model gets seeds beyond those of others: the first is the selector's."""
        given, corpus = self.given, next(c for c in self.corpora if c.name == name.removesuffix(_AUGMENTED))
        kind, _, on = model.partition("+")
        masked = self._masked if name.endswith(_AUGMENTED) else None
        by = "" if masked is None else f"+{Path(masked).name}"
        place = self.to / "models" / model / f"{name}{by}" / str(seed)
        if kind == LINEAR:
            seed += _BEYOND
        encoder = given.get("encoder")
        if encoder is None and (kind == "jointbert" or on):
            encoder = str(minilm_folder())
        names = (f"{model}/{corpus.name}", model, corpus.name)
        epochs, lr = (chosen_for(given.get(option), *names, known=self._named_parts) for option in ("epochs", "lr"))
        return Training(
            corpus, name.endswith(_AUGMENTED), place, kind, encoder, seed,
            None if epochs is None else int(epochs), lr, int(given.get("limit") or 0) or None, masked,
        )  # fmt: skip

    @property
    def _masked(self) -> str | None:
        """The masked language model that synonyms come from, which the strategies of Table 5 get, too."""
        found = {spec.params["model"] for spec in self.operators if spec.params.get("model")}
        return str(found.pop()) if len(found) == 1 else None

    @cached_property
    def suites(self) -> dict[str, dict[str, Suite]]:
        """By data set: each operator's variants, Random, and Hard."""
        if {"table4", "table5", "attention"} & set(self.chosen):
            _ = self.systems  # the longest part first
        return {corpus.name: self._suites_of(corpus, self._selector(corpus)) for corpus in self.corpora}

    def _selector(self, corpus: SluCorpus) -> str | None:
        """What was given for this data set, or else for all."""
        given, names = self.given.get("selector") or (), [c.name for c in self.corpora]
        own = [spec.partition("=")[2] for spec in given if spec.startswith(f"{corpus.name}=")]
        return next(iter(own + [spec for spec in given if spec.partition("=")[0] not in names]), None)

    def _suites_of(self, corpus: SluCorpus, selector: str | None) -> dict[str, Suite]:
        place = self.to / "suites" / corpus.name
        print(f"{corpus.name}: making its test sets", file=sys.stderr)
        chooser = selector or selector_of(corpus, self.to / "models" / f"{corpus.name}+selector", self.seed)
        guard = None if self.given.get("no_guard") else corpus.train
        make = partial(make_suite, corpus.test, self.operators, seed=self.seed, task="slu", language="en")
        repetitions = int(self.given.get("repetitions") or 10)
        plans = {set_: {"vary": {"guard": guard, "set": set_}} for set_ in ("each", "hard")}
        candidates = make(to=place / "candidates", draws=repetitions, plan=plans["each"])
        return {
            "each": make(to=place / "each", plan=plans["each"]),
            "random": even_random(candidates, place / "random", repetitions, self.seed),
            "hard": make(to=place / "hard", selector=chooser, plan=plans["hard"]),
        }

    @cached_property
    def operators(self) -> tuple[OperatorSpec, ...]:
        """The ten, with the parameters that were given. A noun stands in by the paper's rule unless they say more."""
        specs = with_params(NATURE, dict(map(_parameter, self.given.get("param") or ())))
        nouns = {OPERATORS[label] for label in CLASSES}
        return tuple(
            OperatorSpec(spec.name, {"nouns": "absent", **spec.params}) if spec.name in nouns else spec
            for spec in specs
        )

    @cached_property
    def runs(self) -> dict[str, list[tables.Runs]]:
        """By data set, one for each training."""
        return {c.name: self.runs_of(c.name, self.systems[c.name], f"{self.model}/{c.name}") for c in self.corpora}

    @cached_property
    def augmented_runs(self) -> dict[str, list[tables.Runs]]:
        names = [c.name for c in self.corpora] if self.augments else []
        return {
            n: self.runs_of(
                n, self.augmented_systems[n + _AUGMENTED], f"{self.model}/{n}{_AUGMENTED}", ("random", "hard")
            )
            for n in names
        }

    def runs_of(
        self, name: str, systems: Sequence[System], place: str, sets: Sequence[str] = ("random", "hard", "each")
    ) -> list[tables.Runs]:
        suites, to = self.suites[name], self.to / "runs" / place
        return [
            tables.Runs(**{s: run_system(suites[s], system, to / str(n) / s) for s in sets})
            for n, system in enumerate(systems)
        ]

    def table1(self) -> Printed:
        table = tables.table1(self.corpora)
        return Printed(table, [page.sizes(table)])

    def table2(self) -> Printed:
        table = tables.table2({name: suites["hard"] for name, suites in self.suites.items()})
        return Printed(table, [page.chosen(table)])

    def mixture(self) -> Printed:
        table = tables.mixture({name: suites["random"] for name, suites in self.suites.items()})
        return Printed(table, [page.mixture(table)])

    def classes(self) -> Printed:
        table = tables.classes(self.runs)
        adjective = next(spec for spec in self.operators if spec.name == OPERATORS["Syn. Adj."])
        return Printed(table, [page.classes(table, str(adjective.params["nouns"]))])

    def table3(self) -> Printed:
        survey = self.given.get("survey")
        files = tuple(part.strip() for part in survey.split(",")) if survey else None
        if files is not None and len(files) > 2:
            raise UsageError(f"{option_name('survey')} takes ANSWERS, or ANSWERS,ITEMS, not {survey!r}.")
        table = tables.table3(files, [s["each"] for s in self.suites.values()])
        return Printed(table, [page.judged(table)])

    def table4(self) -> Printed:
        table = {**tables.table4(self.runs), "classes": tables.classes(self.runs)}
        return Printed(table, [page.scores(table)], list(page.harm(table)))

    def table5(self) -> Printed:
        table = tables.table5(self.runs, self.augmented_runs)
        return Printed(table, [page.augmented(table)], list(page.helped(table)))

    def fillers(self) -> Printed:
        table = by_filler(self.runs)
        return Printed(table, [page.fillers(table)])

    def families(self) -> Printed:
        """Other models beside the first, on the same sets."""
        models = [name.strip() for name in (self.given.get("families") or "").split(",") if name.strip()]
        runs = {}
        for model in models:
            systems = self.family(model)
            runs[model] = {n: self.runs_of(n, systems[n], f"{model}/{n}", ("random", "hard")) for n in systems}
        table = compared({self.model: self.runs, **runs}) if runs else {}
        return Printed(table, [page.families(table)] if table else [])

    def attention(self) -> Printed:
        looked = (looks(runs[0].each, self.systems[n][0], n) for n, runs in self.runs.items() if runs[0].each)
        cases = [case for cases in looked for case in cases]
        return Printed(cases, [page.attention(cases)] if cases else [])


def _parameter(text: str) -> tuple[str, Json]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"{option_name('param')} takes [OPERATOR:]KEY=VALUE, such as model=bert/, not {text!r:.60}.")
    try:
        return key, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return key, value


def _named(pairs: Sequence[str], known: Sequence[str], option: str) -> dict[str, list[str]]:
    """`NAME=SPEC` options as a mapping; a name that is given several times has several trainings."""
    found: dict[str, list[str]] = {}
    for name, _, spec in (pair.partition("=") for pair in pairs):
        found.setdefault(name, []).append(spec)
    unknown = next((name for name in found if name not in known), None)
    if unknown is not None:
        raise UsageError(f"{option} takes NAME=SYSTEM with a NAME of {', '.join(known)}, not {unknown!r}.")
    return found


class Nature(Study):
    """NATURE (2021): do slot filling and intent detection survive small changes of spoken language?

    Trains a model for each data set of DIR, with and without augmented training data, and the system that selects
    the Hard set; builds the sets; and sets Tables 1 to 5 beside the paper's, with attention maps of utterances that
    come out wrong. Writes study.json, study.md and study.html. Given again, it goes on where it was stopped.

    \b
      unswayed study nature --data shared/data/slu --datasets atis,snips -o out/ --format json
    """

    title = page.TITLE
    corpora = ("atis", "snips", "nlu_ed")
    context = _NatureContext
    tables: ClassVar[Mapping[str, StudyTable]] = {
        "table1": StudyTable(_NatureContext.table1, ("datasets",)),
        "table2": StudyTable(_NatureContext.table2, _SUITES),
        "table3": StudyTable(_NatureContext.table3, ("datasets", "survey", "seed", "param", "no-guard")),
        "mixture": StudyTable(_NatureContext.mixture, (*_SUITES, "repetitions")),
        "table4": StudyTable(_NatureContext.table4, _RUN),
        "classes": StudyTable(_NatureContext.classes, _RUN),
        "fillers": StudyTable(_NatureContext.fillers, _RUN),
        "families": StudyTable(_NatureContext.families, (*_RUN, "families")),
        "table5": StudyTable(_NatureContext.table5, (*_RUN, "no-augmentation")),
        "attention": StudyTable(_NatureContext.attention, _RUN),
    }
    options = (
        Option("to", "Folder of models, sets, runs and pages.", "nature", short="-o"),
        Option("datasets", "Folders in DIR, or next to it. Default: those of atis, snips and nlu_ed that exist."),
        Option("model", "What to train: bilstm, birnn, stackprop, jointbert, or linear.", "bilstm"),
        Option("encoder", "A Hugging Face encoder for the model. Default for jointbert: the installed MiniLM."),
        Option("families", "More models to compare, such as birnn,stackprop,jointbert,stackprop+encoder."),
        Option("system", "NAME=SYSTEM: test this instead of training; NAME is atis, atis+augmented, …", multiple=True),
        Option("selector", "[NAME=]SYSTEM that selects Hard. Default: the built-in classifier.", multiple=True),
        Option("survey", "ANSWERS of `unswayed collect export`, which fill Table 3; ANSWERS,ITEMS if written by hand."),
        Option("seed", "Seed of the sets, and of the first training.", 0),
        Option("seeds", "Trainings of each model. Intervals include how much they differ.", 3),
        Option("limit", "Utterances to train on, evenly spaced in train, for a quick study. Default: all.", kind=int),
        Option("repetitions", "Draws of the Random set.", 10),
        Option("epochs", "Epochs at most, such as 10 or 10,snips=4,jointbert/snips=1. Default: the model's own."),
        Option("lr", "Learning rate, such as jointbert=3e-4. Default: the model's own."),
        Option(
            "param",
            "[OPERATOR:]KEY=VALUE: a parameter of the ten operators, such as model=FOLDER for synonyms by a "
            "masked language model, also in Table 5; or nouns=unfit. Repeatable.",
            multiple=True,
        ),
        Option("no-guard", "Also use words that the training labels contradict, as the paper does.", flag=True),
        Option("no-augmentation", "Leave out the models of Table 5.", flag=True),
    )
