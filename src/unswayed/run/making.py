"""From a Plan to a Suite: reads the data once, varies it, and writes both where they belong."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.chat import CHAT
from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import NothingEvaluated, UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.options import OperatorSpec, options_in_plan
from unswayed.base.progress import notices
from unswayed.base.recorder import recorder_of
from unswayed.base.secrets import masked_data
from unswayed.base.task import task_named
from unswayed.base.values import Variant
from unswayed.data import Source, likely_groups, open_source, read_examples
from unswayed.run.plan import DataPlan, Engine, Plan, PlanLike, given_options, plan_of
from unswayed.run.suite_checks import learnt_guard
from unswayed.run.varying import ExampleSpool, encoding_on, vary_on
from unswayed.storage.files import as_path, clear_left
from unswayed.storage.suite import Manifest, Suite, languages_counted, plan_id, refuse_existing, write_pieces
from unswayed.systems.device import chosen
from unswayed.systems.opening import open_system
from unswayed.systems.system import System
from unswayed.vary import operators
from unswayed.vary.engine import Variation, describe_operator, make_operator
from unswayed.vary.facts import FACTUAL, left_out_sentences
from unswayed.vary.presets import Preset, expand, in_other_languages, tell, with_parts

Selector = System | Callable[..., Any] | str


@options_in_plan(Plan, "data", "vary", "engine")
def make_suite(
    data: object, operators: str | OperatorSpec | Sequence[str | OperatorSpec] = (), *,
    input: str | Sequence[str] | None = None, gold: str | None = None, id: str | None = None,
    groups: str | Sequence[str] | None = None, task: str | None = None, language: str | None = None,
    draws: int | None = None, seed: int | None = None, selector: Selector | None = None,
    to: str | Path | None = None, overwrite: bool = False, plan: PlanLike = None,
) -> Suite:  # fmt: skip
    """Makes variants of your data.

    Example: `unswayed.make_suite(df, "keyboard/adjacent", input="utterance", gold="intent")`.

    - `data`: the path of a file or folder; a list of texts, mappings or Examples; a pandas or polars DataFrame; or a
      `datasets.Dataset`.
    - `operators`: an operator's name, a preset such as `@typing`, a family, a pattern such as `keyboard/*`, or several.
    - `input`, `gold`, `id`, `groups`: the fields or columns that hold texts, the right answer, ids, and slices.
      Unless you name them, they are guessed from their names. In a DataFrame or a list of records, every other
      column of few values is a slice unless you set `groups`.
    - `language`: a tag or a name, such as `pt-BR` or `German`; `mul` for rows in several languages. Unless you set it,
      it is identified from the texts.
    - `draws`: the variants of each example and operator. The same `seed` gives the same variants.
    - `selector`: for a hard set, any system that `run_system` takes.
    - `to`: the folder of the suite. Without it, the suite is in memory; `save` writes it. If the same plan made the
      suite in `to` already, it is kept as it is.
    - `plan`: all other options, such as `{"vary": {"set": "random"}, "data": {"cluster": "paragraph"}}`; a `Plan`, or
      the path of a TOML file. An argument overrides the plan.
    """
    made = plan_of(plan, operators=operators or None, input=input, gold=gold, id=id, groups=groups, task=task,
                   language=language, draws=draws, seed=seed)  # fmt: skip
    return made_suite(made, data, to, overwrite, selector, guess_groups=groups is None)


def made_suite(
    plan: Plan, data: object, to: str | Path | None, overwrite: bool = False, selector: Selector | None = None,
    guess_groups: bool = False,
) -> Suite:  # fmt: skip
    """The suite of a plan and data, which may be an object in Python, whose slices may be guessed."""
    if data is None:
        raise UsageError("data is None. Give a path, a list of texts or records, a DataFrame or a Dataset.")
    found = plan.data
    if guess_groups and not found.groups:
        groups = likely_groups(data, [*found.input, found.gold, found.id, found.cluster])
        found = msgspec.structs.replace(found, groups=tuple(groups))
    if isinstance(data, (str, Path)):
        found = msgspec.structs.replace(found, path=str(data))
    to = None if to is None else as_path(to, "to")
    return suite_of(msgspec.structs.replace(plan, data=found), to, overwrite, data, selector)


def suite_of(
    plan: Plan, to: str | Path | None = None, overwrite: bool = False, data: object = None,
    selector: Selector | None = None,
) -> Suite:  # fmt: skip
    """Makes the plan's suite in folder `to`, or in memory. If the same plan made it there already, it is kept.

    `data` and `selector` stand for the plan's own where they are objects in Python, which no plan can name.
    """
    to = None if to is None else Path(to)
    with _selector(plan, selector) as hard_for:
        source = _source(plan, data)
        variation, presets = _variation(plan, source, data)
        candidates = _manifest(plan, source, variation, presets)
        if hard_for is None:
            manifest = candidates
        else:
            from unswayed.run.hard import hard_manifest, write_hard_set  # brings all that a run needs

            manifest = hard_manifest(candidates, hard_for)
        if to is not None:
            known = Suite(to) if (to / "manifest.json").exists() and not overwrite else None
            if known is not None and known.manifest.plan == manifest.plan:
                changes = _changes(known.manifest)
                if not changes:
                    clear_left(to)
                    return known
                told = f"{', '.join(changes)} since {to} was made"
                if to.name == "suite" and (to.parent / "run.json").exists():
                    raise UsageError(
                        f"{told}, and {to.parent} holds a run on it. Choose another folder with {option('o', 'to')}."
                    )
                print(f"unswayed: {told}: the variants are made again.", file=notices())
                overwrite = True
            refuse_existing(to, overwrite)
        if hard_for is None:
            suite = _write(to, manifest, source, variation, plan.engine_in_use, overwrite)
        else:
            # All variants stay with the answers to them until the set is there, so that a stopped selection resumes.
            work = None if to is None else to.with_name(f".{to.name}.selecting")
            place = work and work / "candidates"
            rivals = Suite(place) if place and place.exists() else None
            if work and rivals is not None and (rivals.manifest.plan != candidates.plan or _changes(rivals.manifest)):
                shutil.rmtree(work)  # of another plan, or other operators, which was stopped and is no longer wanted
                rivals = None
            if rivals is None:
                rivals = _write(place, candidates, source, variation, plan.engine_in_use)
            suite = write_hard_set(to, manifest, rivals, hard_for, work and work / "run", plan, overwrite)
            if work is not None:
                shutil.rmtree(work, ignore_errors=True)
    if not suite.manifest.variants:
        needs = [f" {s.name} needs {n}." for s in variation.operators if (n := operators.get(s.name).needs)]
        of = f"the operators found nothing to change in {suite.manifest.examples} examples."
        raise NothingEvaluated(f"{suite.name} has no variants: {of}{''.join(needs)}")
    return suite


def _changes(made: Manifest) -> list[str]:
    """What operators of the user's own read for a suite, and what is not as it was then."""
    if isinstance(made.rests_on, Dependencies):
        return made.rests_on.changes()
    names = [str(operator["name"]) for operator in made.operators]
    unknown = [name for name in names if recorder_of(operators.get(name)) is not None]
    return [f"what {name} reads may have changed" for name in unknown]  # a suite of an earlier version


