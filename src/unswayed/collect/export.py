"""What people said, for use elsewhere: a record of every answer, what they say together, and texts as a suite."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec

from unswayed.base.edits import LabelsLost
from unswayed.base.errors import NothingEvaluated, UsageError, option
from unswayed.base.values import Example, Json, Variant
from unswayed.collect.backends import Transaction
from unswayed.collect.database import Database
from unswayed.collect.kinds import TaskKind
from unswayed.collect.kinds.same_meaning import SameMeaningOptions
from unswayed.collect.people import name_in_text, pseudonyms
from unswayed.collect.study import PeopleStudy, as_json
from unswayed.stats.agreement import RaterAgreement, rater_agreement
from unswayed.storage.judgements import EXCLUDED, GOLD, Judgement, read_judgements, write_judgements
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite


def answers_of(study: PeopleStudy, database: Database, logs: bool = False, names: bool = False) -> list[Judgement]:
    """Every answer that there is now, by people's pseudonyms or by their `names`."""
    return database.read(lambda tx: list(_judgements(tx, study, logs, names)))


def _judgements(tx: Transaction, study: PeopleStudy, logs: bool, names: bool) -> Iterator[Judgement]:
    """Every answer, in the items' order."""
    decode, kind = msgspec.json.decode, study.make_kind()
    called = str if names else pseudonyms(tx)
    reasons: dict[str, str] = {}  # the owner's, in which they may have named people
    for (reason,) in tx.rows("SELECT DISTINCT excluded FROM people WHERE excluded <> ''"):
        reasons[reason] = reason
        for (one,) in tx.rows("SELECT id FROM people"):
            if one in reason:
                reasons[reason] = name_in_text(one).sub(called(one), reasons[reason])
    sql = (
        "SELECT i.id, w.person, w.stratum, w.content, w.live, w.flags, p.excluded, i.gold, w.correct, w.taken, "
        "w.received, b.phase, coalesce(r.comment, ''), w.shown, i.content, i.origin, p.facts, l.events "
        "FROM work w JOIN items i ON i.id = w.item JOIN people p ON p.id = w.person JOIN parts b ON b.item = w.item "
        "LEFT JOIN logs l ON l.item = w.item AND l.person = w.person "
        "LEFT JOIN remarks r ON r.item = w.item AND r.person = w.person "
        "WHERE w.state IN ('answered', 'failed') ORDER BY i.place, w.received, w.person"
    )
    earlier: dict[tuple[str, str], list[Json]] = defaultdict(list)
    for item, who, answer, flagged, seconds, received in tx.rows(
        "SELECT item, person, content, flags, seconds, received FROM attempts ORDER BY number"
    ):
        attempt = {"answer": decode(answer), "flags": flagged.split("\n"), "seconds": seconds, "received": received}
        earlier[item, who].append(attempt)
    heard: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for item, who, recogniser, text in tx.rows(
        "SELECT a.item, a.person, h.recogniser, h.text FROM audio a JOIN heard h ON h.name = a.name"
    ):
        heard[item, who][recogniser] = text
    for (
        id, person, stratum, answer, live, flagged, excluded, gold, correct, taken, received, phase, comment, *rest
    ) in tx.rows(sql):  # fmt: skip
        shown, asked, origin, about, log = (decode(cell or "null") for cell in rest)
        flags = flagged.split("\n") if flagged else []
        reason = None if excluded is None else reasons.get(excluded, "")
        yield Judgement(
            person=called(person), kind=study.kind, item=id, asked=asked, answer=decode(answer), counted=bool(live),
            why_not="" if live else _why_not(reason, gold, flags, phase), stratum=stratum, origin=origin,
            gold=None if gold is None else decode(gold), correct=None if correct is None else bool(correct),
            flags=flags, seconds=received - taken, received=received, shown=shown, about=about,
            errors=kind.details(asked, log or []), heard=heard[id, person], comment=comment,
            attempts=earlier[id, person], log=log if logs else None,
        )  # fmt: skip


def _why_not(excluded: str | None, gold: str | None, flags: list[str], phase: str) -> str:
    if excluded is not None:
        return EXCLUDED + excluded
    if gold is not None:
        return GOLD if phase == "task" else phase
    return f"flagged: {', '.join(flags)}" if flags else UNFINISHED


