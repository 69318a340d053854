"""Presets and patterns: several operators by one name, chosen for the language and the task of the data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from textwrap import wrap
from typing import Any

import msgspec

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.language import knows
from unswayed.base.task import task_named
from unswayed.base.values import Json
from unswayed.vary import operators
from unswayed.vary.engine import OperatorSpec
from unswayed.vary.operator import PromptOperator

ALL = "@all"
WIDTH = 80  # columns of what is printed


class Preset(msgspec.Struct, frozen=True):
    """What a preset, a family or a pattern means for one language and task; `left_out` has a reason for each."""

    name: str
    operators: tuple[str, ...]
    left_out: dict[str, str]

    def record(self) -> dict[str, Json]:
        """As a suite's manifest keeps it."""
        return {"name": self.name, "operators": list(self.operators), "left_out": dict(self.left_out)}


def is_preset(name: str) -> bool:
    """Does this name stand for several operators: `@typing`, `keyboard` or `keyboard/*`?"""
    return name not in operators and (name.startswith("@") or "*" in name or name in families())


def families() -> list[str]:
    return sorted({name.partition("/")[0] for name in operators.names() if "/" in name})


def preset_names() -> list[str]:
    """`@all`, and every preset that some operator says it belongs to."""
    declared = {ALL}
    for name in operators.names():
        with suppress(UsageError):  # a broken plug-in is named when it is used
            declared |= {f"@{preset}" for preset in operators.get(name).presets}
    return sorted(declared)


def members(name: str) -> list[str]:
    """The operators that a preset, a family or a pattern names, for any language and task."""
    if name == ALL:
        return operators.names()
    if name.startswith("@"):
        found = [known for known in operators.names() if name[1:] in operators.get(known).presets]
    else:
        pattern = name if "*" in name else f"{name}/*"
        found = [known for known in operators.names() if fnmatchcase(known, pattern)]
    if found:
        return found
    if name.startswith("@"):
        raise UnknownName("preset", name, preset_names())
    raise UnknownName("operator", name, [f"{family}/*" for family in families()], "unswayed list operators")


def require_names(names: Iterable[str]) -> None:
    """Raises where a name is neither an operator, nor a preset or pattern, with the nearest of all of them."""
    for name in names:
        if is_preset(name):
            members(name)
        elif name not in operators and ":" not in name:
            known = [*operators.names(), *families(), *preset_names()]
            raise UnknownName("operator", name, known, "unswayed list operators")


def with_params(names: Sequence[str], params: dict[str, Json]) -> tuple[OperatorSpec, ...]:
    """Operators and presets with their parameters. A key without an operator's name, `rate`, goes to all that know it;
    `keyboard/adjacent:rate` to that operator alone."""
    require_names(names)
    told: dict[str, dict[str, Json]] = {name: {} for name in names}
    for key, value in params.items():
        owner, colon, short = key.rpartition(":")
        takers = {
            name: key if is_preset(name) else short
            for name in names
            if any(short in operators.get(m).parameters() and (not colon or m == owner) for m in _meant(name))
        }
        if not takers:
            known = {param for name in names for m in _meant(name) for param in operators.get(m).parameters()}
            raise UnknownName("parameter of these operators", key, known)
        for name, written in takers.items():
            told[name][written] = value
    return tuple(OperatorSpec(name, told[name]) for name in names)


def _meant(name: str) -> list[str]:
    return members(name) if is_preset(name) else [name]


def expand(
    specs: Sequence[OperatorSpec], language: str, task: str
) -> tuple[tuple[OperatorSpec, ...], tuple[Preset, ...]]:
    """Every preset replaced by its operators for this language and task, and what each preset means.

    An operator that is also named by itself keeps the place and the parameters that it has there. A preset's
    parameters go to all of its operators that know them, or to one: `{"keyboard/adjacent:rate": 0.1}`.
    """
    require_names(spec.name for spec in specs)
    named = {spec.name for spec in specs}
    chosen: list[OperatorSpec] = []
    presets = []
    for spec in specs:
        if not is_preset(spec.name):
            chosen.append(spec)
            continue
        params = _dealt(spec)
        left_out = {name: why for name in params if (why := _unfit(name, params[name], spec.name, language, task))}
        fitting = [name for name in params if name not in left_out]
        presets.append(Preset(spec.name, tuple(fitting), left_out))
        there = named | {made.name for made in chosen}
        chosen += [OperatorSpec(name, params[name]) for name in fitting if name not in there]
    for preset in presets:
        if not preset.operators:
            raise UsageError(
                f"{preset.name} has no operator for language {language} and task {task}. Left out: {_reasons(preset)}."
            )
    return tuple(chosen), tuple(presets)


def tell(presets: Iterable[Preset], language: str, task: str) -> None:
    """Prints what presets mean on standard error, where progress is shown too."""
    for preset in presets:
        print("\n".join(described(preset, language, task)), file=sys.stderr)


def described(preset: Preset, language: str, task: str, width: int = WIDTH) -> list[str]:
    """What a preset means and what it leaves out, in lines for people."""
    lines = [f"{preset.name} (language {language}, task {task}): {', '.join(preset.operators)}."]
    if preset.left_out:
        lines.append(f"  Left out of {preset.name}: {_reasons(preset)}.")
    lead = "  "
    return [
        part for line in lines
        for part in wrap(line, width, subsequent_indent=lead * 2, break_long_words=False, break_on_hyphens=False)
    ]  # fmt: skip


def _reasons(preset: Preset) -> str:
    """The operators that were left out, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in preset.left_out.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())


def _dealt(spec: OperatorSpec) -> dict[str, dict[str, Json]]:
    """The parameters of each operator of a preset."""
    dealt: dict[str, dict[str, Json]] = {name: {} for name in members(spec.name)}
    ordered = sorted(spec.params.items(), key=lambda item: ":" in item[0])  # what is for one operator overrides
    for key, value in ordered:
        owner, colon, short = key.rpartition(":")
        takers = [name for name in dealt if short in operators.get(name).parameters() and (not colon or name == owner)]
        if not takers:
            known = {param for name in dealt for param in operators.get(name).parameters()}
            raise UnknownName(f"parameter of {owner or spec.name}", short, known)
        for name in takers:
            dealt[name][short] = value
    return dealt


def _unfit(name: str, params: dict[str, Any], preset: str, language: str, task: str) -> str | None:
    """Why an operator of a preset can't be used, or None if it can."""
    operator = operators.get(name)
    if not knows(operator.languages, language):
        known = ", ".join(operator.languages)
        return f"for {known}" if len(operator.languages) <= 4 else f"not for {language}"
    if task_named(task).aligned and not operator.aligned:
        return f"rewrites whole texts, which loses the labels of {task}"
    if preset.startswith("@") and operator.meaning != "same":
        return "changes the meaning"
    if preset.startswith("@") and issubclass(operator, PromptOperator):
        return "varies a prompt, which not every system has"
    try:
        OperatorSpec(name, params).make()
    except UsageError as error:
        return str(error).removeprefix(f"{name} ").partition(": ")[0].rstrip(".")
    return None
