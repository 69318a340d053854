"""A suite for people: lines filled to the terminal's width, with what changes marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from unswayed.base.text import counted, label, spelled
from unswayed.base.values import Example, Variant
from unswayed.report.tables import render
from unswayed.report.terminal import change, filled, shows_colours, titled
from unswayed.run.suite_checks import count_unaltered
from unswayed.storage.suite import Suite

_SOURCES = 40  # operators or people whose variants are shown

Shown = tuple[Example, Variant]


def suite_view(suite: Suite, format: str = "table", most: int = 3) -> str:
    """The suite for people, or as JSON; `most` is how many variants of each operator or person are shown."""
    made, manifest = suite.sources(), suite.manifest
    same, total = count_unaltered(suite).unaltered, sum(made.values())
    chosen = _first_variants(suite, list(made)[:_SOURCES], most)
    differ = [(example, variant, _changed(example, variant)) for example, variant in chosen]
    if format in ("json", "jsonl"):
        shown = [
            {
                "source": variant.source,
                "example_id": example.id,
                "draw": variant.draw,
                "meaning": variant.meaning,
                "before": {name: old for name, old, _ in changed},
                "after": {name: new for name, _, new in changed},
                "change": {name: change(old, new) for name, old, new in changed},
                "note": variant.note,
            }
            for example, variant, changed in differ
        ]
        return render(msgspec.to_builtins(manifest) | {"sources": made, "unaltered": same, "shown": shown}, format)
    shares: list[dict[str, Any]] = []
    for source in [*made, *(name for name in manifest.unchanged if name not in made)]:
        count = made.get(source, 0)
        share = f"{count / total:.1%}" if total else "–"
        unaltered = {"unaltered": same.get(source, 0)} if same else {}
        none = {"nothing to change": manifest.unchanged.get(source, 0)}
        texts = {"different": manifest.distinct.get(source, (count, count))[0]} if manifest.distinct else {}
        shares.append({"source": source, "variants": count, "share": share, **texts, **unaltered, **none})
    # as `--param` takes them; empty ones are left out, and ids of files, which are for programs
    told = {}
    for op in manifest.operators:
        given = {key: v for key, v in op.get("params", {}).items() if v not in ("", None) and not key.endswith("_id")}
        told[str(op["name"])] = ", ".join(f"{key}={value}" for key, value in given.items())
    if format == "md":
        if any(told.get(row["source"]) for row in shares):
            shares = [row | {"parameters": told.get(row["source"], "")} for row in shares]
        rows = [
            {"source": variant.source, "input": name, "change": change(old, new)}
            for _, variant, changed in differ
            for name, old, new in changed
        ]
        return "\n\n".join([*_facts(suite), render(shares, "md"), render(rows, "md")])
    blocks: dict[str, list[str]] = {}
    for example, variant, changed in differ:
        start = [f"Parameters: {told[variant.source]}"] if told.get(variant.source) else []
        lines = blocks.setdefault(variant.source, start)
        for name, old, new in changed:
            text = change(old, new, shows_colours())
            lines.append(f"{label(name)}: {text}" if len(example.inputs) > 1 else text)
        lines += [] if changed else ["(the same text)"]
        if variant.meaning == "changed":
            lines.append("→ the meaning changes")
        elif variant.gold != example.gold:
            lines.append(f"→ gold: {label(spelled(variant.gold, variant.inputs), 200)}")
    parts = ["\n".join(filled(fact) for fact in _facts(suite)), render(shares, "table")]
    parts += [titled(label(source), lines) for source, lines in blocks.items()]
    return "\n\n".join(part for part in parts if part)


def _facts(suite: Suite) -> list[str]:
    """What there is, in sentences."""
    m = suite.manifest
    said = f"{suite.name}: {counted(m.variants, 'variant')} of {counted(m.examples, 'example')}"
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


def _first_variants(suite: Suite, sources: Sequence[str], most: int) -> list[Shown]:
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
