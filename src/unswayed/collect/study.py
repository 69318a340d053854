"""A study as its TOML file declares it: the kind of task, the items, who gets them, and what comes before."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError, StoredFileError, UnknownName
from unswayed.base.ids import content_id
from unswayed.base.values import Json
from unswayed.collect.kinds import TaskKind, kinds
from unswayed.collect.words import languages, words
from unswayed.storage.untrusted_files import read_bounded

MOST = 1_000_000_000  # of anything that a study counts
Text = str | dict[str, str]  # the same for all, or by language


def said(text: Text, language: str, default: str = "en") -> str:
    """A text of the study in a language; without one, in the study's language, or in any."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get(default) or next(iter(text.values()), "")


class Items(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where items come from: a suite's examples, or a JSON-lines file with one item per line."""

    suite: str | None = None
    path: str | None = None
    fields: tuple[str, ...] = ()  # of a suite's inputs; none: those that the task varies


class Arrive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How people come without an invitation of their own: by `/join`, with a platform's parameters."""

    open: bool = False
    parameters: tuple[str, ...] = ()  # the first names the person
    frames: tuple[str, ...] = ()  # hosts that may show the study in a frame, such as https://www.mturk.com


class PersonQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What people are asked about themselves. `ranges` are the strata of a number, with their bounds."""

    name: str
    text: Text
    answers: tuple[str, ...] | dict[str, Text] = ()
    number: tuple[float, float] | None = None
    ranges: dict[str, tuple[float, float]] = {}
    required: bool = True

    def label(self, value: str, language: str, default: str) -> str:
        return said(self.answers[value], language, default) if isinstance(self.answers, dict) else value

    def problem(self, value: str) -> bool:
        """Is this no answer to the question?"""
        if not value.strip():
            return self.required
        if self.number is not None:
            try:
                return not self.number[0] <= float(value) <= self.number[1]
            except ValueError:
                return True
        return bool(self.answers) and value not in self.answers

    def stratum(self, value: str) -> str:
        """The stratum that an answer puts a person in."""
        if not self.ranges:
            return value
        return next((name for name, (low, high) in self.ranges.items() if low <= float(value or "nan") <= high), "")


class Before(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Items that come before the tasks, with their right answers. Qualification asks for a share of `least`."""

    path: str
    least: float = 0.0


class Completion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"back": "return"}):
    """What people get at the end. Without `code`, each has their own. `return` may hold {code} and parameters."""

    code: str = ""
    back: str = ""
    text: Text = ""
    screened_code: str = ""
    unqualified_code: str = ""


class Assign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets what. `k` people answer an item, each of another stratum unless `distinct` is false."""

    k: int = 1
    strata: tuple[str, ...] = ()
    by: str = ""  # the question whose answer is a person's stratum
    distinct: bool = True
    attempts: int = 3  # at an item, by the same person
    lease_minutes: float = 30
    gold_every: int = 0  # a gold item after so many ordinary ones; 0: none
    per_person: int | None = None
    quota: dict[str, int] = {}  # of answers, by stratum
    megabytes_per_person: float = 1000  # of recordings and logs that are kept
    shuffle: bool = True
    seed: int = 0


class Pay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What people are paid: for each answer, and for the time that they took."""

    per_answer: float = 0
    per_hour: float = 0
    currency: str = ""


class PeopleStudy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a study is. `options` belong to its kind of task."""

    title: str
    kind: str
    language: str = "en"  # of the pages
    consent: Text
    contact: str
    database: str = ""
    items: Items
    arrive: Arrive = Arrive()
    questions: tuple[PersonQuestion, ...] = ()
    instructions: Text = ""
    training: Before | None = None
    qualification: Before | None = None
    assign: Assign = Assign()
    completion: Completion | None = None
    pay: Pay = Pay()
    options: dict[str, Json] = {}
    file: str = ""

    @property
    def id(self) -> str:
        return content_id([self.title, self.kind])

    @property
    def consent_version(self) -> str:
        return content_id(self.consent)

    @property
    def asked(self) -> tuple[PersonQuestion, ...]:
        """The questions about the person: the study's, or the one that its kind of task always asks."""
        about = kinds.get(self.kind).about
        if self.questions or not about:
            return self.questions
        return (PersonQuestion(name=about, text={code: words(code)[f"about_{about}"] for code in languages()}),)

    @property
    def folder(self) -> Path:
        return Path(self.file).parent

    @property
    def place(self) -> str:
        """The database: a PostgreSQL URL as it stands, or a file beside the study."""
        if self.database.startswith(("postgres://", "postgresql://")):
            return self.database
        return str(self.folder / (self.database or f"{Path(self.file).stem}.sqlite"))

    def make_kind(self) -> TaskKind:
        return kinds.get(self.kind)(self.options, self.language)


def read_study(path: str | Path) -> PeopleStudy:
    """The study of a TOML file. What is wrong in it is named by field."""
    path = Path(path)
    try:
        facts = tomllib.loads(read_bounded(path).decode())
    except FileNotFoundError as error:
        hint = f"`unswayed collect new {path} --kind retype` writes one to fill in."
        raise DataError(f"there is no such study. {hint}", path) from error
    except (OSError, StoredFileError, ValueError, RecursionError) as error:  # also a number too long, brackets too deep
        raise DataError(f"this can't be read as TOML: {error}", path) from error
    try:
        study = msgspec.convert({**facts, "file": str(path)}, PeopleStudy)
    except msgspec.ValidationError as error:
        raise DataError(f"{error}", path) from error
    _check(study, path)
    return study