def variants_of(plan: Plan, unchanged: Counter[str], left_out: list[str] | None = None) -> Iterator[Variant]:
    """The variants of the plan's suite as they are made, without keeping a suite.

    `left_out` gets a sentence on slips that were left out, and on each operator that does not vary all rows, where
    they are in several languages.
    """
    spoken, slips = Counter[str](), Counter[str]()
    if plan.vary.set == "hard":
        suite = suite_of(plan)
        unchanged.update(suite.manifest.unchanged)
        slips.update(suite.manifest.left_out)
        spoken.update(suite.manifest.languages)
        names = [str(operator["name"]) for operator in suite.manifest.operators]
        yield from suite.variants()
    else:
        with _selector(plan, None):
            source = _source(plan, None)
            variation = _variation(plan, source)[0]
            names = [spec.name for spec in variation.operators]
            mixed = "+" in variation.language
            examples = languages_counted(source.examples, spoken) if mixed else source.examples
            yield from vary_on(plan.engine_in_use, examples, variation, unchanged, slips)
    if left_out is not None:
        left_out += left_out_sentences(slips)
        left_out += in_other_languages(names, spoken)


@contextmanager
def _selector(plan: Plan, selector: Selector | None) -> Iterator[System | None]:
    """The system that a hard set is selected by, open."""
    chosen = selector if selector is not None else plan.vary.selector
    if plan.vary.set == "hard" and chosen is None:
        raise UsageError(f"A hard set needs a system that selects it: set {option('selector')}.")
    if plan.vary.set != "hard" and chosen is not None:
        raise UsageError(f"{option('selector')} is for hard sets: set {option('set')} to hard, or leave it out.")
    if chosen is None:
        yield None
        return
    system = open_system(chosen, **plan.vary.options)
    try:
        yield system
    finally:
        if system is not chosen:
            system.close()


def _source(plan: Plan, data: object) -> Source:
    data = plan.data.path if data is None else data
    if data is None:
        raise UsageError("No data was given: name a file or folder, or `path` under [data] in the plan.")
    source = open_source(data, plan.data.reading(), plan.data.language)
    print(source.read_as, file=notices())
    for note in source.kind.notes:
        print(f"unswayed: {note}", file=notices())
    return source


