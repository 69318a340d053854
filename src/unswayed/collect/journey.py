"""A person's way through a study: arrival, consent, questions, instructions, training, qualification, completion."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal, NamedTuple
from urllib.parse import quote

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.values import Json
from unswayed.collect.assign import Person
from unswayed.collect.backends import Transaction
from unswayed.collect.people import consent, fact, hashed, note
from unswayed.collect.study import PeopleStudy, as_json, said

Step = Literal["consent", "questions", "instructions", "tasks", "screened", "unqualified", "excluded"]
PREVIEW = ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE")  # how Mechanical Turk shows a task before it is accepted
_NAME = re.compile(r"[A-Za-z0-9_.@-]{1,64}")


class ArrivedBefore(UsageError):
    """The person has another link, which the owner made."""


def arrive(tx: Transaction, study: PeopleStudy, parameters: Mapping[str, str], now: float) -> str:
    """Adds a person who came by the open link, or finds who came with the same name before; returns their token.

    The token of somebody whom a platform names follows from the name, so that they can go on with another device.
    """
    given = {name: parameters[name][:200] for name in study.arrive.parameters if name in parameters}
    if study.arrive.parameters:
        name = given.get(study.arrive.parameters[0], "")
        if not _NAME.fullmatch(name):
            raise UsageError("arrive_missing")
        token = _signed(fact(tx, "secret"), f"arrive {name}")
    else:
        name, token = f"guest-{secrets.token_hex(5)}", secrets.token_urlsafe(20)
    known = tx.rows("SELECT token FROM people WHERE id = ?", name)
    if known and known[0][0] != hashed(token):
        raise ArrivedBefore("arrive_again")
    if not known:
        tx.run(
            "INSERT INTO people (id, token, stratum, invited, facts, answered, gold_seen, reached) "
            "VALUES (?, ?, '', ?, '{}', 0, 0, 0)",
            name, hashed(token), now,
        )  # fmt: skip
        note(tx, name, "arrived", "", now)
    _journey(tx, name)
    if given:
        tx.run("UPDATE journeys SET arrived = ? WHERE person = ?", as_json(given), name)
    return token


def _signed(secret: str, what: str) -> str:
    return hmac.new(bytes.fromhex(secret), what.encode(), sha256).hexdigest()


def _journey(tx: Transaction, person: str) -> None:
    tx.run("INSERT INTO journeys VALUES (?, '{}', '', NULL, NULL, '') ON CONFLICT DO NOTHING", person)


def step_of(person: Person, study: PeopleStudy) -> Step:
    """The page that the person is at. Whoever agreed to another text than today's is asked again."""
    if person.excluded is not None:
        return "excluded"
    if not person.consented or person.consent not in ("", study.consent_version):
        return "consent"
    if person.ended in ("screened", "unqualified"):
        return "screened" if person.ended == "screened" else "unqualified"
    if study.asked and not person.told and person.consent:
        return "questions"
    if study.instructions and not person.instructed and person.consent:
        return "instructions"
    return "tasks"


def agree(tx: Transaction, study: PeopleStudy, person: Person, language: str, now: float) -> None:
    """Keeps the consent with the text that was agreed to."""
    facts: dict[str, str] = msgspec.json.decode(tx.rows("SELECT facts FROM people WHERE id = ?", person.id)[0][0])
    consent(tx, person.id, facts, now)
    _journey(tx, person.id)
    tx.run("UPDATE journeys SET consent = ? WHERE person = ?", study.consent_version, person.id)
    text = said(study.consent, language, study.language)
    sql = (
        "INSERT INTO consents VALUES (?, ?, ?, ?, ?) ON CONFLICT (person, version) DO UPDATE "
        "SET language = excluded.language, text = excluded.text, at = excluded.at"
    )
    tx.run(sql, person.id, study.consent_version, language, text, now)


