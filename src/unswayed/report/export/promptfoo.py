"""A suite as tests of promptfoo: a config, one test a line, and fixed code that tells which answers are right."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import msgspec

from unswayed.base.values import Json
from unswayed.report.export._exporter import FolderExporter, write_json
from unswayed.report.export._prompted import Prompt, Prompted
from unswayed.storage.suite import Suite


class Promptfoo(FolderExporter):
    """Tests for `promptfoo eval -c promptfooconfig.json -r PROVIDER` in its folder."""

    def __init__(self, prompt: str | None = None, answers: str | None = None) -> None:
        self._prompt, self._answers = prompt, answers

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        prompted = Prompted(suite, self._prompt, self._answers, chats=True)
        encode = msgspec.json.Encoder().encode
        with (folder / "tests.jsonl").open("wb") as out:
            for item in prompted.items():
                out.write(encode(_test(item)) + b"\n")
        (folder / "right.cjs").write_bytes(
            (files("unswayed.report.export") / "_beside" / "unswayed_promptfoo.cjs").read_bytes()
        )
        config = {
            "description": f"unswayed, suite {suite.id}",
            "prompts": ["{{prompt}}"],
            "providers": [],
            "defaultTest": {
                "assert": [{"type": "javascript", "value": "file://right.cjs"}],
                "metadata": {"words": prompted.words},
            },
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


def _test(item: Prompt) -> dict[str, Json]:
    told = {name: getattr(item, name) for name in ("example_id", "source", "part", "family", "draw", "inputs")}
    return {
        "description": f"{item.example_id} {item.source} {item.draw}",
        "vars": {"prompt": _as_text(item.prompt)},
        "metadata": {**told, "targets": item.targets},
    }


def _as_text(text: str) -> str:
    """So written that promptfoo, which fills in templates and opens `file://` in variables, gets back the text."""
    return '{{""}}' + re.sub("[{}]", lambda brace: f'{{{{"{brace[0]}"}}}}', text)
