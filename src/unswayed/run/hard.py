"""Hard sets: of each example's candidates, the one on which a selector does worst.

Worst is the lowest main score of the task; then the greatest loss, where the selector has one; then, where gold has
tags, the most wrong tags; then the task's other scores; then an answer that differs from the clean one. Ties are broken
at random, so no operator is favoured, and counted; a text that a simulated person left unaltered is taken only where
nothing altered is as bad.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path

import msgspec
import numpy as np

from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Output, Variant
from unswayed.run.engine import start_run
from unswayed.run.plan import Plan, SystemPlan
from unswayed.run.record import Run
from unswayed.score import Comparing, Match, Scorer, comparing_for, due_of, scorer_named, tags_of
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite
from unswayed.systems.system import System
from unswayed.vary import operators as known_operators

VERSION = 2  # of how candidates are ranked
_BLOCK = 256  # examples scored together

Badness = tuple[float, ...]
_Candidate = tuple[Example, Output, Variant, Output]


def hard_manifest(candidates: Manifest, selector: System) -> Manifest:
    """The manifest of the hard set that this system selects from such candidates."""
    names = [str(operator["name"]) for operator in candidates.operators]
    control = next((name for name in names if known_operators.get(name).meaning == "changed"), None)
    if control:
        raise UsageError(f"{control} changes what is said: no answer to it is right, so none is the worst.")
    chosen = {"name": "hard", "selector": selector.name, "identity": selector.identity}
    return msgspec.structs.replace(candidates, set=chosen, plan=plan_id(candidates.plan, chosen, VERSION))


def write_hard_set(
    to: Path | None,
    manifest: Manifest,
    candidates: Suite,
    selector: System,
    place: Path | None,
    plan: Plan,
    overwrite: bool,
) -> Suite:
    """Runs the selector on all candidates, in folder `place`, where a selection that was stopped resumes; then writes
    the suite of those on which it did worst."""
    run = start_run(candidates, selector, place, Plan(run=SystemPlan(asking=plan.vary.asking), engine=plan.engine))
    unchanged, ties = candidates.manifest.unchanged, Counter[str]()
    rests_on = Dependencies()
    for found in (candidates.manifest.rests_on, run.rests_on):
        if isinstance(found, Dependencies):
            rests_on.add(found)
    suite = write_suite(
        to, manifest, candidates.examples, lambda: hardest(run, selector, plan.vary.seed, ties), overwrite, unchanged,
        lambda: ties["ties"], rests_on,
    )  # fmt: skip
    print(
        f"unswayed: hard: {ties['ties']:,} of {ties['choices']:,} choices were ties, broken at random", file=sys.stderr
    )
    return suite


def hardest(run: Run, selector: System, seed: int, ties: Counter[str]) -> Iterator[Variant]:
    """For each example and draw the candidate on which the run's system did worst, in the examples' order.

    `ties` counts the choices, and those among several that were equally bad.
    """
    task = run.suite.task
    comparing = comparing_for(run.suite).cache_in_run(run.place)
    judged = [Match(comparing) if name == "match" else scorer_named(name) for name in task.scores]
    lots = Seeds(seed, "set/hard", 1)
    items = comparing.watch(run.items())
    while block := list(islice(items, _BLOCK)):
        candidates = [
            (example, clean, variant, output) for example, clean, varied in block for variant, output in varied
        ]
        own = {example.row: example.inputs for example, *_ in block}
        badness = _badness(candidates, comparing, judged, selector)
        ranked = sorted(
            zip(badness, (variant for _, _, variant, _ in candidates), strict=True),
            key=lambda pair: (pair[1].row, pair[1].draw, pair[1].source),
        )
        for (_, draw), group in groupby(ranked, key=lambda pair: (pair[1].row, pair[1].draw)):
            rivals = list(group)
            worst = max(bad for bad, _ in rivals)
            equals = [variant for bad, variant in rivals if bad == worst]
            altered = [variant for variant in equals if variant.inputs != own[variant.row]] or equals
            texts = {tuple(variant.inputs.values()) for variant in altered}  # two operators may make the same one
            ties.update({"choices": 1, "ties": len(texts) > 1})
            yield lots.stream(equals[0].example_id, draw).choice(altered)


def _badness(
    candidates: list[_Candidate], comparing: Comparing, judged: list[Scorer], selector: System
) -> list[Badness]:
    """How badly the selector did on each candidate; greater is worse."""
    for _, _, variant, output in candidates:
        if not output.ok:
            raise SystemBroken(
                f"The selector has no answer to a candidate ({variant.source} of example {variant.example_id!r}): "
                f"{output.error} A hard set needs all answers. Fix the selector, then rerun."
            )
    # The selector's losses are rounded, since their last bits depend on the processor; they are zero where it has none.
    losses = [0.0] * len(candidates)
    known = [i for i, (_, _, variant, _) in enumerate(candidates) if variant.gold is not None]
    variants = [candidates[i][2] for i in known]
    found = selector.losses([v.inputs for v in variants], [v.gold for v in variants]) if variants else None
    for i, loss in zip(known, found or (), strict=False):
        losses[i] = round(float(loss), 6)
    outputs = [output.value for _, _, _, output in candidates]
    golds = [variant.gold for _, _, variant, _ in candidates]
    inputs = [example.inputs for example, *_ in candidates]
    task, scores = comparing.task, list[list[float]]()
    for scorer in judged:  # the best where none is due or defined
        due = [i for i, gold in enumerate(golds) if gold is not None and scorer.gold_key(gold, task) is not None]
        best = scorer.bounds[1]
        column = np.full(len(golds), best)
        if due:
            rows = scorer.stats([outputs[i] for i in due], [due_of(scorer, golds[i], inputs[i]) for i in due], task)
            column[due] = np.nan_to_num(scorer.item_scores(rows), nan=best)
        scores.append(column.tolist())
    bad: list[Badness] = []
    for i, (example, clean, variant, output) in enumerate(candidates):
        main, *others = [-column[i] for column in scores] or [0.0]
        before, after = comparing.answer(clean), comparing.varied(example, variant, output)
        flipped = comparing.flip(example.row, before, after) == 1
        said, true = tags_of(output.value), tags_of(golds[i])
        wrong_tags = sum(a != b for a, b in zip(said, true, strict=False)) if said and true else 0
        bad.append((main, losses[i], wrong_tags, *others, float(flipped)))
    return bad
