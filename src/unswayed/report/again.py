"""The command lines that make a suite, a run and its report again, from the plans that these keep."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from unswayed.base.secrets import masked_spec
from unswayed.base.values import Json
from unswayed.systems.model_folder import trusted_hashes

if TYPE_CHECKING:
    from unswayed.run.record import Run

# Fields whose option has another name; all others are called as the field is.
NAMED = {
    ("data", "language"): "lang",
    ("data", "format"): "format-in",
    ("data", "inputs"): "input",
    ("data", "groups"): "group",
    ("vary", "fields"): "field",
    ("vary", "options"): "option",
    ("run", "options"): "option",
    ("measure", "scores"): "score",
    ("gate", "on"): "gate-on",
    ("engine", "name"): "engine",
}
# Fields that change no number: how stored answers are used, how fast and how patiently a system is asked.
LEFT_OUT = {
    *(("run", name) for name in ("fresh", "secret_env", "suite", "system")),
    *(("asking", name) for name in ("canary", "backoff", "give_up", "rate")),
    ("data", "path"),
    ("engine", "gpus"),
}
FLAGS = (
    "model",
    "prompt",
    "answers",
    "key_env",
    "insecure",
    "price_in",
    "price_out",
)  # options that are options of run


def commands(run: Run, report: str = "", judged: Mapping[str, Json] | None = None) -> list[str]:
    """The lines for a run's suite, the run and, where one is named, its report; without those whose plan is not known.

    `judged` are the sections `measure` and `gate` that the report was made with, if not those of the run.
    """
    suite, folder = str(run.suite.path), str(run.path)
    lines = []
    if (made := run.suite.manifest.made).get("data", {}).get("path"):
        words = ["unswayed", "vary", made["data"]["path"], *_words(made, ("data", "vary")), "-o", suite]
        lines.append(shlex.join(words))
    plan = run.plan
    if plan.get("run", {}).get("system"):
        plan = _with_own_files(run, plan)
        words = ["unswayed", "run", suite, "--system", masked_spec(plan["run"]["system"])]
        words += _words(plan, ("run", "engine", "measure", "gate"))
        words += [word for known in trusted_hashes() for word in ("--trust-weights", known)]
        words += ["-o", folder]
        lines.append(shlex.join(words))
    judged = _with_own_files(run, plan if judged is None else judged)
    if report:
        lines.append(shlex.join(["unswayed", "report", folder, *_words(judged, ("measure", "gate")), "-o", report]))
    return lines


def _with_own_files(run: Run, plan: Mapping[str, Json]) -> dict[str, Json]:
    """The plan with the prompt and the rubric that the run keeps in place of files elsewhere."""
    changed = {name: dict(section) for name, section in plan.items()}
    for section, name in (("run", "prompt"), ("measure", "rubric")):
        file: Path = run.path / f"{name}.txt"
        at = changed.get(section, {}).get("options", {}) if section == "run" else changed.get(section, {})
        if at.get(name) is not None and file.is_file():
            changed[section] |= {"options": {**at, name: str(file)}} if section == "run" else {name: str(file)}
    return changed


def _words(plan: Mapping[str, Any], sections: tuple[str, ...]) -> Iterator[str]:
    for section in sections:
        for field, value in plan.get(section, {}).items():
            if field == "asking":
                yield from _words({"asking": value}, ("asking",))
            elif field == "operators":
                yield from _operators(value)
            elif (section, field) not in LEFT_OUT:
                yield from _option(section, field, value)


def _operators(operators: list[Json]) -> Iterator[str]:
    named: list[dict[str, Any]] = [{"name": op} if isinstance(op, str) else op for op in operators]
    for op in named:
        yield from ("--with", op["name"])
    for op in named:
        for key, value in op.get("params", {}).items():
            yield from ("--param", f"{op['name']}:{key}={_value(value)}")


def _option(section: str, field: str, value: Json) -> Iterator[str]:
    name = "--" + NAMED.get((section, field), field.replace("_", "-"))
    if (section, field) == ("run", "options"):
        for key in [key for key in FLAGS if key in value]:
            yield from _option("run", key, _said(value[key]) if key == "answers" else value[key])
        value = {key: item for key, item in value.items() if key not in FLAGS}
    if field == "sanity":
        yield "--no-sanity"
    elif field in ("max_drop", "max_flips"):
        for key, limit in (value if isinstance(value, dict) else {"all": value}).items():
            yield from (name, f"{limit}" if key == "all" else f"{key}:{limit}")
    elif isinstance(value, bool):
        yield from [name] if value else []
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (name, f"{key}={_value(item)}")
    elif field == "labels":
        yield from (name, ",".join(value))
    elif isinstance(value, list):
        for item in value:
            yield from (name, str(item))
    else:
        yield from (name, str(value))


def _said(answers: Json) -> Json:
    """Words and the outputs that they mean, as one option has them."""
    return ",".join(f"{said}={meant}" for said, meant in answers.items()) if isinstance(answers, dict) else answers


def _value(value: Json) -> str:
    """A value as KEY=VALUE has it: a text as it is, unless it would be read as JSON."""
    if isinstance(value, str):
        try:
            msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return msgspec.json.encode(value).decode()