def _variation(plan: Plan, source: Source, data: object = None) -> tuple[Variation, tuple[Preset, ...]]:
    """How the data is varied, and what the presets among the operators mean for it, which is printed."""
    kind = source.kind
    if plan.data.turn != DataPlan().turn and CHAT not in task_named(kind.task).fields:
        raise UsageError(f"{option('turn')} is for chats, and this data is for the task {kind.task}.")
    chosen, presets = expand(plan.vary.specs(), kind.language, kind.task)
    tell(presets, kind.language, kind.task)
    if plan.vary.set == "each":
        chosen = with_parts(chosen)
    variation = Variation(
        operators=chosen,
        task=kind.task,
        language=kind.language,
        language_guessed=kind.language_guessed,
        draws=plan.vary.draws,
        seed=plan.vary.seed,
        fields=plan.vary.fields,
        set="random" if plan.vary.set == "random" else "each",
        distinct=plan.vary.set == "each",  # random and hard sets draw as NATURE does
        keep_facts=keeps_facts(plan, kind.task, kind.compared),
    )
    variation.check()
    pools = {}  # by operator, the examples that it is given: those of its file, or the first of the data
    for operator in map(make_operator, variation.operators):
        if operator.pool:
            path = operator.file or (plan.data.path if data is None else data)
            reading = plan.data.reading(task=kind.task)
            examples = read_examples(path, reading) if isinstance(path, (str, Path)) else source.examples
            pools[operator.name] = tuple(islice(examples, operator.pool))
    guard = None
    if plan.vary.guard is not None:
        guard = learnt_guard(plan.vary.guard, plan.data.reading(task=kind.task, format=None, labels=None))
    return msgspec.structs.replace(variation, pools=pools, guard=guard), presets


def keeps_facts(plan: Plan, task: str, compared: Mapping[str, str]) -> bool:
    """Are slips left out that turn a number, date, unit, negation or name into another?

    By default they are where the right answer depends on them: answers to questions, tool calls, and free answers
    that are compared exactly or by what they end with, as numbers and choices are. A label or tag is another matter.
    """
    if plan.vary.keep_facts != "auto":
        return plan.vary.keep_facts == "yes"
    how = {"extract": plan.measure.extract, "equivalent": plan.measure.equivalent}
    how = {name: rule or compared.get(name, "") for name, rule in how.items()}
    free = task in ("generate", "chat") and (how["extract"] not in ("", "none") or how["equivalent"] == "exact")
    return free or task in FACTUAL


def _manifest(plan: Plan, source: Source, varied: Variation, presets: Sequence[Preset]) -> Manifest:
    described = [describe_operator(spec) for spec in varied.operators]
    data = plan.data
    settings = msgspec.to_builtins(masked_data(msgspec.structs.replace(varied, guard=None)))
    pools = settings.pop("pools")
    del settings["guard"], settings["distinct"]
    decides = [source.id, settings, described, data.input, data.gold, data.id, data.groups, data.labels]
    if data.turn != DataPlan().turn:
        decides.append(data.turn)
    if data.cluster is not None:
        decides.append(["cluster", data.cluster])
    decides += [[name, value] for name in ("encoding", "sheet") if (value := getattr(data, name)) is not None]
    if varied.draws > 1 and any(
        varied.draws_differ(cls) for spec in varied.operators for cls in operators.parts(spec.name)
    ):
        decides.append("distinct draws")
    if pools:
        decides.append(pools)
    if varied.guard is not None:
        decides.append(["guard", content_id(varied.guard)])
    # What the command that makes the suite again is told; not what changes its speed alone.
    made = {"data": given_options(data), "vary": given_options(plan.vary) | chosen().options()}
    made["vary"].pop("asking", None)
    return Manifest(
        task=varied.task,
        language=varied.language,
        labels=sorted(data.labels) if data.labels else None,
        seed=varied.seed,
        draws=varied.draws,
        operators=described,
        presets=[preset.record() for preset in presets],
        set={"name": varied.set} if varied.set != "each" else {},
        compared=source.kind.compared,
        cluster=data.cluster,
        people={spec.name: "draw" for spec in varied.operators if operators.get(spec.name).people},
        plan=plan_id(*decides),
        made=dict(masked_data({name: section for name, section in made.items() if section})),
    )


def _write(
    to: Path | None, manifest: Manifest, source: Source, variation: Variation, engine: Engine, overwrite: bool = False
) -> Suite:
    unchanged, left_out, rests_on = Counter[str](), Counter[str](), Dependencies()
    with (
        closing(ExampleSpool(source.examples, to, variation.at_once)) as spool,
        encoding_on(engine, spool.next_lines, variation, unchanged, left_out, rests_on) as encoding,
    ):
        return write_pieces(
            to,
            manifest,
            lambda: spool.read(encoding.go_on),
            encoding.pieces,
            overwrite,
            unchanged,
            left_out=left_out,
            rests_on=rests_on,
        )