def agreements(study: PeopleStudy, answers: list[Judgement]) -> dict[str, RaterAgreement]:
    """Agreement on each question, over answers that count."""
    kind = study.make_kind()
    ratings_of: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in answers:
        if row.counted:
            for question, value in kind.judgements(row.answer).items():
                if value is not None:
                    ratings_of[question][row.item][row.person] = value
    agreed_on = {}
    for question, ratings in ratings_of.items():
        numbers = all(type(v) is int for people in ratings.values() for v in people.values())
        agreed_on[question] = rater_agreement(
            ratings, "interval" if numbers and kind.level == "interval" else "nominal"
        )
    return agreed_on


def agreed(study: PeopleStudy, answers: list[Judgement]) -> list[dict[str, Json]]:
    """The same as rows to print."""
    return [
        {
            "question": question, "alpha": a.alpha.value, "low": a.alpha.low, "high": a.alpha.high,
            "items": a.alpha.n, "Fleiss": a.fleiss, "Cohen": a.cohen, "pairs": a.pairs,
        }
        for question, a in agreements(study, answers).items()
    ]  # fmt: skip


def summaries(study: PeopleStudy, answers: list[Judgement]) -> list[dict[str, Json]]:
    """What the counted answers to each item say together; among items with the same `of`, the best is marked."""
    kind = study.make_kind()
    by_item: dict[str, list[Judgement]] = defaultdict(list)
    for row in answers:
        if row.counted:
            by_item[row.item].append(row)
    rows: list[dict[str, Json]] = []
    best: dict[str, dict[str, Json]] = {}
    for item, own in by_item.items():
        summary = {"item": item, "n": len(own), **kind.summary([row.answer for row in own])}
        rows.append(summary)
        of = own[0].asked.get("of")
        if of and summary["kept"] and summary["similarity"] > best.get(of, {}).get("similarity", -1):
            best[of] = summary
    for summary in best.values():
        summary["best"] = True
    return rows


UNFINISHED = "unfinished: the person left before the other texts of the example"


class Exported(NamedTuple):
    suite: Suite
    incomplete: int  # versions of an example that lack the answer to one of its texts
    labels_lost: int  # versions whose labels could not be moved with the words
    not_the_same: int = 0  # versions that others did not find to mean the same


def write_people_suite(
    study: PeopleStudy, answers: list[Judgement], to: Path, overwrite: bool = False, recogniser: str | None = None,
    judged: Path | None = None,
) -> Exported:  # fmt: skip
    """The study's suite with what people made of its texts: each version is one person's, and each draw a person.

    With the answers `judged` of a same_meaning study, only versions that mean the same.

    What came back unchanged is a variant too: people's versions are a sample, and leaving out the clean ones would make
    people look worse than they are.
    """
    kind = study.make_kind()
    if not kind.makes_text or study.items.suite is None:
        raise UsageError("Only a study of a suite's texts can be exported as a suite. Choose .jsonl or .parquet.")
    origin = _pinned(Suite(study.folder / study.items.suite), answers)
    if kind.uploads:
        answers = [_as_heard(row, recogniser or _only_recogniser(answers)) for row in answers]
    versions, numbers = _versions(answers), _numbers(answers)
    counts: Counter[str] = Counter()
    same = None if judged is None else _same_meaning(judged)

    def variants() -> Iterator[Variant]:
        for example in origin.examples():
            wanted = _wanted(study, origin, example)
            own = versions.get(example.id, {})
            for person, texts in sorted(own.items(), key=lambda one: numbers[one[0]]):
                name = f"people/{next(iter(texts.values())).stratum or kind.source}"
                variant = _variant(example, wanted, (name, numbers[person]), texts, origin, kind, counts)
                if variant is not None and same is not None:
                    pairs = ((example.inputs[field], variant.inputs[field]) for field in wanted)
                    if not all(before == after or (before, after) in same for before, after in pairs):
                        counts["meaning"] += 1
                        continue
                if variant is not None:
                    yield variant

    if not versions:
        raise NothingEvaluated("No answer counts yet, so there is no suite to write.")
    decided = sorted((row.item, row.person, as_json(row.answer)) for row in answers if row.counted)
    plan = plan_id(origin.id, decided)
    facts = origin.manifest
    manifest = Manifest(task=facts.task, language=facts.language, labels=facts.labels, people={"*": "draw"}, plan=plan)
    suite = write_suite(to, manifest, origin.examples, variants, overwrite)
    return Exported(suite, counts["incomplete"], counts["labels"], counts["meaning"])


