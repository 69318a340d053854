"""A suite as tests of promptfoo: a config, one test a line, and fixed code that tells which answers are right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from unswayed.base.values import Json
from unswayed.report.export import copy_code, write_json, write_lines
from unswayed.report.export._prompted import Prompted, PromptExporter
from unswayed.storage.suite import Suite


class Promptfoo(PromptExporter):
    """Tests for `promptfoo eval -c promptfooconfig.json -r PROVIDER` in its folder."""

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        prompted = Prompted(suite, self.prompt, self.answers, chats=True)
        write_lines(folder / "tests.jsonl", _tests(prompted))
        copy_code("unswayed_promptfoo.cjs", folder / "right.cjs")
        right = {"type": "javascript", "value": "file://right.cjs"}
        config = {
            "description": f"unswayed, suite {suite.id}",
            "prompts": ["{{prompt}}"],
            "providers": [],
            "defaultTest": {"assert": [right], "metadata": {"words": prompted.words}},
            "tests": "file://tests.jsonl",
        }
        write_json(folder / "promptfooconfig.json", config)
        usage = (
            "Run a model with: cd FOLDER && promptfoo eval -c promptfooconfig.json -r PROVIDER -o answers.json\n"
            f"Bring the answers back with: unswayed run {suite.path} --system logged:FOLDER/answers.json"
        )
        if prompted.way in ("bleu", "none"):
            usage = f"promptfoo only asks: answers of this task are scored when they come back. {usage}"
        return usage, {"way": prompted.way, "words": prompted.words}


def _tests(prompted: Prompted) -> Iterator[Json]:
    for item in prompted.items():
        told = {name: getattr(item, name) for name in ("example_id", "source", "part", "family", "draw", "inputs")}
        # promptfoo fills in templates and opens `file://` in variables; so written, it gets back the text
        text = '{{""}}' + re.sub("[{}]", lambda brace: f'{{{{"{brace[0]}"}}}}', item.prompt)
        yield {
            "description": f"{item.example_id} {item.source} {item.draw}",
            "vars": {"prompt": text},
            "metadata": {**told, "targets": item.targets},
        }
