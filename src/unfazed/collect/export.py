"""What people gave, for use elsewhere: every answer as JSON lines or Parquet, and texts as a suite."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unfazed.collect.agreement import Agreement, agreement
from unfazed.collect.database import Database, Transaction
from unfazed.collect.kinds import Kind
from unfazed.collect.study import Study, as_json
from unfazed.core.edits import Edit, LabelsLost
from unfazed.core.errors import NothingEvaluated, UsageError
from unfazed.core.files import growing, write_atomically
from unfazed.core.parquet import write_rows
from unfazed.core.suite import Manifest, Suite, plan_id, write_suite
from unfazed.core.values import Example, Json, Variant


class Row(msgspec.Struct, frozen=True):
    """One answer and all that is known of it."""

    item: str
    person: str
    stratum: str
    answer: Json
    counted: bool
    flags: list[str]
    excluded: str | None
    gold: Json
    correct: bool | None
    seconds: float
    received: float
    shown: Json
    asked: Json
    origin: dict[str, str]
    about: dict[str, str]
    errors: list[Json]
    heard: dict[str, str]
    log: Json = None


def answers_of(study: Study, database: Database, logs: bool = False) -> list[Row]:
    """Every answer that there is now."""
    return database.read(lambda tx: list(_rows(tx, study.make_kind(), logs)))


def _rows(tx: Transaction, kind: Kind, logs: bool = False) -> Iterator[Row]:
    """Every answer, in the items' order."""
    decode = msgspec.json.decode
    sql = (
        "SELECT i.id, w.person, w.stratum, w.content, w.live, w.flags, p.excluded, i.gold, w.correct, w.taken, "
        "w.received, w.shown, i.content, i.origin, p.facts, l.events FROM work w JOIN items i ON i.id = w.item "
        "JOIN people p ON p.id = w.person LEFT JOIN logs l ON l.item = w.item AND l.person = w.person "
        "WHERE w.state = 'answered' ORDER BY i.place, w.received, w.person"
    )
    heard: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for item, who, recogniser, text in tx.rows(
        "SELECT a.item, a.person, h.recogniser, h.text FROM audio a JOIN heard h ON h.name = a.name"
    ):
        heard[item, who][recogniser] = text
    for id, person, stratum, said, live, flags, excluded, gold, correct, taken, received, *rest in tx.rows(sql):
        shown, asked, origin, about, log = (decode(cell or "null") for cell in rest)
        yield Row(
            id, person, stratum, decode(said), bool(live), flags.split("\n") if flags else [], excluded,
            None if gold is None else decode(gold), None if correct is None else bool(correct),
            received - taken, received, shown, asked, origin, about, kind.details(asked, log or []), heard[id, person],
            log if logs else None,
        )  # fmt: skip


def agreements(study: Study, answers: list[Row]) -> dict[str, Agreement]:
    """Agreement on each question, over answers that count."""
    kind = study.make_kind()
    said: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in answers:
        if row.counted:
            for question, value in kind.judgements(row.answer).items():
                if value is not None:
                    said[question][row.item][row.person] = value
    found = {}
    for question, ratings in said.items():
        numbers = all(type(v) is int for people in ratings.values() for v in people.values())
        found[question] = agreement(ratings, "interval" if numbers and kind.level == "interval" else "nominal")
    return found


def agreed(study: Study, answers: list[Row]) -> list[dict[str, Json]]:
    """The same as rows to print."""
    return [
        {
            "question": question, "alpha": a.alpha.value, "low": a.alpha.low, "high": a.alpha.high,
            "items": a.alpha.n, "Fleiss": a.fleiss, "Cohen": a.cohen, "pairs": a.pairs,
        }
        for question, a in agreements(study, answers).items()
    ]  # fmt: skip


def summaries(study: Study, answers: list[Row]) -> list[dict[str, Json]]:
    """What the counted answers to each item say together; among items with the same `of`, the best is marked."""
    kind = study.make_kind()
    by_item: dict[str, list[Row]] = defaultdict(list)
    for row in answers:
        if row.counted:
            by_item[row.item].append(row)
    made: list[dict[str, Json]] = []
    best: dict[str, dict[str, Json]] = {}
    for item, own in by_item.items():
        summary = {"item": item, "n": len(own), **kind.summary([row.answer for row in own])}
        made.append(summary)
        of = own[0].asked.get("of")
        if of and summary["kept"] and summary["similarity"] > best.get(of, {}).get("similarity", -1):
            best[of] = summary
    for summary in best.values():
        summary["best"] = True
    return made


def write_jsonl(values: list[Any], to: Path) -> None:
    write_atomically(to, b"".join(msgspec.json.encode(value) + b"\n" for value in values))


_COLUMNS = {
    "item": "str", "person": "str", "stratum": "str", "answer": "str", "counted": "int", "flags": "str",
    "excluded": "str", "gold": "str", "correct": "int", "milliseconds": "int", "received": "int", "shown": "str",
    "asked": "str", "origin": "str", "about": "str", "errors": "str", "heard": "str", "log": "str",
}  # fmt: skip


