"""From a Plan to a Suite: reads the data, varies it, and writes both where they belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from unfazed.core.errors import NothingEvaluated, UsageError
from unfazed.core.ids import content_id, file_hash
from unfazed.core.language import guess_language
from unfazed.core.progress import Progress
from unfazed.core.suite import Manifest, Suite, plan_id, refuse_existing, write_suite
from unfazed.core.task import guess_task
from unfazed.core.values import Example, Json, Variant
from unfazed.data import ReadOptions, examples_of, read_examples, task_and_language
from unfazed.run.plan import DataPlan, Plan, VaryPlan
from unfazed.vary.engine import OperatorSpec, Variation, vary

Records = Sequence[Example | Mapping[str, Json]]


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
        )
        self.variation.check()
        self.unchanged: Counter[str] = Counter()

    def variants(self) -> Iterator[Variant]:
        with Progress("varied") as progress:
            yield from vary(self.examples(), self.variation, self.plan.vary.workers, self.unchanged, progress.add)

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
            plan=plan_id(*decides),
        )


def make_suite(
    data: str | Path | Records,
    operators: Sequence[str | OperatorSpec],
    *,
    to: str | Path,
    draws: int = 1,
    seed: int = 0,
    task: str | None = None,
    language: str | None = None,
    overwrite: bool = False,
) -> Suite:
    """Varies a file, a folder, or examples in Python, and writes the suite to folder `to`."""
    path, records = (str(data), None) if isinstance(data, (str, Path)) else (None, data)
    plan = Plan(
        data=DataPlan(path=path, task=task, language=language),
        vary=VaryPlan(operators=tuple(operators), draws=draws, seed=seed),
    )
    return suite_of(plan, to, overwrite, records)


def suite_of(plan: Plan, to: str | Path, overwrite: bool = False, records: Records | None = None) -> Suite:
    """Makes the plan's suite in folder `to`. Where the same plan made it already, it is left as it is."""
    making = Making(plan, records)
    manifest = making.manifest()
    to = Path(to)
    if (to / "manifest.json").exists() and not overwrite:
        there = Suite(to)
        if there.manifest.plan == manifest.plan:
            there.verify()
            return there
    refuse_existing(to, overwrite)
    suite = write_suite(to, manifest, making.examples, making.variants, overwrite, making.unchanged)
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
