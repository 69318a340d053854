"""Items for people from a run: its changed answers, and the pairs of answers that a judge would compare."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base import DataError, Seeds
from unswayed.collect.items import Entry
from unswayed.collect.kinds import kinds
from unswayed.run import Run
from unswayed.score import Comparing, question_of


def flip_entries(kind: str, run: Run, fields: Sequence[str] = ()) -> list[Entry]:
    """The items that a suite gives for this kind of task, of the variants alone that changed the system's answer."""
    task, chosen, made = run.suite.task, kinds.get(kind), []
    for example, clean, varied in run.items():
        wanted = [name for name in fields or task.varied or task.texts(example.inputs) if example.inputs[name].strip()]
        flipped = [v for v, out in varied if clean.ok and out.ok and task.answer(out.value) != task.answer(clean.value)]
        pins = {"suite": run.suite.id, "run": run.system}
        made += [Entry(i.id, i.content, {**i.origin, **pins}) for i in chosen.from_suite(example, flipped, wanted)]
    if not made:
        raise DataError(f"no variant changed an answer, so a {kind} study has nothing to ask.", run.path)
    return made


def answer_entries(run: Run, limit: int | None = None, seed: int = 0) -> list[Entry]:
    """The pairs of a run's answers that a judge would compare, as items of a `same_meaning` study.

    `limit` is how many, chosen at random.
    """
    rule = Comparing(run.suite.task, "none", "exact")
    found: dict[tuple[str, str, str], Entry] = {}
    for example, clean, varied in run.items():
        golds = example.gold if isinstance(example.gold, list) else [example.gold]
        outputs = [("clean", 0, clean), *((v.source, v.draw, o) for v, o in varied)]
        for source, draw, output in outputs:
            for against, reference in (("clean", clean.value if clean.ok else None), ("gold", golds[0])):
                if not output.ok or reference is None or rule.key(output.value) == rule.key(reference):
                    continue
                a, b, question = rule.shown(reference), rule.shown(output.value), question_of(example.inputs)
                if not a.strip() or not b.strip():
                    continue  # nothing to compare
                id, asked = f"{example.id}/{against}/{source}/{draw}", {"a": a, "b": b, "of": example.id}
                origin = {"example": example.id, "source": source, "draw": draw, "against": against, "run": run.system}
                found.setdefault((a, b, question), Entry(id, {**asked, "question": question}, origin))
    items = list(found.values())
    if not items:
        raise DataError("no two answers differ, so there is nothing to compare.", run.path)
    chosen = Seeds(seed, "judge/pairs", 1).stream("", 0).sample(items, min(limit or len(items), len(items)))
    return chosen if limit else items