def _check(study: PeopleStudy, path: Path) -> None:
    rules = study.assign
    if study.kind not in kinds:
        raise UnknownName("kind of task", study.kind, kinds.names())
    if study.language not in languages():
        raise UnknownName("language of the pages", study.language, list(languages()))
    problems = [
        *problems_of_rules(rules),
        ("assign.strata has a name twice or an empty one", len(set(rules.strata) - {""}) < len(rules.strata)),
        ("assign.strata has a name with the character zero", any("\0" in name for name in rules.strata)),
        (
            f"assign.k is {rules.k}, but there are only {len(rules.strata)} strata; use distinct = false to let people "
            "of one stratum answer the same item",
            bool(rules.strata) and rules.distinct and rules.k > len(rules.strata),
        ),
        ("assign.quota names a stratum that is not in assign.strata", bool(set(rules.quota) - set(rules.strata))),
        ("items needs either suite or path", (study.items.suite is None) == (study.items.path is None)),
        ("consent is empty: write what the study records", not _is_said(study.consent)),
        (
            "contact is empty: give an address where participants can ask you to delete their data",
            not study.contact.strip(),
        ),
    ]
    for message, wrong in (*problems, *_problems_before(study)):
        if wrong:
            raise DataError(message, path)
    try:
        study.make_kind()
    except msgspec.ValidationError as error:
        raise DataError(f"options: {error}", path) from error


def problems_of_rules(rules: Assign) -> list[tuple[str, bool]]:
    """What the numbers in the rules must be, and whether they are not."""
    counts = {"k": (1, rules.k), "gold_every": (0, rules.gold_every), "attempts": (1, rules.attempts)}
    if rules.per_person is not None:
        counts["per_person"] = (1, rules.per_person)
    counts |= {f"quota of {name!r}": (0, most) for name, most in rules.quota.items()}
    return [
        *((f"assign.{name} must be {low} or more", not low <= most <= MOST) for name, (low, most) in counts.items()),
        ("assign.lease_minutes must be more than 0", not 0 < rules.lease_minutes < MOST),
        ("assign.megabytes_per_person must be more than 0", not 0 < rules.megabytes_per_person < MOST),
    ]


def _is_said(text: Text) -> bool:
    return bool(text.strip() if isinstance(text, str) else text and all(one.strip() for one in text.values()))


def _problems_before(study: PeopleStudy) -> Sequence[tuple[str, bool]]:
    """What is wrong with how people arrive, what they are asked, and how they leave."""
    names = [question.name for question in study.questions]
    by = next((question for question in study.questions if question.name == study.assign.by), None)
    given = set(by.ranges or by.answers) if by else set()
    frames = study.arrive.frames
    return [
        ("questions: two have the same name, or one has none", len(set(names) - {""}) < len(names)),
        (f"assign.by is {study.assign.by!r}, and no question has this name", bool(study.assign.by) and by is None),
        ("assign.by needs assign.strata, the answers that count", by is not None and not study.assign.strata),
        (
            "assign.strata has a name that no answer to the question of assign.by leads to",
            by is not None and not set(study.assign.strata) <= given,
        ),
        ("questions: `ranges` need the bounds of the number, `number = [LOWEST, HIGHEST]`",
         any(question.ranges and question.number is None for question in study.questions)),
        ("qualification.least must be from 0 to 1",
         study.qualification is not None and not 0 <= study.qualification.least <= 1),
        ("arrive.frames takes hosts such as https://www.mturk.com", any(not _HOST.fullmatch(host) for host in frames)),
        ("completion.return must begin with https:// or http://", study.completion is not None
         and bool(study.completion.back) and not study.completion.back.startswith(("https://", "http://"))),
    ]  # fmt: skip


_HOST = re.compile(r"https?://[A-Za-z0-9.*-]+(:[0-9]+)?")
_NO_STRATA = '# strata = ["sogou", "baidu", "gboard"]      # an item\'s people are of different strata'
_GROUPS = "strata = {strata}\ndistinct = false             # an item's people are of the same stratum"


_EXAMPLES: dict[str, dict[str, Json]] = {"choice": {"question": "Which one?", "answers": ["yes", "no"]}}


def study_template(
    path: Path, kind: str, items: str = "items.jsonl", strata: Sequence[str] = (), gold_every: int = 0,
    options: Mapping[str, Json] | None = None, suite: str = "", language: str = "en",
) -> str:  # fmt: skip
    """A study to fill in, of a file of `items` or of a `suite`. `strata` are groups with items of their own."""
    if kind not in kinds:
        raise UnknownName("kind of task", kind, kinds.names())
    made = (Path(__file__).parent / "pages" / "study.toml").read_text("utf-8").format(
        title=as_json(path.stem), kind=as_json(kind), gold_every=gold_every, language=as_json(language),
        source=f"suite = {as_json(suite)}" if suite else f"path = {as_json(items)}         # one item per line",
        strata=_GROUPS.format(strata=as_json(strata)) if strata else _NO_STRATA,
    )  # fmt: skip
    if options := options or _EXAMPLES.get(kind):
        made += "\n[options]\n" + "".join(f"{name} = {as_json(value)}\n" for name, value in options.items())
    return made


def as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
