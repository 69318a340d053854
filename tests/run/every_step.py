"""Every step that an engine does, as commands in a folder of their own: what they wrote and printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

MODULE = '''
import os
from unswayed import make_suite, measure_run, run_system
from unswayed.report.study import Printed, Study, StudyTable

def translate(batch):
    with open("parents.log", "a") as log:
        log.write(f"{os.getppid()}\\n")
    return [item["source"].replace("Satz", "sentence") for item in batch]

def worse(batch):
    return [text.replace("number", "nr") for text in translate(batch)]

def table(context):
    suite = make_suite(str(context.data), ["keyboard/adjacent"], task="translate", language="en", to="study/suite")
    run = run_system(suite, "translating:translate", "study/run")
    results = measure_run(run, {"measure": {"scores": ["bleu"], "bootstrap": 50}})
    return Printed({"average": results.average.value, "content": suite.id})

class Mine(Study):
    """A study of one's own."""
    title = "Mine"
    tables = {"only": StudyTable(table)}
'''
ROWS = 1100  # with as many variants, more pairs to score than one process keeps to itself
Command = Callable[[Path, list[str]], str]  # runs it in a folder; gives what it printed


def every_step(folder: Path, command: Command, engine: list[str]) -> dict[str, bytes]:
    """What all of them gave, by name."""
    folder.mkdir()
    (folder / "translating.py").write_text(MODULE)
    rows = [{"source": f"Satz number {i} of many", "target": f"sentence number {i} of many"} for i in range(ROWS)]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "gold.txt").write_text("".join(f"sentence number {i} of {3 * i}\n" for i in range(3 * ROWS)))
    (folder / "said.txt").write_text("".join(f"the sentence {i} of {3 * i}\n" for i in range(3 * ROWS)))
    reading = ["--task", "translate", "--lang", "en"]
    said = {}
    for name, words in {
        "vary": ["vary", "data.jsonl", "--with", "keyboard/adjacent", *reading, "-o", "suite"],
        "augment": ["augment", "data.jsonl", "--with", "keyboard/adjacent", *reading, "-o", "augmented.jsonl"],
        "run": ["run", "suite", "--system", "translating:translate", "-o", "run", "--format", "json"],
        "run again": ["run", "suite", "--system", "translating:worse", "-o", "other", "--format", "json"],
        "measure": ["measure", "run", "run", "--score", "chrf", "--bootstrap", "50", "--format", "json"],
        "compare": ["compare", "run", "other", "--score", "sentence_bleu", "--bootstrap", "50", "--format", "json"],
        "score": ["score", "bleu", "--gold", "gold.txt", "--pred", "said.txt", "--bootstrap", "50"],
        "report": ["report", "other", "--score", "chrf", "--bootstrap", "50", "-o", "report.html"],
        "study": ["study", "translating:Mine", "--data", "data.jsonl", "--format", "json"],
    }.items():
        said[name] = command(folder, [*words, *engine]).encode()
    files = ("suite/examples.parquet", "suite/variants.parquet", "suite/manifest.json", "augmented.jsonl")
    made = {name: (folder / name).read_bytes() for name in (*files, "study/suite/variants.parquet")}
    report = (folder / "report.html").read_text().replace(str(folder), "")  # which says how to make it again
    return said | made | {"report.html": report.replace(f" {' '.join(engine)}" if engine else "\0", "").encode()}
