"""Pairs of texts that people compared, and the pairs of a run's answers that they could compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from unswayed.core.errors import DataError
from unswayed.core.ids import content_id
from unswayed.core.judgement import Judgement, read_judgements
from unswayed.core.seeds import Seeds
from unswayed.run.record import Run
from unswayed.score import Comparing, question_of

if TYPE_CHECKING:
    from unswayed.collect.items import Entry

KIND = "same_meaning"


class ComparedPair(NamedTuple):
    """Two texts, what people said of them, and where the pair comes from."""

    reference: str
    answer: str
    question: str
    source: str
    ratings: dict[str, float]

    def same(self, threshold: float) -> bool:
        """What people say together: the mean of their ratings reaches the threshold."""
        return sum(self.ratings.values()) / len(self.ratings) >= threshold


class _Asked(msgspec.Struct):
    a: str
    b: str
    question: str = ""


class _Rated(msgspec.Struct):
    similarity: float


def read_pairs(path: str | Path) -> list[ComparedPair]:
    """The pairs that people compared, each with the answers that count."""
    found: dict[tuple[str, str, str], ComparedPair] = {}
    judgements = read_judgements(path, KIND, _by_hand, asked=_Asked, answer=_Rated)
    for n, one in enumerate(judgements):
        if not one.counted:
            continue
        asked = msgspec.convert(one.asked, _Asked)
        new = ComparedPair(asked.a, asked.b, asked.question, str(one.origin.get("source", "")), {})
        pair = found.setdefault((asked.a, asked.b, asked.question), new)
        pair.ratings[one.person or f"row {n}"] = float(one.answer["similarity"])
    if not found:
        raise DataError("there is no answer that counts in it." if judgements else "there is no answer in it.", path)
    return list(found.values())


def _by_hand(row: Mapping[str, Any]) -> Judgement:
    """The record of an answer that a user wrote by hand."""
    texts = [_text(row, names) for names in (("reference", "original", "a"), ("answer", "paraphrase", "b"))]
    asked = dict(zip("ab", texts, strict=True)) | {"question": str(row.get("question") or "")}
    person, origin = str(row.get("person") or ""), {"source": str(row.get("source") or "")}
    item = content_id(asked) if person else ""
    return Judgement(
        person=person, kind=KIND, item=item, asked=asked, answer={"similarity": _similarity(row)}, origin=origin
    )  # fmt: skip


def _text(row: Mapping[str, Any], names: Sequence[str]) -> str:
    found = next((row[name] for name in names if isinstance(row.get(name), str)), None)
    if found is None:
        raise DataError(f"there is no {names[0]!r} in this row.")
    return str(found)


def _similarity(row: Mapping[str, Any]) -> float:
    if row.get("same") not in (None, ""):
        said = str(row["same"]).strip().casefold()
        if said not in ("true", "yes", "1", "1.0", "false", "no", "0", "0.0"):
            raise DataError(f"same must be true or false, not {said!r:.40}.")
        return 100.0 if said in ("true", "yes", "1", "1.0") else 0.0
    try:
        value = float(row["similarity"])
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"same must be true or false, or similarity a number, not {row.get('similarity')!r:.40}."
        ) from None
    if not 0 <= value <= 100:
        raise DataError(f"similarity must be from 0 to 100, not {value:g}.")
    return value


def flip_entries(kind: str, run: Run, fields: Sequence[str] = ()) -> list[Entry]:
    """The items that a suite gives for this kind of task, of the variants alone that changed the system's answer."""
    from unswayed.collect.items import Entry
    from unswayed.collect.kinds import kinds

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
    from unswayed.collect.items import Entry

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
