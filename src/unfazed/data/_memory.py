"""Examples that are in memory already, passed by the same checks as those of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from unfazed.core.errors import DataError
from unfazed.core.task import guess_task, task_named
from unfazed.core.values import Example, Json
from unfazed.data._check import Checks
from unfazed.data._fields import Fields, Problem
from unfazed.data._reader import ReadOptions

_HERE = Path("<examples>")


def examples_of(records: Sequence[Example | Mapping[str, Json]], options: ReadOptions | None = None) -> list[Example]:
    """Checked examples from Examples, or from mappings such as {"text": …, "label": …}, numbered anew."""
    options = options or ReadOptions()
    fields = Fields(options)
    examples = [
        msgspec.structs.replace(record, row=row)
        if isinstance(record, Example)
        else fields.example(row, record, _HERE, row + 1)
        for row, record in enumerate(records)
    ]
    if not examples:
        raise DataError("there are no examples.", _HERE)
    task = task_named(options.task) if options.task else guess_task(examples[0])
    checks = Checks(task, options.labels)
    passed = []
    for example in examples:
        try:
            passed.append(checks.passed(example, example.row + 1))
        except Problem as problem:
            raise DataError(str(problem), _HERE, example.row + 1) from None
    return passed
