"""A suite as a task of Inspect AI: one file of fixed code and the data beside it."""

from __future__ import annotations

from pathlib import Path

from unswayed.base.errors import UsageError, option
from unswayed.base.reply import answer_key
from unswayed.base.values import Json
from unswayed.report.export import copy_code, write_lines
from unswayed.report.export._prompted import Prompted, PromptExporter
from unswayed.storage.suite import Suite


class InspectAi(PromptExporter):
    """A task of Inspect AI, for `inspect eval task.py --model MODEL` in its folder."""

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        prompted = Prompted(suite, self.prompt, self.answers, chats=True)
        usage = prompted.controls_note() + "Run a model with: cd FOLDER && inspect eval task.py --model MODEL"
        keys = {answer_key(word) for word in prompted.words.values()}
        if len(keys) < len(prompted.words) or "" in keys:
            raise UsageError(
                f"Labels that differ in marks alone can't be told apart. Set words for them with {option('answers')}."
            )
        write_lines(folder / "samples.jsonl", prompted.items())
        copy_code("unswayed_inspect_ai.py", folder / "task.py")
        facts = {"way": prompted.way, "words": prompted.words, "chats": suite.task.name == "chat"}
        return usage, facts | ({"tokenizer": prompted.tokenizer} if prompted.way == "bleu" else {})
