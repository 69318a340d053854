"""From a Plan to a Suite: reads the data, varies it, and writes both where they belong."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from unfazed.core.errors import NothingEvaluated, UsageError, option
from unfazed.core.ids import content_id, file_hash
from unfazed.core.language import guess_language
from unfazed.core.progress import Progress
from unfazed.core.suite import Manifest, Suite, plan_id, refuse_existing, write_suite
from unfazed.core.task import guess_task
from unfazed.core.values import Example, Json, Variant
from unfazed.data import ReadOptions, examples_of, read_examples, task_and_language
from unfazed.run.engine import run_system
from unfazed.run.hard import hardest
from unfazed.run.plan import DataPlan, Plan, SetName, VaryPlan
from unfazed.run.varying import varied_by
from unfazed.run.workers import Engine
from unfazed.systems.opening import open_system
from unfazed.systems.system import System
from unfazed.vary import operators as known_operators
from unfazed.vary.engine import OperatorSpec, Variation, vary

Records = Sequence[Example | Mapping[str, Json]]
Selector = System | Callable[..., Any] | str


class Making:
    """The examples of a plan, with task and language settled, ready to be varied."""

    def __init__(self, plan: Plan, records: Records | None = None) -> None:
        self.plan = plan
        data, options = plan.data, _options(plan.data)
        if records is not None:
            examples = examples_of(records, options)
            task, guessed = data.task or guess_task(examples[0]).name, data.language is None
            language = data.language or guess_language(t for e in examples for t in e.inputs.values())
            self.examples: Callable[[], Iterable[Example]] = lambda: examples
            self.source = content_id([[e.id, e.inputs, e.gold, e.groups] for e in examples], size=16)
        elif data.path is not None:
            path = Path(data.path)
            task, language, guessed = task_and_language(path, options, data.language)
            self.examples = lambda: read_examples(path, options)
            self.source = _source_id(path)
        else:
            raise UsageError("No data was given: name a file or folder, or `path` under [data] in the plan.")
        self.variation = Variation(
            operators=plan.vary.specs(),
            task=task,
            language=language,
            language_guessed=guessed,
            draws=plan.vary.draws,
            seed=plan.vary.seed,
            fields=plan.vary.fields,
            set="random" if plan.vary.set == "random" else "each",
        )
        self.variation.check()
        self.unchanged: Counter[str] = Counter()

    def variants(self) -> Iterator[Variant]:
        with Progress("varied") as progress:
            through = varied_by(self.plan.engine)
            yield from vary(self.examples(), self.variation, self.unchanged, progress.add, through)

    def manifest(self) -> Manifest:
        operators = [spec.describe() for spec in self.variation.operators]
        data, varied = self.plan.data, self.variation
        decides = [self.source, varied, operators, data.inputs, data.gold, data.id, data.groups, data.labels]
        return Manifest(
            task=varied.task,
            language=varied.language,
            labels=sorted(data.labels) if data.labels else None,
            seed=varied.seed,
            draws=varied.draws,
            operators=operators,
            set={"name": varied.set} if varied.set != "each" else {},
            plan=plan_id(*decides),
        )


class Selecting:
    """A hard set in the making: the candidates are asked of the selector, and the worst of them are kept.

    Candidates and answers lie in `place`, so that a selection that was stopped goes on where it was.
    """

    def __init__(self, making: Making, selector: System, place: Path) -> None:
        controls = [s.name for s in making.variation.operators if known_operators.get(s.name).meaning == "changed"]
        if controls:
            raise UsageError(f"{controls[0]} changes what is said: no answer to it is right, so none is the worst.")
        self.making, self.selector, self.place = making, selector, place
        self.examples = making.examples
        self.unchanged: Counter[str] = Counter()

    def manifest(self) -> Manifest:
        candidates = self.making.manifest()
        chosen = {"name": "hard", "selector": self.selector.name, "identity": self.selector.identity}
        return msgspec.structs.replace(candidates, set=chosen, plan=plan_id(candidates.plan, chosen))

    def variants(self) -> Iterator[Variant]:
        candidates = self._candidates()
        self.unchanged.update(candidates.manifest.unchanged)
        plan = self.making.plan
        run = run_system(candidates, self.selector, self.place / "run", plan.vary.asking, plan.engine)
        yield from hardest(run, self.making.variation.seed)

    def _candidates(self) -> Suite:
        folder, manifest = self.place / "candidates", self.making.manifest()
        if folder.exists() and Suite(folder).manifest.plan != manifest.plan:
            shutil.rmtree(self.place)  # of another plan, which was stopped and is no longer wanted
        if not folder.exists():
            return write_suite(
                folder, manifest, self.making.examples, self.making.variants, False, self.making.unchanged
            )
        return Suite(folder)


@contextmanager
def making_of(
    plan: Plan, place: Path | None = None, records: Records | None = None, selector: Selector | None = None
) -> Iterator[Making | Selecting]:
    """The plan's suite, ready to be made. `place` is where a selection keeps its work; without one, a passing place."""
    selector = selector if selector is not None else plan.vary.selector
    if plan.vary.set == "hard" and selector is None:
        raise UsageError(f"A hard set needs a system that selects it: set {option('selector')}.")
    if plan.vary.set != "hard" and selector is not None:
        raise UsageError(f"{option('selector')} is for hard sets: set {option('set')} to hard, or leave it out.")
    making = Making(plan, records)
    if selector is None:
        yield making
        return
    opened = open_system(selector, **plan.vary.options)
    try:
        with TemporaryDirectory() as passing:
            yield Selecting(making, opened, place or Path(passing))
    finally:
        if opened is not selector:
            opened.close()


