"""A study as its TOML file declares it: the kind of task, the items, who gets how many of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from unfazed.collect.kinds import Kind, kinds
from unfazed.collect.words import languages
from unfazed.core.errors import DataError, StoredFileError, UnknownName
from unfazed.core.ids import content_id
from unfazed.core.outside import read_bounded
from unfazed.core.values import Json


class Items(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where items come from: a suite's examples, or a JSON-lines file with an item a line."""

    suite: str | None = None
    path: str | None = None
    fields: tuple[str, ...] = ()  # of a suite's inputs; none: those that the task varies


class Assign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets what. `k` people answer an item, each of another stratum unless `distinct` is false."""

    k: int = 1
    strata: tuple[str, ...] = ()
    distinct: bool = True
    lease_minutes: float = 30
    gold_every: int = 0  # a gold item after so many ordinary ones; 0: none
    per_person: int | None = None
    quota: dict[str, int] = {}  # of answers, by stratum
    shuffle: bool = True
    seed: int = 0


class PeopleStudy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a study is. `options` belong to its kind of task."""

    title: str
    kind: str
    language: str = "en"  # of the pages
    consent: str
    contact: str
    database: str = ""
    items: Items
    assign: Assign = Assign()
    options: dict[str, Json] = {}
    file: str = ""

    @property
    def id(self) -> str:
        return content_id([self.title, self.kind])

    @property
    def folder(self) -> Path:
        return Path(self.file).parent

    @property
    def place(self) -> str:
        """The database: a PostgreSQL URL as it stands, or a file beside the study."""
        if self.database.startswith(("postgres://", "postgresql://")):
            return self.database
        return str(self.folder / (self.database or f"{Path(self.file).stem}.sqlite"))

    def make_kind(self) -> Kind:
        return kinds.get(self.kind)(self.options, self.language)


def read_study(path: str | Path) -> PeopleStudy:
    """The study of a TOML file. What is wrong in it is named by field."""
    path = Path(path)
    try:
        facts = tomllib.loads(read_bounded(path).decode())
    except FileNotFoundError as error:
        hint = f"`unfazed collect new {path} --kind retype` writes one to fill in."
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
        ("assign.k must be 1 or more", rules.k < 1),
        ("assign.lease_minutes must be more than 0", not rules.lease_minutes > 0),
        ("assign.gold_every must be 0 or more", rules.gold_every < 0),
        ("assign.strata has a name twice or an empty one", len(set(rules.strata) - {""}) < len(rules.strata)),
        (
            f"assign.k is {rules.k}, but there are only {len(rules.strata)} strata; use distinct = false to let people "
            "of one stratum answer the same item",
            bool(rules.strata) and rules.distinct and rules.k > len(rules.strata),
        ),
        ("assign.quota names a stratum that assign.strata has not", bool(set(rules.quota) - set(rules.strata))),
        ("items needs either suite or path", (study.items.suite is None) == (study.items.path is None)),
        ("consent is empty: people must be told what is recorded", not study.consent.strip()),
        ("contact is empty: people must be told whom to ask for deletion", not study.contact.strip()),
    ]
    for message, wrong in problems:
        if wrong:
            raise DataError(message, path)
    try:
        study.make_kind()
    except msgspec.ValidationError as error:
        raise DataError(f"options: {error}", path) from error


_NO_STRATA = '# strata = ["sogou", "baidu", "gboard"]      # an item\'s people are of different strata'
_GROUPS = "strata = {strata}\ndistinct = false             # an item's people are of the same stratum"


def study_template(
    path: Path, kind: str, items: str = "items.jsonl", strata: Sequence[str] = (), gold_every: int = 0,
    options: Mapping[str, Json] | None = None,
) -> str:  # fmt: skip
    """A study to fill in. `strata` are groups of people who each have items of their own."""
    if kind not in kinds:
        raise UnknownName("kind of task", kind, kinds.names())
    made = (Path(__file__).parent / "pages" / "study.toml").read_text("utf-8").format(
        title=as_json(path.stem), kind=as_json(kind), items=as_json(items), gold_every=gold_every,
        strata=_GROUPS.format(strata=as_json(strata)) if strata else _NO_STRATA,
    )  # fmt: skip
    if options:
        made += "\n[options]\n" + "".join(f"{name} = {as_json(value)}\n" for name, value in options.items())
    return made


def as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
