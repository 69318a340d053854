"""Small suites of each task, with texts that templates, YAML and code might take for something else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.values import Example, Variant
from unswayed.storage.suite import Manifest, Suite, write_suite

# Read when the libraries are first imported; nothing may be fetched.
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}

HOSTILE = [
    "{{ 7 * 7 }} {% raw %} {# c #}",
    "!function os.system",
    "'''\"\"\" \\ \\n # \x00 \x85 \u2028 tail",
    "two\nlines\r\nand\ttab",
    "🙂 שלום مرحبا",
    "2020-01-01",
    "---\n- a: b",
    "",
    "  7  ",
]


def build(
    folder: Path,
    task: str,
    examples: list[tuple[dict[str, str], Any]],
    vary: Callable[[str], str] = lambda text: text + " you know",
    sources: dict[str, str] | None = None,
    **facts: Any,
) -> Suite:
    """A suite in which each source, given with its meaning, varies the first text of every example once."""
    sources = {"spoken/filler_end": "same"} if sources is None else sources
    made = [
        Example(row, f"e{row}", inputs, gold, {"place": "home" if row % 2 else "away"})
        for row, (inputs, gold) in enumerate(examples)
    ]
    varied = []
    for example in made:
        for source, meaning in sources.items():
            first = next(iter(example.inputs))
            inputs = {**example.inputs, first: f"{vary(example.inputs[first])} {source}"}
            gold = example.gold if meaning == "same" else None
            varied.append(
                Variant(example.row, example.id, 0, source, source.split("/")[0], meaning, inputs, gold, "n")  # type: ignore[arg-type]
            )
    manifest = Manifest(task=task, language="en", **facts)
    return write_suite(folder, manifest, lambda: made, lambda: varied)


@pytest.fixture
def classify(tmp_path: Path) -> Suite:
    """Every third label is missing."""
    golds = ["lights", "music", None]
    examples = [({"text": text}, golds[i % 3]) for i, text in enumerate([*HOSTILE, "light", "play jazz", "dim it"])]
    sources = {"keyboard/adjacent": "same", "anna, 李 {{x}}": "same", "meaning/replace": "changed"}
    return build(tmp_path / "suite", "classify", examples, sources=sources, seed=3, draws=1)


@pytest.fixture
def qa(tmp_path: Path) -> Suite:
    def gold(*texts: str) -> Any:
        return {"answers": [{"text": text, "start": "Anna lives in Rome".find(text)} for text in texts]}

    context = {"context": "Anna lives in Rome"}
    examples = [
        ({"question": "who {{ x }}", **context}, gold("Anna")),
        ({"question": "where", **context}, gold("Rome", "in Rome")),
        ({"question": "what", **context}, gold("lives")),
    ]
    return build(tmp_path / "qa", "qa", examples)


@pytest.fixture
def translate(tmp_path: Path) -> Suite:
    texts = ["Das Haus am Meer ist alt", "Die Sonne scheint heute hell", "Wir gehen morgen in die Stadt"]
    references: list[Any] = [
        "the house by the sea is old",
        ["the sun shines bright today", "today the sun shines brightly"],
        "we go to the city tomorrow",
    ]
    examples = [({"source": text}, reference) for text, reference in zip(texts, references, strict=True)]
    return build(tmp_path / "translate", "translate", examples)
