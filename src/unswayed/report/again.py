"""The command lines that make a suite, a run and its report again, from the plans that these keep."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.options import Option, options_of
from unswayed.base.secrets import masked_spec
from unswayed.base.values import Json
from unswayed.run.plan import Plan
from unswayed.run.record import Run
from unswayed.systems.model_folder import trusted_hashes

# Fields that change no number: how stored answers are used, how fast and how patiently a system is asked.
LEFT_OUT = {
    *(("run", name) for name in ("fresh", "secret_env", "suite", "system")),
    *((section, "asking", name) for section in ("vary", "run") for name in ("canary", "backoff", "give_up", "rate")),
    ("data", "path"),
    ("measure", "stored"),
    ("engine", "gpus"),
}
# Options of a system that are options of `unswayed run`.
FLAGS = ("model", "prompt", "answers", "key_env", "insecure", "price_in", "price_out")


def commands(run: Run, report: str = "", judged: Mapping[str, Json] | None = None) -> list[str]:
    """The lines for a run's suite, the run and, where one is named, its report; without those whose plan is not known.

    `judged` are the sections `measure` and `gate` that the report was made with, if not those of the run.
    """
    suite, folder = str(run.suite.path or "suite/"), str(run.path or "run/")
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
        file = Path(run.name) / f"{name}.txt"
        at = changed.get(section, {}).get("options", {}) if section == "run" else changed.get(section, {})
        if at.get(name) is not None and file.is_file():
            changed[section] |= {"options": {**at, name: str(file)}} if section == "run" else {name: str(file)}
    return changed


def _words(plan: Mapping[str, Any], sections: tuple[str, ...]) -> Iterator[str]:
    """The options of some sections, as the command line takes them."""
    declared = options_of(Plan)
    given = [((section, field), value) for section in sections for field, value in plan.get(section, {}).items()]
    for path, value in given:
        if path == ("vary", "operators"):
            named: list[dict[str, Any]] = [{"name": op} if isinstance(op, str) else op for op in value]
            yield from (word for op in named for word in ("--with", op["name"]))
            for op in named:
                for key, item in op.get("params", {}).items():
                    yield from ("--param", f"{op['name']}:{key}={_value(item)}")
        elif isinstance(value, dict) and path not in declared:  # a table of options, such as run.asking
            for field, item in value.items():
                if (*path, field) not in LEFT_OUT:
                    yield from _option(declared[(*path, field)], item)
        elif path not in LEFT_OUT:
            yield from _option(declared.get(path) or declared["run", path[1]], value)  # a selector has a device, too


def _option(option: Option, value: Any) -> Iterator[str]:
    """One option with its value, or with each of its values."""
    if option.path == ("run", "options"):
        for key in [key for key in FLAGS if key in value]:
            flag, item = f"--{key.replace('_', '-')}", value[key]
            if key == "answers" and isinstance(item, dict):  # words and the outputs that they mean
                item = ",".join(f"{said}={meant}" for said, meant in item.items())
            yield from (flag, str(item)) if not isinstance(item, bool) else [flag] if item else []
        value = {key: item for key, item in value.items() if key not in FLAGS}
    if option.kind == "bool":
        yield from [option.flag] if value != option.default else []
    elif option.kind == "dict":
        mark = option.more.get("pairs", "=")[0]
        for key, item in (value if isinstance(value, dict) else {"all": value}).items():
            alone = key == "all" and mark == ":"
            yield from (option.flag, str(item) if alone else f"{key}{mark}{_value(item)}")
    elif option.kind == "list":
        for item in [",".join(value)] if option.more.get("commas") else value:
            yield from (option.flag, str(item))
    else:
        yield from (option.flag, str(value))


def _value(value: Json) -> str:
    """A value as KEY=VALUE has it: a text as it is, unless it would be read as JSON."""
    if isinstance(value, str):
        try:
            msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return msgspec.json.encode(value).decode()
