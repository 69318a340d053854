"""Reads a survey's answers: for each operator the share of labels that people found reasonable, with intervals.

An interval resamples items: participants are the ones there are, utterances stand for all that an operator makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from unswayed.base import DataError, Estimate, NothingEvaluated, content_id, option_name
from unswayed.collect import key_file
from unswayed.papers.nature.survey import Key, SurveyItem
from unswayed.stats import Observations, Question, Ratio, Resampling, estimates, sign
from unswayed.storage import Judgement, read_json_lines, read_judgements

VERSION = 2  # of these definitions; part of every signature
QUESTIONS = ("slots", "intent")

Verdict = Literal["reasonable", "unreasonable"]


class SurveyAnswer(msgspec.Struct, frozen=True):
    """One line of a file that users write by hand; what a person left open is null."""

    item: str
    participant: str
    slots: Verdict | bool | None = None
    intent: Verdict | bool | None = None


class Verdicts(msgspec.Struct, frozen=True):
    """What a person answers in a `labels` study: is it reasonable?"""

    slots: bool | None = None
    intent: bool | None = None


class Acceptance(msgspec.Struct, frozen=True):
    """How many of the labels of a set of items are reasonable."""

    set: str
    name: str
    items: int
    answers: int
    slots: Estimate
    intent: Estimate


class Participant(msgspec.Struct, frozen=True):
    """What one person did, and how they judged the controls, which should be nearly all reasonable."""

    participant: str
    group: str
    answered: int
    of: int
    control_slots: float | None
    control_intent: float | None
    kept: bool


class Acceptances(msgspec.Struct, frozen=True):
    sets: list[Acceptance]
    participants: list[Participant]
    warnings: list[str]


class _Given(NamedTuple):
    """All answers, what is known of the items that they are about, and each person's group and each group's items."""

    answers: list[Judgement]
    keys: dict[str, Key]
    group_of: dict[str, str]
    sizes: Counter[str]


def read_acceptance(
    answers: str | Path, items: str | Path | None = None, *, least_control: float | None = None,
    settings: Resampling | None = None,
) -> Acceptances:  # fmt: skip
    """Acceptance over all, by group, operator and suite; participants below `least_control` are left out.

    `answers` is what `unswayed collect export` wrote for a `labels` study. Answers written by hand name items only, so
    they need the file of `items`, with its key file beside it.
    """
    given = _read(Path(answers), None if items is None else Path(items))
    valid = [answer for answer in given.answers if answer.counted or answer.is_check]
    participants = _participants(valid, given, least_control)
    kept = {p.participant for p in participants if p.kept}
    used = [answer for answer in valid if answer.person in kept]
    if not used:
        raise NothingEvaluated(f"{answers} has no answers that count.")
    sets = _acceptances(used, given, settings or Resampling())
    warnings = [*_not_counted(given.answers), *_warnings(participants, least_control)]
    return Acceptances(sets, participants, warnings)


def _read(path: Path, items: Path | None) -> _Given:
    shown, groups = _shown(items)
    judgements = read_judgements(path, "labels", lambda row: _by_hand(row, shown), answer=Verdicts)
    keys = {}
    for judgement in judgements:
        try:
            keys[judgement.item] = msgspec.convert({**judgement.origin, "id": judgement.item}, Key)
        except msgspec.ValidationError as error:
            raise DataError(
                f"item {judgement.item!r} has no key ({error}). Make the study of the items that `unswayed survey "
                "export` wrote, with their key file next to them.", path
            ) from error  # fmt: skip
        if items is None:
            groups.setdefault(judgement.item, set()).add(judgement.stratum)
    sizes = Counter(group for own in groups.values() for group in own)
    return _Given(judgements, keys, _groups(judgements, groups), sizes)


def _shown(items: Path | None) -> tuple[dict[str, tuple[SurveyItem, Key]] | None, dict[str, set[str]]]:
    """The items of a file by id, each with its key; and which groups each is for."""
    if items is None:
        return None, {}
    keys = {key.id: key for _, key in read_json_lines(key_file(items), Key)}
    shown: dict[str, tuple[SurveyItem, Key]] = {}
    groups: dict[str, set[str]] = {}
    for _, item in read_json_lines(items, SurveyItem):
        groups.setdefault(item.id, set()).add(str(item.group))
        if item.id in keys:
            shown[item.id] = item, keys[item.id]
    return shown, groups


def _groups(judgements: Sequence[Judgement], groups: Mapping[str, set[str]]) -> dict[str, str]:
    """Each person's group: their stratum, or the group that most of their items are for."""
    votes: dict[str, Counter[str]] = {}
    for judgement in judgements:
        own = votes.setdefault(judgement.person, Counter())
        own.update([judgement.stratum] if judgement.stratum else groups.get(judgement.item, ()))
    return {who: min(own, key=lambda name: (-own[name], name)) for who, own in votes.items()}