def write_parquet(answers: list[Row], to: Path) -> None:
    """Values of more than one part are JSON texts; times are whole milliseconds."""
    cells = (
        (
            r.item, r.person, r.stratum, as_json(r.answer), int(r.counted), as_json(r.flags), r.excluded,
            None if r.gold is None else as_json(r.gold), None if r.correct is None else int(r.correct),
            round(r.seconds * 1000), round(r.received * 1000), as_json(r.shown), as_json(r.asked),
            as_json(r.origin), as_json(r.about), as_json(r.errors), as_json(r.heard),
            None if r.log is None else as_json(r.log),
        )
        for r in answers
    )  # fmt: skip
    with growing(to) as partial:
        write_rows(partial, _COLUMNS, cells)


class Exported(NamedTuple):
    suite: Suite
    incomplete: int  # versions of an example that lack the answer to one of its texts
    labels_lost: int  # versions whose labels could not be moved with the words


def write_people_suite(
    study: Study, answers: list[Row], to: Path, overwrite: bool = False, recogniser: str | None = None
) -> Exported:
    """The study's suite with what people made of its texts: a variant for each stratum, or for each of k people.

    A variant takes all its texts from one stratum. What came back unchanged is a variant too: people's versions are
    a sample, and leaving out the clean ones would make people look worse than they are.
    """
    kind = study.make_kind()
    if not kind.makes_text or study.items.suite is None:
        raise UsageError("Only a study of a suite's texts can be exported as a suite. Choose .jsonl or .parquet.")
    origin = Suite(study.folder / study.items.suite)
    fields = study.items.fields or origin.task.varied
    if kind.uploads:
        answers = [_as_heard(row, recogniser or _only_recogniser(answers)) for row in answers]
    made: dict[str, dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in answers:
        if row.counted and "text" in row.answer:
            made[row.origin["example"]][_source(row, made)][row.origin["field"]] = row
    counts: Counter[str] = Counter()

    def variants() -> Iterator[Variant]:
        for example in origin.examples():
            wanted = [f for f in fields or example.inputs if example.inputs[f].strip()]
            for name, texts in sorted(made[example.id].items()):
                variant = _variant(example, wanted, name, texts, origin, kind.source, counts)
                if variant is not None:
                    yield variant

    if not made:
        raise NothingEvaluated("There is no answer that counts, so there is nothing to make a suite of.")
    decided = sorted((row.item, row.person, as_json(row.answer)) for row in answers if row.counted)
    plan = plan_id(origin.id, decided)
    facts = origin.manifest
    manifest = Manifest(task=facts.task, language=facts.language, labels=facts.labels, plan=plan)
    suite = write_suite(to, manifest, origin.examples, variants, overwrite)
    return Exported(suite, counts["incomplete"], counts["labels"])


def _only_recogniser(answers: list[Row]) -> str:
    names = sorted({name for row in answers for name in row.heard})
    if len(names) != 1:
        said = (
            f"Choose one with --recogniser: {', '.join(names)}." if names else "Run `unfazed collect transcribe` first."
        )
        raise UsageError(f"Recordings become texts by a recogniser. {said}")
    return names[0]


def _as_heard(row: Row, recogniser: str) -> Row:
    """A recording with the text that a recogniser made of it, if it has heard it."""
    said = {"text": row.heard[recogniser]} if recogniser in row.heard else {}
    return msgspec.structs.replace(row, answer=said)


def _source(row: Row, made: dict[str, dict[str, dict[str, Row]]]) -> str:
    """The stratum; without strata, the first of the k versions of this example that lacks this text."""
    if row.stratum:
        return f"people/{row.stratum}"
    versions, number = made[row.origin["example"]], 1
    while row.origin["field"] in versions.get(f"people/{number}", {}):
        number += 1
    return f"people/{number}"


def _variant(
    example: Example, wanted: list[str], name: str, texts: dict[str, Row], origin: Suite, family: str,
    counts: Counter[str],
) -> Variant | None:  # fmt: skip
    if set(wanted) - texts.keys():
        counts["incomplete"] += 1
        return None
    inputs, gold = dict(example.inputs), example.gold
    for field in wanted:
        text = texts[field].answer["text"]
        if origin.task.aligned and gold is not None:
            try:
                text, gold = origin.task.move(gold, field, inputs[field], _edits(inputs[field], text))
            except LabelsLost:
                counts["labels"] += 1
                return None
        inputs[field] = text
    people = sorted({texts[field].person for field in wanted})
    return Variant(example.row, example.id, 0, name, family, "same", inputs, gold, "by " + ", ".join(people))


def _edits(text: str, typed: str) -> list[Edit]:
    """What a person changed, as the shortest edits."""
    from rapidfuzz.distance import Levenshtein

    return [
        Edit(op.src_start, op.src_end, typed[op.dest_start : op.dest_end])
        for op in Levenshtein.opcodes(text, typed)
        if op.tag != "equal"
    ]


def export(
    study: Study,
    database: Database,
    to: Path,
    logs: bool = False,
    overwrite: bool = False,
    recogniser: str | None = None,
) -> Exported | int:
    """Writes by the name: `.jsonl`, `.parquet`, or a folder for a suite; returns the suite or how many answers."""
    answers = answers_of(study, database, logs)
    if to.suffix == ".jsonl":
        write_jsonl(answers, to)
    elif to.suffix == ".parquet":
        write_parquet(answers, to)
    else:
        return write_people_suite(study, answers, to, overwrite, recogniser)
    return len(answers)
