"""Which operators there are for a language and a task: all of them, listed, and several by one name or pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from textwrap import wrap
from typing import Any

import msgspec

from unswayed.base.errors import UnknownName, UsageError
from unswayed.base.language import UNSURE, knows
from unswayed.base.options import OperatorSpec
from unswayed.base.progress import notices
from unswayed.base.task import task_named
from unswayed.base.values import Json
from unswayed.vary import operators
from unswayed.vary.combined import PLUS, Combined, split_name
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import PromptOperator

ALL = "@all"
WIDTH = 80  # columns of what is printed
_MAX_LANGUAGES = 6  # of an operator in one message


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
        if PLUS in name and ":" not in name:
            for part in split_name(name):
                if is_preset(part):
                    raise UsageError(f"{part!r} stands for several operators. Combine single ones: {name!r} can't be.")
                require_names([part])
        elif is_preset(name):
            members(name)
        elif name not in operators and ":" not in name:
            known = [*operators.names(), *families(), *preset_names()]
            raise UnknownName("operator", name, known, "unswayed list operators")


def with_params(names: Sequence[str], params: dict[str, Json]) -> tuple[OperatorSpec, ...]:
    """Operators and presets with their parameters. A key without an operator's name, `rate`, goes to all that know it;
    `keyboard/adjacent:rate` to that operator alone."""
    require_names(names)
    given: dict[str, dict[str, Json]] = {name: {} for name in names}
    meant = {name: members(name) if is_preset(name) else [name] for name in names}
    for key, value in params.items():
        takers = [name for name in names if _takers(key, meant[name])]
        if not takers:
            known = {param for its in meant.values() for m in its for param in operators.get(m).parameters()}
            raise UnknownName("parameter of these operators", key, known)
        for name in takers:
            whole = is_preset(name) or PLUS in name  # which hand it on to one of theirs
            given[name][key if whole and not key.startswith(f"{name}:") else key.rpartition(":")[2]] = value
    return tuple(OperatorSpec(name, given[name]) for name in names)


def _takers(key: str, names: Iterable[str]) -> list[str]:
    """Which of these operators know the parameter of a key: one with a name before it is for that operator alone."""
    owner, colon, short = key.rpartition(":")
    known = ((name, operators.get(name).parameters()) for name in names)
    return [n for n, params in known if (short in params and (not colon or n == owner)) or (colon and key in params)]


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
        params: dict[str, dict[str, Json]] = {name: {} for name in members(spec.name)}
        for key in sorted(spec.params, key=lambda key: ":" in key):  # what is for one operator overrides
            owner, _, short = key.rpartition(":")
            takers = _takers(key, params)
            if not takers:
                known = {param for name in params for param in operators.get(name).parameters()}
                raise UnknownName(f"parameter of {owner or spec.name}", short, known)
            for name in takers:
                params[name][short] = spec.params[key]
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


def with_parts(specs: Sequence[OperatorSpec]) -> tuple[OperatorSpec, ...]:
    """The operators with the parts of each combination alone before it, to compare it with; unless they are named."""
    named = {spec.name: spec for spec in specs}
    found: dict[str, OperatorSpec] = {}
    for spec in specs:
        cls = operators.get(spec.name)
        for part in cls.specs(spec.params) if issubclass(cls, Combined) else ():
            alone = named.get(part.name, found.get(part.name, part))
            if alone.params != part.params:
                raise UsageError(
                    f"{part.name} has other parameters alone than in {spec.name}, so the two can't be compared. Give "
                    f"it the same, or make two suites."
                )
            found.setdefault(part.name, part)
        found.setdefault(spec.name, spec)
    return tuple(found.values())


def tell(presets: Iterable[Preset], language: str, task: str) -> None:
    """Prints what presets mean on standard error, where progress is shown too."""
    for preset in presets:
        print("\n".join(described(preset, language, task)), file=notices())


def described(preset: Preset, language: str, task: str) -> list[str]:
    """What a preset means and what it leaves out, in lines for people."""
    lines = [f"{preset.name} (language {language}, task {task}): {', '.join(preset.operators)}."]
    if preset.left_out:
        lines.append(f"  Left out of {preset.name}: {_reasons(preset)}.")
    wrapped = partial(wrap, width=WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part for line in lines for part in wrapped(line)]


def _reasons(preset: Preset) -> str:
    """The operators that were left out, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in preset.left_out.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())


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
        make_operator(OperatorSpec(name, params))
    except UsageError as error:
        return str(error).removeprefix(f"{name} ").partition(": ")[0].rstrip(".")
    return None


def in_other_languages(names: Iterable[str], languages: Mapping[str, int]) -> Iterator[str]:
    """A sentence on each operator that leaves out rows of a mixed file, whose languages are counted."""
    for name in names:
        known = operators.get(name).languages
        others = {language: count for language, count in languages.items() if not knows(known, language)}
        if others:
            listed = ", ".join(f"{n:,} {'unsure' if tag == UNSURE else 'in ' + tag}" for tag, n in others.items())
            varies = f"it varies {', '.join(known)}" if len(known) <= _MAX_LANGUAGES else "which it does not vary"
            count = f"{sum(others.values()):,} of {sum(languages.values()):,}"
            yield f"{name}: {count} examples left out ({listed}; {varies})"