def _by_hand(row: Mapping[str, Any], shown: Mapping[str, tuple[SurveyItem, Key]] | None) -> Judgement:
    """The record of an answer that a user wrote by hand."""
    try:
        answer = msgspec.convert(row, SurveyAnswer)
    except msgspec.ValidationError as error:
        raise DataError(f"this is not an answer: {error}.") from error
    if shown is None:
        raise DataError(f"this answer only names its item. Give the file of items with {option_name('items')}.")
    if answer.item not in shown:
        raise DataError(f"there is no item {answer.item!r}. Are these the answers to other items?")
    item, key = shown[answer.item]
    asked = {"utterance": item.utterance, "intent": item.intent, "slots": msgspec.to_builtins(item.slots)}
    verdicts = {question: _accepted(getattr(answer, question)) for question in QUESTIONS}
    origin = {name: value for name, value in msgspec.to_builtins(key).items() if name != "id"}
    return Judgement(
        person=answer.participant, kind="labels", item=answer.item, asked=asked, answer=verdicts, origin=origin
    )


def _accepted(verdict: Verdict | bool | None) -> bool | None:
    return verdict == "reasonable" if isinstance(verdict, str) else verdict


def _share(verdicts: list[bool | None]) -> float | None:
    given = [verdict for verdict in verdicts if verdict is not None]
    return sum(given) / len(given) if given else None


def _participants(valid: list[Judgement], given: _Given, least: float | None) -> list[Participant]:
    found = []
    for name in sorted({answer.person for answer in valid}):
        own = [answer for answer in valid if answer.person == name]
        group = given.group_of[name]
        controls = [answer.answer for answer in own if given.keys[answer.item].control]
        slots, intent = (_share([answer.get(question) for answer in controls]) for question in QUESTIONS)
        low = least is not None and any(score is not None and score < least for score in (slots, intent))
        found.append(Participant(name, group, len(own), given.sizes[group], slots, intent, not low))
    return found


def _not_counted(answers: Sequence[Judgement]) -> Iterator[str]:
    reasons = Counter((a.person, a.why_not) for a in answers if not a.counted and not a.is_check)
    for (person, reason), count in sorted(reasons.items()):
        yield f"Left out: {count} answers by {person} ({reason})."


def _warnings(participants: list[Participant], least: float | None) -> Iterator[str]:
    left = [p.participant for p in participants if not p.kept]
    if left:
        yield f"Left out, since they accept less than {least} of the controls: {', '.join(left)}."
    short = [p.participant for p in participants if p.answered < p.of]
    if short:
        yield f"Did not answer all items of their group: {', '.join(short)}."


def _acceptances(used: list[Judgement], given: _Given, settings: Resampling) -> list[Acceptance]:
    place = {id: i for i, id in enumerate(sorted(given.keys))}
    items = {answer.item: (answer.item, answer.asked, answer.origin) for answer in used}
    decided = {
        "items": content_id([items[id] for id in sorted(items)]),
        "answers": content_id(sorted((a.item, a.person, *(a.answer.get(q) for q in QUESTIONS)) for a in used)),
    }
    measure = f"acceptance:{VERSION}"
    sets = _sets(used, given)
    asked = [
        Question(
            _column(answers, question, place),
            sign({"measure": measure, "question": question, "set": f"{set_}={name}", **decided}, settings),
        )
        for (set_, name), answers in sets.items()
        for question in QUESTIONS
    ]
    found = iter(estimates(asked, settings))
    return [
        Acceptance(set_, name, len({answer.item for answer in answers}), len(answers), next(found), next(found))
        for (set_, name), answers in sets.items()
    ]


def _sets(used: list[Judgement], given: _Given) -> dict[tuple[str, str], list[Judgement]]:
    """The answers of all, of each group (the paper's Table 3), and about each operator and suite."""
    sets: dict[tuple[str, str], list[Judgement]] = {}
    order = {"all": 0, "group": 1, "operator": 2, "suite": 3}
    for answer in used:
        key = given.keys[answer.item]
        kind = "controls" if key.control else "altered"
        into = [("all", kind), ("group", f"{given.group_of[answer.person]} {kind}")]
        if key.operator is not None:
            into += [("operator", key.operator), ("suite", key.suite)]
        for name in into:
            sets.setdefault(name, []).append(answer)
    return dict(sorted(sets.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def _column(answers: list[Judgement], question: str, place: dict[str, int]) -> Observations:
    """For each item how many found the label reasonable, of how many."""
    rows: Any = np.zeros((len(place), 2))
    missing = np.zeros(len(place), dtype=np.int64)
    for answer in answers:
        at = place[answer.item]
        verdict = answer.answer.get(question)
        if verdict is None:
            missing[at] += 1
        else:
            rows[at] += verdict, 1
    known = np.flatnonzero(rows[:, 1])
    return Observations(known, rows[known], Ratio(), missing)
