"""Writes docs/reference.md from the docstrings of the public names, so that the page can't differ from them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import msgspec

import unswayed
from unswayed.base.options import options_of

PAGE = Path(__file__).with_name("reference.md")

SECTIONS = {
    "One call": "check compare vary_texts vary_text augment carry_out estimate_cost noisy compare_dialogues metrics",
    "Step by step": (
        "make_suite run_system measure_run write_report write_view write_comparison read_examples open_system read_plan"
    ),
    "What they return": (
        "Suite Run Results Comparison Verdict CostEstimate Example Variant Output Estimate UnswayedError"
    ),
    "Plans and settings": (
        "Plan DataPlan VaryPlan SystemPlan MeasurePlan GatePlan ComparePlan Asking Engine OperatorSpec ReadOptions"
    ),
    "To extend unswayed": "Operator Text Change Edit Stream System Failed Scorer Reader Task",
}


def page() -> str:
    """The whole page: every public name with its signature and docstring."""
    parts = [
        "# Reference\n\nMade by `make docs` from the docstrings; do not edit.\n\n"
        "Every name on this page is imported from `unswayed`, for example `unswayed.check`.\n"
    ]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [_entry(name, getattr(unswayed, name)) for name in names.split()]
    return "\n".join(parts)


def _entry(name: str, thing: object) -> str:
    lines = [f"### {name}\n", f"```text\n{_signature(name, thing)}\n```\n", f"{inspect.getdoc(thing)}\n"]
    if inspect.isclass(thing) and _is_part_of_a_plan(thing) and name != "Plan":
        lines += [_options(thing), ""]
    if inspect.isclass(thing):
        lines += [f"- `{call}`: {said}" for call, said in _members(thing)] + [""]
    return "\n".join(lines)


def _is_part_of_a_plan(thing: type) -> bool:
    if not issubclass(thing, msgspec.Struct) or any(field.required for field in msgspec.structs.fields(thing)):
        return False
    return bool(options_of(thing))


def _options(struct: type[msgspec.Struct]) -> str:
    """The options of a part of a plan, as they are declared in it."""
    rows = []
    for path, option in options_of(struct).items():
        shown = option.more.get("shown") or ("" if option.default in (None, "", (), {}) else repr(option.default))
        help = ("If false: " if option.default is True else "") + option.help.replace("|", "\\|")
        rows.append(f"| `{'.'.join(path)}` | {help} | {option.expects} | {shown} |")
    return "\n".join(["| option | what it is | value | default |", "|---|---|---|---|", *rows]) if rows else ""


def _signature(name: str, thing: object) -> str:
    """The name with its parameters, on several lines if it does not fit on one."""
    if inspect.isclass(thing) and (issubclass(thing, Exception) or _is_part_of_a_plan(thing)):
        return name
    parameters = []
    for p in inspect.signature(thing).parameters.values():  # type: ignore[arg-type]
        if p.kind is p.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = "" if p.annotation is p.empty else f": {_kind(p.annotation)}"
        parameters.append(f"{stars}{p.name}{kind}" + ("" if p.default is p.empty else f" = {p.default!r}"))
    line = f"{name}({', '.join(parameters)})"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(parameters) + ",\n)"


def _kind(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:unswayed|typing|collections|pathlib)\.(?:\w+\.)*", "", text)


def _members(thing: type) -> list[tuple[str, str]]:
    """The public methods and properties with the first sentence of what they do."""
    found = []
    for name, member in vars(thing).items():
        inner = member.__func__ if isinstance(member, classmethod) else member
        is_property = isinstance(inner, property)
        doc = inspect.getdoc(inner.fget if is_property else inner) if is_property or inspect.isfunction(inner) else None
        if not name.startswith("_") and doc:
            found.append((name if is_property else f"{name}()", " ".join(doc.split("\n\n")[0].split())))
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
