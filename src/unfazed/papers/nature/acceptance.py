"""Reads a survey's answers: for each operator the share of labels that people found reasonable, with intervals.

An interval resamples items: participants are the ones there are, utterances stand for all that an operator makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from unfazed.core import DataError, Estimate, NothingEvaluated, content_id, decode_json
from unfazed.core.estimate import Observations, Question, Ratio, Resampling, estimates, sign
from unfazed.papers.nature.survey import Item, Key, key_file

VERSION = 1  # of these definitions; part of every signature
QUESTIONS = ("slots", "intent")

Verdict = Literal["reasonable", "unreasonable"]
T = TypeVar("T")


class Answer(msgspec.Struct, frozen=True):
    """One person on one item; what they left open is null."""

    item: str
    participant: str
    slots: Verdict | bool | None = None
    intent: Verdict | bool | None = None


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
    group: int
    answered: int
    of: int
    control_slots: float | None
    control_intent: float | None
    kept: bool


class Acceptances(msgspec.Struct, frozen=True):
    sets: list[Acceptance]
    participants: list[Participant]
    warnings: list[str]


def read_acceptance(
    answers: str | Path,
    items: str | Path,
    *,
    least_control: float | None = None,
    settings: Resampling | None = None,
) -> Acceptances:
    """Acceptance over all, by group, operator and suite; participants below `least_control` are left out."""
    shown = [item for _, item in _rows(Path(items), Item)]
    keys = {key.id: key for _, key in _rows(key_file(items), Key)}
    given = list(_answers(Path(answers), shown, keys))
    participants = _participants(given, shown, keys, least_control)
    group_of = {p.participant: p.group for p in participants if p.kept}
    used = [answer for answer in given if answer.participant in group_of]
    if not used:
        raise NothingEvaluated(f"{answers} has no answers that count.")
    decided = content_id([msgspec.to_builtins(shown), msgspec.to_builtins(sorted(keys.values(), key=lambda k: k.id))])
    sets = _acceptances(used, keys, group_of, decided, settings or Resampling())
    return Acceptances(sets, participants, list(_warnings(participants, least_control)))


def _rows(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    for row, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield row, decode_json(line, kind)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise DataError(f"this is no {kind.__name__.lower()}: {error}.", path, row) from error


def _answers(path: Path, shown: list[Item], keys: dict[str, Key]) -> Iterator[Answer]:
    """Answers to items that there are, one by each person."""
    known = {item.id for item in shown}
    seen: set[tuple[str, str]] = set()
    for row, answer in _rows(path, Answer):
        if answer.item not in known or answer.item not in keys:
            raise DataError(f"there is no item {answer.item!r}. Are these the answers to other items?", path, row)
        if (answer.participant, answer.item) in seen:
            raise DataError(f"{answer.participant!r} answers item {answer.item!r} twice.", path, row)
        seen.add((answer.participant, answer.item))
        yield answer


def _accepted(verdict: Verdict | bool | None) -> bool | None:
    return verdict == "reasonable" if isinstance(verdict, str) else verdict


def _share(verdicts: list[bool | None]) -> float | None:
    given = [verdict for verdict in verdicts if verdict is not None]
    return sum(given) / len(given) if given else None


def _participants(
    given: list[Answer], shown: list[Item], keys: dict[str, Key], least: float | None
) -> list[Participant]:
    sizes = Counter(item.group for item in shown)
    groups: dict[str, set[int]] = {}
    for item in shown:
        groups.setdefault(item.id, set()).add(item.group)
    found = []
    for name in sorted({answer.participant for answer in given}):
        own = [answer for answer in given if answer.participant == name]
        votes = Counter(group for answer in own for group in groups[answer.item])
        group = min(votes, key=lambda number: (-votes[number], number))
        controls = [answer for answer in own if keys[answer.item].control]
        slots = _share([_accepted(answer.slots) for answer in controls])
        intent = _share([_accepted(answer.intent) for answer in controls])
        low = least is not None and any(score is not None and score < least for score in (slots, intent))
        found.append(Participant(name, group, len(own), sizes[group], slots, intent, not low))
    return found


def _warnings(participants: list[Participant], least: float | None) -> Iterator[str]:
    left = [p.participant for p in participants if not p.kept]
    if left:
        yield f"Left out, since they accept less than {least} of the controls: {', '.join(left)}."
    short = [p.participant for p in participants if p.answered < p.of]
    if short:
        yield f"Did not answer all items of their group: {', '.join(short)}."


def _acceptances(
    used: list[Answer], keys: dict[str, Key], group_of: dict[str, int], items_id: str, settings: Resampling
) -> list[Acceptance]:
    place = {id: i for i, id in enumerate(sorted(keys))}
    answers_id = content_id(sorted(msgspec.json.encode(answer).decode() for answer in used))
    decided = {"items": items_id, "answers": answers_id}
    measure = f"acceptance:{VERSION}"
    sets = _sets(used, keys, group_of)
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


def _sets(used: list[Answer], keys: dict[str, Key], group_of: dict[str, int]) -> dict[tuple[str, str], list[Answer]]:
    """The answers that acceptance is told for: all, each group's (the paper's Table 3), operator's and suite's."""
    sets: dict[tuple[str, str], list[Answer]] = {}
    order = {"all": 0, "group": 1, "operator": 2, "suite": 3}
    for answer in used:
        key = keys[answer.item]
        kind = "controls" if key.control else "altered"
        into = [("all", kind), ("group", f"{group_of[answer.participant]} {kind}")]
        if key.operator is not None:
            into += [("operator", key.operator), ("suite", key.suite)]
        for name in into:
            sets.setdefault(name, []).append(answer)
    return dict(sorted(sets.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def _column(answers: list[Answer], question: str, place: dict[str, int]) -> Observations:
    """For each item how many found the label reasonable, of how many."""
    rows: Any = np.zeros((len(place), 2))
    missing = np.zeros(len(place), dtype=np.int64)
    for answer in answers:
        at = place[answer.item]
        verdict = _accepted(getattr(answer, question))
        if verdict is None:
            missing[at] += 1
        else:
            rows[at] += verdict, 1
    known = np.flatnonzero(rows[:, 1])
    return Observations(known, rows[known], Ratio(), missing)