def _same_meaning(judged: Path) -> set[tuple[str, str]]:
    """The pairs of texts that people found to mean the same, on average."""
    given: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in read_judgements(judged, "same_meaning"):
        if row.counted:
            given[row.asked["a"], row.asked["b"]].append(row.answer["similarity"])
    return {pair for pair, similarities in given.items() if fmean(similarities) >= SameMeaningOptions().threshold}


def exportable(study: PeopleStudy, answers: list[Judgement]) -> int | None:
    """How many versions a suite of the answers would have; None if they make no suite, or none that can be read now."""
    kind, place = study.make_kind(), study.folder / (study.items.suite or "")
    if not kind.makes_text or kind.uploads or study.items.suite is None or not place.is_dir():
        return None
    origin, versions, counts = Suite(place), _versions(answers), Counter[str]()
    return sum(
        _variant(example, _wanted(study, origin, example), ("", 0), texts, origin, kind, counts) is not None
        for example in origin.examples()
        for texts in versions.get(example.id, {}).values()
    )


def _wanted(study: PeopleStudy, origin: Suite, example: Example) -> list[str]:
    fields = study.items.fields or origin.task.varied
    return [field for field in fields or example.inputs if example.inputs[field].strip()]


def _versions(answers: list[Judgement]) -> dict[str, dict[str, dict[str, Judgement]]]:
    """By example and person, the answers that count to each of its texts."""
    versions: dict[str, dict[str, dict[str, Judgement]]] = defaultdict(lambda: defaultdict(dict))
    for row in answers:
        if row.counted and "text" in row.answer:
            versions[row.origin["example"]][row.person][row.origin["field"]] = row
    return versions


def _numbers(answers: list[Judgement]) -> dict[str, int]:
    """Each person's number, by their first answer that counts: later answers change no earlier number."""
    counted = sorted((row.received or 0.0, row.person) for row in answers if row.counted)
    return {person: number for number, person in enumerate(dict.fromkeys(person for _, person in counted))}


def _pinned(suite: Suite, answers: list[Judgement]) -> Suite:
    """The suite, if it is the one that the items were made of."""
    made_of = {str(answer.origin.get("suite", suite.id)) for answer in answers}  # older databases have no pin
    if made_of - {suite.id}:
        raise UsageError(
            f"{suite.name} is not the suite that this study's items were made from: it is {suite.id}, and it was "
            f"{', '.join(sorted(made_of))}. Put the old suite back, or export the answers as .jsonl."
        )
    return suite


def _only_recogniser(answers: list[Judgement]) -> str:
    names = sorted({name for row in answers for name in row.heard})
    if len(names) != 1:
        hint = (
            f"Choose one with {option('recogniser')}: {', '.join(names)}."
            if names
            else "Run `unswayed collect transcribe` first."
        )
        raise UsageError(f"A suite takes the texts of one recogniser. {hint}")
    return names[0]


def _as_heard(row: Judgement, recogniser: str) -> Judgement:
    """A recording with the text that a recogniser made of it, if it has heard it."""
    answer = {"text": row.heard[recogniser]} if recogniser in row.heard else {}
    return msgspec.structs.replace(row, answer=answer)


def _variant(
    example: Example, wanted: list[str], maker: tuple[str, int], texts: dict[str, Judgement], origin: Suite,
    kind: TaskKind, counts: Counter[str],
) -> Variant | None:  # fmt: skip
    if set(wanted) - texts.keys():
        counts["incomplete"] += 1
        return None
    inputs, gold = dict(example.inputs), example.gold
    for field in wanted:
        try:
            inputs[field], gold = kind.moved(origin.task, gold, field, inputs[field], texts[field].answer)
        except LabelsLost:
            counts["labels"] += 1
            return None
    (name, number), (person,) = maker, {texts[field].person for field in wanted}
    return Variant(example.row, example.id, number, name, kind.source, "same", inputs, gold, f"by {person}")


def export(
    study: PeopleStudy, database: Database, to: Path, logs: bool = False, overwrite: bool = False,
    recogniser: str | None = None, names: bool = False, judged: Path | None = None,
) -> Exported | int:  # fmt: skip
    """Writes by the name: `.jsonl`, `.parquet`, or a folder for a suite; returns the suite or how many answers."""
    answers = answers_of(study, database, logs, names)
    if to.suffix not in (".jsonl", ".parquet"):
        return write_people_suite(study, answers, to, overwrite, recogniser, judged)
    write_judgements(answers, to)
    return len(answers)