def tell(tx: Transaction, study: PeopleStudy, person: Person, given: Mapping[str, str], now: float) -> list[str]:
    """Keeps the answers to the questions and finds the stratum; returns the names of questions to be answered again."""
    facts = {question.name: given.get(question.name, "").strip()[:200] for question in study.asked}
    wrong = [question.name for question in study.asked if question.problem(facts[question.name])]
    if wrong:
        return wrong
    tx.run("UPDATE people SET facts = ? WHERE id = ?", as_json({name: v for name, v in facts.items() if v}), person.id)
    _journey(tx, person.id)
    tx.run("UPDATE journeys SET told = ? WHERE person = ?", now, person.id)
    by = next((question for question in study.asked if question.name == study.assign.by), None)
    if by is not None:
        stratum = by.stratum(facts[by.name])
        if stratum in study.assign.strata:
            tx.run("UPDATE people SET stratum = ? WHERE id = ?", stratum, person.id)
        else:
            end(tx, person.id, "screened")
    return []


def instructed(tx: Transaction, person: Person, now: float) -> None:
    _journey(tx, person.id)
    tx.run("UPDATE journeys SET instructed = ? WHERE person = ?", now, person.id)


def end(tx: Transaction, person: str, how: Literal["done", "screened", "unqualified"]) -> None:
    _journey(tx, person)
    tx.run("UPDATE journeys SET ended = ? WHERE person = ?", how, person)


def qualifies(tx: Transaction, study: PeopleStudy, person: Person) -> bool:
    """Has the person enough right answers in the qualification, or is it not over yet?"""
    if study.qualification is None:
        return True
    sql = (
        "SELECT count(*), count(w.correct), coalesce(sum(w.correct), 0) FROM parts p "
        "LEFT JOIN work w ON w.item = p.item AND w.person = ? AND w.state IN ('answered', 'failed') "
        "WHERE p.phase = 'qualification'"
    )
    ((items, answered, right),) = tx.rows(sql, person.id)
    return bool(answered < items or right >= study.qualification.least * items)


class Feedback(NamedTuple):
    """What is said after an item of the training: the item, whether the answer was right, the right one, and why."""

    item: str
    asked: Json
    answer: Json
    gold: Json
    right: bool
    feedback: str | dict[str, str]


def feedback_for(tx: Transaction, person: Person) -> Feedback | None:
    """The item of the training that the person has answered and has not been told about."""
    sql = (
        "SELECT i.id, i.content, w.content, i.gold, w.correct, p.feedback FROM remarks r JOIN items i ON i.id = r.item "
        "JOIN work w ON w.item = r.item AND w.person = r.person JOIN parts p ON p.item = r.item "
        "WHERE r.person = ? AND r.told = 0 ORDER BY i.place LIMIT 1"
    )
    for id, asked, answer, gold, correct, feedback in tx.rows(sql, person.id):
        decode = msgspec.json.decode
        return Feedback(id, decode(asked), decode(answer), decode(gold), bool(correct), decode(feedback))
    return None


def was_told(tx: Transaction, person: Person, item: str) -> None:
    tx.run("UPDATE remarks SET told = 1 WHERE item = ? AND person = ?", item, person.id)


class Ending(NamedTuple):
    """What a person is given at the end."""

    code: str
    back: str
    text: str


def ending(tx: Transaction, study: PeopleStudy, person: Person, how: str, language: str) -> Ending | None:
    """The code and the way back, filled in with what the person brought along; None if the study has none."""
    if study.completion is None:
        return None
    codes = {"screened": study.completion.screened_code, "unqualified": study.completion.unqualified_code}
    code = codes.get(how, study.completion.code or completion_code(fact(tx, "secret"), person.id))
    brought = {**msgspec.json.decode(person.arrived), "code": code}
    back = re.sub(r"\{(\w+)\}", lambda found: quote(str(brought.get(found[1], "")), safe=""), study.completion.back)
    return Ending(code, back if code else "", said(study.completion.text, language, study.language))


def completion_code(secret: str, person: str) -> str:
    """A person's own code, which only this study can make."""
    return _signed(secret, f"completion {person}")[:10].upper()
