"""A suite of tagged texts as CoNLL files: the clean sentences, and those of each operator or person."""

from __future__ import annotations

from pathlib import Path

from unswayed.base.errors import UsageError
from unswayed.base.values import Example, Json
from unswayed.data.conll import conll_sentence
from unswayed.report.export import FolderExporter, safe_names
from unswayed.storage.suite import Suite

_TASKS = ("tag", "slu")


class Conll(FolderExporter):
    """A folder with `clean.conll` and a file a source of variants: a token and its tag on each line."""

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        if suite.task.name not in _TASKS:
            raise UsageError(
                f"CoNLL files hold tags, so the task must be {' or '.join(_TASKS)}; the suite's is {suite.task.name}."
            )
        names = safe_names([source for source in suite.sources() if source != "clean"], r"[^\w.-]")
        with (folder / "clean.conll").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(conll_sentence(example) for example in suite.examples() if example.gold is not None)
        for source, name in names.items():
            with (folder / f"{name}.conll").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(
                    conll_sentence(Example(v.row, v.example_id, v.inputs, v.gold))
                    for v in suite.variants()
                    if v.source == source and v.gold is not None
                )
        return f"{1 + len(names)} CoNLL files in FOLDER: a token and its tag on each line.", {}
