"""A suite as a task of Inspect AI: one file of fixed code and the data beside it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import msgspec

from unswayed.base.errors import UsageError, option
from unswayed.base.values import Json
from unswayed.report.export._exporter import FolderExporter
from unswayed.report.export._prompted import Prompted
from unswayed.storage.suite import Suite
from unswayed.systems.prompted import answer_key


class InspectAi(FolderExporter):
    """A task of Inspect AI, for `inspect eval task.py --model MODEL` in its folder."""

    def __init__(self, prompt: str | None = None, answers: str | None = None) -> None:
        self._prompt, self._answers = prompt, answers

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        prompted = Prompted(suite, self._prompt, self._answers, chats=True)
        parts = prompted.sources()
        keys = {answer_key(word) for word in prompted.words.values()}
        if len(keys) < len(prompted.words) or "" in keys:
            raise UsageError(
                f"Labels that differ in marks alone can't be told apart. Set words for them with {option('answers')}."
            )
        encode = msgspec.json.Encoder().encode
        with (folder / "samples.jsonl").open("wb") as out:
            for item in prompted.items():
                out.write(encode(item) + b"\n")
        (folder / "task.py").write_bytes(
            (files("unswayed.report.export") / "_beside" / "unswayed_inspect_ai.py").read_bytes()
        )
        usage = "Run a model with: cd FOLDER && inspect eval task.py --model MODEL"
        if "controls" in parts.values():
            usage = f"Controls are run but not scored, as their right answer is not known. {usage}"
        facts = {"way": prompted.way, "words": prompted.words, "chats": suite.task.name == "chat"}
        return usage, facts | ({"tokenizer": prompted.tokenizer} if prompted.way == "bleu" else {})
