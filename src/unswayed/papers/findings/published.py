"""Published answers as suites of people and logs: written as rows that any user could write, then run and measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base import DataError, Json
from unswayed.data import import_rows, open_bytes
from unswayed.measure import Results, measure_run
from unswayed.run import run_system
from unswayed.stats import Array, Numbers, Statistic, mean_interval, mean_p, pseudo_of
from unswayed.storage import Suite

Person = str  # "" is whoever the examples themselves are by
Key = tuple[str, Person]  # an example, and whose text of it


class Published(NamedTuple):
    """Texts of people, with what is right, and what systems answered to them.

    `texts` has, by example and person, the inputs; None where nobody published them. A system need not have answered
    all of them: it is measured on those that it has answered, together with the example itself.
    """

    name: str
    task: str
    language: str
    role: str  # what the people are called
    reference: str  # the person whose texts are the examples
    golds: Mapping[str, Json]
    texts: Mapping[Key, dict[str, str] | None]
    answers: Mapping[str, Mapping[Key, Json]]  # by system
    groups: Mapping[str, Mapping[str, str]] = {}
    own_golds: Mapping[Key, Json] = {}  # of texts whose gold is not that of the example, as tags are


class Logged(NamedTuple):
    """What was written of a system: the rows of a suite, and its log; and which texts it has answered."""

    rows: Path
    log: Path
    keys: tuple[Key, ...]


def write_rows(published: Published, folder: Path) -> dict[str, Logged]:
    """Writes rows for `unswayed suite import`, and a log of each system for `unswayed run`, into `folder`."""
    place = folder / "suites" / _file_name(published.name)
    place.mkdir(parents=True, exist_ok=True)
    found: dict[str, Logged] = {}
    suites: dict[tuple[Key, ...], Path] = {}
    apart = _asked_twice(published)
    for system, answers in published.answers.items():
        keys = tuple(key for key in published.texts if key in answers and (key[0], "") in answers)
        if not any(person for _, person in keys):
            continue  # nothing that could be compared
        if keys not in suites:
            suites[keys] = place / f"rows{len(suites) + 1 if suites else ''}.jsonl"
            lines = map(msgspec.json.encode, _rows(published, keys, apart))
            suites[keys].write_bytes(b"".join(line + b"\n" for line in lines))
        log = place / f"{_file_name(system)}.log.jsonl"
        said = ({"id": id, **({"person": who} if who else {}), "output": answers[id, who]} for id, who in keys)
        log.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in said))
        found[system] = Logged(suites[keys], log, keys)
    return found


def measure(published: Published, folder: Path, score: str) -> dict[str, Results]:
    """The results of each system, as `suite import`, `run` and `measure run` make them of the rows and logs."""
    suites: dict[Path, Suite] = {}
    found = {}
    for system, (rows, log, _) in write_rows(published, folder).items():
        if rows not in suites:
            to = rows.with_suffix("")
            suites[rows] = import_rows(rows, to, published.task, published.language, overwrite=True)
        run = run_system(suites[rows], f"logged:{log}")
        found[system] = measure_run(run, {"measure": {"sanity": False, "scores": [score]}})
    return found


def jackknifed(rows: Array, statistic: Statistic) -> tuple[float, float | None, float | None, float]:
    """A statistic of sums over units, Student's interval of it and its p-value, by leaving out a unit at a time."""
    ones, spread = np.ones(len(rows)), (-np.inf, np.inf)
    numbers = Numbers(pseudo_of(rows, ones, statistic), ones, ones)
    value = float(statistic(rows.sum(axis=0)[None], len(rows))[0])
    low, high = mean_interval(numbers, spread, kind="difference")
    return value, low, high, mean_p(numbers, spread, "difference")


def _asked_twice(published: Published) -> bool:
    """Has some system other answers to the same text? Then each text needs an input that tells it from the others."""
    for answers in published.answers.values():
        seen: dict[bytes, bytes] = {}
        for key, inputs in published.texts.items():
            if inputs is not None and key in answers:
                answer = msgspec.json.encode(answers[key])
                if seen.setdefault(msgspec.json.encode(inputs), answer) != answer:
                    return True
    return False


def _rows(published: Published, keys: Sequence[Key], apart: bool) -> Iterator[dict[str, Json]]:
    for id, person in keys:
        inputs = published.texts[id, person]
        row: dict[str, Json] = {"example_id": id, "person": person, "role": published.role} if person else {"id": id}
        if not person and published.reference:
            row["person"] = published.reference
        if inputs is not None:
            row["inputs"] = {**inputs, "asked": f"{id} {person}".strip()} if apart else inputs
        if not person:
            row |= {"gold": published.golds[id], "groups": dict(published.groups.get(id, {}))}
        elif (id, person) in published.own_golds:
            row["gold"] = published.own_golds[id, person]
        yield row


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


def lines_of(file: Path) -> list[str]:
    """The lines of a text file, packed or not, without their ends."""
    with open_bytes(file) as opened:
        try:
            lines = opened.read().decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            raise DataError(f"byte {error.start + 1} is not UTF-8. Save the file as UTF-8.", file) from error
    return [line.rstrip("\r") for line in (lines if lines[-1] else lines[:-1])]


def records_of(file: Path, kind: type[msgspec.Struct]) -> Iterator[tuple[int, Any]]:
    """The rows of JSON lines, packed or not, with their numbers."""
    with open_bytes(file) as opened:
        for number, line in enumerate(opened, 1):
            if line.strip():
                try:
                    yield number, msgspec.json.decode(line, type=kind)
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    raise DataError(f"this row is not as expected: {error}.", file, number) from error


def stem_of(file: Path) -> str:
    """The name of a file without its endings: `gpt4` of `gpt4.jsonl.gz`."""
    return re.sub(r"(\.(jsonl|conll|txt|gz))+$", "", file.name)
