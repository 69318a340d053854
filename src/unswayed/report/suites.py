"""A look at a suite: what it was made from, who made how many variants, and some of them with the change marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from unswayed.base.text import counted, label, spelled
from unswayed.base.values import Example, Variant
from unswayed.report.marked import block, change, coloured, filled
from unswayed.report.tables import render
from unswayed.storage.suite import Suite
from unswayed.storage.unaltered import counts

_SOURCES = 40  # operators or people whose variants are shown

Shown = tuple[Example, Variant]


def suite_view(suite: Suite, format: str = "table", most: int = 3) -> str:
    """The suite for people, or as JSON; `most` is how many variants of each operator or person are shown."""
    made = suite.sources()
    chosen = _some(suite, list(made)[:_SOURCES], most)
    if format in ("json", "jsonl"):
        facts = msgspec.to_builtins(suite.manifest) | {"sources": made, "unaltered": counts(suite).unaltered}
        return render(facts | {"shown": [_record(*one) for one in chosen]}, format)
    shares = _shares(suite, made)
    if format == "md":
        rows = [
            {"source": v.source, "input": name, "change": change(old, new)}
            for e, v in chosen
            for name, old, new in _changed(e, v)
        ]
        return "\n\n".join([*_facts(suite), render(shares, "md"), render(rows, "md")])
    parts = ["\n".join(filled(fact) for fact in _facts(suite)), render(_without_parameters(shares), "table")]
    told = {row["source"]: f"Parameters: {row['parameters']}" for row in shares if row.get("parameters")}
    for source in dict.fromkeys(variant.source for _, variant in chosen):
        lines = [told[source]] if source in told else []
        lines += [line for example, variant in chosen if variant.source == source for line in _lines(example, variant)]
        parts.append(block(label(source), lines))
    return "\n\n".join(part for part in parts if part)


def _facts(suite: Suite) -> list[str]:
    """What there is, in sentences."""
    m = suite.manifest
    said = f"{suite.path}: {counted(m.variants, 'variant')} of {counted(m.examples, 'example')}"
    how = [f"task {m.task}", f"language {m.language}"]
    how += [f"seed {m.seed}"] if m.seed is not None else []
    how += [counted(m.draws, "draw")] if m.draws is not None else []
    facts = [f"{said} ({', '.join(how)})."]
    if m.set:
        facts.append("Set: " + ", ".join(f"{key} {value}" for key, value in m.set.items() if key != "identity") + ".")
    if m.ties is not None:
        facts.append(f"{m.ties:,} of {m.variants:,} choices were ties, broken at random.")
    if m.labels:
        facts.append(f"Labels: {', '.join(map(label, m.labels))}.")
    if m.cluster:
        facts.append(f"Clusters: examples with the same {label(m.cluster)}.")
    for preset in m.presets:
        left = preset["left_out"]
        facts.append(f"{preset['name']} is {', '.join(preset['operators'])}.")
        if left:
            facts.append(f"Left out of {preset['name']}: " + "; ".join(f"{n} ({why})" for n, why in left.items()) + ".")
    facts.append(f"Made by unswayed {m.unswayed}. Content id {m.content}.")
    return facts


def _shares(suite: Suite, made: dict[str, int]) -> list[dict[str, Any]]:
    m, total = suite.manifest, sum(made.values())
    told = {str(o["name"]): _told(o.get("params", {})) for o in m.operators}
    rows, same = [], counts(suite).unaltered
    for source in [*made, *(name for name in m.unchanged if name not in made)]:
        count = made.get(source, 0)
        row = {"source": source, "variants": count, "share": f"{count / total:.1%}" if total else "–"}
        if same:
            row["unaltered"] = same.get(source, 0)
        row["nothing to change"] = m.unchanged.get(source, 0)
        rows.append(row | {"parameters": told.get(source, "")})
    return rows if any(row["parameters"] for row in rows) else _without_parameters(rows)


def _without_parameters(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "parameters"} for row in rows]


def _told(params: Any) -> str:
    """Parameters as `--param` takes them. Empty ones are left out, and ids of files, which are for programs."""
    told = {key: value for key, value in params.items() if value not in ("", None) and not key.endswith("_id")}
    return ", ".join(f"{key}={value}" for key, value in told.items())


def _some(suite: Suite, sources: Sequence[str], most: int) -> list[Shown]:
    """The first variants of each source that differ from their example, sources in order; one of those with none."""
    found: dict[str, list[Shown]] = {source: [] for source in sources}
    same: dict[str, Shown] = {}
    waiting = set(sources) if most > 0 else set()
    for example, variants in suite.groups() if waiting else ():
        for variant in variants:
            source = variant.source
            if source not in waiting or any(e.id == example.id for e, _ in found[source]):
                continue
            if not _changed(example, variant):
                same.setdefault(source, (example, variant))
                continue
            found[source].append((example, variant))
            if len(found[source]) >= most:
                waiting.discard(source)
        if not waiting:
            break
    return [one for source in sources for one in found[source] or ([same[source]] if source in same else [])]


def _changed(example: Example, variant: Variant) -> list[tuple[str, str, str]]:
    """The inputs that differ: name, before, after."""
    names = [name for name in variant.inputs if example.inputs.get(name) != variant.inputs[name]]
    return [(name, example.inputs.get(name, ""), variant.inputs[name]) for name in names]


def _lines(example: Example, variant: Variant) -> list[str]:
    differ = _changed(example, variant)
    several = len(example.inputs) > 1
    lines = [
        f"{label(name)}: {change(old, new, coloured())}" if several else change(old, new, coloured())
        for name, old, new in differ
    ]
    if not differ:
        lines = ["(the same text)"]
    if variant.meaning == "changed":
        lines.append("→ the meaning changes")
    elif variant.gold != example.gold:
        lines.append(f"→ gold: {label(spelled(variant.gold, variant.inputs), 200)}")
    return lines


def _record(example: Example, variant: Variant) -> dict[str, Any]:
    differ = _changed(example, variant)
    return {
        "source": variant.source,
        "example_id": example.id,
        "draw": variant.draw,
        "meaning": variant.meaning,
        "before": {name: old for name, old, _ in differ},
        "after": {name: new for name, _, new in differ},
        "change": {name: change(old, new) for name, old, new in differ},
        "note": variant.note,
    }