def make_suite(
    data: str | Path | Records,
    operators: Sequence[str | OperatorSpec] = (),
    *,
    to: str | Path,
    set: SetName = "each",
    selector: Selector | None = None,
    draws: int = 1,
    seed: int = 0,
    task: str | None = None,
    language: str | None = None,
    overwrite: bool = False,
    engine: Engine | None = None,
) -> Suite:
    """Varies a file, a folder, or examples in Python, and writes the suite to folder `to`.

    `set` is `each`, `random` or `hard`; the last needs a `selector`, which is whatever a run takes as its system.
    """
    path, records = (str(data), None) if isinstance(data, (str, Path)) else (None, data)
    plan = Plan(
        data=DataPlan(path=path, task=task, language=language),
        vary=VaryPlan(operators=tuple(operators), set=set, draws=draws, seed=seed),
        engine=engine or Engine(),
    )
    return suite_of(plan, to, overwrite, records, selector)


def suite_of(
    plan: Plan,
    to: str | Path,
    overwrite: bool = False,
    records: Records | None = None,
    selector: Selector | None = None,
) -> Suite:
    """Makes the plan's suite in folder `to`. Where the same plan made it already, it is left as it is."""
    to = Path(to)
    place = to.with_name(f".{to.name}.selecting")
    with making_of(plan, place, records, selector) as making:
        manifest = making.manifest()
        if (to / "manifest.json").exists() and not overwrite:
            there = Suite(to)
            if there.manifest.plan == manifest.plan:
                there.verify()
                return there
        refuse_existing(to, overwrite)
        suite = write_suite(to, manifest, making.examples, making.variants, overwrite, making.unchanged)
    shutil.rmtree(place, ignore_errors=True)
    if not suite.manifest.variants:
        raise NothingEvaluated(
            f"{to} has no variants: the operators found nothing to change in {suite.manifest.examples} examples."
        )
    return suite


def _options(data: DataPlan) -> ReadOptions:
    return ReadOptions(
        format=data.format,
        task=data.task,
        inputs=data.inputs,
        gold=data.gold,
        id=data.id,
        groups=data.groups,
        labels=data.labels,
    )


def _source_id(path: Path) -> str:
    files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    return content_id([[f.name, file_hash(f)] for f in files], size=16)
